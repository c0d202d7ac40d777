package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"cairn/harness/tool"
	"cairn/harness/tool/process"
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
	p, err := process.Start(cmd)
	out.begin()
	if err != nil {
		out.end(0)
		return "", fmt.Errorf("start %s: %w", r.shell, err)
	}
	select {
	case <-p.Over():
	case <-inner.Done():
	}
	cut := p.Cut(inner)
	wait := r.hasty
	if errors.Is(cut, errTimeout) {
		wait = r.polite
	}
	p.End(wait)
	state, err := p.Wait()
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
		return process.Ending(state)
	}
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
