package harness_test

import (
	"math"
	"testing"

	"cairn/harness"
)

func TestNumbersAreGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := harness.Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestThingsAreCounted(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 old messages", 1: "1 old message", 2: "2 old messages", 12345: "12,345 old messages"} {
		if got := harness.Count(n, "old message"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
