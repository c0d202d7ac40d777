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
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/tool"
)

func TestCancelWinsOverAPauseUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("slow"), nil, newTool(t, "slow", tool.Manual, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}))
		h := w.start(t, "go", "")
		synctest.Wait()
		paused := make(chan error)
		go func() { paused <- w.Pause(t.Context(), h.ID()) }()
		time.Sleep(time.Second)
		if err := w.Cancel(t.Context(), h.ID()); err != nil {
			t.Error(err)
		}
		if err := <-paused; err != nil && !errors.Is(err, harness.ErrStale) {
			t.Errorf("pausing what is cancelled gives %v", err)
		}
		if got := w.status(t, h.ID()); got.Status != harness.RunCancelled {
			t.Errorf("the run is %s", got.Status)
		}
		w.branch(t)
		if err := errors.Join(w.Cancel(t.Context(), h.ID()), w.Pause(t.Context(), h.ID())); err != nil {
			t.Errorf("stopping what has ended gives %v", err)
		}
	})
}

func TestToolThatFinishedIsKnownAlsoAfterACancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("pay"), nil, newTool(t, "pay", tool.Manual, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "paid", nil
		}))
		h := w.start(t, "go", "")
		synctest.Wait()
		if err := w.Cancel(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		msgs := w.branch(t)
		if r := msgs[len(msgs)-1].Parts[0].Result; r == nil || r.Text != "paid" || r.Unknown {
			t.Errorf("the call's result is %+v", r)
		}
	})
}

func TestVoidedTextIsNotKeptAsHalfAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, answering(func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "void"})
			time.Sleep(2 * time.Second)
			emit(model.Delta{Kind: model.DeltaReset, Attempt: 2})
			<-ctx.Done()
			return model.Reply{}, ctx.Err()
		}))
		h := w.start(t, "go", "")
		time.Sleep(1500 * time.Millisecond)
		if got := w.status(t, h.ID()); got.Partial == nil || got.Partial.Text != "void" {
			t.Fatalf("while it streams, %+v is on disk", got.Partial)
		}
		time.Sleep(time.Second)
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		if got := w.status(t, h.ID()); got.Partial != nil {
			t.Errorf("void text is on disk: %+v", got.Partial)
		}
		if _, err := w.Resume(t.Context(), w.lease, h.ID(), harness.ResumeContinue); err != nil {
			t.Fatal(err)
		}
		if msgs := w.branch(t); len(msgs) != 1 {
			t.Errorf("the branch is %+v", msgs)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStopOnAFullDiskSaysSoAndTheRunIsNotStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		j := &full{Journal: s.journal}
		w := open(t, s, j, words(2))
		h := w.start(t, "one", "")
		time.Sleep(1500 * time.Millisecond)
		j.left.Store(1000)
		time.Sleep(5 * time.Second)
		if err := w.Cancel(t.Context(), h.ID()); !errors.Is(err, errFull) {
			t.Errorf("cancel gives %v", err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "store" {
			t.Errorf("result %+v, %v", res, err)
		}
		runs, err := w.List(t.Context(), harness.RunFilter{Unfinished: true})
		if err != nil || len(runs) != 1 || !runs[0].Interrupted {
			t.Errorf("the runs are %+v, %v; want one that is interrupted", runs, err)
		}
		j.left.Store(0)
		if _, err := w.start(t, "two", "").Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if msgs := w.branch(t); len(msgs) != 4 || !strings.HasPrefix(msgs[1].Text(), "word ") {
			t.Errorf("the branch is %+v", msgs)
		}
	})
}

func TestStopWhileTheDiskIsFullTriesOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		j := &full{Journal: s.journal}
		w := open(t, s, j, words(1))
		h := w.start(t, "one", "")
		j.left.Store(5)
		time.Sleep(25 * time.Second) // the fifth wait, until 32 s
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		if msgs := w.branch(t); len(msgs) != 2 || msgs[1].Mark != harness.MarkNone {
			t.Errorf("the branch is %+v, want the whole answer", msgs)
		}
	})
}

