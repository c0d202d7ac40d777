package run

import (
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// entryOf returns the journal entry of a record.
func entryOf(r loop.Record, at time.Time) (Entry, error) {
	enc, err := loop.Encode(r)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{At: at, Kind: enc.Kind, Data: enc.Data, Message: enc.Message, Condensed: enc.Condensed}
	switch r := r.(type) {
	case loop.Started, loop.Resumed:
		e.Status = harness.RunRunning
	case loop.Cut:
		e.Rewind = r.Off
	case loop.Rested:
		e.Status, e.Stop, e.Error = r.Status, r.Stop, r.Error
	}
	return e, nil
}

// entriesOf returns the journal entries of records; usage goes to the last.
func entriesOf(at time.Time, usage harness.Usage, records ...loop.Record) ([]Entry, error) {
	entries := make([]Entry, 0, len(records))
	for _, r := range records {
		e, err := entryOf(r, at)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if n := len(entries); n > 0 {
		entries[n-1].Usage = usage
	}
	return entries, nil
}

// recordOf is the inverse of entryOf.
func recordOf(e Entry) (loop.Record, error) {
	r, err := loop.Decode(loop.Encoded{Kind: e.Kind, Data: e.Data, Message: e.Message, Condensed: e.Condensed})
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	return r, nil
}

// fold returns the state that entries lead to, with the numbers of its messages.
func fold(entries []Entry) (s loop.State, numbers agent.Numbers, err error) {
	for _, e := range entries {
		r, err := recordOf(e)
		if err != nil {
			return s, nil, err
		}
		before := s
		s, _ = loop.Step(s, r)
		numbers = numbers.Step(before, s, e.Record)
	}
	return s, numbers, nil
}

// eventsOf returns what entries past number after tell a watcher. entries are
// all of the run, so that calls can be named.
func eventsOf(session harness.SessionID, id harness.RunID, entries []Entry, after int) ([]harness.Event, error) {
	var events []harness.Event
	var s loop.State
	for _, e := range entries {
		r, err := recordOf(e)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", id, err)
		}
		if e.Seq > after {
			for _, ev := range agent.EventsOf(s, r, agent.Stored{Seq: e.Seq, Record: e.Record}, e.At) {
				ev.Session, ev.Run = session, id
				events = append(events, ev)
			}
		}
		s, _ = loop.Step(s, r)
	}
	return events, nil
}

// resultOf returns how a run that rests stands.
func resultOf(info harness.Run, s loop.State) harness.Result {
	return harness.Result{
		Run: info.ID, Session: info.Session, Status: info.Status, Stop: info.Stop,
		Text: s.Answer(), Usage: info.Usage, Error: info.Error, Pending: waiting(info, s), Unasked: s.Unasked(),
	}
}
