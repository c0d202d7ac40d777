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
	"sync"
	"time"
)

// yard is where the proofs of one engine are made: the engine, the model, the
// workers, and somebody who looks at the runs all the time.
type yard struct {
	*bench

	engine  *engine
	lease   time.Duration
	killer  *killer
	workers *crew
	// ctx ends with the proof.
	ctx context.Context

	mu   sync.Mutex
	seen snapshot
	next chan struct{}
	// dead are processes that were killed, by id, with the moment, and orphans how
	// long at most a run was said to be driven by one of them.
	dead    map[int]time.Time
	orphans time.Duration
	// away are the times in which the server did not answer.
	away []span
}

type span struct{ from, to time.Time }

// snapshot is what "runs list" told, asked after at.
type snapshot struct {
	at   time.Time
	runs map[string]listed // by session
}

// listed is a run in a list.
type listed struct {
	ID          string `json:"id"`
	Session     string `json:"session"`
	Status      string `json:"status"`
	Interrupted bool   `json:"interrupted"`
	Waits       string `json:"waits"`
	Unfetched   int    `json:"unfetched"`
	Cursor      int    `json:"cursor"`
	Worker      *struct {
		PID int `json:"pid"`
	} `json:"worker"`
}

// driven reports whether the run is said to be under way.
func (r listed) driven() bool { return r.Status == "running" && !r.Interrupted && r.Worker != nil }

// newYard opens an engine and begins to look at it.
func newYard(ctx context.Context, b *bench, kind string, lease time.Duration) (*yard, func(), error) {
	done, err := b.prepare()
	if err != nil {
		return nil, nil, err
	}
	e, err := open(ctx, kind, b.dir)
	if err != nil {
		done()
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	y := &yard{bench: b, engine: e, lease: lease, ctx: ctx, next: make(chan struct{}), dead: map[int]time.Time{}}
	y.killer = &killer{names: map[string]time.Time{}}
	y.workers = &crew{yard: y, by: map[string]*hand{}, taken: map[string]string{}}
	if err := y.furnishRuns(); err != nil {
		cancel()
		e.stop()
		done()
		return nil, nil, err
	}
	var looking sync.WaitGroup
	looking.Add(1)
	go func() {
		defer looking.Done()
		y.look(ctx)
	}()
	return y, func() {
		y.workers.end()
		cancel()
		looking.Wait()
		e.stop()
		if os.Getenv("KILL_KEEP") == "" {
			done()
		}
	}, nil
}

// effect is what the tool of the runs does: a line when it starts, which counts,
// and one when it ends.
const effect = `#!/bin/sh
echo "$1 $2" >> %[1]s
sleep %[2]s
echo "end $1 $2" >> %[1]s
`

func (y *yard) furnishRuns() error {
	config := filepath.Join(y.dir, "config", "cairn", "config.toml")
	text := "[permissions]\nallow = [\"run_command(./effect a)\"]\n"
	if y.engine.url != "" {
		text = fmt.Sprintf("engine = %q\n", y.engine.url) + text + fmt.Sprintf("[worker]\nlease = %q\n", y.lease)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(y.dir, "effect"), []byte(fmt.Sprintf(effect, filepath.Join(y.dir, "effects"), "0.08")), 0o700)
}

// as is a command of the program by a name, which the model sees as its key.
func (y *yard) as(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, y.cairn, args...)
	cmd.Env = append(os.Environ(),
		"HOME="+y.dir, "XDG_CONFIG_HOME="+y.dir+"/config", "XDG_STATE_HOME="+y.dir+"/state",
		"CAIRN_DIR="+y.dir+"/data", "OPENAI_API_KEY="+name, "OPENAI_BASE_URL="+y.mock.url, "CAIRN_MODEL=openai/mock")
	cmd.Dir = y.dir
	return cmd
}

// there are the arguments of a command that looks at the engine itself.
func (y *yard) there(args ...string) []string {
	if y.engine.url == "" {
		return args
	}
	return append(args, "--engine", y.engine.url)
}

// output runs a command and returns what it printed.
func (y *yard) output(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := y.as(ctx, name, args...)
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		err = &failed{args, err, words.String()}
	}
	return out, err
}

// failed is a command that did not end with 0.
type failed struct {
	args  []string
	err   error
	words string
}

func (f *failed) Error() string {
	return fmt.Sprintf("cairn %s: %v: %s", strings.Join(f.args, " "), f.err, f.words)
}

