package chat

import (
	"errors"
	"testing"
	"time"

	"cairn/harness"
)

// A run that is paused by leaving still tells of itself when the draft could
// not be saved; the draft is not in what it tells.
func TestWhatWasRefusedToBeSavedStaysUnsavedWhileTheRunIsStored(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	at := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		leaving leaving
		want    error
	}{
		"staying": {leaving{}, nil}, "refused": {leaving{refused: true}, full},
	} {
		m := Model{failed: full, leaving: c.leaving}
		if m, _ = m.event(harness.Event{Seq: 1, Type: harness.EventToolStart, At: at}); !m.saved.Equal(at) || !errors.Is(m.Failed(), c.want) {
			t.Errorf("%s: saved %v, failed %v", name, m.saved, m.Failed())
		}
	}
}
