package agent_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// told are the reports of a turn, in short.
func told(s *sink) []string {
	var list []string
	for _, e := range s.events {
		if e.Type == harness.EventProgress {
			list = append(list, fmt.Sprintf("%s %v/%v %s", e.Call.ID, e.Progress.Done, e.Progress.Total, e.Progress.Text))
		}
	}
	return list
}

func TestHowFarAToolIsIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		tr, state := turn(batch(named("build")...), with(t, free(t, "build", func(_ context.Context, c tool.Call) (string, error) {
			for i := range 3 {
				c.Report(harness.Progress{Done: float64(i + 1), Total: 3, Text: "step\n" + strings.Repeat("x", 10*i)})
				time.Sleep(time.Second)
			}
			return "done", nil
		})), policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		want := []string{"r_1_1 1/3 step", "r_1_1 2/3 step xxxxxxxxxx", "r_1_1 3/3 step xxxxxxxxxxxxxxxxxxxx"}
		if got := told(s); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("told is %q, want %q", got, want)
		}
	})
}

func TestReportsThatComeTooFastAreOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		tr, state := turn(batch(named("fast", "other")...), with(t,
			free(t, "fast", func(_ context.Context, c tool.Call) (string, error) {
				for i := range 10_000 {
					c.Report(harness.Progress{Done: float64(i)})
					time.Sleep(time.Millisecond)
				}
				return "done", nil
			}),
			free(t, "other", func(_ context.Context, c tool.Call) (string, error) {
				c.Report(harness.Progress{Done: 7})
				return "done", nil
			})), policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		got := told(s)
		if len(got) < 30 || len(got) > 45 {
			t.Errorf("in ten seconds there were %d reports, want about four a second", len(got))
		}
		if last := got[len(got)-1]; last != "r_1_1 9999/0 " {
			t.Errorf("the last report is %q", last)
		}
		if !strings.Contains(strings.Join(got, "|"), "r_1_2 7/0") {
			t.Errorf("the report of the other call is missing in %q", got[:3])
		}
	})
}

func TestNothingIsToldOfACallThatIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		reports := make(chan func(harness.Progress), 1)
		tr, state := turn(batch(named("leaves", "stays")...), with(t,
			free(t, "leaves", func(_ context.Context, c tool.Call) (string, error) {
				reports <- c.Progress
				return "done", nil
			}),
			free(t, "stays", func(context.Context, tool.Call) (string, error) {
				time.Sleep(2 * time.Second)
				late := <-reports
				late(harness.Progress{Done: 1})
				reports <- late
				time.Sleep(2 * time.Second)
				return "done", nil
			})), policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		(<-reports)(harness.Progress{Done: 2})
		if got := told(s); len(got) != 0 {
			t.Errorf("told is %q", got)
		}
	})
}

func TestWhatIsNoNumberIsNotTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		tools := with(t, free(t, "odd", func(_ context.Context, c tool.Call) (string, error) {
			for _, x := range []float64{math.NaN(), math.Inf(1), -1} {
				c.Report(harness.Progress{Done: x})
				c.Report(harness.Progress{Total: x})
				time.Sleep(time.Second)
			}
			c.Report(harness.Progress{Done: 1, Text: "key sk-1 " + strings.Repeat("y", 5000)})
			time.Sleep(time.Second)
			c.Report(harness.Progress{Done: 2, Text: strings.Repeat("y", 197) + "sk-1"})
			return "done", nil
		}))
		tools.Redact = func(s string) string { return strings.ReplaceAll(s, "sk-1", "[redacted]") }
		tr, state := turn(batch(named("odd")...), tools, policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		got := told(s)
		if len(got) != 2 || !strings.HasPrefix(got[0], "r_1_1 1/0 key [redacted] yyy") || len(got[0]) > 250 || strings.Contains(got[1], "sk") {
			t.Errorf("told is %.300q", got)
		}
	})
}
