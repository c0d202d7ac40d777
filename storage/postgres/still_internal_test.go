package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/sqljournal"
	"cairn/storage/postgres/pgtest"
)

// A driver may stand still anywhere, also in the middle of a transaction, which has
// its run locked: that must not outlast its lease.
func TestDriverThatStandsStillInATransactionLosesItsRun(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	open := func() *Queue {
		q, err := Open(t.Context(), address, Options{Lease: MinLease})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
		return q
	}
	still, other := open(), open()
	m := harness.UserText("question")
	first, err := still.Submit(t.Context(), run.Submission{
		Run:     harness.Run{ID: "r", Session: "s", First: 1, Engine: "postgres://host/db"},
		First:   run.Entry{Kind: "start", Message: &m, Status: harness.RunRunning},
		Carried: run.Carried{Store: "store", Needs: run.Needs{Agent: "cairn@1"}}, Here: true,
	}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	locked, taken, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		tries := 0
		ended <- still.db.Write(context.WithoutCancel(t.Context()), func(tx sqljournal.Tx) error {
			if tries++; tries > 1 {
				return errors.New("begun again")
			}
			if _, err := tx.Exec(t.Context(), `UPDATE runs SET asked = 'pause' WHERE id = 'r'`); err != nil {
				return err
			}
			close(locked)
			<-taken
			return nil
		})
	}()
	<-locked
	var claim run.Claim
	for range 3_000 { // five minutes: it measures nothing
		if claim, err = other.Next(t.Context(), harness.Holder{PID: 2}, "", nil); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	close(taken)
	if err != nil || !claim.Broken || claim.Generation <= first.Generation {
		t.Errorf("%+v, %v; the run was begun as %+v", claim, err, first)
	}
	if err := <-ended; err == nil {
		t.Error("what the driver that stood still wrote was stored")
	}
	j, err := other.Get(t.Context(), "r")
	if err != nil || j.Asked != run.AskNothing {
		t.Errorf("%q was asked, %v", j.Asked, err)
	}
}
