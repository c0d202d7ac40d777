//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// healthSignal receives when a worker is asked how it stands.
func healthSignal() (asked <-chan os.Signal, done func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}
