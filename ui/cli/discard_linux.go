package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard throws away what a terminal holds that was not read yet.
func discard(f *os.File) error {
	return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
