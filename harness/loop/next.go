package loop

import (
	"encoding/json"
	"fmt"

	"cairn/harness"
)

// Why the loop adds a message of its own, in [Note] and [Noted].
const (
	// ReasonText is that a reply was cut at its token budget.
	ReasonText = "truncated_text"
	// ReasonEmpty is that a reply was empty.
	ReasonEmpty = "empty_reply"
	// ReasonSteps is that the limit of steps is reached.
	ReasonSteps = "iteration_limit"
	// ReasonInterrupted is that a stop left half a reply.
	ReasonInterrupted = "interrupted"
	// ReasonRepetition is that the model makes the same calls again and again.
	ReasonRepetition = "repetition"
	// ReasonPlan is that a turn is about to end with a task list that is not.
	ReasonPlan = "unfinished_plan"
)

// What the loop says to the model in its own messages.
const (
	noteGoOn    = "Your reply was cut at its length limit. Go on exactly where it stopped, without repeating anything."
	noteEmpty   = "Your reply was empty. Answer the last message, in words or with a tool call."
	noteSteps   = "This turn has reached its limit of steps. Give your final account now, without tools: what is done, what you found, and what is left."
	noteResume  = "Your last reply was interrupted before its end. Go on exactly where it stopped, without repeating anything."
	noteRepeat  = "You have called the same tools (%s) with the same arguments three times over, and each time they returned the same. Once more will not change that: try another way, or say what keeps you from going on."
	notePlan    = "Your task list still has %s. If the work is done, bring the list up to date. If it is not, go on with it, or say in a sentence what is left and why."
	noteNothing = "the call began and was interrupted; whether it took effect is unknown"
	noteNever   = "not run: the turn was stopped before this call"
	noteTried   = "it began before and was interrupted, so it may have taken effect"
	// noteDeclined says that a person refused; their reason follows.
	noteDeclined = "permission denied by the person"
)

// GoesOn reports whether a message of the loop asks the model to go on within an
// answer: what comes next belongs to the text before without any break.
func GoesOn(m harness.Message) bool {
	text := m.Text()
	return m.Mark == harness.MarkNotice && (text == noteGoOn || text == noteResume)
}

// Next returns what must happen before the next record can exist.
func (s State) Next() Command {
	if s.status != harness.RunRunning {
		return Done{}
	}
	if cmd := s.nextCalls(); cmd != nil {
		return cmd
	}
	if cmd := s.nextSaid(); cmd != nil {
		return cmd
	}
	switch s.want {
	case wantNote:
		return s.note
	case wantRest:
		return s.rest
	default:
		return CallModel{Step: s.steps + 1, Grow: s.cuts, NoTools: s.final, Condense: s.mayCondense(), More: s.more && s.mayCondense()}
	}
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
		records = append(records, Noted{Reason: ReasonInterrupted, Message: notice(noteResume)})
	}
	return records
}

// Cancel returns the records that end a run: the half answer becomes a message
// marked interrupted (out of the context if off), open calls get results that
// say what is known, so that every provider accepts the history, what was said
// into the run and not heard becomes part of it, and the run is closed.
func Cancel(s State, partial *harness.Partial, model string, off bool, stop harness.StopReason) []Record {
	var records []Record
	if half, ok := HalfAnswer(partial, model); ok {
		records = append(records, Cut{Message: half, Off: off})
	}
	for _, c := range s.calls {
		if !c.ended {
			records = append(records, Ended{Message: Result(c.ToolCall, s.unfinished(c), true, c.tried)})
		}
	}
	records = append(records, s.deliverAll()...)
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
