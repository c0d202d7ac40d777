package run

import (
	"fmt"

	"cairn/harness"
)

// EventsOf returns what the entries of a run past number after tell a watcher.
// entries are all of the run, from the first: calls are named by those before. A
// record number that is none of the conversation is left out.
func EventsOf(r harness.Run, entries []Entry, after int) ([]harness.Event, error) {
	events, err := eventsOf(r.Session, r.ID, entries, after)
	for i := range events {
		if events[i].Record > AwayRecord {
			events[i].Record = 0
		}
	}
	return events, err
}

// PendingOf returns what a run with these entries, all of them, waits for, or will
// wait for once it goes on.
func PendingOf(r harness.Run, entries []Entry) ([]harness.Pending, error) {
	if r.Status.Closed() {
		return nil, nil
	}
	s, _, err := fold(entries)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.ID, err)
	}
	return waiting(r, s), nil
}
