package decide

import (
	"slices"
	"unicode/utf8"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Why a key of the dialog may be off.
const (
	// OffNone is why all of them are off when no dialog is open.
	OffNone   = "nothing waits for a decision"
	offAsleep = "keys wake up when you stop typing"
	offOther  = "not for what waits now"
	offFits   = "all of it is on screen"
	offWidth  = "needs a change, and 100 columns"
	offRule   = "no rule is offered"
	offDraft  = "there is no draft"
	offText   = "only with an empty box, or the full text"
)

// Bindings are the dialog's keys as they work now. Those of the zero dialog are
// all off.
func (d Dialog) Bindings(e Env) []render.Binding {
	list := d.table(e)
	for i := range list {
		list[i].Off = d.off(list[i].Action, e)
	}
	return list
}

// table lists the keys, whether they work now or not. While text is written,
// characters are no keys.
func (d Dialog) table(e Env) []render.Binding {
	later := "decide later"
	if d.laid != nil && (d.whole || d.mode != choosing) {
		later = "back"
	}
	b := func(action, help string, rank int, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Deciding", Rank: rank}
	}
	list := []render.Binding{
		b(Once, "approve once", 0, "y"),
		b(Session, "approve for the session", 0, "s"),
		b(Always, "approve always", 0, "a"),
		b(Refuse, "refuse, and say why", 0, "n"),
		b(WithText, "refuse, with the draft as the reason", 0, "d"),
		b(Result, "give the result of an uncertain call", 0, "g"),
		b(Again, "run it again", 0, "r"),
		b(Abort, "abort the turn", 0, "a"),
		b(EditRule, "edit the rule", 3, "e"),
		b(Side, "side by side", 4, "v"),
		b(Whole, "full text", 5, "v", "f", "ctrl+x v"),
		b(PageUp, "scroll up", 0, "pgup"),
		b(PageDown, "scroll down", 0, "pgdown"),
		b(Top, "beginning of the text", 0, "home"),
		b(Bottom, "end of the text", 0, "end"),
		b(Up, "choice above", 0, "up"),
		b(Down, "choice below", 0, "down"),
		b(Choose, "highlighted", 1, "enter"),
		b(Later, later, 2, "esc"),
	}
	list = widget.Rebind(list, e.Keys)
	var side []string
	for i := range list {
		switch list[i].Action {
		case Choose:
			if d.mode != choosing { // the line below the text says what it does
				list[i].Rank = 0
			}
		case EditRule:
			if d.mode != choosing {
				list[i].Rank = 0
			}
		case Side:
			side = list[i].Keys
		case Whole: // of a change in a wide window the other key does it
			if d.whole {
				list[i].Rank = 0
			}
			if d.diff() != "" && e.Width >= sideWidth {
				list[i].Keys = slices.DeleteFunc(slices.Clone(list[i].Keys), func(k string) bool { return slices.Contains(side, k) })
			}
		}
		if d.laid != nil && d.Writes() {
			list[i].Keys = named(list[i].Keys)
		}
	}
	return list
}

// off is why an action does nothing now.
func (d Dialog) off(action string, e Env) string {
	if d.laid == nil {
		return OffNone
	}
	ok, why := true, offOther
	consent := !d.p.Uncertain && !d.p.Question()
	switch action {
	case Later:
		return "" // it answers nothing, so it works asleep too
	case Once, Refuse:
		ok = consent
	case Session:
		ok, why = d.rules[harness.ScopeSession] != "", offRule
	case Always:
		ok, why = d.rules[harness.ScopeAlways] != "", offRule
	case EditRule:
		ok, why = d.ruled() != "", offRule
	case WithText:
		ok, why = consent && e.Draft, offDraft
	case Result, Again, Abort:
		ok = d.p.Uncertain
	case Side:
		ok, why = d.diff() != "" && e.Width >= sideWidth, offWidth
	case PageUp, PageDown:
		ok, why = d.Scrolls(e), offFits
	case Top, Bottom: // where text is written, these keys move in its line
		if ok, why = d.Scrolls(e), offFits; ok {
			ok, why = !d.Written() && (d.whole || !e.Draft), offText
		}
	case Up, Down:
		ok = d.mode == choosing
	}
	switch {
	case !ok:
		return why
	case !e.Awake && !reads(action):
		return offAsleep
	}
	return ""
}

// Owns reports whether an action is one of the dialog's.
func Owns(action string) bool {
	for _, b := range (Dialog{}).table(Env{}) {
		if b.Action == action {
			return true
		}
	}
	return false
}

// Final reports whether an action decides by itself.
func Final(action string) bool {
	switch action {
	case Once, Session, Always, WithText, Again, Abort:
		return true
	}
	return false
}

// reads reports whether an action only moves the text, which is always free.
func reads(action string) bool {
	switch action {
	case PageUp, PageDown, Top, Bottom:
		return true
	}
	return false
}

// named leaves out the keys that are characters.
func named(keys []string) []string {
	var list []string
	for _, k := range keys {
		if utf8.RuneCountInString(k) > 1 {
			list = append(list, k)
		}
	}
	return list
}

// ruled is the scope whose rule would be edited now: that of the highlighted
// choice, else the widest.
func (d Dialog) ruled() harness.GrantScope {
	list := d.choices(false)
	if d.at < len(list) && list[d.at].action == Session {
		return harness.ScopeSession
	}
	for _, s := range []harness.GrantScope{harness.ScopeAlways, harness.ScopeSession} {
		if d.rules[s] != "" {
			return s
		}
	}
	return ""
}
