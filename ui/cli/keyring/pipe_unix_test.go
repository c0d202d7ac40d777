//go:build unix

package keyring

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A named pipe in the place of the file would have every start wait for its writer.
func TestAPipeInThePlaceOfTheFileIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/" + FileName
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if got := New(Options{File: path}).Fault(); !strings.Contains(got, "is no ordinary file") {
		t.Errorf("got %q", got)
	}
}
