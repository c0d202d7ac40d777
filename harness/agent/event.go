package agent

import (
	"time"

	"cairn/harness"
	"cairn/harness/loop"
)

// EventOf returns the event that tells watchers of record r, stored in a run
// whose state before it is s; ok is false for records that nobody watches. A
// run that rests is told by the driver, which knows the whole result.
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
		e.Type, e.Text, e.Message = harness.EventRecovery, r.Reason, &r.Message
	case loop.Cut:
		e.Type, e.Message = harness.EventMessage, &r.Message
	default:
		return e, false
	}
	return e, true
}
