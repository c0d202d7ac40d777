//nolint:gocognit // these are the tests themselves: a failure must point into them, and they list their cases
package harnesstest

import (
	"testing"

	"cairn/harness"
)

// TestOwners tests a [harness.Owners].
func TestOwners(t *testing.T, open Open) {
	t.Parallel()
	meta := harness.Session{ID: "a"}
	for name, stored := range map[string]bool{"stored": true, "not stored yet": false} {
		begin := func(t *testing.T, s Stores) harness.Lease {
			t.Helper()
			l := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{PID: 4411, Terminal: "pts/3", Purpose: "chat"}))
			if stored {
				say(t, s, l, "hello")
			}
			return l
		}
		run(t, "a living owner keeps others out, "+name, open, func(t *testing.T, s Stores) {
			l := begin(t, s)
			_, err := s.Owners.Acquire(ctx(t), meta, harness.Holder{})
			h, held := harness.AsHeld(err)
			if !held || h.String() != "pid 4411 on pts/3 (chat)" {
				t.Fatalf("error %v, holder %v", err, h)
			}
			must(t, s.Owners.Release(ctx(t), l))
			must(t, s.Owners.Release(ctx(t), l))
			next := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
			say(t, s, next, "mine")
		})
		run(t, "a dead owner is no obstacle, "+name, open, func(t *testing.T, s Stores) {
			l := begin(t, s)
			s = s.Reopen()
			next := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
			if stored && next.Generation != l.Generation+1 {
				t.Fatalf("generation %d after %d", next.Generation, l.Generation)
			}
			say(t, s, next, "mine")
		})
		run(t, "an owner who is asked lets go, "+name, open, func(t *testing.T, s Stores) {
			l := begin(t, s)
			if _, asked, err := s.Owners.Asked(ctx(t), l); asked || err != nil {
				t.Fatalf("asked %v, %v", asked, err)
			}
			must(t, s.Owners.Ask(ctx(t), "a", harness.Holder{PID: 7, Purpose: "other"}))
			h, asked, err := s.Owners.Asked(ctx(t), l)
			if !asked || err != nil || h.PID != 7 {
				t.Fatalf("asked %v by %v, %v", asked, h, err)
			}
			must(t, s.Owners.Release(ctx(t), l))
			next := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
			if _, asked, err := s.Owners.Asked(ctx(t), next); asked || err != nil {
				t.Fatalf("the new owner is asked: %v, %v", asked, err)
			}
		})
		run(t, "force takes from the living, "+name, open, func(t *testing.T, s Stores) {
			l := begin(t, s)
			next := value[harness.Lease](t)(s.Owners.Force(ctx(t), meta, harness.Holder{PID: 9}))
			_, _, err := s.Owners.Asked(ctx(t), l)
			wantErr(t, err, harness.ErrLost)
			must(t, s.Owners.Release(ctx(t), l))
			_, err = s.Owners.Acquire(ctx(t), meta, harness.Holder{})
			if h, held := harness.AsHeld(err); !held || h.PID != 9 {
				t.Fatalf("after a lost owner let go: %v", err)
			}
			say(t, s, next, "mine")
			must(t, s.Owners.Release(ctx(t), next))
		})
	}
	run(t, "a lease from before a forced one stays lost", open, func(t *testing.T, s Stores) {
		lost := value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
		forced := value[harness.Lease](t)(s.Owners.Force(ctx(t), meta, harness.Holder{}))
		must(t, s.Owners.Release(ctx(t), forced))
		value[harness.Lease](t)(s.Owners.Acquire(ctx(t), meta, harness.Holder{}))
		m := harness.UserText("late")
		_, err := s.Transcript.Append(ctx(t), lost, harness.Record{Message: &m})
		wantErr(t, err, harness.ErrLost)
	})
}
