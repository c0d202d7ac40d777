package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The places of runs that an engine keeps.
var workPlaces = []string{"before-request", "before-token", "streaming", "near-end", "in-tool"}

// patience is for how long a run may take to its end once nobody kills any more.
const patience = 3 * time.Minute

// job is one run that is killed, recovered and judged.
type job struct {
	*yard

	id, place string
	// workers says that workers drive the run; the process that began it follows.
	left bool
	rand *rand.Rand
	// run and events are what the process that began the run told.
	run    string
	events []event
	// kept says that the engine was not given the run, and that its message is
	// stored: resuming it tries again.
	kept bool
}

func (j *job) talk() *talk { return j.mock.talk(j.id) }

func (j *job) prompt() string { return fmt.Sprintf("trial %s %s%s", j.id, work, j.place) }

// begin starts the process that begins the run, and returns it, what it tells,
// and a channel that closes when it tells no more.
func (j *job) begin(ctx context.Context, args ...string) (*exec.Cmd, <-chan string, <-chan struct{}, *strings.Builder, error) {
	args = append([]string{"-p", "--json", "-s", j.id, j.prompt()}, args...)
	if j.left {
		args = append(args, "--drive", "workers")
	}
	cmd := j.as(ctx, "chat-"+j.id, args...)
	words := new(strings.Builder)
	cmd.Stderr = words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, nil, nil, err
	}
	seen, over := make(chan string, 4096), make(chan struct{})
	go func() {
		defer close(over)
		j.read(out, seen)
	}()
	return cmd, seen, over, words, nil
}

// read reads events until there are no more.
func (j *job) read(out io.Reader, seen chan<- string) {
	s := bufio.NewScanner(out)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			continue // the line the kill cut in two
		}
		j.yard.mu.Lock()
		j.events, j.run = append(j.events, e), e.Run
		j.yard.mu.Unlock()
		select {
		case seen <- e.Type:
		default:
		}
	}
}

// told returns the run's id and the number of the last entry that was told of.
func (j *job) told() (run string, seq int) {
	j.yard.mu.Lock()
	defer j.yard.mu.Unlock()
	for _, e := range j.events {
		seq = max(seq, e.Seq)
	}
	return j.run, seq
}

// killOnce begins the run and kills at the place whoever drives it.
func (j *job) killOnce(ctx context.Context) error {
	cmd, seen, over, words, err := j.begin(ctx)
	if err != nil {
		return err
	}
	wait := j.moment(ctx, seen, over)
	time.Sleep(wait)
	if j.left {
		j.strike()
		select {
		case <-over:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill() // it follows for ever
		}
	} else {
		j.kill("chat-"+j.id, cmd.Process)
		<-over
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Contains(words.String(), "resume it to try again"):
		j.kept = true
	case errors.As(err, &exit) && exit.Exited() && exit.ExitCode() != 5:
		return fmt.Errorf("the run's process ended with %d: %s", exit.ExitCode(), words)
	}
	return nil
}

// strike kills the worker that drives the run, and hires another one.
func (j *job) strike() {
	run, _ := j.told()
	name := j.workers.took(run)
	if u := j.talk().now(); u != nil {
		name = u.by
	}
	if h := j.workers.of(name, j.rand); h != nil {
		j.workers.fire(h)
	}
	_, _ = j.workers.hire(4) // there are others
}

// moment waits until the run has come to its place, and returns for how long to
// go on from there.
func (j *job) moment(ctx context.Context, seen <-chan string, over <-chan struct{}) time.Duration {
	until := func(ch <-chan string, what string) {
		timeout := time.After(30 * time.Second)
		for {
			select {
			case s := <-ch:
				if s == what {
					return
				}
			case <-over:
				return
			case <-timeout:
				return
			case <-ctx.Done():
				return
			}
		}
	}
	upTo := func(d time.Duration) time.Duration { return time.Duration(j.rand.Int63n(int64(d))) }
	news := j.talk().news
	switch j.place {
	case "before-request":
		until(seen, "run_started")
		if j.left {
			return upTo(1200 * time.Millisecond)
		}
		return upTo(4 * time.Millisecond)
	case "before-token":
		until(news, "request")
		return upTo(110 * time.Millisecond)
	case "streaming":
		until(news, "text")
		return upTo(2300 * time.Millisecond)
	case "near-end":
		until(news, "end")
		until(news, "end")
		return upTo(5 * time.Millisecond)
	default:
		until(news, "end")
		j.untilEffect(ctx)
		return upTo(90 * time.Millisecond)
	}
}

