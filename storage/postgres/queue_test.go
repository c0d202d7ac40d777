package postgres_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

// open opens a queue that ends with the test.
func open(tb testing.TB, address string, o postgres.Options) *postgres.Queue {
	tb.Helper()
	q, err := postgres.Open(tb.Context(), address, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := q.Close(); err != nil {
			tb.Error(err)
		}
	})
	return q
}

// submission is a run on its way, of a store and session of its own.
func submission(id string) run.Submission {
	m := harness.UserText("question of " + id)
	return run.Submission{
		Run:     harness.Run{ID: harness.RunID(id), Session: harness.SessionID("s-" + id), First: 1, Dir: "/home/ada", Engine: "postgres://host/db"},
		First:   run.Entry{Kind: "start", Message: &m, Status: harness.RunRunning},
		Carried: run.Carried{Store: "store", Needs: run.Needs{Agent: "cairn@1"}},
	}
}

func answer(text string, status harness.RunStatus) run.Entry {
	m := harness.AssistantText(text)
	return run.Entry{Kind: "answer", Message: &m, Status: status}
}

var ada = harness.Holder{PID: 1, Host: "ada", Purpose: "worker"}

func submit(tb testing.TB, q run.Queue, id string) {
	tb.Helper()
	if _, err := q.Submit(tb.Context(), submission(id), ada); err != nil {
		tb.Fatal(err)
	}
}

func TestClaimEndsByTheClockOfTheServer(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	early := open(t, address, postgres.Options{Lease: 5 * time.Second}) // longer than a busy machine needs until the other has tried
	late := open(t, address, postgres.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	submit(t, early, "r")
	c, err := early.Claim(t.Context(), "r", ada)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(c.Until); left > time.Minute {
		t.Errorf("the claim lasts for %s", left)
	}
	if _, err := early.Renew(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	// A claimant whose clock is an hour ahead takes nothing before the server says so.
	bob := harness.Holder{PID: 2, Host: "bob"}
	_, err = late.Claim(t.Context(), "r", bob)
	if held, ok := harness.AsHeld(err); !ok || held.Host != "ada" {
		t.Fatalf("claimed by another at once: %v", err)
	}
	if j, err := late.Get(t.Context(), "r"); err != nil || j.Run.Interrupted || j.Run.Worker == nil {
		t.Fatalf("%+v, %v", j, err)
	}
	var taken run.Claim
	for range 3_000 { // five minutes: it measures nothing
		if taken, err = late.Next(t.Context(), bob, "bob", nil); !errors.Is(err, harness.ErrNotFound) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil || !taken.Broken || taken.Generation != c.Generation+1 {
		t.Fatalf("after the lease: %+v, %v", taken, err)
	}
	if _, err := early.Append(t.Context(), c, 1, nil, answer("late", "")); !errors.Is(err, harness.ErrLost) {
		t.Errorf("an append of the first: %v", err)
	}
	if _, err := late.Append(t.Context(), taken, 1, nil, answer("done", harness.RunCompleted)); err != nil {
		t.Error(err)
	}
}

func TestDriverThatWasSilentGoesOnWhileNobodyTookItsRun(t *testing.T) {
	t.Parallel()
	q := open(t, pgtest.Start(t).Database(t), postgres.Options{Lease: time.Second})
	submit(t, q, "r")
	c, err := q.Claim(t.Context(), "r", ada)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := q.Get(t.Context(), "r"); err != nil || j.Run.Worker != nil && (j.Run.Held <= 0 || j.Run.Held > postgres.MinLease) {
		t.Errorf("held %+v, %v", j, err)
	}
	for range 3_000 {
		j, err := q.Get(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if j.Run.Interrupted {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, err := q.Append(t.Context(), c, 1, nil, answer("still here", "")); err != nil {
		t.Error(err)
	}
	if _, err := q.Renew(t.Context(), c); err != nil {
		t.Error(err)
	}
	if j, err := q.Get(t.Context(), "r"); err != nil || j.Run.Interrupted || j.Run.Worker == nil || j.Run.Cursor != 2 {
		t.Errorf("after it renewed: %+v, %v", j, err)
	}
}

func TestSchemasOfAnyNameAreApart(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	names := []string{"cairn", `with "quotes" in it`, "späße und 漢字", "semicolon; drop schema cairn", "UPPER", "$1", "a?b", "sixty-three-bytes-long-sixty-three-bytes-long-sixty-three-bytes"}
	for _, name := range names {
		q := open(t, address+"&schema="+url.QueryEscape(name), postgres.Options{})
		submit(t, q, "r")
		if _, err := q.Append(t.Context(), claim(t, q, "r"), 1, nil, answer(name, harness.RunCompleted)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range names {
		q := open(t, address+"&schema="+url.QueryEscape(name), postgres.Options{})
		if e, err := q.Read(t.Context(), "r", 1); err != nil || len(e) != 1 || e[0].Message.Text() != name {
			t.Errorf("%s has %+v, %v", name, e, err)
		}
	}
}

func claim(tb testing.TB, q run.Queue, id harness.RunID) run.Claim {
	tb.Helper()
	c, err := q.Claim(tb.Context(), id, ada)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
