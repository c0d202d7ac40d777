//go:build unix

package process

import (
	"fmt"
	"os"
	"syscall"
)

// systemVariables are those that programs need on this system.
var systemVariables []string //nolint:gochecknoglobals // a table that nobody changes

// terminate asks all of a command to end.
func terminate(pid int) { signal(pid, syscall.SIGTERM) }

// kill makes all of a command end.
func kill(pid int) { signal(pid, syscall.SIGKILL) }

// Ending says how a program ended by itself.
func Ending(state *os.ProcessState) string {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("ended by signal %d (%s)", int(w.Signal()), w.Signal())
	}
	return fmt.Sprintf("exit code %d", state.ExitCode())
}
