package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
)

func TestReaderReturnsAtAnyNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("read"), nil, newTool(t, "read", tool.Safe, func(context.Context) (string, error) { return "ok", nil }))
		h := w.start(t, "go", "")
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := w.status(t, h.ID())
		late, err := w.Start(t.Context(), harness.StartRequest{Lease: w.lease, Request: "none", Message: harness.UserText("x")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		var all []int
		for e := range h.Events(t.Context(), 0) {
			if e.Seq > 0 {
				all = append(all, e.Seq)
			}
		}
		for after := -1; after <= again.Cursor+2; after++ {
			known := map[int]bool{}
			results := 0
			for e := range h.Events(t.Context(), after) {
				switch {
				case e.Type == harness.EventResult:
					results++
				case e.Seq > 0 && (e.Seq <= after || known[e.Seq]):
					t.Errorf("after %d comes number %d", after, e.Seq)
				case e.Type == harness.EventText && e.Text == "looking" && after >= 2:
					t.Errorf("after %d comes the text of an answer that the reader has", after)
				}
				known[e.Seq] = true
			}
			for _, n := range all {
				if n > after && !known[n] {
					t.Errorf("after %d the event of number %d is missing", after, n)
				}
			}
			if results != 1 {
				t.Errorf("after %d come %d results", after, results)
			}
		}
	})
}

func TestSavedMemoryIsToldOnceLiveAndInReplay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("save_memory"), nil, newTool(t, "save_memory", tool.Idempotent, func(context.Context) (string, error) {
			return "Remembered: [fact/f12] (preference) Prefers tea", nil
		}))
		h := w.start(t, "go", "r1")
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		told := func(h harness.RunHandle) (lines []string) {
			for e := range h.Events(t.Context(), 0) {
				if e.Type == harness.EventMemory {
					lines = append(lines, e.Text)
				}
			}
			return lines
		}
		again := w.start(t, "go", "r1")
		for _, h := range []harness.RunHandle{h, again} {
			if got := told(h); len(got) != 1 || got[0] != "remembered f12: (preference) Prefers tea" {
				t.Errorf("told %q", got)
			}
		}
	})
}

func TestReplayGoesThroughEveryStretch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := open(t, s, s.journal, words(4))
		h := w.start(t, "go", "r1")
		for range 2 {
			time.Sleep(2500 * time.Millisecond)
			if err := w.Pause(t.Context(), h.ID()); err != nil {
				t.Fatal(err)
			}
			var err error
			if h, err = w.Resume(t.Context(), w.lease, h.ID(), harness.ResumeContinue); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, h := range map[string]harness.RunHandle{"the last stretch": h, "a later handle": w.start(t, "go", "r1")} {
			var got []string
			for e := range h.Events(t.Context(), 0) {
				if e.Message != nil {
					got = append(got, string(e.Message.Role)+string(e.Message.Mark))
				}
			}
			if want := "user assistantinterrupted usernotice assistantinterrupted usernotice assistant"; strings.Join(got, " ") != want {
				t.Errorf("%s tells %v", name, got)
			}
		}
		w.branch(t)
	})
}
