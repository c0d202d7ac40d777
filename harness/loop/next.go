package loop

import (
	"encoding/json"
	"fmt"

	"cairn/harness"
)

// What the loop says to the model in its own messages.
const (
	noteGoOn    = "Your reply was cut at its length limit. Go on exactly where it stopped, without repeating anything."
	noteEmpty   = "Your reply was empty. Answer the last message, in words or with a tool call."
	noteSteps   = "This turn has reached its limit of steps. Give your final account now, without tools: what is done, what you found, and what is left."
	noteResume  = "Your last reply was interrupted before its end. Go on exactly where it stopped, without repeating anything."
	noteNothing = "the call began and was interrupted; whether it took effect is unknown"
	noteNever   = "not run: the turn was stopped before this call"
	// noteDeclined says that a person refused; their reason follows.
	noteDeclined = "permission denied by the person"
)

// Next returns what must happen before the next record can exist.
func (s State) Next() Command {
	if s.status != harness.RunRunning {
		return Done{}
	}
	if cmd := s.nextCalls(); cmd != nil {
		return cmd
	}
	switch s.want {
	case wantNote:
		return s.note
	case wantRest:
		return s.rest
	default:
		return CallModel{Step: s.steps + 1, Grow: s.cuts, NoTools: s.final}
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
			return Settle{Call: c.ToolCall, Text: text}
		}
		open = append(open, c)
	}
	for i, c := range open {
		if !c.uncertain() && (c.verdict == "" || c.verdict == verdictLater && i == 0) {
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
	case c.verdict != verdictAllow && c.verdict != verdictAsk && c.verdict != verdictLater:
		return "permission denied: " + c.reason, true
	default:
		return "", false
	}
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
	for _, c := range s.calls {
		if c.sequential {
			return true
		}
	}
	return false
}

// uncertain reports whether the call began, nobody saw it end, and it may not
// simply run again.
func (c *call) uncertain() bool { return c.doubt && !c.repeatable }

func (c *call) runnable() bool {
	return !c.uncertain() && (c.verdict == verdictAllow || c.verdict == verdictAsk && c.approved != "")
}

// Name turns a reply into a message that can be stored: its calls get ids that
// are unique in the store and legal for every provider, because providers
// repeat ids, leave them out or use characters that others refuse; the
// original id is kept in Origin. An empty reply gives nil.
func Name(run harness.RunID, step int, model string, parts []harness.Part, usage harness.Usage, used []string) *harness.Message {
	m := harness.Message{Role: harness.RoleAssistant, Model: model, Used: used}
	if usage != (harness.Usage{}) {
		m.Usage = &usage
	}
	n := 0
	for _, p := range parts {
		if p.Kind == harness.PartCall && p.Call != nil {
			c := *p.Call
			n++
			if c.Origin == "" {
				c.Origin = c.ID
			}
			c.ID = fmt.Sprintf("%s_%d_%d", run, step, n)
			switch {
			case len(c.Input) == 0 && c.Malformed == "":
				c.Input = json.RawMessage("{}")
			case len(c.Input) > 0 && !json.Valid(c.Input):
				// It could not be stored as it is, so the answer would be lost.
				c.Input, c.Malformed = nil, string(c.Input)
			}
			p.Call = &c
		}
		m.Parts = append(m.Parts, p)
	}
	if m.Empty() {
		return nil
	}
	return &m
}

// Resume returns the records that begin another stretch of a run of state s
// whose half answer is partial (nil if there is none).
func Resume(s State, how harness.ResumeHow, partial *harness.Partial, model string) []Record {
	records := []Record{Resumed{How: how}}
	half, ok := HalfAnswer(partial, model)
	if !ok {
		return records
	}
	records = append(records, Cut{Message: half, Off: how != harness.ResumeContinue})
	if how == harness.ResumeContinue {
		records = append(records, Noted{Reason: "interrupted", Message: notice(noteResume)})
	}
	return records
}

// Cancel returns the records that end a run: the half answer becomes a message
// marked interrupted (out of the context if off), open calls get results that
// say what is known, so that every provider accepts the history, and the run
// is closed.
func Cancel(s State, partial *harness.Partial, model string, off bool, stop harness.StopReason) []Record {
	var records []Record
	if half, ok := HalfAnswer(partial, model); ok {
		records = append(records, Cut{Message: half, Off: off})
	}
	for _, c := range s.calls {
		switch {
		case c.ended:
		case c.began:
			records = append(records, Ended{Message: Result(c.ToolCall, noteNothing, true, true)})
		default:
			records = append(records, Ended{Message: Result(c.ToolCall, noteNever, true, false)})
		}
	}
	return append(records, Rested{Status: harness.RunCancelled, Stop: stop})
}

// HalfAnswer returns partial as an assistant message marked interrupted; ok is
// false if there is no text to keep.
func HalfAnswer(partial *harness.Partial, model string) (m harness.Message, ok bool) {
	if partial == nil {
		return m, false
	}
	m = harness.Message{Role: harness.RoleAssistant, Model: model, Mark: harness.MarkInterrupted}
	if partial.Thinking != "" {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartThinking, Text: partial.Thinking})
	}
	if partial.Text != "" {
		m.Parts = append(m.Parts, harness.Part{Kind: harness.PartText, Text: partial.Text})
	}
	return m, !m.Empty()
}

// Result returns the tool message that answers c.
func Result(c harness.ToolCall, text string, failed, unknown bool) harness.Message {
	return harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{
		Kind:   harness.PartResult,
		Result: &harness.ToolResult{CallID: c.ID, Name: c.Name, Text: text, Failed: failed, Unknown: unknown},
	}}}
}

// Notice returns the message of a [Note].
func (n Note) Notice() harness.Message { return notice(n.Text) }

func notice(text string) harness.Message {
	m := harness.UserText(text)
	m.Mark = harness.MarkNotice
	return m
}

// clip returns at most n runes of s.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
