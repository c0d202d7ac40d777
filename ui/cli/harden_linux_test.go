package cli

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestHardenClosesTheProcess(t *testing.T) {
	if err := Harden(); err != nil {
		t.Fatal(err)
	}
	open, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if open != 0 {
		t.Errorf("the process is dumpable (%d): others can read its environment", open)
	}
}
