package run_test

import (
	"context"
	"testing"
	"testing/synctest"

	"cairn/harness"
	"cairn/harness/run"
)

func delta(attempt, offset int, text string) harness.Event {
	return harness.Event{Type: harness.EventText, Run: "r", Attempt: attempt, Offset: offset, Text: text}
}

func TestLiveMergesTextForTheSlowAndDropsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l run.Live
		if _, ok := l.Follow(t.Context(), "r"); ok {
			t.Error("a run that is not driven here is followed")
		}
		l.Add("r", delta(1, 0, "lost on nobody"))
		l.Begin("r", 1)
		slow, ok := l.Follow(t.Context(), "r")
		if !ok {
			t.Fatal("it is not followed")
		}
		l.Add("r", delta(1, 0, "a"))
		synctest.Wait() // the reader has that, and reads no more for now
		const pieces = 1_000
		for i := range pieces {
			l.Add("r", delta(1, 1+i, "b"))
		}
		l.Add("r", harness.Event{Type: harness.EventRetry, Run: "r", Wait: 2})
		l.Add("r", delta(2, 0, "c"))
		l.End("r")
		n, text, retries := 0, "", 0
		for e := range slow {
			n++
			switch e.Type {
			case harness.EventRetry:
				retries++
			case harness.EventText:
				if e.Attempt == 1 && e.Offset != len(text) {
					t.Errorf("after %d bytes comes offset %d", len(text), e.Offset)
				}
				text += e.Text
			default:
				t.Errorf("it shows %+v", e)
			}
		}
		if len(text) != pieces+2 || retries != 1 || n > 50 {
			t.Errorf("%d events with %d bytes and %d retries", n, len(text), retries)
		}
	})
}

func TestLiveShowsALateReaderWhatNoEntryHas(t *testing.T) {
	t.Parallel()
	var l run.Live
	l.Begin("r", 1)
	l.Add("r", delta(1, 0, "an answer"))
	l.Reached("r", 2)
	l.Add("r", delta(2, 0, "half"))
	late, _ := l.Follow(t.Context(), "r")
	if e := <-late; e.Attempt != 2 || e.Text != "half" {
		t.Errorf("it is shown %+v", e)
	}
	ctx, leave := context.WithCancel(t.Context())
	left, _ := l.Follow(ctx, "r")
	leave()
	for range left { // ends although the run goes on
	}
	again, _ := l.Follow(t.Context(), "r")
	l.Begin("r", 2) // another stretch
	for e := range again {
		if e.Text != "half" {
			t.Errorf("it is shown %+v", e)
		}
	}
	l.End("r")
	l.End("r")
	for range late {
		t.Error("it is shown more")
	}
}
