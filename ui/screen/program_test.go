package screen_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"cairn/ui/screen"
)

// Two parts of the program hear a signal. The end is the same whichever of them
// is first: that of a program that was cancelled.
func TestASignalCancels(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("chat: %w", &screen.SignalError{Signal: syscall.SIGTERM})
	if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not told as cancelled", err)
	}
}
