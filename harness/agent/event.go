package agent

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/tool/recall"
)

// EventsOf returns everything that record r, stored in a run whose state before
// it is s, tells watchers, in order. Only the first event is an acknowledgement:
// those after it are for the eye.
func EventsOf(s loop.State, r loop.Record, at Stored, when time.Time) []harness.Event {
	var events []harness.Event
	if e, ok := EventOf(s, r, at, when); ok {
		events = append(events, e)
	}
	if rested, ok := r.(loop.Rested); ok && rested.Status == harness.RunAwaiting {
		for i, p := range s.Waiting() {
			if i > 0 {
				events = append(events, asks(harness.Event{At: when}, p))
			}
		}
	}
	if answered, ok := r.(loop.Answered); ok {
		if text := broken(answered); text != "" {
			events = append(events, harness.Event{Type: harness.EventRecovery, Text: text, At: when})
		}
	}
	if ended, ok := r.(loop.Ended); ok {
		if text := remembered(ended.Message); text != "" {
			events = append(events, harness.Event{Type: harness.EventMemory, Text: text, At: when})
		}
	}
	return events
}

// EventOf returns the event that acknowledges record r, stored in a run whose
// state before it is s; ok is false for records that nobody watches. A run that
// rests is told by the driver, which knows the whole result; only the decisions
// that it waits for are told here.
func EventOf(s loop.State, r loop.Record, at Stored, when time.Time) (e harness.Event, ok bool) {
	e = harness.Event{Seq: at.Seq, Record: at.Record, At: when}
	switch r := r.(type) {
	case loop.Started:
		e.Type, e.Message = harness.EventRunStarted, &r.Message
	case loop.Answered:
		if r.Message == nil {
			return e, false
		}
		e.Type, e.Message, e.Attempt = harness.EventMessage, r.Message, r.Attempt
	case loop.Began:
		c := s.Call(r.CallID)
		e.Type, e.Call = harness.EventToolStart, &c
	case loop.Ended:
		e.Type, e.Message = harness.EventToolResult, &r.Message
		if len(r.Message.Parts) == 1 {
			e.Result = r.Message.Parts[0].Result
		}
	case loop.Noted:
		e.Type, e.Text, e.Message = harness.EventRecovery, mended(r.Reason), &r.Message
	case loop.Steered:
		e.Type, e.Message, e.Steer = harness.EventSteered, &r.Message, r.ID
	case loop.Delivered:
		e.Type, e.Message, e.Steer = harness.EventMessage, &r.Message, r.ID
	case loop.Cut:
		e.Type, e.Message = harness.EventMessage, &r.Message
	case loop.Condensed:
		e.Type, e.Text, e.Condensed = harness.EventCondensed, toldOf(r.Condensed), &r.Condensed
	case loop.Uncondensed:
		if r.Reason == "" {
			return e, false
		}
		e.Type, e.Text = harness.EventRecovery, r.Reason
	case loop.Decided:
		c := s.Call(r.CallID)
		e.Type, e.Call, e.Text = harness.EventDecided, &c, decided(r)
	case loop.Resolved:
		c := s.Call(r.CallID)
		e.Type, e.Call, e.Text = harness.EventDecided, &c, resolved(r)
	case loop.Rested:
		if pending := s.Waiting(); r.Status == harness.RunAwaiting && len(pending) > 0 {
			return asks(e, pending[0]), true
		}
		return e, false
	default:
		return e, false
	}
	return e, true
}

// asks tells of a decision that a run rests for.
func asks(e harness.Event, p harness.Pending) harness.Event {
	e.Type, e.Call, e.Text, e.Pending = harness.EventApproval, &p.Call, p.Reason, &p
	switch {
	case p.Uncertain:
		e.Type = harness.EventUncertain
	case p.Question():
		e.Type = harness.EventQuestion
	}
	return e
}

// decided says what a person decided about a call.
func decided(r loop.Decided) string {
	switch {
	case r.Approved && r.Scope != harness.ScopeOnce && r.Rule != "":
		return by("approved", r.By) + ", with the rule " + r.Rule + " (" + string(r.Scope) + ")"
	case r.Approved:
		return by("approved", r.By)
	case r.Reason != "":
		return by("declined", r.By) + ": " + r.Reason
	default:
		return by("declined", r.By)
	}
}

// resolved says what a person said about an uncertain call or a question.
func resolved(r loop.Resolved) string {
	word, ok := map[harness.DecisionHow]string{
		harness.DecideAnswer: "answered",
		harness.DecideResult: "given a result",
		harness.DecideRetry:  "let run again",
		harness.DecideAbort:  "turn aborted",
	}[r.How]
	if !ok {
		word = string(r.How)
	}
	return by(word, r.By)
}

func by(text, who string) string {
	if who == "" {
		return text
	}
	return text + " by " + who
}

// remembered returns the line that tells of a fact or note which the message, a
// tool's result, says was written: "remembered f12: (general) Likes tea",
// "updated f12 to v2: …" or "forgot n3: …". It is empty if nothing was.
func remembered(m harness.Message) string {
	for _, p := range m.Parts {
		if p.Result == nil || p.Result.Failed {
			continue
		}
		if text := written(p.Result.Name, p.Result.Text); text != "" {
			return text
		}
	}
	return ""
}

// written returns the line of one result.
func written(name, text string) string {
	var word, begins string
	switch name {
	case recall.SaveTool:
		word, begins = "remembered", recall.Saved
	case recall.UpdateTool:
		word, begins = "updated", recall.Updated
	case recall.ForgetTool:
		word, begins = "forgot", recall.Forgotten
	default:
		return ""
	}
	text, ok := strings.CutPrefix(text, begins)
	if !ok {
		return ""
	}
	text, more, _ := strings.Cut(text, "\n")
	// "[fact/f12] …" and "[note/n3] …" name what was written.
	if mark, rest, ok := strings.Cut(text, "] "); ok {
		if _, id, ok := strings.Cut(mark, "/"); ok {
			if version, ok := recall.Version(more); ok && name == recall.UpdateTool {
				id = fmt.Sprintf("%s to v%d", id, version)
			}
			return word + " " + id + ": " + rest
		}
	}
	return word + ": " + text
}

// broken says what comes of an answer that is whole and yet not the end, where
// the loop adds no message that tells of it.
func broken(r loop.Answered) string {
	switch {
	case r.Message == nil:
		return ""
	case r.Stop == harness.StopLength && len(r.Message.Calls()) > 0:
		return "the answer was cut at the model's limit in the middle of a tool call, which is not run; asking again with more room"
	case r.Stop == harness.StopPause && len(r.Message.Calls()) == 0:
		return "the provider paused the answer; going on"
	default:
		return ""
	}
}

// mended says what the loop mended, in words for each of its reasons.
func mended(reason string) string {
	switch reason {
	case loop.ReasonInterrupted:
		return "going on from the half answer"
	case loop.ReasonSteps:
		return "the limit of steps is reached; asking for a final answer"
	case loop.ReasonText:
		return "the answer was cut at the model's limit; going on"
	case loop.ReasonEmpty:
		return "the model answered nothing; asking again"
	case loop.ReasonRepetition:
		return "the model goes round in circles; telling it so"
	case loop.ReasonPlan:
		return "the task list is not finished; asking about it once"
	}
	return strings.ReplaceAll(reason, "_", " ")
}
