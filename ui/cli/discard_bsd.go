//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// queueIn is the input queue of a terminal: FREAD of the BSDs.
const queueIn = 1

// discard throws away what a terminal holds that was not read yet.
func discard(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, queueIn)
}
