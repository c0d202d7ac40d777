package loop

import (
	"slices"

	"cairn/harness"
)

type (
	// Steered is what a person said into the run. It waits, and changes nothing of
	// the conversation, until it is delivered: the run may be in the middle of a
	// call. The same ID again is nothing new.
	Steered struct {
		ID      string          `json:"id"`
		Message harness.Message `json:"message"`
	}
	// Delivered puts what was said into the conversation. It comes before a model
	// call, or before the end of a run that is not to go on.
	Delivered struct {
		ID      string          `json:"id"`
		Message harness.Message `json:"-"`
	}
	// Deliver puts what a person said first into the conversation. Its outcome is
	// [Delivered].
	Deliver struct{ Steered }
)

func (Steered) record()   {}
func (Delivered) record() {}
func (Deliver) command()  {}

// Record returns the outcome of the command.
func (d Deliver) Record() Delivered { return Delivered{ID: d.ID, Message: d.Message} }

// steering is what people said into the run.
type steering struct {
	// waits is what was not delivered yet, oldest first; heard are the ids of all.
	waits []Steered
	heard []string
	// since is how many model calls were answered before the last delivery: the
	// limit of steps counts from there, as it does from a message.
	since int
}

// steered takes in what a person said.
func (s *State) steered(r Steered) {
	if slices.Contains(s.heard, r.ID) {
		return
	}
	s.heard = append(slices.Clip(s.heard), r.ID)
	s.waits = append(slices.Clip(s.waits), r)
}

// delivered takes in that the model is told it next. The turn goes on whatever the
// last answer led to, with as many tries and steps as after a message.
func (s *State) delivered(r Delivered) {
	s.waits = slices.DeleteFunc(slices.Clone(s.waits), func(w Steered) bool { return w.ID == r.ID })
	s.messages = append(s.messages, r.Message)
	s.want, s.final, s.since = wantModel, false, s.steps
	s.cuts, s.empties, s.pauses = 0, 0, 0
	s.lead, s.base = "", ""
}

// Said returns what people said into the run that waits to be delivered, oldest
// first.
func (s State) Said() []Steered { return slices.Clone(s.waits) }

// Calls reports whether a model call comes next or is under way: what was said
// since it began waits for its answer.
func (s State) Calls() bool {
	s.waits = nil
	_, ok := s.Next().(CallModel)
	return ok
}

// nextSaid returns what delivers what was said first, nil if nothing is to be
// delivered now. All calls have ended.
func (s State) nextSaid() Command {
	if len(s.waits) == 0 || !s.hears() {
		return nil
	}
	return Deliver{s.waits[0]}
}

// hears reports whether a person's words may come next. They do not come between
// the parts of an answer that goes on exactly where it stopped, and a failure is
// first of all for whoever resumes the run. What the loop would only say because
// the turn is about to end need not be said.
func (s State) hears() bool {
	switch s.want {
	case wantNote:
		return s.note.Reason != ReasonText && s.note.Reason != ReasonRepetition
	case wantRest:
		return s.rest.Status == harness.RunCompleted
	case wantModel:
		n := len(s.messages)
		return n == 0 || !GoesOn(s.messages[n-1]) && s.messages[n-1].Role != harness.RoleAssistant
	default:
		return false
	}
}

// deliverAll returns the records that put all that waits into the conversation of a
// run that ends.
func (s State) deliverAll() []Record {
	var records []Record
	for _, w := range s.waits {
		records = append(records, Deliver{w}.Record())
	}
	return records
}
