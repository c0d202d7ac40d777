package cli

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Harden keeps other processes of the same user, the commands that tools run
// among them, from reading this one's environment and memory, where the keys
// are. The kernel then leaves no core dump either. Only root still can.
func Harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to others: %w", err)
	}
	return nil
}
