package cli

import (
	"context"
	"errors"
	"os"
	"time"
)

// question would write a question to a terminal and read what it answers. A console
// here is not asked.
func question(_, _ *os.File, _ string, _ time.Duration) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// sane has nothing to put right here.
func sane(context.Context, *os.File) error { return nil }