// untilEffect waits until the command of the run has begun, or a moment less.
func (j *job) untilEffect(ctx context.Context) {
	if j.rand.Intn(4) == 0 {
		rests(ctx, time.Duration(j.rand.Int63n(int64(20*time.Millisecond))))
		return
	}
	for range 2000 {
		if n, _ := j.effects(); n > 0 || ctx.Err() != nil {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// effects returns how often the run's command began.
func (y *yard) effectsOf(id string) (n int, err error) {
	raw, err := os.ReadFile(filepath.Join(y.dir, "effects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if line == "a "+id || line == "b "+id {
			n++
		}
	}
	return n, nil
}

func (j *job) effects() (int, error) { return j.effectsOf(j.id) }

// recover does what a person would do until the run has ended.
func (j *job) recover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, busy := time.Now(), time.Time{}
	for tries := 0; ; {
		s, err := j.after(ctx, at)
		if err != nil {
			return fmt.Errorf("it does not come to an end: %w (%+v)", err, s.runs[j.id])
		}
		r, ok := s.runs[j.id]
		if !ok {
			return nil
		}
		if j.run == "" {
			j.run = r.ID
		}
		switch {
		case r.Status == "awaiting_input":
			err = j.decide(ctx, r)
		case r.driven():
			busy = time.Time{}
		case j.left && busy.IsZero():
			busy = time.Now()
		case j.left && time.Since(busy) < 3*j.lease+4*time.Second: // a worker is to take it
		default:
			busy = time.Time{}
			_, err = j.output(ctx, "resume-"+j.id, "runs", "resume", r.ID)
		}
		if !j.forgiven(err) {
			// A server that is busy is asked again, as a person would.
			if tries++; tries > 2 {
				return err
			}
		}
		at = time.Now()
		rests(ctx, 100*time.Millisecond)
	}
}

// forgiven reports whether a person would just try again: the run waits for a
// decision, somebody has it, it has ended, or the server is away.
func (j *job) forgiven(err error) bool {
	if err == nil {
		return true
	}
	if c := code(err); c == 5 || c == 6 {
		return true
	}
	j.yard.mu.Lock()
	away := len(j.away) > 0
	j.yard.mu.Unlock()
	return away || strings.Contains(err.Error(), "has ended")
}

// decide settles what is uncertain after a look outside, and agrees to what asks.
func (j *job) decide(ctx context.Context, r listed) error {
	time.Sleep(settled)
	out, err := j.output(ctx, "decide", j.there("runs", "show", "--json", r.ID)...)
	if err != nil {
		return err
	}
	var run waiting
	if err := json.Unmarshal(out, &run); err != nil {
		return err
	}
	if len(run.Pending) == 0 {
		return nil // it goes on by now
	}
	p := run.Pending[0]
	ran, err := j.effects()
	if err != nil {
		return err
	}
	args := []string{"runs", "resolve", r.ID, p.Call.ID, "--retry"}
	switch {
	case !p.Uncertain && ran > 0:
		return errors.New("the command ran and its approval still waits")
	case !p.Uncertain:
		args = []string{"runs", "approve", r.ID, p.Call.ID, "--digest", p.Digest}
	case ran > 0:
		args = []string{"runs", "resolve", r.ID, p.Call.ID, "--result", "seen by hand"}
	}
	if j.left {
		args = j.there(args...)
	}
	_, err = j.output(ctx, "resume-"+j.id, args...)
	return err
}
