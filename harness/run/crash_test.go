package run_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/bolt"
	"cairn/storage/mem"
)

// crashing is a journal that stops the world at its n-th write: with lost, the
// fatal write never reached the disk, without, it did and nobody was told.
// Every later write fails as in a process that is gone.
type crashing struct {
	run.Journal

	mu   sync.Mutex
	left int
	lost bool
}

func (c *crashing) die() (before, after error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
	switch {
	case c.left > 0:
		return nil, nil
	case c.left == 0 && !c.lost:
		return nil, harness.ErrLost
	default:
		return harness.ErrLost, nil
	}
}

func (c *crashing) Create(ctx context.Context, l harness.Lease, r harness.Run, first run.Entry, closes ...run.Closing) (harness.Run, []run.Entry, error) {
	before, after := c.die()
	if before != nil {
		return r, nil, before
	}
	r, entries, err := c.Journal.Create(ctx, l, r, first, closes...)
	return r, entries, errors.Join(err, after)
}

func (c *crashing) Append(ctx context.Context, l harness.Lease, id harness.RunID, n int, entries ...run.Entry) ([]run.Entry, error) {
	before, after := c.die()
	if before != nil {
		return nil, before
	}
	stored, err := c.Journal.Append(ctx, l, id, n, entries...)
	if err != nil || after != nil {
		return nil, errors.Join(err, after)
	}
	return stored, nil
}

// scripted asks for two calls, twice, and then answers.
type scripted struct{}

func (scripted) Stream(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	results := 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == harness.PartResult {
				results++
			}
		}
	}
	emit(model.Delta{Kind: model.DeltaText, Text: "thinking aloud"})
	parts := []harness.Part{{Kind: harness.PartText, Text: "thinking aloud"}}
	if results >= 4 {
		return model.Reply{Parts: parts, Stop: harness.StopEnd}, nil
	}
	for _, name := range []string{"read", "pay"} {
		parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "call_0", Name: name}})
	}
	return model.Reply{Parts: parts, Stop: harness.StopTools}, nil
}

// store is what a run needs of a storage.
type store struct {
	journal    run.Journal
	transcript harness.Transcript
	owners     harness.Owners
	grants     harness.Grants
	sessions   harness.Sessions
}

func stores(t *testing.T) map[string]func(*testing.T) store {
	t.Helper()
	return map[string]func(*testing.T) store{
		"mem": func(*testing.T) store {
			m := mem.New(nil)
			return store{m.Journal(), m.Transcript(), m.Owners(), m.Grants(), m.Sessions()}
		},
		"bolt": func(t *testing.T) store {
			t.Helper()
			db, err := bolt.Open(filepath.Join(t.TempDir(), "cairn.db"), bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			return store{db.Journal(), db.Transcript(), db.Owners(), db.Grants(), db.Sessions()}
		},
	}
}

func engine(t *testing.T, s store, calls *sync.Map) *run.Local {
	t.Helper()
	count := func(name string, replay tool.Replay) tool.Tool {
		tl, err := tool.New(name, "counts its calls", func(_ context.Context, c tool.Call, _ struct{}) (string, error) {
			n, _ := calls.LoadOrStore(name+" "+c.Key, new(int))
			*n.(*int)++
			return "ok", nil
		}, tool.WithReplay(replay), tool.WithPermission(tool.Allow))
		if err != nil {
			t.Fatal(err)
		}
		return tl
	}
	set := new(tool.Set)
	for _, tl := range []tool.Tool{count("read", tool.Safe), count("pay", tool.Manual)} {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	return run.NewLocal(run.Options{
		Journal: s.journal, Transcript: s.transcript, Engine: "test", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: scripted{}, Tools: set, Policy: policy.Rules{}, Now: time.Now,
				Compose: (&memory.Composer{}).Compose,
			}, nil
		},
	})
}

// Whatever write the program dies at, a resumed run ends, acknowledged records
// are there once, and no manual tool runs twice for one call.
func TestCrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		for _, lost := range []bool{true, false} {
			for n := 1; n <= 14; n++ {
				t.Run(fmt.Sprintf("%s/lost=%v/at=%d", name, lost, n), func(t *testing.T) {
					t.Parallel()
					crashOnce(t, open(t), n, lost)
				})
			}
		}
	}
}

func crashOnce(t *testing.T, s store, n int, lost bool) {
	t.Helper()
	ctx := t.Context()
	var calls sync.Map
	dying := s
	dying.journal = &crashing{Journal: s.journal, left: n, lost: lost}
	lease, err := s.owners.Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine(t, dying, &calls).Start(ctx, harness.StartRequest{
		Lease: lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "p/m"},
	})
	if err == nil {
		if _, err := h.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.owners.Release(ctx, lease); err != nil {
		t.Fatal(err)
	}
	if lease, err = s.owners.Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{PID: 2}); err != nil {
		t.Fatal(err)
	}
	runs, err := s.journal.List(ctx, harness.RunFilter{Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if n == 1 && lost {
		if len(runs) != 0 {
			t.Fatalf("a run that never began is there: %+v", runs)
		}
		return
	}
	if len(runs) != 1 {
		t.Fatalf("%d runs, want 1", len(runs))
	}
	finish(t, s, &calls, lease, runs[0].ID)
	calls.Range(func(key, count any) bool {
		if k := key.(string); k[:3] == "pay" && *count.(*int) > 1 {
			t.Errorf("%s ran %d times", k, *count.(*int))
		}
		return true
	})
}

// finish resumes the run until it is over; an uncertain call is the only thing
// that may stop it.
func finish(t *testing.T, s store, calls *sync.Map, lease harness.Lease, id harness.RunID) {
	t.Helper()
	ctx := t.Context()
	e := engine(t, s, calls)
	info, err := e.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Status.Closed() {
		h, err := e.Resume(ctx, lease, id, harness.ResumeContinue)
		if err != nil {
			t.Fatalf("resume: %v", err)
		}
		res, err := h.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if res.Status == harness.RunAwaiting {
			if len(res.Pending) != 1 || !res.Pending[0].Uncertain || res.Pending[0].Call.Name != "pay" {
				t.Errorf("it waits for %+v", res.Pending)
			}
			return
		}
		if res.Status != harness.RunCompleted {
			t.Fatalf("resumed run is %s: %v", res.Status, res.Error)
		}
	}
	records, err := s.transcript.Tail(ctx, "s", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	msgs := make([]harness.Message, 0, len(records))
	for _, r := range records {
		msgs = append(msgs, *r.Message)
	}
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		t.Errorf("the history is not legal: %v", err)
	}
}
