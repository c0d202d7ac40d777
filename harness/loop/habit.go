package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
)

// Bounds of what counts as going round in circles.
const (
	// maxCycle is how many calls make up the longest circle that is seen, rounds
	// how often it is gone round before the model is told.
	maxCycle = 4
	rounds   = 3
	// maxLaps is how many calls are remembered.
	maxLaps = 64
)

// habit is what the calls of the turn were lately, so that a model that goes
// round in circles is told. The turn is never ended for it.
type habit struct {
	laps []lap
}

// lap is one call with what it returned.
type lap struct {
	name  string
	print [sha256.Size]byte
}

// lapOf returns what is remembered of a call and its result. White space in the
// arguments makes no difference.
func lapOf(c harness.ToolCall, r harness.ToolResult) lap {
	var input bytes.Buffer
	if err := json.Compact(&input, c.Input); err != nil {
		input.Reset()
		input.Write(c.Input)
	}
	h := sha256.New()
	for _, s := range []string{c.Name, input.String(), c.Malformed, r.Text} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s), s) // a hash takes anything
	}
	l := lap{name: c.Name}
	h.Sum(l.print[:0])
	return l
}

// remember takes the calls of an answer in, in their order, and returns the names
// of those in a circle that was gone round often enough; then it begins anew.
func (h *habit) remember(calls []call) []string {
	for _, c := range calls {
		h.laps = append(h.laps, c.lap)
		if n := h.circle(); n > 0 {
			var names []string
			for _, l := range h.laps[len(h.laps)-n:] {
				if !slices.Contains(names, l.name) {
					names = append(names, l.name)
				}
			}
			h.laps = nil
			return names
		}
	}
	if n := len(h.laps); n > maxLaps {
		h.laps = h.laps[n-maxLaps:]
	}
	return nil
}

// circle returns the length of the circle in which the last calls went, 0 if
// there is none.
func (h *habit) circle() int {
	for n := 1; n <= maxCycle && n*rounds <= len(h.laps); n++ {
		last := h.laps[len(h.laps)-n*rounds:]
		same := true
		for i := n; i < len(last) && same; i++ {
			same = last[i] == last[i-n]
		}
		if same {
			return n
		}
	}
	return 0
}

// habits looks at the calls of the last answer once all of them have ended.
func (s *State) habits() {
	if slices.ContainsFunc(s.calls, func(c call) bool { return !c.ended }) {
		return
	}
	if names := s.remember(s.calls); len(names) > 0 && s.want == wantModel {
		s.setNote(ReasonRepetition, fmt.Sprintf(noteRepeat, clip(strings.Join(names, ", "), 200)))
	}
}
