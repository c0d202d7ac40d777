package run_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

type answering func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)

func (f answering) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	return f(ctx, r, emit)
}

// words streams n words, one a second, and answers with all of them.
func words(n int) answering {
	return func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
		var all strings.Builder
		for range n {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return model.Reply{}, ctx.Err()
			}
			emit(model.Delta{Kind: model.DeltaText, Text: "word "})
			all.WriteString("word ")
		}
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: all.String()}}, Stop: harness.StopEnd}, nil
	}
}

// world is one process's view of a store.
type world struct {
	store
	*run.Local

	lease harness.Lease
}

func open(t *testing.T, s store, j run.Journal, m model.Model) world {
	t.Helper()
	lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := run.NewLocal(run.Options{
		Journal: j, Transcript: s.transcript, Engine: "test", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: m, Tools: new(tool.Set), Policy: policy.Rules{}, Now: time.Now, Compose: (&memory.Composer{}).Compose}, nil
		},
	})
	return world{s, l, lease}
}

func (w world) start(t *testing.T, text, request string) harness.RunHandle {
	t.Helper()
	h, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText(text), Request: request})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func memory1() store {
	m := mem.New(nil)
	return store{m.Journal(), m.Transcript(), m.Owners(), m.Grants(), m.Sessions()}
}

func TestSlowReaderGetsTextMergedAndNothingLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(100))
		h := w.start(t, "go", "")
		var text strings.Builder
		n := 0
		for e := range h.Events(t.Context(), 0) {
			switch e.Type {
			case harness.EventText:
				if e.Offset != text.Len() {
					t.Errorf("text at %d, want %d", e.Offset, text.Len())
				}
				text.WriteString(e.Text)
				n++
				time.Sleep(30 * time.Second)
			case harness.EventMessage:
				if e.Message.Text() != text.String() {
					t.Errorf("%d bytes streamed, %d in the message", text.Len(), len(e.Message.Text()))
				}
			default:
			}
		}
		if n >= 100 {
			t.Errorf("%d pieces reached the slow reader: nothing was merged", n)
		}
	})
}

func TestObserverReturnsWhereItLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(3))
		h := w.start(t, "go", "")
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var numbers []int
		for e := range h.Events(t.Context(), 1) {
			if e.Seq > 0 {
				numbers = append(numbers, e.Seq)
			}
		}
		if len(numbers) != 2 || numbers[0] != 2 || numbers[1] != 3 {
			t.Errorf("after 1 come %v, want the answer 2 and the end 3", numbers)
		}
	})
}

func TestStartIsIdempotentByRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(1))
		first := w.start(t, "go", "r1")
		if _, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Message: harness.UserText("other")}); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("a second run beside the first gives %v", err)
		}
		if _, err := first.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := w.start(t, "go", "r1")
		res, err := again.Wait(t.Context())
		if err != nil || again.ID() != first.ID() || res.Text != "word " {
			t.Errorf("the second start is run %s with %+v, %v", again.ID(), res, err)
		}
	})
}

func TestPauseThenContinueKeepsTheHalfAnswer(t *testing.T) {
	t.Parallel()
	for _, how := range []harness.ResumeHow{harness.ResumeContinue, harness.ResumeRetry, harness.ResumeDrop} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := memory1()
				w := open(t, s, s.journal, words(10))
				h := w.start(t, "go", "")
				time.Sleep(3500 * time.Millisecond)
				if err := w.Pause(t.Context(), h.ID()); err != nil {
					t.Fatal(err)
				}
				info, err := w.Get(t.Context(), h.ID())
				if err != nil || info.Status != harness.RunPaused || info.Partial == nil || info.Partial.Text != "word word word " {
					t.Fatalf("paused run %+v, %v", info, err)
				}
				h, err = w.Resume(t.Context(), w.lease, h.ID(), how)
				if err != nil {
					t.Fatal(err)
				}
				res, err := h.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				records, err := s.transcript.Tail(t.Context(), "s", 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range records {
					got = append(got, string(r.Message.Role)+string(r.Message.Mark))
				}
				want := map[harness.ResumeHow]string{
					harness.ResumeContinue: "user assistantinterrupted usernotice assistant",
					harness.ResumeRetry:    "user assistant",
					harness.ResumeDrop:     "user",
				}[how]
				if strings.Join(got, " ") != want || res.Status.Closed() == false {
					t.Errorf("the branch is %v and the run %s, want %s", got, res.Status, want)
				}
			})
		})
	}
}

func TestNewMessageClosesTheInterruptedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(10))
		h := w.start(t, "one", "")
		time.Sleep(2500 * time.Millisecond)
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		second := w.start(t, "two", "")
		if _, err := second.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		old, err := w.Get(t.Context(), h.ID())
		if err != nil || old.Status != harness.RunCancelled || old.Partial != nil {
			t.Errorf("the older run is %+v, %v", old, err)
		}
		records, err := s.transcript.Tail(t.Context(), "s", 0, 0)
		if err != nil || len(records) != 4 || records[1].Message.Mark != harness.MarkInterrupted || records[2].Message.Text() != "two" {
			t.Errorf("the branch is %+v, %v", records, err)
		}
	})
}

// full is a journal whose disk is full for a while.
type full struct {
	run.Journal

	left atomic.Int32
}

var errFull = errors.New("no space left on device")

func (f *full) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	if f.left.Add(-1) >= 0 {
		return nil, errFull
	}
	return f.Journal.Append(ctx, l, id, after, entries...)
}

func TestFullDiskIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		j := &full{Journal: s.journal}
		j.left.Store(4)
		w := open(t, s, j, words(2))
		h := w.start(t, "go", "")
		notices := 0
		for e := range h.Events(t.Context(), 0) {
			if e.Type == harness.EventWaiting && e.Error != nil && e.Error.Kind == "store" {
				notices++
			}
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunCompleted || notices != 4 {
			t.Errorf("%d notices, result %+v, %v", notices, res, err)
		}
		records, err := s.transcript.Tail(t.Context(), "s", 0, 0)
		if err != nil || len(records) != 2 {
			t.Errorf("%d records, %v", len(records), err)
		}
	})
}

func TestPanicBelowEndsTheRunAndNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			panic("boom")
		}))
		res, err := w.start(t, "go", "").Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "internal" || !strings.Contains(res.Error.Text, "boom") {
			t.Errorf("result %+v, %v", res, err)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
