package loop

import (
	"reflect"
	"slices"

	"cairn/harness"
)

// The verdicts on a call, as [Judged] has them.
const (
	verdictAllow = "allow"
	verdictAsk   = "ask"
	verdictDeny  = "deny"
	verdictLater = "later"
)

// call is one tool call of the last answer.
type call struct {
	harness.ToolCall

	verdict    string
	reason     string
	rule       string
	unasked    bool
	impossible bool
	sequential bool
	proposal   *harness.Proposal
	digest     string
	// tool is the fingerprint of the tool that was judged.
	tool string
	// approved is the digest that a person agreed to.
	approved string
	// changed says that they agreed to something that it is no longer.
	changed bool
	// declined says that a person refused, with the reason in reason.
	declined bool
	// began says that the call runs or ran, tried that it ever did: a person
	// may have let it run again.
	began, tried bool
	repeatable   bool
	// doubt says that it began in an earlier stretch, which did not see it end.
	doubt bool
	ended bool
	// lap is what is remembered of it once it has ended.
	lap lap
}

// uncertain reports whether the call began, nobody saw it end, and it may not
// simply run again.
func (c *call) uncertain() bool { return c.doubt && !c.repeatable }

// waits reports whether a person has to say something about the call.
func (c *call) waits() bool {
	switch {
	case c.ended, c.declined:
		return false
	case c.uncertain():
		return true
	default:
		return c.verdict == verdictAsk && c.approved == ""
	}
}

func (c *call) runnable() bool {
	return !c.uncertain() && (c.verdict == verdictAllow || c.verdict == verdictAsk && c.approved != "")
}

func (c *call) pending(uncertain bool) harness.Pending {
	return harness.Pending{
		Call: c.ToolCall, Uncertain: uncertain, Reason: c.reason, Rule: c.rule, Proposal: c.proposal, Digest: c.digest,
		Changed: c.changed && !uncertain,
	}
}

// judged takes a verdict in. Consent given before counts on if it was given to
// the very same thing.
func (s *State) judged(r Judged) {
	s.update(r.CallID, func(c *call) {
		c.verdict, c.reason, c.rule, c.unasked = r.Permission, r.Reason, r.Rule, r.Unasked
		c.sequential, c.impossible = r.Sequential, r.Impossible
		if r.Proposal != nil || r.Digest != c.digest {
			c.proposal = r.Proposal // else it is the same, and was left out
		}
		c.digest, c.tool = r.Digest, r.Tool
		if r.Permission == verdictAsk && c.approved != r.Digest {
			c.approved, c.changed = "", c.changed || c.approved != ""
		}
		if r.Permission == "" || r.Permission == verdictLater && len(s.Before(r.CallID)) == 0 {
			// It would be judged again, or wait for nothing, for ever.
			c.verdict, c.reason = verdictDeny, "the call could not be judged"
		}
	})
}

// Trim returns the verdict r without its proposal, if that is the one of the
// verdict before, so that it is stored once however often a call is judged.
func (s State) Trim(r Judged) Judged {
	if c := s.find(r.CallID); r.Digest == c.digest && reflect.DeepEqual(r.Proposal, c.proposal) {
		r.Proposal = nil
	}
	return r
}

// decided takes a person's decision in, if it is about what waits.
func (c *call) decided(r Decided) {
	switch {
	case !c.waits(), c.uncertain(), r.Digest != c.digest:
	case r.Approved:
		c.approved = r.Digest
	default:
		c.declined, c.reason = true, r.Reason
	}
}

// ended takes a call's result in. What waited for it is judged now.
func (s *State) ended(r Ended) {
	s.messages = append(s.messages, r.Message)
	for _, p := range r.Message.Parts {
		if p.Result == nil {
			continue
		}
		s.update(p.Result.CallID, func(c *call) {
			c.ended, c.lap = true, lapOf(c.ToolCall, *p.Result)
			s.listed(c.ToolCall, *p.Result)
			if c.tried {
				s.ran = append(s.ran, c.Name)
			}
			if c.unasked {
				s.unasked = append(s.unasked, c.pending(false))
			}
		})
	}
	for i := range s.calls {
		if s.calls[i].verdict == verdictLater {
			s.calls[i].verdict = ""
		}
	}
	s.habits()
}

