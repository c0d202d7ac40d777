//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// isolate gives a command a session of its own, without a terminal. What makes
// itself a process group of its own is not ended with it on this system.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// ended waits until the shell is over, and reap has nothing left to do.
func ended(cmd *exec.Cmd) error { return cmd.Wait() }

func reap(*exec.Cmd) error { return nil }

// signal sends a signal to the process group.
func signal(pid int, s syscall.Signal) {
	_ = syscall.Kill(-pid, s) // a group that is gone needs none
}

// alive reports whether anything of the group is left.
func alive(pid int) bool { return syscall.Kill(-pid, 0) == nil }
