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

// The verdicts on a call, as [Judged] has them.
const (
	verdictAllow = "allow"
	verdictAsk   = "ask"
	verdictLater = "later"
)

// call is one tool call of the last answer.
type call struct {
	harness.ToolCall

	verdict    string
	reason     string
	rule       string
	unasked    bool
	sequential bool
	proposal   *harness.Proposal
	digest     string
	// approved is the digest that a person agreed to.
	approved string
	// declined says that a person refused, with the reason in reason.
	declined   bool
	began      bool
	repeatable bool
	doubt      bool
	ended      bool
}

// State is a run so far. The zero value is a run before its first record.
type State struct {
	config   harness.RunConfig
	messages []harness.Message
	calls    []call
	unasked  []harness.Pending
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
}

// Step is the transition function: the state after r, and what to do next.
// The state given is left as it was.
func Step(s State, r Record) (State, Command) {
	s.messages = slices.Clip(s.messages)
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
func (s State) Messages() []harness.Message { return slices.Clone(s.messages) }

// Config returns the configuration the run began with.
func (s State) Config() harness.RunConfig { return s.config }

// Status returns where the run stands.
func (s State) Status() harness.RunStatus { return s.status }

// Steps returns how many model calls were answered.
func (s State) Steps() int { return s.steps }

// Attempts returns the number of the last model attempt that was answered.
// Attempts that failed count too, so it is at least [State.Steps].
func (s State) Attempts() int { return s.attempts }

// Call returns the call with the id among those of the last answer, or one with
// only the id.
func (s State) Call(id string) harness.ToolCall {
	for _, c := range s.calls {
		if c.ID == id {
			return c.ToolCall
		}
	}
	return harness.ToolCall{ID: id}
}

// Pending returns the decisions that the run rests for, or is about to: none
// while something else can go on.
func (s State) Pending() []harness.Pending {
	if s.status == harness.RunAwaiting {
		return s.Waiting()
	}
	s.status = harness.RunRunning
	if rest, ok := s.Next().(Rest); ok && rest.Status == harness.RunAwaiting {
		return rest.Pending
	}
	return nil
}

// Waiting returns what a person has to decide about the calls of the last
// answer, whatever else can go on meanwhile.
func (s State) Waiting() []harness.Pending {
	var list []harness.Pending
	for _, c := range s.calls {
		if !c.ended && !c.declined && (c.uncertain() || c.verdict == verdictAsk && c.approved == "") {
			list = append(list, c.pending(c.uncertain()))
		}
	}
	return list
}

// Unasked returns the calls that were denied because nobody could be asked.
func (s State) Unasked() []harness.Pending { return slices.Clone(s.unasked) }

// Before returns the calls of the last answer before the one with the id that
// have not ended.
func (s State) Before(id string) []harness.ToolCall {
	var open []harness.ToolCall
	for _, c := range s.calls {
		if c.ID == id {
			break
		}
		if !c.ended {
			open = append(open, c.ToolCall)
		}
	}
	return open
}

// Approved returns the digest that a person agreed to for the call, empty if
// nobody did.
func (s State) Approved(id string) string {
	for _, c := range s.calls {
		if c.ID == id {
			return c.approved
		}
	}
	return ""
}

// Answer returns the text of the turn's last assistant message.
func (s State) Answer() string {
	for _, m := range slices.Backward(s.messages) {
		if m.Role == harness.RoleAssistant {
			return m.Text()
		}
	}
	return ""
}

func (s *State) apply(r Record) {
	switch r := r.(type) {
	case Started:
		*s = State{config: r.Config, status: harness.RunRunning, messages: []harness.Message{r.Message}}
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
		s.update(r.CallID, func(c *call) { c.began, c.repeatable, c.doubt = true, r.Repeatable, false })
	case Ended:
		s.ended(r)
	case Noted:
		s.messages = append(s.messages, r.Message)
		s.want = wantModel
	case Cut:
		if !r.Off {
			s.messages = append(s.messages, r.Message)
		}
	case Resumed:
		s.resumed()
	case Rested:
		s.status = r.Status
	}
}

func (s *State) update(id string, f func(*call)) {
	for i := range s.calls {
		if s.calls[i].ID == id {
			f(&s.calls[i])
		}
	}
}

func (s *State) ended(r Ended) {
	s.messages = append(s.messages, r.Message)
	for _, p := range r.Message.Parts {
		if p.Result != nil {
			s.update(p.Result.CallID, func(c *call) { c.ended = true })
		}
	}
	for i := range s.calls {
		if s.calls[i].verdict == verdictLater {
			s.calls[i].verdict = ""
		}
	}
}

// judged takes a verdict in. Consent given before counts on if it was given to
// the very same thing.
func (s *State) judged(r Judged) {
	s.update(r.CallID, func(c *call) {
		c.verdict, c.reason, c.rule, c.unasked = r.Permission, r.Reason, r.Rule, r.Unasked
		c.sequential, c.proposal, c.digest = r.Sequential, r.Proposal, r.Digest
		if c.approved != r.Digest {
			c.approved = ""
		}
		if r.Unasked {
			s.unasked = append(s.unasked, c.pending(false))
		}
	})
}

// decided takes a person's decision in, if it is about what waits.
func (c *call) decided(r Decided) {
	switch {
	case r.Digest != c.digest:
	case r.Approved:
		c.approved = r.Digest
	default:
		c.declined, c.reason = true, r.Reason
	}
}

func (c *call) pending(uncertain bool) harness.Pending {
	return harness.Pending{
		Call: c.ToolCall, Uncertain: uncertain, Reason: c.reason, Rule: c.rule, Proposal: c.proposal, Digest: c.digest,
	}
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
			c.verdict, c.reason = "", ""
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
	}
	if s.want != wantRest && s.steps >= s.limit() {
		s.final = true
		s.setNote("iteration_limit", noteSteps)
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
		s.setNote("truncated_text", noteGoOn)
	}
}

func (s *State) empty() {
	s.empties++
	if s.empties > MaxEmpty {
		s.fail(harness.StopEmpty, "empty_reply", "The model gave an empty reply three times; ask again or choose another model.")
		return
	}
	s.setNote("empty_reply", noteEmpty)
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
