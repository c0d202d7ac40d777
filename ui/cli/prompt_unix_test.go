//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// What a shell opened may never end: the person may.
func TestReadingWhatAShellOpenedCanBeStopped(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := readHanded(ctx, path, "input"); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if _, err := w.WriteString("some words"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