// code is the exit code of a command that failed, -1 if it was killed.
func code(err error) int {
	var f *failed
	var exit *exec.ExitError
	if errors.As(err, &f) && errors.As(f.err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// look lists the unfinished runs again and again.
func (y *yard) look(ctx context.Context) {
	for ctx.Err() == nil {
		at := time.Now()
		out, err := y.output(ctx, "watch", y.there("runs", "list", "--json", "--unfinished", "--limit", "0")...)
		var runs []listed
		if err != nil || json.Unmarshal(out, &runs) != nil {
			rests(ctx, 200*time.Millisecond) // no store yet, or the server is away
			continue
		}
		y.tell(at, runs)
		rests(ctx, 150*time.Millisecond)
	}
}

func rests(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// reused is how long after a lease the number of a dead process may be that of a
// new one. A run that is the dead one's for longer was told of before.
const reused = 10 * time.Second

// tell takes a list, and notes who is said to drive and is dead.
func (y *yard) tell(at time.Time, runs []listed) {
	y.mu.Lock()
	defer y.mu.Unlock()
	s := snapshot{at, map[string]listed{}}
	for _, r := range runs {
		if old, ok := s.runs[r.Session]; !ok || old.Status == "completed" {
			s.runs[r.Session] = r
		}
		if !r.driven() {
			continue
		}
		died, ok := y.dead[r.Worker.PID]
		switch {
		case !ok:
		case at.Sub(died) > y.lease+reused:
			delete(y.dead, r.Worker.PID) // another process has the number by now
		case at.After(died) && !y.outage(died, at):
			y.orphans = max(y.orphans, at.Sub(died))
		}
	}
	y.seen = s
	close(y.next)
	y.next = make(chan struct{})
}

// outage reports whether the server was away between two moments; what is told
// then of leases says nothing.
func (y *yard) outage(from, to time.Time) bool {
	for _, s := range y.away {
		if s.from.Before(to) && (s.to.IsZero() || s.to.Add(y.lease).After(from)) {
			return true
		}
	}
	return false
}

// after waits for a list that was asked for after a moment, and returns it.
func (y *yard) after(ctx context.Context, at time.Time) (snapshot, error) {
	for {
		y.mu.Lock()
		s, next := y.seen, y.next
		y.mu.Unlock()
		if s.at.After(at) {
			return s, nil
		}
		select {
		case <-next:
		case <-time.After(patience):
			return s, fmt.Errorf("the runs cannot be listed for %v", patience)
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

// killer remembers whom it killed, by the name that the model sees.
type killer struct {
	mu    sync.Mutex
	names map[string]time.Time
}

// when returns when a process was killed; zero if it was not.
func (k *killer) when(name string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.names[name]
}

// kill kills a process for good.
func (y *yard) kill(name string, p *os.Process) {
	y.killer.mu.Lock()
	defer y.killer.mu.Unlock()
	if !y.killer.names[name].IsZero() {
		return
	}
	at := time.Now()
	if err := p.Kill(); err != nil {
		return // it has ended
	}
	y.killer.names[name] = at
	y.mu.Lock()
	y.dead[p.Pid] = at
	y.mu.Unlock()
}

// crew is the workers.
type crew struct {
	*yard

	lock  sync.Mutex
	count int
	ended bool
	by    map[string]*hand
	// taken says which worker took a run last, lost which of them lost one.
	taken map[string]string
	lost  []string
}

// hand is one worker.
type hand struct {
	name string
	cmd  *exec.Cmd
	gone chan struct{}
}

// hire starts a worker.
func (c *crew) hire(concurrency int) (*hand, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.ended {
		return nil, errors.New("the proof is over")
	}
	c.count++
	h := &hand{name: fmt.Sprintf("worker-%d", c.count), gone: make(chan struct{})}
	h.cmd = c.as(c.ctx, h.name, c.there("worker", "--lease", c.lease.String(), "--concurrency", fmt.Sprint(concurrency), "--json")...)
	words, err := h.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	c.by[h.name] = h
	go func() {
		defer close(h.gone)
		c.hear(h, words)
		_ = h.cmd.Wait()
	}()
	return h, nil
}

// hear reads a worker's log.
func (c *crew) hear(h *hand, words io.Reader) {
	log, err := os.OpenFile(filepath.Join(c.dir, "workers.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer log.Close()
	for s := bufio.NewScanner(words); s.Scan(); {
		_, _ = fmt.Fprintf(log, "%s %s\n", h.name, s.Text())
		var line struct {
			Msg  string `json:"msg"`
			Run  string `json:"run"`
			Lost bool   `json:"lost"`
		}
		if json.Unmarshal(s.Bytes(), &line) != nil {
			continue
		}
		c.lock.Lock()
		switch {
		case line.Msg == "run taken":
			c.taken[line.Run] = h.name
		case line.Msg == "run left" && line.Lost:
			c.lost = append(c.lost, h.name+" "+line.Run)
		}
		c.lock.Unlock()
	}
}

// of returns the worker of a name, or any if there is none.
func (c *crew) of(name string, r *rand.Rand) *hand {
	c.lock.Lock()
	defer c.lock.Unlock()
	if h := c.by[name]; h != nil {
		return h
	}
	var all []*hand
	for _, h := range c.by {
		all = append(all, h)
	}
	if len(all) == 0 {
		return nil
	}
	return all[r.Intn(len(all))]
}

// took returns the name of the worker that took a run, if its log says so.
func (c *crew) took(run string) string {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.taken[run]
}

// fire kills a worker.
func (c *crew) fire(h *hand) {
	c.kill(h.name, h.cmd.Process)
	<-h.gone
	c.lock.Lock()
	delete(c.by, h.name)
	c.lock.Unlock()
}

// end kills all workers.
func (c *crew) end() {
	c.lock.Lock()
	c.ended = true
	var all []*hand
	for _, h := range c.by {
		all = append(all, h)
	}
	c.lock.Unlock()
	for _, h := range all {
		_ = h.cmd.Process.Kill() // it may have ended
		<-h.gone
	}
}
