package standing

import (
	"math"
	"strings"
	"testing"
	"time"

	"cairn/harness"
)

func TestProgressIsToldInOneHarmlessLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    harness.Progress
		want string
	}{
		{harness.Progress{Done: 3, Total: 10, Text: "reading"}, "30% - 3 of 10 - reading"},
		{harness.Progress{Done: 42, Total: 100}, "42%"},
		{harness.Progress{Done: 0.5, Total: 1}, "50%"},
		{harness.Progress{Done: 7}, "7"},
		{harness.Progress{Text: "begun"}, "begun"},
		{harness.Progress{Done: 30, Total: 10}, "100% - 30 of 10"},
		{harness.Progress{Done: math.NaN(), Total: math.Inf(1), Text: "odd"}, "odd"},
		{harness.Progress{Done: -3, Total: -1}, ""},
		{harness.Progress{Done: math.MaxFloat64, Total: math.MaxFloat64}, "100% - 1.8e+308 of 1.8e+308"},
	} {
		if got := Progress(c.p, "-"); got != c.want {
			t.Errorf("%+v is %q, not %q", c.p, got, c.want)
		}
	}
	got := Progress(harness.Progress{Text: "\x1b[2J\u202e" + strings.Repeat("very long ", 1e5)}, "-")
	if strings.ContainsAny(got, "\x1b\u202e\n") || len(got) > 400 {
		t.Errorf("hostile text is %.200q, %d bytes", got, len(got))
	}
}

func TestProgressIsToldByQuartersOrAfterAWhile(t *testing.T) {
	t.Parallel()
	var p Pace
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	tell := func(call string, done, total float64, after time.Duration) bool {
		now = now.Add(after)
		return p.Due(call, harness.Progress{Done: done, Total: total}, now)
	}
	for _, c := range []struct {
		call        string
		done, total float64
		after       time.Duration
		want        bool
	}{
		{"a", 1, 100, 0, false},
		{"a", 24, 100, time.Second, false},
		{"a", 26, 100, time.Second, true},
		{"a", 27, 100, time.Second, false},
		{"a", 49, 100, 9 * time.Second, true},
		{"a", 50, 100, time.Second, true},
		{"a", 100, 100, time.Second, true},
		{"a", 100, 100, time.Second, false},
		{"b", 1, 0, time.Second, false},
		{"b", 2, 0, 9 * time.Second, false},
		{"b", 3, 0, time.Second, true},
	} {
		if got := tell(c.call, c.done, c.total, c.after); got != c.want {
			t.Errorf("%+v: told is %v", c, got)
		}
	}
}
