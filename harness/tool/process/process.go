// Package process runs programs for tools: apart from this one, ended with all that
// they start, and with an environment that holds no secret which was not named for
// them. The one thing to know: a program is over when [Process.Over] says so, and what
// it started only after [Process.End].
package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Process is a program that runs, with all that it starts.
type Process struct {
	cmd *exec.Cmd
	// over is closed when the shell itself is over, free lets its number go,
	// and done tells what came of that.
	over chan struct{}
	free chan struct{}
	done chan error
}

// Start starts a program apart from this one, so that it can be ended with all that it
// starts. On Linux it is killed when this program is. One thread starts it and waits
// for it, because there the kernel ends a program together with the thread that
// started it.
func Start(cmd *exec.Cmd) (*Process, error) {
	isolate(cmd)
	p := &Process{cmd: cmd, over: make(chan struct{}), free: make(chan struct{}), done: make(chan error, 1)}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		err = ended(cmd)
		close(p.over)
		<-p.free
		p.done <- errors.Join(err, reap(cmd))
	}()
	return p, <-started
}

// Over is closed when the program itself has ended; what it started may run on.
func (p *Process) Over() <-chan struct{} { return p.over }

// Cut returns why the program is to be ended, nil if it is over by itself.
func (p *Process) Cut(ctx context.Context) error {
	select {
	case <-p.over:
		return nil
	default:
		return context.Cause(ctx)
	}
}

// End ends the program and all that it started: it is asked to, and after a while it
// is made to. It must come before [Process.Wait].
func (p *Process) End(wait time.Duration) {
	pid := p.cmd.Process.Pid
	if !alive(pid) {
		return
	}
	terminate(pid)
	if !gone(pid, wait, func(int) {}) {
		kill(pid)
		gone(pid, wait, kill) // what was being born was missed
	}
}

// gone waits until nothing of the command is left, at most that long.
func gone(pid int, wait time.Duration, meanwhile func(pid int)) bool {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
			meanwhile(pid)
		case <-limit.C:
			return false
		}
	}
	return true
}

// Wait waits for the program, and returns how it ended. It is called once, at the end.
func (p *Process) Wait() (*os.ProcessState, error) {
	close(p.free)
	var exit *exec.ExitError
	if err := <-p.done; err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return p.cmd.ProcessState, nil
}
