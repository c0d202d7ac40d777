package chat

import (
	"cairn/ui/chat/decide"
	"cairn/ui/render"
)

// runningKeys are the keys of a turn that runs, waits or did not end; open is why
// those of an unfinished one are off.
func (m Model) runningKeys(open string) []render.Binding {
	b := func(action, help, off string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Running", Off: off}
	}
	when := func(ok bool, why string) string {
		if ok {
			return ""
		}
		return why
	}
	return []render.Binding{
		b(actUnqueue, "take back queued; again: all of it", when(len(m.draft.queue) > 0, "nothing is queued"), "alt+up"),
		b(actStop, "twice: stop, keep the text", "", "esc"),
		b(actBreak, "stop now; clear the box; twice: quit", "", "ctrl+c"),
		b(actContinue, "continue the unfinished answer", m.reached(m.undecided(open)), "c"),
		b(actRetry, "retry it", m.undecided(open), "r"),
		b(actDrop, "drop it", m.reached(open), "d"),
		b(actKey, "give another key", m.unkeyed(open), "k"),
		b(actDecide, "decide what waits", when(m.waits() && !m.ask.shown, decide.OffNone), "ctrl+x a"),
		b(actHere, "drive the run here", when(m.turn.unclaimed != "", offTaken), "ctrl+x h"),
		b(actCondense, "condense as it is asked", when(m.confirms(), offSure), "y"),
		b(actLeave, "do not condense", when(m.confirms(), offSure), "n"),
	}
}
