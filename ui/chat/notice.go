package chat

import (
	"strings"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/runs/standing"
)

// notices are the lines that say something to the person: of the unfinished
// run, of the session's owner, and what happened last.
func (m Model) notices() []string {
	p, dot := m.deps.Theme.Paints, " "+m.deps.Theme.Ornaments.Dot+" "
	var out []string
	add := func(text, keys string) {
		for _, l := range m.notable(render.Safe(text), keys) {
			out = append(out, p.Warning.On(render.Truncate(l, m.width, "")))
		}
	}
	if w := m.openWords(); w != "" && m.own.state == accessOwner {
		keys := dot + "a message starts a new turn"
		switch {
		case m.waits():
			keys = m.decideKeys(dot)
		case m.open.Unreachable != "":
			keys = ""
			if k := m.keyOf(actRetry); k != "" {
				keys = dot + k + " tries again"
			}
		case m.offers():
			keys = m.choices(dot)
		}
		if stays := StaysWith(*m.open, m.setup.Run.Model); stays != "" && !m.waits() {
			keys = dot + stays + keys
		}
		add(w, keys)
	}
	if words := m.turn.unclaimed; words != "" && m.turn.active() {
		keys := ""
		if k := m.keyOf(actHere); k != "" {
			keys = dot + k + " drives it here"
		}
		add(words, keys)
	} else if words := m.turn.silent.words; words != "" && m.turn.active() {
		add(words, "")
	}
	if plan := m.condensing.asks; plan != nil && !m.turn.active() && !m.asks() {
		add(plan.Words(), m.sureKeys(dot))
	}
	if m.own.state == accessReader {
		add(m.readerWords(), "")
	}
	if m.own.gone {
		add(m.goneWords(), "")
	}
	if m.notice != "" && !m.quietNotice() {
		add(m.notice, "")
	}
	if len(out) > m.height/3 {
		out = out[len(out)-max(m.height/3, 1):]
	}
	return out
}

// notable is a notice in a few lines. What does not fit of its text is left
// out, never the keys that follow it.
func (m Model) notable(text, keys string) []string {
	most := max(noticeRows, m.height/4)
	lines := render.Wrap(text+keys, m.width)
	if len(lines) <= most {
		return lines
	}
	if keys == "" {
		return lines[:most]
	}
	o := m.deps.Theme.Ornaments
	last := render.Wrap(strings.TrimPrefix(keys, " "+o.Dot+" "), m.width)
	last = last[:min(len(last), most-1)]
	lines = render.Wrap(text, m.width)
	lines = lines[:min(len(lines), most-len(last))]
	cut := &lines[len(lines)-1]
	*cut = render.Truncate(*cut, m.width-render.Width(o.Ellipsis), "") + o.Ellipsis
	return append(lines[:len(lines):len(lines)], last...)
}

// decideKeys lists the keys for what waits for a decision.
func (m Model) decideKeys(dot string) string {
	keys := dot + "/approve decides"
	k := m.keyOf(actDecide)
	if send := m.keyOf(actSend); send != "" && m.box.Blank() {
		k = send
	}
	if k != "" {
		keys = dot + k + " decides"
	}
	if k := m.keyOf(actDrop); k != "" && m.offers() {
		keys += dot + k + " drops the turn"
	}
	return keys + dot + "a message waits until then"
}

// choices lists the keys for the unfinished run.
func (m Model) choices(dot string) string {
	var b strings.Builder
	for _, c := range []struct{ action, word string }{{actKey, "another key"}, {actContinue, "continue"}, {actRetry, "retry"}, {actDrop, "drop"}} {
		if k := m.keyOf(c.action); k != "" {
			b.WriteString(dot + k + " " + c.word)
		}
	}
	return b.String()
}

// sureKeys lists the keys that decide about condensing.
func (m Model) sureKeys(dot string) string {
	keys := ""
	for _, c := range []struct{ action, word string }{{actCondense, "condenses"}, {actLeave, "leaves it"}} {
		if k := m.keyOf(c.action); k != "" {
			keys += dot + k + " " + c.word
		}
	}
	return keys
}

// readerWords says who owns the session that is only looked at here, and how
// to get it.
func (m Model) readerWords() string {
	dot, key := " "+m.deps.Theme.Ornaments.Dot+" ", m.keyOf(actTake)
	if key == "" {
		key = "/takeover"
	}
	if m.own.holder.PID == 0 {
		words := "no other window has this session open now" + dot + key + " takes it"
		if m.failed != nil {
			words = "the session could not be taken" + dot + key + " tries again"
		}
		if m.own.waits != nil {
			words = m.pendingWords(m.own.waits) + dot + words
		}
		return words
	}
	who := "open in " + m.own.holder.String() + dot
	if r := m.own.run; r != nil && r.Status == harness.RunRunning {
		if driven := standing.Driven(*r, m.deps.Holder); driven != "" {
			who += driven + dot
		}
	}
	if m.own.waits != nil {
		who = m.pendingWords(m.own.waits) + dot + "it is decided in " + m.own.holder.String() + dot
	}
	switch {
	case m.own.silent:
		return who + key + " again takes the session by force"
	case m.own.asking:
		return who + "asked" + m.deps.Theme.Ornaments.Ellipsis
	}
	return who + key + " take over"
}

// goneWords says that the session was deleted, and how to get it back.
func (m Model) goneWords() string {
	id := string(m.session.ID)
	return "this session was deleted elsewhere: nothing is sent until it is back (cairn sessions restore " + id + ")"
}

// keyOf is the first key of an action that works now, empty if there is none.
func (m Model) keyOf(action string) string {
	for _, b := range m.Bindings() {
		if b.Action == action && b.Off == "" && len(b.Keys) > 0 {
			return b.Keys[0]
		}
	}
	return ""
}

// quietNotice reports whether the notice fits on the status line, which is
// free then.
func (m Model) quietNotice() bool {
	return !m.turn.active() && !m.condensing.busy() && !m.asks() && !m.branch.edit.on() && !strings.Contains(m.notice, "\n") && render.Width(m.notice) < m.width*2/3
}
