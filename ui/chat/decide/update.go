package decide

import (
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// Do carries out an action of the table.
func (d Dialog) Do(action string, e Env) (Dialog, Outcome) {
	if !reads(action) && action != Whole && action != Side {
		d.note = ""
	}
	digit, warned := d.digit, d.warned
	d.digit, d.warned = "", ""
	if reads(action) {
		d.warned = warned
	}
	switch action {
	case Up, Down:
		return d.moved(action, e), Outcome{}
	case PageUp:
		return d.Scroll(-max(d.layout(e).room-1, 1), e), Outcome{}
	case PageDown:
		return d.Scroll(max(d.layout(e).room-1, 1), e), Outcome{}
	case Top:
		d.top = 0
		return d, Outcome{}
	case Bottom:
		return d.Scroll(d.layout(e).total, e), Outcome{}
	case Whole:
		d.whole, d.top = !d.whole, 0
		return d, Outcome{}
	case Side:
		d.side, d.top = !d.side, 0
		return d, Outcome{}
	case EditRule:
		return d.edit(d.ruled()), Outcome{}
	case Later:
		return d.back()
	case Choose:
		d.digit, d.warned = digit, warned
		return d.chosen(e)
	}
	d.warned = warned
	return d.take(choice{action: action}, e)
}

// Scroll moves the text by n lines, up if negative.
func (d Dialog) Scroll(n int, e Env) Dialog {
	l := d.layout(e)
	d.top = min(max(l.top+n, 0), max(l.total-l.room, 0))
	return d
}

// Scrolls reports whether not all of the text is on screen.
func (d Dialog) Scrolls(e Env) bool { return d.layout(e).scrolls }

// moved highlights the choice above or below.
func (d Dialog) moved(action string, e Env) Dialog {
	step := 1
	if action == Up {
		step = -1
	}
	d.at = min(max(d.at+step, 0), len(d.choices(e.Draft))-1)
	return d
}

// back closes what is open on top of the choices, else the dialog.
func (d Dialog) back() (Dialog, Outcome) {
	switch {
	case d.mode != choosing:
		d.mode = choosing
	case d.whole:
		d.whole, d.top = false, 0
	default:
		return d, Outcome{Later: true}
	}
	return d, Outcome{}
}

// chosen takes the text that is being written, or the highlighted choice.
func (d Dialog) chosen(e Env) (Dialog, Outcome) {
	text := d.texts[d.mode].Text()
	switch d.mode {
	case reasoning:
		return d.decision(harness.Decision{How: harness.DecideDecline, Text: strings.TrimSpace(text)})
	case ruling:
		if strings.TrimSpace(text) == "" {
			d.note = "a rule needs a text; esc leaves it as it was"
			return d, Outcome{}
		}
		if e.Fault != nil {
			if d.note = e.Fault(strings.TrimSpace(text)); d.note != "" {
				return d, Outcome{}
			}
		}
		d.rules = copied(d.rules)
		d.rules[d.editAt] = strings.TrimSpace(text)
		d.mode = choosing
		for i, c := range d.choices(false) {
			if c.action == Session && d.editAt == harness.ScopeSession || c.action == Always && d.editAt == harness.ScopeAlways {
				d.at = i
			}
		}
		return d, Outcome{}
	case resulting:
		if strings.TrimSpace(text) == "" {
			d.note = "write what the call returned, for the model to read"
			return d, Outcome{}
		}
		return d.decision(harness.Decision{How: harness.DecideResult, Text: text})
	case choosing, modes:
	}
	list := d.choices(e.Draft)
	return d.take(list[min(d.at, len(list)-1)], e)
}

func copied(rules map[harness.GrantScope]string) map[harness.GrantScope]string {
	out := make(map[harness.GrantScope]string, len(rules))
	for k, v := range rules {
		out[k] = v
	}
	return out
}

// take carries out a choice.
func (d Dialog) take(c choice, e Env) (Dialog, Outcome) {
	switch c.action {
	case Once:
		return d.decision(harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeOnce})
	case Session:
		return d.grant(harness.ScopeSession, e)
	case Always:
		return d.grant(harness.ScopeAlways, e)
	case Refuse:
		d.mode, d.whole = reasoning, false
	case WithText:
		how := harness.DecideDecline
		if d.p.Question() {
			how = harness.DecideAnswer
		}
		next, out := d.decision(harness.Decision{How: how})
		out.Draft = true
		return next, out
	case Result:
		d.mode, d.whole = resulting, false
	case Again:
		return d.decision(harness.Decision{How: harness.DecideRetry})
	case Abort:
		return d.decision(harness.Decision{How: harness.DecideAbort})
	case Later:
		return d, Outcome{Later: true}
	case option:
		return d.decision(harness.Decision{How: harness.DecideAnswer, Text: d.p.Proposal.Choices[c.index]})
	case free:
		text := d.texts[choosing].Text()
		if strings.TrimSpace(text) == "" {
			d.note = "type an answer, or choose one with the arrows"
			return d, Outcome{}
		}
		return d.decision(harness.Decision{How: harness.DecideAnswer, Text: text})
	}
	return d, Outcome{}
}

