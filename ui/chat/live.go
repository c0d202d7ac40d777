package chat

import (
	"time"

	"cairn/harness"
	"cairn/ui/render"
)

// live is what has been streamed and is no stored message yet. It grows in
// place; a model that follows a run owns it alone.
type live struct {
	attempt  int
	text     *render.Stream
	n        int // bytes of text
	thinking []byte
	thought  *render.Stream // thinking as far as it has been looked at
	// now is what goes on: a wait, a retry, a tool.
	now string
	// fold is how much of it the person wants to see.
	fold fold
	// mark names why the text does not go on, of a run that is over.
	mark string
	// at is the time of the text of another window or an earlier process.
	at time.Time
}

func newLive(md *render.Markdown) *live {
	return &live{text: render.NewStream(md), thought: render.NewStream(md)}
}

// add takes streamed text that begins at an offset of an attempt. What is
// there already is not added again.
func (l *live) add(md *render.Markdown, e harness.Event) {
	if e.Attempt > l.attempt {
		*l = live{attempt: e.Attempt, fold: l.fold, text: render.NewStream(md), thought: render.NewStream(md)}
	}
	if e.Attempt < l.attempt {
		return
	}
	l.now = ""
	if e.Type == harness.EventThinking {
		l.thinking = append(l.thinking, unseen(e.Text, e.Offset, len(l.thinking))...)
		return
	}
	piece := unseen(e.Text, e.Offset, l.n)
	l.n += len(piece)
	l.text.Append(piece)
}

// unseen is the part of a text at an offset that lies beyond have bytes.
func unseen(text string, offset, have int) string {
	if skip := have - offset; skip > 0 {
		return text[min(skip, len(text)):]
	}
	return text
}

func (l *live) empty() bool { return l == nil || l.n == 0 && len(l.thinking) == 0 }

// live lays out the streamed text.
func (d desk) live() []string {
	l := d.m.turn.live
	if l.empty() {
		return nil
	}
	d = d.within(l.fold)
	out := d.liveHead(len(d.m.pages.items), true)
	if l.n > 0 {
		if d.l.thinking && len(l.thinking) > 0 {
			out = append(out, "")
		}
		out = append(out, l.text.Lines(d.l.width)...)
	}
	return out
}

// liveHead is what stands above the streamed text, the live block being item n:
// whose it is, whether it is being written, and what was thought.
func (d desk) liveHead(n int, writing bool) []string {
	l := d.m.turn.live
	paints, o := d.l.theme.Paints, d.l.theme.Ornaments
	word := ""
	switch {
	case l.mark != "":
		word = l.mark
	case writing:
		word = "writing"
	}
	out := []string{""}
	if d.goesOn() {
		out[0] = d.signAbove(n)
	} else {
		out = append(out, d.heading(n, paints.Assistant.On("cairn")+paints.Muted.On(d.tail(d.at(l.at), word))))
	}
	switch {
	case len(l.thinking) == 0:
	case d.l.thinking:
		l.thought.Append(string(l.thinking[len(l.thought.Text()):]))
		out = append(out, d.fit(paints.Muted.On(o.Open+" thinking")))
		out = append(out, l.thought.Lines(d.l.width)...)
	default:
		out = append(out, d.fit(paints.Muted.On(o.Closed+" thinking")))
	}
	return out
}

// goesOn reports whether the streamed text goes on from an answer of the same
// run right above it.
func (d desk) goesOn() bool {
	if d.m.turn.live.mark != "" {
		return false
	}
	for j := len(d.m.pages.items) - 1; j >= 0; j-- {
		it := d.m.pages.items[j]
		if it.quiet != "" {
			return false
		}
		switch msg := it.rec.Message; {
		case msg == nil:
			return false
		case msg.Role == harness.RoleTool:
		default:
			return msg.Role == harness.RoleAssistant && d.m.turn.runs(it.rec.Run) && msg.Mark == harness.MarkNone
		}
	}
	return false
}