func TestUsageOfACallCutShortIsMarkedIncomplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(5))
		h := w.start(t, "one", "")
		time.Sleep(1500 * time.Millisecond)
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		got := w.status(t, h.ID())
		if !got.Usage.Incomplete {
			t.Errorf("after a pause in a call the usage is %+v", got.Usage)
		}
		if sum := got.Usage.Add(harness.Usage{Input: 1, Cost: 0.5, CostKnown: true}); !sum.CostKnown || !sum.Incomplete {
			t.Errorf("with an answer it is %+v; want a cost that is known and incomplete", sum)
		}
		s = memory1()
		w = open(t, s, s.journal, answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return model.Reply{}, &model.Error{Kind: model.KindAuth, Message: "no key"}
		}))
		if res, err := w.start(t, "one", "").Wait(t.Context()); err != nil || res.Usage.Incomplete {
			t.Errorf("a refused request used %+v, %v", res.Usage, err)
		}
	})
}

func TestTakeoverInTheMiddleOfATool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		var ran atomic.Int32
		slow := newTool(t, "pay", tool.Manual, func(context.Context) (string, error) {
			ran.Add(1)
			time.Sleep(time.Minute)
			return "paid", nil
		})
		w := equip(t, s, calls("pay"), nil, slow)
		h := w.start(t, "go", "")
		time.Sleep(time.Second)
		lease, err := s.owners.Force(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.owners.Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		other := equip(t, s, calls("pay"), nil, slow)
		h2, err := other.Resume(t.Context(), other.lease, h.ID(), harness.ResumeContinue)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		for e := range h2.Events(t.Context(), 0) {
			asked = asked || e.Type == harness.EventUncertain && e.Call != nil && e.Call.Name == "pay"
		}
		res, err := h2.Wait(t.Context())
		if err != nil || res.Status != harness.RunAwaiting || !asked || ran.Load() != 1 {
			t.Errorf("taken over it is %+v, %v, asked: %v, the tool ran %d times", res, err, asked, ran.Load())
		}
		res, err = h.Wait(t.Context())
		if err != nil || res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "lost" {
			t.Errorf("for the one who lost it, it is %+v, %v", res, err)
		}
		if _, err := other.Start(t.Context(), harness.StartRequest{Lease: other.lease, Message: harness.UserText("x")}); !errors.Is(err, harness.ErrAwaiting) {
			t.Errorf("a new message gives %v", err)
		}
	})
}

// beside does something beside each append of an answer, and waits a moment.
type beside struct {
	run.Journal

	do func(harness.RunID)
}

func (b *beside) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	if m := entries[0].Message; m != nil && m.Role == harness.RoleAssistant {
		go b.do(id)
		time.Sleep(time.Millisecond)
	}
	return b.Journal.Append(ctx, l, id, after, entries...)
}

func TestStopBesideTheLastAnswerComesTooLate(t *testing.T) {
	t.Parallel()
	for _, cancel := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := memory1()
			b := &beside{Journal: s.journal}
			w := open(t, s, b, words(1))
			stopped := make(chan error)
			b.do = func(id harness.RunID) {
				if cancel {
					stopped <- w.Cancel(t.Context(), id)
				} else {
					stopped <- w.Pause(t.Context(), id)
				}
			}
			h := w.start(t, "go", "")
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			if got := w.status(t, h.ID()); got.Status != harness.RunCompleted || got.Cursor != 3 {
				t.Errorf("the run is %s after %d entries", got.Status, got.Cursor)
			}
		})
	}
}

// tight is a journal that has no room for half answers for a while.
type tight struct {
	run.Journal

	full atomic.Bool
}

func (j *tight) SavePartial(ctx context.Context, l harness.Lease, id harness.RunID, p harness.Partial) error {
	if j.full.Load() {
		return errFull
	}
	return j.Journal.SavePartial(ctx, l, id, p)
}

func TestHalfAnswerThatCannotBeSavedIsToldOnceAndTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		j := &tight{Journal: s.journal}
		j.full.Store(true)
		w := open(t, s, j, answering(func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "all there is"})
			<-ctx.Done()
			return model.Reply{}, ctx.Err()
		}))
		h := w.start(t, "go", "")
		time.Sleep(10 * time.Second)
		j.full.Store(false)
		time.Sleep(time.Second)
		if got := w.status(t, h.ID()); got.Partial == nil || got.Partial.Text != "all there is" {
			t.Errorf("a second after there is room, %+v is on disk", got.Partial)
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		told := 0
		for e := range h.Events(t.Context(), 0) {
			if e.Type == harness.EventWaiting && e.Error != nil {
				told++
			}
		}
		if told != 1 {
			t.Errorf("it was told %d times", told)
		}
	})
}
