package chat

import (
	"cairn/ui/chat/decide"
	"cairn/ui/render"
)

// runningKeys are the keys of a turn that runs, waits or did not end; open is why
// those of an unfinished one are off.
func (m Model) runningKeys(open string) []render.Binding {
	b := func(action, help string, rank int, off string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Running", Rank: rank, Off: off}
	}
	when := func(ok bool, why string) string {
		if ok {
			return ""
		}
		return why
	}
	return []render.Binding{
		b(actUnqueue, "take back queued; again: all of it", 0, when(len(m.draft.queue) > 0, "nothing is queued"), "alt+up"),
		b(actStop, "twice: stop, keep the text", 0, "", "esc"),
		b(actBreak, "stop now; clear the box; twice: quit", 0, "", "ctrl+c"),
		b(actContinue, "continue the unfinished answer", 0, m.reached(m.undecided(open)), "c"),
		b(actRetry, "retry it", 0, m.undecided(open), "r"),
		b(actDrop, "drop it", 0, m.reached(open), "d"),
		b(actKey, "give another key", 0, m.unkeyed(open), "k"),
		b(actDecide, "decide what waits", 0, when(m.waits() && !m.ask.shown, decide.OffNone), "ctrl+x a"),
		b(actHere, "drive the run here", 0, when(m.turn.unclaimed != "", offTaken), "ctrl+x h"),
		b(actCondense, "condense as it is asked", 0, when(m.confirms(), offSure), "y"),
		b(actLeave, "do not condense", 0, when(m.confirms(), offSure), "n"),
	}
}
