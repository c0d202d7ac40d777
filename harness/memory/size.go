package memory

import (
	"math"

	"cairn/harness"
)

const (
	// triggerShare is the part of the room for a request, in percent, at which old
	// messages are condensed.
	triggerShare = 80
	// noteShare is the part of the window that a note takes at most.
	noteShare = 6
	// lookShare is how many of the newest tokens are looked at for a request, in
	// percent of the window: more could not fit whatever the provider counts.
	lookShare = 150
	// leastCounted is the least size of a request, in tokens, whose count by the
	// provider says how far off the estimate is, and maxSearch how many records
	// back one is looked for.
	leastCounted = 400
	maxSearch    = 64
	// A count that is further off than unbelievable, either way, is of something
	// else than the request; the correction stays between leastRatio and mostRatio.
	unbelievable = 5.0
	leastRatio   = 0.7
	mostRatio    = 2.5
)

// sizes are what the parts of a request take, by the estimate, and the room that
// there is, in real tokens.
type sizes struct {
	system, tools, recalled, note int
	// items is all that may be sent beside the note, full all there is.
	items, full            int
	window, reply, trigger int
	ratio                  float64
}

// measure tells the sizes for a request with this text behind the system prompt.
func measure(in In, v View, context string) sizes {
	m := sizes{
		system: estimateText(systemOf(in)), tools: estimateTools(in.Tools), recalled: estimateText(context),
		window: windowOf(in.Info), reply: replyBudget(in.MaxOutput, in.Grow, in.Info), ratio: Ratio(in),
	}
	m.trigger = max(1, (m.window-m.reply)*triggerShare/100)
	if v.Note != nil {
		m.note = estimate(v.Note)
	}
	for i := range v.Pins {
		pinned := pinnedMessage(v.Pins[i].Message)
		m.items += estimate(&pinned)
	}
	for i := range v.Items {
		m.items += v.Items[i].Size()
	}
	m.full = m.fixed() + m.note + m.items
	return m
}

// fixed is what every request has beside its messages.
func (m sizes) fixed() int { return m.system + m.tools + m.recalled }

// corrected is an estimate in real tokens.
func (m sizes) corrected(n int) int { return int(math.Ceil(float64(n) * m.ratio)) }

// budget is the room for messages, by the estimate.
func (m sizes) budget() int { return int(float64(m.window-m.reply)/m.ratio) - m.fixed() }

// Size is what a request takes, in tokens corrected by what the provider counted
// before, and the room that there is.
type Size struct {
	// System, Tools and Recalled are in every request; Full is all of it.
	System, Tools, Recalled, Full int
	Window, Reply, Trigger        int
	// Ratio is by how much an estimate is corrected.
	Ratio float64
}

// Measure tells the size of the request for v, without recalling anything: what
// was recalled last counts.
func Measure(in In, v View) Size {
	m := measure(in, v, situation(in, nil))
	if last := lastSent(in, ""); last != nil {
		m.full += max(0, last.Sent.Recalled-m.recalled)
		m.recalled = max(m.recalled, last.Sent.Recalled)
	}
	return Size{
		System: m.corrected(m.system), Tools: m.corrected(m.tools), Recalled: m.corrected(m.recalled), Full: m.corrected(m.full),
		Window: m.window, Reply: m.reply, Trigger: m.trigger, Ratio: m.ratio,
	}
}

// Ratio is by how much an estimate has to be corrected for the model of in, by
// what its provider counted for the newest of its answers; 1 if that is unknown.
func Ratio(in In) float64 {
	m := lastSent(in, in.Info.ID)
	if m == nil {
		return 1
	}
	guess := m.Sent.System + m.Sent.Recalled + m.Sent.Tools + m.Sent.Messages
	r := float64(m.Usage.Input) / float64(guess)
	if r > unbelievable || r < 1/unbelievable {
		return 1
	}
	return min(max(r, leastRatio), mostRatio)
}

// lastSent returns the newest answer of which it is known what was sent and what
// the provider counted; id is that of the model, empty for any.
func lastSent(in In, id string) *harness.Message {
	for i := range in.Turn {
		if m := &in.Turn[len(in.Turn)-1-i]; counted(m, id) {
			return m
		}
	}
	for i := 0; i < len(in.History) && i < maxSearch; i++ {
		if m := in.History[len(in.History)-1-i].Message; m != nil && counted(m, id) {
			return m
		}
	}
	return nil
}

func counted(m *harness.Message, id string) bool {
	return m.Role == harness.RoleAssistant && m.Sent != nil && m.Usage != nil && !m.Usage.Incomplete && (id == "" || m.Model == id) &&
		m.Usage.Input >= leastCounted/2 && m.Sent.System+m.Sent.Recalled+m.Sent.Tools+m.Sent.Messages >= leastCounted
}
