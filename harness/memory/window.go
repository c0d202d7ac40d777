package memory

import (
	"fmt"

	"cairn/harness"
	"cairn/harness/model"
)

// minReply is the least number of tokens kept for a reply, and margin what a
// request must leave beside it because its size is only estimated. mostReply is
// kept for a reply at most if nobody asks for more, and replyShare the part of a
// window if none was cut.
const (
	minReply     = 1_024
	margin       = 1_024
	defaultReply = 8_192
	mostReply    = 32_000
	replyShare   = 4
)

// Window returns how many of the newest messages go into a request of at most
// budget tokens. The cut is before a user's message, so no call is parted from
// its result. The last user's message and all that follows it is always kept,
// also when it does not fit: shortening it is up to [Composer], which clears
// its oldest tool results.
func Window(msgs []harness.Message, budget int) (kept int) {
	items := make([]Item, len(msgs))
	for i := range msgs {
		items[i].Message = &msgs[i]
	}
	kept, _ = window(items, budget)
	return kept
}

// window walks back from the end and stops when the budget is full: its cost
// depends on the budget and not on the length of the history. It also reports
// whether what is kept fits.
func window(items []Item, budget int) (kept int, fits bool) {
	used, loose := 0, 0
	n := len(items)
	i := n - 1
	for ; i >= 0; i-- {
		m := items[i].Message
		used += items[i].Size()
		if used > budget {
			break
		}
		if opens(m) {
			kept = n - i
		} else if m.Role != harness.RoleTool {
			loose = n - i
		}
	}
	if i < 0 {
		return n, true
	}
	if kept > 0 {
		return kept, true
	}
	for j := i; j >= 0; j-- {
		if opens(items[j].Message) {
			return n - j, false
		}
	}
	// No user ever spoke here, or what they said is condensed: cut before whatever
	// is not a result.
	if loose > 0 {
		return loose, true
	}
	for i > 0 && items[i].Message.Role == harness.RoleTool {
		i--
	}
	return n - i, false
}

// opens reports whether a turn begins with m: a message of the user, not a
// notice of the program.
func opens(m *harness.Message) bool {
	return m.Role == harness.RoleUser && m.Mark != harness.MarkNotice
}

// replyBudget is what the window must leave for the reply: what it may be, but
// no more than a quarter of the window, since models that could give more hardly
// ever do and a conversation in a small window needs the place. A reply that was
// cut is given twice as much each time it grew, up to half of the window.
func replyBudget(maxOutput, grow int, info model.Info) int {
	reply := maxOutput
	if reply <= 0 {
		reply = min(info.MaxOutput, mostReply)
	}
	if reply <= 0 {
		reply = defaultReply
	}
	share := windowOf(info) / replyShare
	if grow > 0 {
		share *= 2
	}
	return max(1, min(reply, share))
}

func windowOf(info model.Info) int {
	if info.Window > 0 {
		return info.Window
	}
	return model.UnknownWindow
}

// fitReply lowers an asked-for reply budget to what the window has left beside
// a request of used tokens, but not below [minReply].
func fitReply(maxOutput, used int, info model.Info) int {
	if maxOutput <= 0 {
		return maxOutput
	}
	return min(maxOutput, max(windowOf(info)-used-margin, minReply))
}

// shorten makes one turn fit that is larger than the budget. It clears tool
// results, the oldest first and those of the last step at the end, then leaves
// out the oldest steps. The user's own message stays whole, and so does what is
// pinned. It returns how many results it cleared and how many messages it left
// out.
func shorten(turn []Item, budget int) (out []harness.Message, cleared, dropped int) {
	if len(turn) == 0 {
		return nil, 0, 0
	}
	used := 0
	all := make([]harness.Message, len(turn))
	for i := range turn {
		all[i] = *turn[i].Message
		used += turn[i].Size()
	}
	last := len(all)
	for last > 0 && all[last-1].Role != harness.RoleAssistant {
		last--
	}
	reduce := func(from, to int) {
		for i := from; i < to && used > budget; i++ {
			if !turn[i].Pinned {
				saved, n := clearResults(&all[i])
				used, cleared = used-saved, cleared+n
			}
		}
	}
	reduce(0, last)
	// A step is an answer and the results of its calls.
	to := 1
	for used > budget {
		next := to + 1
		for next < len(all) && all[next].Role != harness.RoleAssistant {
			next++
		}
		if next >= last {
			break
		}
		for ; to < next; to++ {
			used -= estimate(&all[to])
		}
	}
	out = append(out, all[0])
	for i := 1; i < to; i++ {
		if !turn[i].Pinned {
			dropped++
			continue
		}
		m := pinnedMessage(&all[i])
		used += estimate(&m)
		out = append(out, m)
	}
	reduce(to, len(all))
	return append(out, all[min(to, len(all)):]...), cleared, dropped
}

// clearResults replaces the results in m that are longer than the words that
// say so. The parts are copied: stored history is never changed.
func clearResults(m *harness.Message) (saved, n int) {
	before := estimate(m)
	for i := range m.Parts {
		p := m.Parts[i]
		if p.Kind != harness.PartResult || p.Result == nil {
			continue
		}
		r, less := shortened(p.Result, fmt.Sprintf("(result of %s left out: the conversation is larger than the model's window)", sizeWords(p.Result)))
		if !less {
			continue
		}
		if n == 0 {
			m.Parts = append([]harness.Part(nil), m.Parts...)
		}
		m.Parts[i].Result = &r
		n++
	}
	return before - estimate(m), n
}
