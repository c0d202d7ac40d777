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
	"strings"
	"sync"
	"time"
)

// lossAllowed is how late streamed text may reach the disk: a second, and half
// a one for a busy machine.
const lossAllowed = 1500 * time.Millisecond

// trial is one start, one kill and one look at what is left.
type trial struct {
	*bench

	place, id string
	rand      *rand.Rand

	mu     sync.Mutex
	events []event
	killed time.Time

	// approved says that the trial's person gave their consent.
	approved bool
}

// event is what the machine interface says; only what the oracle needs.
type event struct {
	Type    string          `json:"type"`
	Seq     int             `json:"seq"`
	Record  int             `json:"record"`
	Run     string          `json:"run"`
	Message json.RawMessage `json:"message"`
}

// shown is what "sessions show --json" prints.
type shown struct {
	Session struct {
		ID string `json:"id"`
	} `json:"session"`
	Records []struct {
		Seq     int             `json:"seq"`
		Kind    string          `json:"kind"`
		Message json.RawMessage `json:"message"`
	} `json:"records"`
	Runs []struct {
		ID          string `json:"id"`
		Cursor      int    `json:"cursor"`
		Status      string `json:"status"`
		Interrupted bool   `json:"interrupted"`
		Partial     *struct {
			Text string `json:"text"`
		} `json:"partial"`
	} `json:"runs"`
}

type message struct {
	Role  string `json:"role"`
	Mark  string `json:"mark"`
	Parts []struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	} `json:"parts"`
}

func (m message) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func (c *trial) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.cairn, args...)
	cmd.Env = append(os.Environ(),
		"HOME="+c.dir, "XDG_CONFIG_HOME="+c.dir+"/config", "XDG_STATE_HOME="+c.dir+"/state",
		"CAIRN_DIR="+c.dir+"/data", "OPENAI_API_KEY=test", "OPENAI_BASE_URL="+c.mock.url, "CAIRN_MODEL=openai/mock")
	cmd.Dir = c.dir
	return cmd
}

func (c *trial) prompt() string { return fmt.Sprintf("trial %s %s", c.id, c.place) }

// run makes the trial and reports what is wrong to t.
func (c *trial) run(ctx context.Context, t *tally) {
	fault := func(format string, args ...any) {
		t.add(func(t *tally) { t.faults = append(t.faults, c.id+": "+fmt.Sprintf(format, args...)) })
	}
	if c.place == inTools {
		if err := c.tools(ctx, t); err != nil {
			fault("%v", err)
		}
		return
	}
	if err := c.start(ctx); err != nil {
		fault("%v", err)
		return
	}
	got, err := c.show(ctx)
	if err != nil {
		if c.acked() == 0 && c.mock.talk(c.id).count() == 0 {
			t.add(func(t *tally) { t.kills++ }) // killed before anything was promised
			return
		}
		fault("nothing can be shown after the kill: %v", err)
		return
	}
	kept := c.judge(got, fault)
	t.add(func(t *tally) { t.kills++; t.acks += c.acked(); t.saved += kept })
	if err := c.goOn(ctx); err != nil {
		fault("it does not go on: %v", err)
		return
	}
	t.add(func(t *tally) { t.after++ })
}

// start runs the program and kills it at the place.
func (c *trial) start(ctx context.Context) error {
	cmd := c.command(ctx, "-p", "--json", "-s", c.id, c.prompt())
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return err
	}
	seen := make(chan string, 4096)
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(out, seen)
	}()
	wait := c.moment(ctx, seen, read)
	time.Sleep(wait)
	c.killed = time.Now()
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-read
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() && exit.ExitCode() > 0 {
		return fmt.Errorf("exit %d: %s", exit.ExitCode(), complaints.String())
	}
	return nil
}

// moment waits until the program has come to the place, and returns how long
// to go on from there.
func (c *trial) moment(ctx context.Context, seen <-chan string, read <-chan struct{}) time.Duration {
	news := c.mock.talk(c.id).news
	until := func(ch <-chan string, what string) {
		timeout := time.After(20 * time.Second)
		for {
			select {
			case s := <-ch:
				if s == what {
					return
				}
			case <-read:
				return
			case <-timeout:
				return
			case <-ctx.Done():
				return
			}
		}
	}
	upTo := func(d time.Duration) time.Duration { return time.Duration(c.rand.Int63n(int64(d))) }
	switch c.place {
	case "before-request":
		if c.rand.Intn(2) == 0 {
			until(seen, "run_started")
			return upTo(2 * time.Millisecond)
		}
		return 20*time.Millisecond + upTo(60*time.Millisecond)
	case "before-token":
		until(news, "request")
		return upTo(110 * time.Millisecond)
	case "streaming":
		until(news, "text")
		return upTo(2800 * time.Millisecond)
	case "near-end":
		if c.rand.Intn(2) == 0 {
			until(seen, "message")
		} else {
			until(news, "end")
		}
		return upTo(5 * time.Millisecond)
	default:
		if c.rand.Intn(2) == 0 {
			until(seen, "tool_start")
			return upTo(4 * time.Millisecond)
		}
		until(news, "end")
		return upTo(15 * time.Millisecond)
	}
}

func (c *trial) read(out io.Reader, seen chan<- string) {
	s := bufio.NewScanner(out)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			continue // the line the kill cut in two
		}
		c.mu.Lock()
		c.events = append(c.events, e)
		c.mu.Unlock()
		select {
		case seen <- e.Type:
		default:
		}
	}
}

func (c *trial) acked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, e := range c.events {
		if e.Seq > 0 {
			n++
		}
	}
	return n
}

func (t *talk) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.requests
}

func (c *trial) show(ctx context.Context) (shown, error) {
	var got shown
	out, err := c.command(ctx, "sessions", "show", "--json", c.id).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return got, fmt.Errorf("exit %d: %s", exit.ExitCode(), exit.Stderr)
		}
		return got, err
	}
	return got, json.Unmarshal(out, &got)
}
