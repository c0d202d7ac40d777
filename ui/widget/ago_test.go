package widget_test

import (
	"testing"
	"time"

	"cairn/ui/widget"
)

func TestAgoIsShort(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", 59 * time.Second: "now", time.Minute: "1m", 90 * time.Minute: "1h", 47 * time.Hour: "1d",
		364 * 24 * time.Hour: "364d", 800 * 24 * time.Hour: "2y",
	} {
		if got := widget.Ago(now, now.Add(-d)); got != want {
			t.Errorf("%s ago is %q, want %q", d, got, want)
		}
	}
	if got := widget.Ago(now, time.Time{}); got != "" {
		t.Errorf("no time is %q ago", got)
	}
}
