package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// inTools is the place of the trials in which a turn has three tools: one that
// is safe (a page is fetched), a command that is allowed, and a command that
// waits for an approval. The commands append a line to a file outside, and the
// page is counted by the server, so what ran is known without asking the
// program.
const inTools = "tools"

// settled is longer than the commands take: one goes on when the program that
// started it is gone.
const settled = 250 * time.Millisecond

// script is what the commands run. The kill may come before, at and after the
// line that it writes.
const script = `#!/bin/sh
sleep 0.02
echo "$1 $2" >> %s
sleep 0.02
`

// settings allow what the trial wants allowed, and nothing more.
const settings = `[permissions]
allow = ["run_command(./effect a)", "fetch_url(%s)"]

[tools]
private_addresses = true
`

// furnish writes the script and the settings.
func (b *bench) furnish() error {
	config := filepath.Join(b.dir, "config", "cairn")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte(fmt.Sprintf(settings, strings.TrimSuffix(strings.TrimPrefix(b.mock.url, "http://"), "/v1"))), 0o600); err != nil {
		return err
	}
	text := fmt.Sprintf(script, filepath.Join(b.dir, "effects"))
	return os.WriteFile(filepath.Join(b.dir, "effect"), []byte(text), 0o700)
}

// effects returns how often the trial's commands a and b wrote their line.
func (c *trial) effects() (a, b int, err error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, "effects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, 0, err
	}
	for _, line := range strings.Split(string(raw), "\n") {
		switch line {
		case "a " + c.id:
			a++
		case "b " + c.id:
			b++
		}
	}
	return a, b, nil
}

// waiting is what "runs show --json" tells of a run; only what is judged.
type waiting struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Interrupted bool   `json:"interrupted"`
	Pending     []struct {
		Call struct {
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"call"`
		Uncertain bool            `json:"uncertain"`
		Digest    string          `json:"digest"`
		Proposal  json.RawMessage `json:"proposal"`
	} `json:"pending"`
}

// tools makes a trial of the place "tools".
func (c *trial) tools(ctx context.Context, t *tally) error {
	if err := c.chat(ctx); err != nil {
		return err
	}
	t.add(func(t *tally) { t.kills++ })
	var shown string // the approval as it was first seen
	for range 12 {
		time.Sleep(settled)
		run, ok, err := c.state(ctx)
		if err != nil || !ok {
			return err
		}
		if run.Status == "completed" {
			t.add(func(t *tally) { t.after++ })
			return c.tally(t)
		}
		if shown, err = c.step(ctx, run, shown, t); err != nil {
			return err
		}
	}
	return errors.New("it does not come to an end")
}

// chat starts the turn in the linear chat, whose person says nothing, and kills
// the program at a random moment.
func (c *trial) chat(ctx context.Context) error {
	cmd := c.command(ctx, "--plain", "-s", c.id, c.prompt())
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	return c.kill(cmd, time.Second)
}

// kill starts a command and kills it after at most d. That it ended before is
// fine unless it failed.
func (c *trial) kill(cmd *exec.Cmd, d time.Duration) error {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-time.After(time.Duration(c.rand.Int63n(int64(d)))):
		_ = cmd.Process.Kill() // it may have ended meanwhile
		<-ended
		return nil
	case err := <-ended:
		return unwelcome(err, out.String())
	}
}

// unwelcome returns the error of a command that failed. One that stopped for a
// decision did not.
func unwelcome(err error, out string) error {
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && (exit.ExitCode() == 5 || exit.ExitCode() < 0) {
		return nil
	}
	return fmt.Errorf("%w: %s", err, out)
}

// state returns the trial's run; ok is false if there is none.
func (c *trial) state(ctx context.Context) (run waiting, ok bool, err error) {
	got, err := c.show(ctx)
	if err != nil || len(got.Runs) == 0 {
		a, b, e := c.effects()
		if e == nil && a+b > 0 {
			e = fmt.Errorf("a tool ran and there is no run: %w", err)
		}
		return run, false, e
	}
	if len(got.Runs) != 1 {
		return run, false, fmt.Errorf("%d runs, want 1", len(got.Runs))
	}
	out, err := c.command(ctx, "runs", "show", "--json", got.Runs[0].ID).Output()
	if err != nil {
		return run, false, fmt.Errorf("runs show: %w", err)
	}
	if err := json.Unmarshal(out, &run); err != nil {
		return run, false, err
	}
	return run, true, nil
}

// step does what a person would: goes on, approves, or settles what is
// uncertain after a look outside. Every second time it is killed over it.
func (c *trial) step(ctx context.Context, run waiting, shown string, t *tally) (string, error) {
	args := []string{"runs", "resume", run.ID}
	if len(run.Pending) > 0 {
		p := run.Pending[0]
		a, b, err := c.effects()
		if err != nil {
			return shown, err
		}
		which, ran := "b", b
		if strings.Contains(string(p.Call.Input), "effect a ") {
			which, ran = "a", a
		}
		switch {
		case p.Call.Name != "run_command":
			return shown, fmt.Errorf("%s waits for a person (uncertain: %v)", p.Call.Name, p.Uncertain)
		case p.Uncertain && ran == 0:
			t.add(func(t *tally) { t.acks++ })
			args = []string{"runs", "resolve", run.ID, p.Call.ID, "--retry"}
		case p.Uncertain:
			t.add(func(t *tally) { t.acks++ })
			args = []string{"runs", "resolve", run.ID, p.Call.ID, "--result", "seen by hand"}
		case which == "a":
			return shown, errors.New("the command that is allowed asks")
		case ran > 0:
			return shown, errors.New("the command ran and its approval still waits")
		default:
			now := p.Digest + string(p.Proposal) + string(p.Call.Input)
			if shown != "" && shown != now {
				return shown, fmt.Errorf("another approval waits:\n%s\nwas\n%s", now, shown)
			}
			shown = now
			c.approved = true
			args = []string{"runs", "approve", run.ID, p.Call.ID, "--digest", p.Digest}
		}
	}
	if c.rand.Intn(2) == 0 {
		t.add(func(t *tally) { t.again++ })
		return shown, c.kill(c.command(ctx, args...), 500*time.Millisecond)
	}
	out, err := c.command(ctx, args...).CombinedOutput()
	if err := unwelcome(err, string(out)); err != nil {
		return shown, fmt.Errorf("cairn %s: %w", strings.Join(args, " "), err)
	}
	return shown, nil
}

// tally judges what ran.
func (c *trial) tally(t *tally) error {
	a, b, err := c.effects()
	if err != nil {
		return err
	}
	talk := c.mock.talk(c.id)
	talk.mu.Lock()
	fetched := talk.fetched
	talk.mu.Unlock()
	if a != 1 || b != 1 {
		return fmt.Errorf("the allowed command ran %d times and the approved one %d times, want 1 and 1", a, b)
	}
	if !c.approved {
		return errors.New("the command that asks ran without anybody's consent")
	}
	if fetched == 0 {
		return errors.New("the page was never fetched")
	}
	t.add(func(t *tally) { t.saved += fetched })
	return nil
}
