package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
)

const (
	// demoSession is the session of the demonstration.
	demoSession = "demo"
	// demoPatience bounds how long it waits for the lease of the process that died.
	demoPatience = time.Minute
)

// firstID is the id of the first run of a list.
func firstID(list []byte) string {
	var runs []harness.Run
	if json.Unmarshal(list, &runs) != nil || len(runs) == 0 {
		return ""
	}
	return string(runs[0].ID)
}

// demoStep is one process of the demonstration. It is not for people.
func (a *app) demoStep() *cobra.Command {
	p := &play{out: a.out}
	resume := false
	cmd := &cobra.Command{Use: "step", Hidden: true, Args: exactly(0, "")}
	f := cmd.Flags()
	f.StringVar(&p.file, "file", "", "add lines to `FILE`")
	f.StringVar(&p.at, "at", "", "wait at `PLACE` to be killed")
	f.BoolVar(&p.asks, "asks", false, "the call needs an approval")
	f.BoolVar(&resume, "go-on", false, "go on with the run")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		if p.file == "" {
			return usage("this command is a part of: cairn demo crash")
		}
		p.asks = p.asks || p.at == atPerson
		a.conversing, a.interactive = true, true
		return a.demoRun(ctx, p, resume)
	})
	return cmd
}

// demoRun starts the run of the demonstration, or goes on with it.
func (a *app) demoRun(ctx context.Context, p *play, resume bool) (err error) {
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	lease, err := st.Owners.Acquire(ctx, harness.Session{ID: demoSession, Dir: a.s.Dir}, a.holder())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Owners.Release(context.WithoutCancel(ctx), lease)) }()
	setup, err := a.setup()
	if err != nil {
		return err
	}
	setup.Steps = p.steps
	engine, err := a.wire.NewEngine(ctx, st, setup)
	if err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
		defer cancel()
		err = errors.Join(err, engine.Close(bounded))
	}()
	if resume {
		return a.demoResume(ctx, engine, lease, p)
	}
	p.partial = func(ctx context.Context) (string, error) { return demoPartial(ctx, engine) }
	h, err := engine.Start(ctx, harness.StartRequest{
		Lease: lease, Message: harness.UserText("Please add a line to the file."),
		Config: harness.RunConfig{Agent: a.agent(), Model: demoModel, NoMemory: true}, Dir: a.s.Dir,
	})
	if err != nil {
		return err
	}
	res, err := h.Wait(ctx)
	if err != nil {
		return err
	}
	if res.Status == harness.RunAwaiting {
		return p.reach(ctx, atPerson)
	}
	return fail(ExitFailed, "the run is %s: %v", res.Status, res.Error)
}

// demoPartial is what is on disk of the text that streams; empty if there is none yet.
func demoPartial(ctx context.Context, engine harness.Engine) (string, error) {
	runs, err := engine.List(ctx, harness.RunFilter{Session: demoSession})
	if err != nil || len(runs) == 0 {
		return "", err
	}
	r, err := engine.Get(ctx, runs[0].ID)
	if err != nil || r.Partial == nil {
		return "", err
	}
	return r.Partial.Text, nil
}

// agent names the agent of runs.
func (a *app) agent() string {
	if a.wire.Agent != "" {
		return a.wire.Agent
	}
	return "cairn@1"
}

// demoResume goes on with the run until it has ended, and decides what a person
// would have to.
func (a *app) demoResume(ctx context.Context, engine harness.Engine, l harness.Lease, p *play) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	runs, err := engine.List(ctx, harness.RunFilter{Session: demoSession})
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return fail(ExitFailed, "there is no run to go on with")
	}
	id := runs[0].ID
	for {
		if remote, ok := engine.(harness.Remote); ok {
			if _, err := remote.Fetch(ctx, l); err != nil {
				return err
			}
		}
		r, err := engine.Get(ctx, id)
		if err != nil {
			return err
		}
		if r.Status.Closed() {
			a.out.line("status: %s", r.Status)
			return nil
		}
		h, err := a.demoGoOn(ctx, engine, l, r, p)
		switch {
		case errors.Is(err, harness.ErrBusy):
			if !sleep(ctx, stopEvery) {
				return fmt.Errorf("wait for the lease of the process that was killed: %w", ctx.Err())
			}
			continue
		case err != nil:
			return err
		}
		res, err := h.Wait(ctx)
		if err != nil {
			return err
		}
		if res.Status == harness.RunFailed {
			return fail(ExitFailed, "the run failed: %v", res.Error)
		}
	}
}

// demoGoOn takes the next step that the run needs. One that its engine still takes
// to be driven is [harness.ErrBusy] until the lease of the driver has run out.
func (a *app) demoGoOn(ctx context.Context, engine harness.Engine, l harness.Lease, r harness.Run, p *play) (harness.RunHandle, error) {
	if r.Status == harness.RunRunning && !r.Interrupted && r.Away() {
		if remote, ok := engine.(harness.Remote); ok && r.Worker != nil && r.Worker.PID == os.Getpid() {
			a.out.line("it goes on by itself")
			return remote.Attach(ctx, l, r.ID)
		}
		if r.Worker != nil {
			return nil, harness.ErrBusy
		}
	}
	if len(r.Pending) == 0 {
		if r.Partial != nil && r.Partial.Text != "" {
			a.out.line("of the streamed text this was on disk: %q; the model is asked again", r.Partial.Text)
		}
		return engine.Resume(ctx, l, r.ID, harness.ResumeRetry)
	}
	w := r.Pending[0]
	d := harness.Decision{Call: w.Call.ID, Digest: w.Digest, How: harness.DecideApprove, Scope: harness.ScopeOnce, By: "demonstration"}
	asked := "approval; the demonstration approves it once"
	if w.Uncertain {
		d.How, d.Scope, d.Text = harness.DecideRetry, "", ""
		asked = "uncertain; nobody saw it end, the demonstration finds no line in the file and lets it run"
		if _, err := os.Stat(p.file); err == nil {
			d.How, d.Text = harness.DecideResult, "added"
			asked = "uncertain; nobody saw it end, the demonstration finds its line in the file and says that it took effect"
		}
	}
	h, err := engine.Decide(ctx, l, r.ID, d)
	if err == nil {
		a.out.line("asked: %s", asked)
	}
	return h, err
}
