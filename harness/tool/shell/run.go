package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"cairn/harness/tool"
)

// errTimeout is the cause of a command's own end of time.
var errTimeout = errors.New("the command took too long")

// run runs a call's command. What a command says and how it ended is a result
// and never an error, also when it was cut off: its output would be lost.
func (r *runner) run(ctx context.Context, c tool.Call, in runIn) (string, error) {
	j, err := r.job(c.Dir, in)
	if err != nil {
		return "", err
	}
	if c.State != "" && c.State != j.state {
		return "", ErrMoved
	}
	return r.exec(ctx, j)
}

// exec runs a command to its end and that of all that it started.
func (r *runner) exec(ctx context.Context, j job) (string, error) {
	inner, cancel := context.WithTimeoutCause(ctx, j.timeout, errTimeout)
	defer cancel()
	// Its context is not ours: the command is ended here, with all it started.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.shell, "-c", "--", j.command)
	cmd.Dir, cmd.Env = j.dir, r.environment(j.dir)
	out, err := newStreams(cmd)
	if err != nil {
		return "", err
	}
	p, err := start(cmd)
	out.begin()
	if err != nil {
		out.end(0)
		return "", fmt.Errorf("start %s: %w", r.shell, err)
	}
	select {
	case <-p.over:
	case <-inner.Done():
	}
	cut := p.cut(inner)
	wait := r.hasty
	if errors.Is(cut, errTimeout) {
		wait = r.polite
	}
	p.end(wait)
	state, err := p.wait()
	out.end(r.lag)
	if err != nil {
		return "", fmt.Errorf("wait for the command: %w", err)
	}
	return report(&out.stdout, &out.stderr, how(cut, j, state)), nil
}

// how says how a command ended.
func how(cut error, j job, state *os.ProcessState) string {
	const partly = "it was ended, and it may have taken effect in part"
	switch {
	case errors.Is(cut, errTimeout):
		return fmt.Sprintf("timed out after %s: %s", seconds(j.timeout), partly)
	case cut != nil:
		return "stopped before its end: " + partly
	default:
		return ending(state)
	}
}

// process is a command that runs.
type process struct {
	cmd *exec.Cmd
	// over is closed when the shell itself is over, free lets its number go,
	// and done tells what came of that.
	over chan struct{}
	free chan struct{}
	done chan error
}

// start starts a command. One thread starts it and waits for it, because on
// Linux the kernel ends a command together with the thread that started it.
func start(cmd *exec.Cmd) (*process, error) {
	isolate(cmd)
	p := &process{cmd: cmd, over: make(chan struct{}), free: make(chan struct{}), done: make(chan error, 1)}
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

// cut returns why the command is to be ended, nil if it is over by itself.
func (p *process) cut(ctx context.Context) error {
	select {
	case <-p.over:
		return nil
	default:
		return context.Cause(ctx)
	}
}

// end ends all that the command started: it is asked to, and after a while it
// is made to.
func (p *process) end(wait time.Duration) {
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

// wait returns how the shell ended.
func (p *process) wait() (*os.ProcessState, error) {
	close(p.free)
	var exit *exec.ExitError
	if err := <-p.done; err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return p.cmd.ProcessState, nil
}

// streams reads what a command writes.
type streams struct {
	stdout, stderr capture
	read, write    []*os.File
	readers        sync.WaitGroup
}

// newStreams gives a command pipes. They are not left to [exec.Cmd], which
// would wait for whoever else holds them.
func newStreams(cmd *exec.Cmd) (*streams, error) {
	s := &streams{}
	for range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			s.close(s.read)
			s.close(s.write)
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		s.read, s.write = append(s.read, r), append(s.write, w)
	}
	cmd.Stdout, cmd.Stderr = s.write[0], s.write[1]
	return s, nil
}

// begin reads until nobody holds the other ends.
func (s *streams) begin() {
	s.close(s.write)
	for i, to := range []*capture{&s.stdout, &s.stderr} {
		s.readers.Go(func() {
			// A pipe that breaks or is closed ends the text, and that is all.
			_, _ = io.Copy(to, s.read[i])
		})
	}
}

// end waits for the rest of the text, at most that long: a process that left
// the session may hold the pipes for ever.
func (s *streams) end(wait time.Duration) {
	all := make(chan struct{})
	go func() { s.readers.Wait(); close(all) }()
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case <-all:
	case <-limit.C:
	}
	s.close(s.read)
	<-all
}

func (*streams) close(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written that closing could lose
	}
}
