package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"syscall"
	"time"
)

// stopped stops a worker until another one has its run, and lets it go on: its
// next write must be refused. Where a lock says that it lives, the run is taken
// from it by force.
func (y *yard) stopped(ctx context.Context, p plan) row {
	var o score
	for i := 0; i < p.stopped && ctx.Err() == nil; i++ {
		place := []string{"streaming", "in-tool"}[i%2]
		j := &job{yard: y, id: fmt.Sprintf("stopped-%d", i), place: place, left: true, rand: rand.New(rand.NewSource(y.seed + int64(i)))}
		if err := j.stopOnce(ctx, &o); err != nil {
			o.fault(j, "%v", err)
		}
		o.kills++
	}
	return y.row(p, "worker stopped and woken", o)
}

func (j *job) stopOnce(ctx context.Context, o *score) error {
	first, err := j.workers.hire(1)
	if err != nil {
		return err
	}
	cmd, seen, over, words, err := j.begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill() // it has ended if all is well
		<-over
		_ = cmd.Wait()
	}()
	wait := j.moment(ctx, seen, over)
	time.Sleep(min(wait, 40*time.Millisecond))
	if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	defer j.workers.fire(first)
	run, _ := j.told()
	if j.workers.took(run) != first.name {
		return fmt.Errorf("%s does not drive it", first.name)
	}
	second, err := j.workers.hire(1)
	if err != nil {
		return err
	}
	defer j.workers.fire(second)
	if !j.engine.leased {
		if _, err := j.output(ctx, "force", j.there("runs", "resume", "--force", run)...); err != nil {
			return err
		}
	}
	if err := j.passes(ctx, run, second); err != nil {
		return err
	}
	if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	want := first.name + " " + run
	lost := false
	for range 100 {
		j.workers.lock.Lock()
		for _, l := range j.workers.lost {
			lost = lost || l == want
		}
		j.workers.lock.Unlock()
		if lost {
			break
		}
		rests(ctx, 100*time.Millisecond)
	}
	if !lost {
		o.fault(j, "the woken worker does not say that it lost the run")
	}
	select {
	case <-over:
	case <-time.After(time.Minute):
		o.fault(j, "its follower does not end: %s", words)
	}
	if err := j.recover(ctx); err != nil {
		return err
	}
	// Whoever was stopped still had its request open, and its text is its own.
	t := j.talk()
	t.mu.Lock()
	t.doubled = 0
	for _, u := range t.turns {
		if u.by == first.name {
			u.sent = nil
		}
	}
	t.mu.Unlock()
	j.judge(ctx, o)
	return nil
}

// passes waits until the run is another worker's, or waits for a person: what it had
// under way when it was taken by force may be uncertain.
func (j *job) passes(ctx context.Context, run string, to *hand) error {
	at := time.Now()
	for range 300 {
		if j.workers.took(run) == to.name {
			return nil
		}
		if !j.engine.leased {
			s, err := j.after(ctx, at)
			if err != nil || s.runs[j.id].Status == "awaiting_input" {
				return err
			}
		}
		rests(ctx, 100*time.Millisecond)
	}
	return fmt.Errorf("no other worker takes it")
}

// approval asks on one worker, restarts it and the server, decides from another
// process, and lets a third finish.
func (y *yard) approval(ctx context.Context, p plan) row {
	var o score
	j := &job{yard: y, id: "approval", place: "ask", left: true, rand: rand.New(rand.NewSource(y.seed))}
	if err := j.approveOnce(ctx, &o); err != nil {
		o.fault(j, "%v", err)
	}
	o.kills++
	return y.row(p, "approval, all restarted", o)
}

func (j *job) approveOnce(ctx context.Context, o *score) error {
	first, err := j.workers.hire(1)
	if err != nil {
		return err
	}
	// The linear chat has somebody who can be asked.
	cmd := j.as(ctx, "chat-"+j.id, "--plain", "--drive", "workers", "-s", j.id, j.prompt())
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
		}
	}()
	r, err := j.waits(ctx, "awaiting_input")
	j.kill("chat-"+j.id, cmd.Process)
	_ = cmd.Wait()
	if err != nil {
		return err
	}
	j.run = r.ID
	before, err := j.pending(ctx, r)
	if err != nil {
		return err
	}
	j.workers.fire(first)
	if j.engine.kill != nil {
		if err := j.outageOnce(ctx); err != nil {
			return err
		}
	}
	after, err := j.pending(ctx, r)
	if err != nil {
		return err
	}
	if before != after {
		o.fault(j, "another approval waits after the restart:\n%s\nwas\n%s", after, before)
	}
	if n, _ := j.effects(); n != 0 {
		o.fault(j, "the command ran before anybody agreed")
	}
	if err := j.decide(ctx, r); err != nil {
		return err
	}
	if _, err := j.workers.hire(1); err != nil {
		return err
	}
	if err := j.recover(ctx); err != nil {
		return err
	}
	j.judge(ctx, o)
	return nil
}

// waits waits until the run has a status.
func (j *job) waits(ctx context.Context, status string) (listed, error) {
	for range 300 {
		s, err := j.after(ctx, time.Now())
		if err != nil {
			return listed{}, err
		}
		if r, ok := s.runs[j.id]; ok && r.Status == status {
			return r, nil
		}
	}
	return listed{}, fmt.Errorf("it does not become %s", status)
}

// pending is the approval that waits, in full.
func (j *job) pending(ctx context.Context, r listed) (string, error) {
	out, err := j.output(ctx, "show", j.there("runs", "show", "--json", r.ID)...)
	if err != nil {
		return "", err
	}
	var run waiting
	if err := json.Unmarshal(out, &run); err != nil {
		return "", err
	}
	if len(run.Pending) != 1 || run.Pending[0].Uncertain {
		return "", fmt.Errorf("%d decisions wait, want one approval", len(run.Pending))
	}
	c := run.Pending[0]
	return strings.Join([]string{c.Call.ID, c.Call.Name, string(c.Call.Input), c.Digest, string(c.Proposal)}, "\n"), nil
}
