package run_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/run"
)

// dictated is a journal into which a person says something behind each of the first
// writes of its run, and that dies as [crashing] does.
type dictated struct {
	crashing

	mu   sync.Mutex
	says int
	said []string
}

const mostSaid = 3

func (d *dictated) Append(ctx context.Context, l harness.Lease, id harness.RunID, n int, entries ...run.Entry) ([]run.Entry, error) {
	stored, err := d.crashing.Append(ctx, l, id, n, entries...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.says++; d.says > mostSaid {
		return stored, err
	}
	text := fmt.Sprint("say ", d.says)
	if e := run.SteerAt(context.WithoutCancel(ctx), d.Journal, entries[0].At, id, harness.Steer{ID: text, Message: harness.UserText(text)}); e == nil {
		d.said = append(d.said, text)
	}
	return stored, err
}

// Steer implements [run.Steerable].
func (d *dictated) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	return d.Journal.(run.Steerable).Steer(ctx, id, e)
}

// Whatever write the program dies at, what was stored of what a person said is heard
// once, in its order, in a conversation that is legal.
func TestWhatIsSaidSurvivesACrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		for _, lost := range []bool{true, false} {
			for n := 2; n <= 16; n++ {
				t.Run(fmt.Sprintf("%s/lost=%v/at=%d", name, lost, n), func(t *testing.T) {
					t.Parallel()
					sayAndCrash(t, open(t), n, lost)
				})
			}
		}
	}
}

func sayAndCrash(t *testing.T, s store, n int, lost bool) {
	t.Helper()
	ctx := t.Context()
	var calls sync.Map
	dying := s
	d := &dictated{crashing: crashing{Journal: s.journal, left: n, lost: lost}}
	dying.journal = d
	lease, err := s.owners.Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine(t, dying, &calls).Start(ctx, harness.StartRequest{Lease: lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "p/m"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.owners.Release(ctx, lease); err != nil {
		t.Fatal(err)
	}
	if lease, err = s.owners.Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{PID: 2}); err != nil {
		t.Fatal(err)
	}
	finish(t, s, &calls, lease, h.ID())
	e := engine(t, s, &calls)
	if info, err := e.Get(ctx, h.ID()); err != nil {
		t.Fatal(err)
	} else if !info.Status.Closed() { // it waits for somebody who knows what became of a call
		if h, err = e.Resume(ctx, lease, h.ID(), harness.ResumeDrop); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	records, err := s.transcript.Tail(ctx, "s", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	var msgs []harness.Message
	for _, r := range records {
		msgs = append(msgs, *r.Message)
		if text := r.Message.Text(); strings.HasPrefix(text, "say ") {
			heard = append(heard, text)
		}
	}
	if got, want := strings.Join(heard, ", "), strings.Join(d.said, ", "); got != want || want == "" {
		t.Errorf("heard was %q, said was %q", got, want)
	}
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		t.Errorf("the history is not legal: %v", err)
	}
}