func (s *State) update(id string, f func(*call)) {
	for i := range s.calls {
		if s.calls[i].ID == id {
			f(&s.calls[i])
		}
	}
}

// nextCalls returns what the calls of the last answer need, nil if all have
// ended: first those that nobody runs are answered, then all are judged, then
// what may run runs, at the same time unless one of them must not, and only
// then the run waits for a person.
func (s State) nextCalls() Command {
	var open []call
	for _, c := range s.calls {
		if c.ended {
			continue
		}
		if text, ok := s.refused(c); ok {
			if c.tried {
				text += "; " + noteTried
			}
			return Settle{Call: c.ToolCall, Text: text, Unknown: c.tried}
		}
		open = append(open, c)
	}
	for _, c := range open {
		if !c.uncertain() && c.verdict == "" {
			return Judge{Call: c.ToolCall}
		}
	}
	return s.dispatch(open)
}

// refused returns why a call is not run, if it is not.
func (s State) refused(c call) (text string, ok bool) {
	switch {
	case s.refuse != "":
		return s.refuse, true
	case c.Malformed != "":
		return "not run: the arguments are not a JSON object: " + clip(c.Malformed, 200), true
	case c.uncertain(), c.verdict == "":
		return "", false
	case c.declined && c.reason != "":
		return noteDeclined + ": " + c.reason, true
	case c.declined:
		return noteDeclined, true
	case c.verdict == verdictDeny && c.impossible:
		return "not run: " + c.reason, true
	case c.verdict != verdictAllow && c.verdict != verdictAsk && c.verdict != verdictLater:
		return "permission denied: " + c.reason, true
	default:
		return "", false
	}
}

// unfinished says what is known of a call that a stop leaves without an end.
func (s State) unfinished(c call) string {
	if c.tried {
		return noteNothing
	}
	if text, ok := s.refused(c); ok {
		return text
	}
	return noteNever
}

// dispatch returns the calls that may run now, or the rest in which the run
// waits for a person.
func (s State) dispatch(open []call) Command {
	if len(open) == 0 {
		return nil
	}
	may := open
	if s.sequential() {
		may = open[:1]
	}
	var run []harness.ToolCall
	for _, c := range may {
		if c.runnable() {
			run = append(run, c.ToolCall)
		}
	}
	if len(run) > 0 {
		return Exec{Calls: run}
	}
	return Rest{Status: harness.RunAwaiting, Pending: s.Waiting()}
}

// sequential reports whether a call of the answer must not run beside others.
func (s State) sequential() bool {
	return slices.ContainsFunc(s.calls, func(c call) bool { return c.sequential })
}

// find returns the call with the id among those of the last answer, or one with
// only the id.
func (s State) find(id string) call {
	for _, c := range s.calls {
		if c.ID == id {
			return c
		}
	}
	return call{ToolCall: harness.ToolCall{ID: id}}
}

// Call returns the call with the id among those of the last answer, or one with
// only the id.
func (s State) Call(id string) harness.ToolCall { return s.find(id).ToolCall }

// Approved returns the digest that a person agreed to for the call, empty if
// nobody did.
func (s State) Approved(id string) string { return s.find(id).approved }

// Tried reports whether the call began once, in this stretch or an earlier one:
// it may have taken effect.
func (s State) Tried(id string) bool { return s.find(id).tried }

// Tool returns the fingerprint of the tool that the call was last judged with.
func (s State) Tool(id string) string { return s.find(id).tool }

// Ran returns the names of the turn's calls that began and have a result. What
// was refused, and the answer to a question, are not among them.
func (s State) Ran() []string { return slices.Clone(s.ran) }

// Files reports whether files came with the message of the turn.
func (s State) Files() bool { return s.files }

func hasFile(m harness.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p harness.Part) bool { return p.File != nil })
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
		if c.waits() {
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
