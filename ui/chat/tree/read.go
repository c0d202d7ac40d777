package tree

import (
	"context"
	"fmt"
	"slices"

	"cairn/harness"
)

// Transcript is what is read of [harness.Transcript].
type Transcript interface {
	Tail(ctx context.Context, id harness.SessionID, from, limit int) ([]harness.Record, error)
	Before(ctx context.Context, id harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error)
	Log(ctx context.Context, id harness.SessionID, after, limit int) ([]harness.Record, error)
}

// slice is how many records are read at a time.
const slice = 500

// Said reports whether a record is a message that the person wrote.
func Said(r harness.Record) bool {
	m := r.Message
	return m != nil && m.Role == harness.RoleUser && m.Mark == harness.MarkNone
}

// Origin says where a record is. Of the session's own log the session is empty.
func Origin(r harness.Record) harness.Origin { return harness.Origin{Session: r.In, Record: r.Seq} }

// Turn is a message of the person on the branch that is shown.
type Turn struct {
	Said harness.Record
	// End is the last record before the person's next message.
	End harness.Record
	// Messages counts those from this one to the end of the branch, itself
	// included.
	Messages int
}

// Nth reads the n-th last message of the person on the branch that is shown, 1
// being the last one. Found is n, or less if there are only so many.
func Nth(ctx context.Context, t Transcript, id harness.SessionID, n int) (turn Turn, found int, err error) {
	page, err := t.Tail(ctx, id, 0, slice)
	for len(page) > 0 && err == nil {
		for _, r := range slices.Backward(page) {
			if turn.End.Seq == 0 {
				turn.End = r
			}
			if r.Message != nil {
				turn.Messages++
			}
			if !Said(r) {
				continue
			}
			if found++; found == n {
				turn.Said = r
				return turn, found, nil
			}
			turn.End = harness.Record{}
		}
		page, err = t.Before(ctx, id, Origin(page[0]), slice)
	}
	if err != nil {
		return Turn{}, 0, fmt.Errorf("read the branch of session %s: %w", id, err)
	}
	return Turn{}, found, nil
}

// Find reads the record at o, if that is on the branch that is shown. An origin
// without a session is of the session's own log.
func Find(ctx context.Context, t Transcript, id harness.SessionID, o harness.Origin) (r harness.Record, found bool, err error) {
	page, err := t.Tail(ctx, id, 0, slice)
	for len(page) > 0 && err == nil {
		for _, r := range slices.Backward(page) {
			if Origin(r) == o {
				return r, true, nil
			}
			if r.In == o.Session && r.Seq < o.Record { // numbers only grow along a log
				return harness.Record{}, false, nil
			}
		}
		page, err = t.Before(ctx, id, Origin(page[0]), slice)
	}
	if err != nil {
		return harness.Record{}, false, fmt.Errorf("look for record %d on the branch of session %s: %w", o.Record, id, err)
	}
	return harness.Record{}, false, nil
}

// Numbered reads the record of the branch that is shown that a person means by a
// number: that of the session's own log, or in a fork whose own log does not go so
// far, of the nearest log before it that does. With a session it is of its log.
func Numbered(ctx context.Context, t Transcript, id harness.SessionID, n int, of harness.SessionID) (r harness.Record, found bool, err error) {
	if of == id {
		of = ""
	}
	if r, found, err = Find(ctx, t, id, harness.Origin{Session: of, Record: n}); found || err != nil || of != "" {
		return r, found, err
	}
	own, err := t.Log(ctx, id, n-1, 1)
	if err != nil {
		return r, false, fmt.Errorf("look for record %d of session %s: %w", n, id, err)
	}
	if len(own) > 0 { // it is on another branch
		return r, false, nil
	}
	page, err := t.Tail(ctx, id, 0, slice)
	for len(page) > 0 && err == nil {
		for _, r := range slices.Backward(page) {
			if r.In != "" && r.Seq >= n {
				return Find(ctx, t, id, harness.Origin{Session: r.In, Record: n})
			}
		}
		page, err = t.Before(ctx, id, Origin(page[0]), slice)
	}
	if err != nil {
		return r, false, fmt.Errorf("look for record %d on the branch of session %s: %w", n, id, err)
	}
	return r, false, nil
}

// Previous says where the record before r on its branch is, zero if r is the
// first of all.
func Previous(ctx context.Context, t Transcript, id harness.SessionID, r harness.Record) (harness.Origin, error) {
	if r.Prev > 0 {
		return harness.Origin{Session: r.In, Record: r.Prev}, nil
	}
	before, err := t.Before(ctx, id, Origin(r), 1)
	if err != nil {
		return harness.Origin{}, fmt.Errorf("read session %s before record %d: %w", id, r.Seq, err)
	}
	if len(before) == 0 {
		return harness.Origin{}, nil
	}
	return Origin(before[0]), nil
}

// Forward reads where the branch goes on after the session's head: the end of
// the turn on the way to the newest record that follows the head. Messages
// counts those on the way; to is head if nothing follows.
func Forward(ctx context.Context, t Transcript, id harness.SessionID, head int) (to, messages int, err error) {
	prev := map[int]int{}
	last := head
	said, counts := map[int]bool{}, map[int]bool{}
	err = eachOf(ctx, t, id, head, func(r harness.Record) {
		if _, follows := prev[r.Prev]; !follows && r.Prev != head {
			return
		}
		prev[r.Seq], last = r.Prev, r.Seq
		said[r.Seq], counts[r.Seq] = Said(r), r.Message != nil
	})
	if err != nil {
		return head, 0, err
	}
	var way []int
	for seq := last; seq != head; seq = prev[seq] {
		way = append(way, seq)
	}
	to = head
	for _, seq := range slices.Backward(way) {
		if said[seq] && messages > 0 {
			break
		}
		if to = seq; counts[seq] {
			messages++
		}
	}
	return to, messages, nil
}

// eachOf calls f with the records of the session's own log after a number.
func eachOf(ctx context.Context, t Transcript, id harness.SessionID, after int, f func(harness.Record)) error {
	for {
		page, err := t.Log(ctx, id, after, slice)
		if err != nil {
			return fmt.Errorf("read the log of session %s: %w", id, err)
		}
		if len(page) == 0 {
			return nil
		}
		for _, r := range page {
			f(r)
		}
		after = page[len(page)-1].Seq
	}
}
