package run

import (
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// EntriesOf returns the journal entries of records, without numbers; usage goes to
// the last. It is for a [Backend] that keeps entries by itself.
func EntriesOf(at time.Time, usage harness.Usage, records ...loop.Record) ([]Entry, error) {
	return entriesOf(at, usage, records...)
}

// RecordOf returns the record that an entry holds. It is the inverse of
// [EntriesOf].
func RecordOf(e Entry) (loop.Record, error) { return recordOf(e) }

// Fold returns the state that entries, all of a run, lead to, with the numbers of
// its messages.
func Fold(entries []Entry) (loop.State, agent.Numbers, error) { return fold(entries) }

// Decided returns the records that decisions about a run lead to, and the state
// after them: running if the run goes on. One that nobody drives is taken up first.
func Decided(info harness.Run, s loop.State, ds ...harness.Decision) ([]loop.Record, loop.State, error) {
	return decisions(info, s, ds)
}

// LostUsage is what to book for a run that nobody saw end: if it was at a model
// call, what that used is not known.
func LostUsage(info harness.Run, s loop.State) harness.Usage { return lostUsage(info, s) }

// Attempts is how many model attempts a run has made.
func Attempts(info harness.Run, s loop.State) int { return attempts(info, s) }

// ResultOf returns how a run that rests stands.
func ResultOf(info harness.Run, s loop.State) harness.Result { return resultOf(info, s) }
