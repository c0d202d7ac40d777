package render_test

import (
	"math"
	"testing"

	"cairn/ui/render"
)

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 123456: "123,456", 1234567: "1,234,567",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := render.Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