// grant approves with a rule, which must have been on screen.
func (d Dialog) grant(scope harness.GrantScope, e Env) (Dialog, Outcome) {
	l := d.layout(e)
	if at, scrolls := l.rules[scope]; scrolls && d.warned != scope && (at < l.top || at >= l.top+l.room) {
		d.warned = scope
		d.note = "a new rule: choose it again"
		for i, c := range d.choices(e.Draft) {
			if c.scope == scope {
				d.at = i
			}
		}
		l = d.layout(e)
		d.top = min(l.rules[scope], max(l.total-l.room, 0))
		return d, Outcome{}
	}
	return d.decision(harness.Decision{How: harness.DecideApprove, Scope: scope, Rule: d.rules[scope]})
}

func (d Dialog) decision(x harness.Decision) (Dialog, Outcome) {
	x.Call, x.Digest = d.p.Call.ID, d.p.Digest
	return d, Outcome{Decision: &x}
}

// edit opens the rule of a scope for editing.
func (d Dialog) edit(scope harness.GrantScope) Dialog {
	if d.rules[scope] == "" {
		return d
	}
	d.mode, d.editAt, d.whole = ruling, scope, false
	d.texts[ruling] = d.texts[ruling].Set(d.rules[scope])
	return d
}

// Type gives a key to the text that is being written; ok is false if it is none
// of its keys. Digits highlight the choices of a question until text is typed.
func (d Dialog) Type(k tea.KeyMsg, e Env) (next Dialog, ok bool) {
	if !d.Writes() {
		return d, false
	}
	if d.mode == choosing {
		typed := k.Type == tea.KeyRunes && !k.Alt && !k.Paste
		if i, err := strconv.Atoi(string(k.Runes)); typed && err == nil && d.digit == "" && d.texts[choosing].Empty() && i >= 1 && i <= len(d.p.Proposal.Choices) {
			d.at, d.digit, d.note = i-1, string(k.Runes), ""
			return d, true
		}
		if typed || k.Type == tea.KeySpace {
			d.texts[choosing] = d.texts[choosing].Insert(d.digit)
		}
	}
	field, used := d.texts[d.mode].Key(k)
	if !used {
		return d, false
	}
	changed := field.Text() != d.texts[d.mode].Text()
	d.texts[d.mode], d.digit = field, ""
	if changed {
		d.note = ""
		d = d.freely(e)
	}
	return d, true
}

// Paste gives a paste to the text that is being written; ok is false if there
// is none.
func (d Dialog) Paste(text string, e Env) (next Dialog, ok bool) {
	if !d.Writes() {
		return d, false
	}
	d.texts[d.mode] = d.texts[d.mode].Insert(d.digit + text)
	d.digit, d.note = "", ""
	return d.freely(e), true
}

// freely highlights the choice that takes the typed answer.
func (d Dialog) freely(e Env) Dialog {
	if d.mode != choosing {
		return d
	}
	for i, c := range d.choices(e.Draft) {
		if c.action == free {
			d.at = i
		}
	}
	return d
}
