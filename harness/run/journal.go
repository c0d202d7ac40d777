// Package run makes runs durable. It owns the [Journal] contract that storage
// implements and drives the loop of package loop against it. The one thing to
// know: what a journal entry says has happened, and nothing that matters
// happens before its entry is on disk.
package run

import (
	"context"
	"encoding/json"
	"time"

	"cairn/harness"
)

// Entry is one record of a run's journal. Its Data is opaque to storage, so a
// new kind of record needs no migration.
type Entry struct {
	// Seq is the entry's number in the run, from 1; the journal assigns it.
	Seq  int             `json:"seq"`
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`
	// Message is the conversation message that the entry produced, if any. A
	// store that keeps conversations stores it there, once, in the entry's
	// transaction, and only its number here; reading joins them again.
	Message *harness.Message `json:"message,omitempty"`
	// Condensed is the content of the [harness.RecordCondensed] record that the
	// entry produced, if any; it is kept like Message, of which there is none then.
	Condensed *harness.Condensed `json:"condensed,omitempty"`
	// Record is the number of Message or Condensed in its session's log; assigned.
	Record int `json:"record,omitempty"`
	// Rewind moves the session's head back to the record that Message was
	// added to: the message stays in history, out of the context.
	Rewind bool `json:"rewind,omitempty"`
	// Status, if not empty, is the run's status from this entry on. Stop and
	// Error go with it.
	Status harness.RunStatus  `json:"status,omitempty"`
	Stop   harness.StopReason `json:"stop,omitempty"`
	Error  *harness.RunError  `json:"error,omitempty"`
	// Effects are changes to the long-term memory that a store which has the
	// conversation carries out in the entry's transaction. It keeps none of them:
	// what they led to are the facts and notes. One that cannot be carried out any
	// more is left out; the entry that Append and Create return has only those, with
	// [harness.Effect] Failed saying why.
	Effects []harness.Effect `json:"effects,omitempty"`
	// Usage is what the entry's step used; it is added to the run, the session
	// and the day.
	Usage harness.Usage `json:"usage,omitzero"`
}

// Closing ends an older run in the transaction that starts a new one.
type Closing struct {
	Run harness.RunID
	// After is the last entry the caller has read; [harness.ErrStale] if the
	// run moved on.
	After   int
	Entries []Entry
}

// Journal keeps runs. All methods are safe for concurrent use, also from
// several processes. When a writing method returns nil its effect survives a
// crash; otherwise nothing was written.
type Journal interface {
	// Create stores a run and its first entry, and with it the session if this
	// is its first message, and closes older runs, all or nothing. r.Cursor,
	// r.First and the entry's numbers are assigned. If a run of the session
	// has the same non-empty r.Request, that run is returned with
	// [harness.ErrExists]. If an open run of the session is not among closes:
	// [harness.ErrAwaiting] if it awaits input, else [harness.ErrBusy].
	Create(ctx context.Context, l harness.Lease, r harness.Run, first Entry, closes ...Closing) (harness.Run, []Entry, error)
	// Append adds entries after entry number after, in one transaction, and
	// returns them with their numbers. An entry with an assistant Message, or
	// with a Status that closes the run (completed, cancelled), removes the
	// partial text; a failed or paused run keeps it for whoever resumes.
	// [harness.ErrStale] unless after is the last number, [harness.ErrLost] if
	// the lease was lost.
	Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...Entry) ([]Entry, error)
	// SavePartial replaces the run's partial text.
	SavePartial(ctx context.Context, l harness.Lease, id harness.RunID, p harness.Partial) error
	// Read returns the entries past number after, in order.
	Read(ctx context.Context, id harness.RunID, after int) ([]Entry, error)
	// Get returns a run with its partial text, Interrupted filled in.
	Get(ctx context.Context, id harness.RunID) (harness.Run, error)
	// List returns matching runs, newest first.
	List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error)
	// Prune removes the closed runs that ended before the time, and returns how
	// many. Conversations are never touched.
	Prune(ctx context.Context, before time.Time) (int, error)
}

// Pruner is a [Journal] that can also keep a number of closed runs and remove the
// others.
type Pruner interface {
	// PruneRuns removes closed runs and returns how many. A run that is kept
	// elsewhere too is closed here only once all of it was handed over, so Force
	// says nothing.
	PruneRuns(ctx context.Context, p Prune) (int, error)
}
