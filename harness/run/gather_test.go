package run_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// pieces adds n pieces of text, one each 10 ms, and returns the text.
func pieces(l *run.Live, n int) string {
	var all strings.Builder
	for i := range n {
		p := strconv.Itoa(i) + " "
		l.Add("r", harness.Event{Type: harness.EventText, Attempt: 1, Offset: all.Len(), Text: p})
		all.WriteString(p)
		time.Sleep(10 * time.Millisecond)
	}
	return all.String()
}

func TestPiecesOfTextAreMergedWhileTheyComeFast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l run.Live
		l.Begin("r", 0)
		events, _ := l.Follow(t.Context(), "r")
		var text strings.Builder
		told, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			for e := range events {
				told++
				if e.Offset != text.Len() {
					t.Errorf("a piece from %d on after %d bytes", e.Offset, text.Len())
				}
				text.WriteString(e.Text)
			}
		}()
		want := pieces(&l, 1000)
		l.End("r")
		<-done
		if text.String() != want {
			t.Fatalf("%q instead of %q", text.String(), want)
		}
		if told < 250 || told > 350 {
			t.Fatalf("%d pieces of 10 s", told)
		}
	})
}

func TestTheFirstPieceAndWhatIsNoTextGoAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l run.Live
		l.Begin("r", 0)
		events, _ := l.Follow(t.Context(), "r")
		synctest.Wait()
		start := time.Now()
		add := func(e harness.Event) { e.Attempt = 1; l.Add("r", e) }
		add(harness.Event{Type: harness.EventText, Text: "a"})
		if e := <-events; e.Text != "a" || time.Since(start) != 0 {
			t.Fatalf("%q after %s", e.Text, time.Since(start))
		}
		add(harness.Event{Type: harness.EventText, Offset: 1, Text: "b"})
		add(harness.Event{Type: harness.EventToolStart})
		for _, want := range []harness.EventType{harness.EventText, harness.EventToolStart} {
			if e := <-events; e.Type != want || time.Since(start) != 0 {
				t.Fatalf("%s instead of %s after %s", e.Type, want, time.Since(start))
			}
		}
		l.End("r")
	})
}
