package loop

import (
	"slices"

	"cairn/harness"
)

// want says what an answer has led to, once its calls are settled.
type want int

const (
	wantModel want = iota
	wantNote
	wantRest
)

// State is a run so far. The zero value is a run before its first record.
type State struct {
	config   harness.RunConfig
	question string
	messages []harness.Message
	calls    []call
	unasked  []harness.Pending
	ran      []string
	files    bool
	refuse   string
	want     want
	note     Note
	rest     Rest
	status   harness.RunStatus
	steps    int
	attempts int
	cuts     int
	empties  int
	pauses   int
	final    bool

	speech
	condensing
	habit
	plan
	steering
}

// Step is the transition function: the state after r, and what to do next.
// The state given is left as it was.
func Step(s State, r Record) (State, Command) {
	s.messages, s.unasked, s.ran = slices.Clip(s.messages), slices.Clip(s.unasked), slices.Clip(s.ran)
	s.laps = slices.Clip(s.laps)
	s.calls = slices.Clone(s.calls)
	s.apply(r)
	return s, s.Next()
}

// Fold returns the state that records lead to.
func Fold(records ...Record) State {
	var s State
	for _, r := range records {
		s.apply(r)
	}
	return s
}

// Messages returns the messages of the turn that are in context, oldest first.
// What was condensed is not among them.
func (s State) Messages() []harness.Message { return slices.Clone(s.messages) }

// Count returns how many messages of the turn are in context.
func (s State) Count() int { return len(s.messages) }

// Config returns the configuration the run began with.
func (s State) Config() harness.RunConfig { return s.config }

// Question returns the words that the turn began with, also if they were condensed.
func (s State) Question() string { return s.question }

// Status returns where the run stands.
func (s State) Status() harness.RunStatus { return s.status }

// Steps returns how many model calls were answered.
func (s State) Steps() int { return s.steps }

// Attempts returns the number of the last model attempt that was answered.
// Attempts that failed count too, so it is at least [State.Steps].
func (s State) Attempts() int { return s.attempts }

func (s *State) apply(r Record) {
	switch r := r.(type) {
	case Started:
		*s = State{
			config: r.Config, question: r.Message.Text(), status: harness.RunRunning, messages: []harness.Message{r.Message},
			files: hasFile(r.Message),
		}
	case Answered:
		s.answered(r)
	case Judged:
		s.judged(r)
	case Decided:
		s.update(r.CallID, func(c *call) { c.decided(r) })
	case Resolved:
		if r.How == harness.DecideRetry {
			s.update(r.CallID, func(c *call) { c.began, c.doubt = false, false })
		}
	case Began:
		s.update(r.CallID, func(c *call) { c.began, c.tried, c.repeatable, c.doubt = true, true, r.Repeatable, false })
	case Ended:
		s.ended(r)
	case Noted:
		s.noted(r)
	case Condensed:
		s.condense(r)
	case Uncondensed:
		s.spent = true
	case Cut:
		if !r.Off {
			s.messages = append(s.messages, r.Message)
			s.say(r.Message)
		}
	case Steered:
		s.steered(r)
	case Delivered:
		s.delivered(r)
	case Resumed:
		s.resumed()
	case Rested:
		s.status = r.Status
	}
}

// noted takes a message of the loop in.
func (s *State) noted(r Noted) {
	s.messages = append(s.messages, r.Message)
	s.want = wantModel
	s.settled = s.settled || r.Reason == ReasonPlan
	s.goOn(r.Reason)
}

// resumed puts in doubt what had begun, and gives every recovery its full
// number of tries again: a run that failed after its last try is not worth
// resuming otherwise. What was not decided by a person is judged again, because
// the rules may have changed meanwhile.
func (s *State) resumed() {
	s.status = harness.RunRunning
	s.cuts, s.empties, s.pauses = 0, 0, 0
	if s.want == wantRest && s.rest.Status != harness.RunCompleted {
		s.want = wantModel
	}
	for i := range s.calls {
		c := &s.calls[i]
		c.doubt = c.doubt || (c.began && !c.ended)
		if !c.ended && !c.declined {
			c.verdict, c.reason, c.unasked = "", "", false
		}
	}
}

// answered takes a reply in and decides what its stop reason leads to. Calls
// are honoured whatever the reason says, unless the reply was cut or refused.
func (s *State) answered(r Answered) {
	s.steps++
	s.attempts = max(s.attempts+1, r.Attempt)
	s.calls, s.refuse, s.want = nil, "", wantModel
	if r.Message != nil {
		s.messages = append(s.messages, *r.Message)
		s.say(*r.Message)
		for _, c := range r.Message.Calls() {
			s.calls = append(s.calls, call{ToolCall: c})
		}
	}
	asked := len(s.calls) > 0
	switch {
	case s.final:
		s.refuse = "not run: the step limit of this turn is reached"
		s.finish(harness.StopSteps)
	case r.Stop == harness.StopRefusal || r.Stop == harness.StopSafety:
		s.refuse = "not run: the reply was stopped by the provider (" + string(r.Stop) + ")"
		s.finish(r.Stop)
	case r.Stop == harness.StopLength:
		s.truncated(asked)
	case r.Message == nil:
		s.empty()
	case r.Stop == harness.StopPause:
		s.paused()
	case !asked:
		s.finish(r.Stop)
		s.settlePlan()
	}
	if s.want != wantRest && s.steps-s.since >= s.limit() {
		s.final = true
		s.setNote(ReasonSteps, noteSteps)
	}
}

func (s *State) limit() int {
	if s.config.MaxSteps > 0 {
		return s.config.MaxSteps
	}
	return DefaultSteps
}

func (s *State) truncated(asked bool) {
	s.cuts++
	if asked {
		s.refuse = "not run: the reply was cut at its token budget, so the arguments may be incomplete; make the call again, smaller"
	}
	switch {
	case s.cuts > MaxTruncations:
		s.finish(harness.StopLength)
	case !asked:
		s.setNote(ReasonText, noteGoOn)
	}
}

func (s *State) empty() {
	s.empties++
	if s.empties > MaxEmpty {
		s.fail(harness.StopEmpty, "empty_reply", "The model gave an empty reply three times; ask again or choose another model.")
		return
	}
	s.setNote(ReasonEmpty, noteEmpty)
}

func (s *State) paused() {
	s.pauses++
	if s.pauses > MaxPauses {
		s.fail(harness.StopPause, "paused_turn", "The provider paused the reply again and again; ask again later.")
	}
}

func (s *State) setNote(reason, text string) {
	s.want, s.note = wantNote, Note{Reason: reason, Text: text}
}

func (s *State) finish(stop harness.StopReason) {
	s.want, s.rest = wantRest, Rest{Status: harness.RunCompleted, Stop: stop}
}

func (s *State) fail(stop harness.StopReason, kind, text string) {
	s.want = wantRest
	s.rest = Rest{Status: harness.RunFailed, Stop: stop, Error: &harness.RunError{Kind: kind, Text: text}}
}
