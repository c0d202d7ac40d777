package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/model"
	"cairn/harness/run"
)

// quick answers at once, or fails to.
type quick struct{ err error }

func (q quick) Stream(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
	if q.err != nil {
		return model.Reply{}, q.err
	}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "at home"}}, Stop: harness.StopEnd}, nil
}

// crossing is a desk whose runs are kept in two places.
type crossing struct {
	*desk
	router *run.Router

	model *quick
	opens int
}

// newCrossing returns one whose new runs go to an engine.
func newCrossing(t *testing.T, name string, with func(o *run.RouterOptions)) *crossing {
	t.Helper()
	c := &crossing{desk: newDesk(t), model: new(quick)}
	native := run.NewLocal(run.Options{
		Journal: c.st.Journal(), Transcript: c.st.Transcript(), Sessions: c.st.Sessions(), Engine: "mem", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: *c.model}, nil
		},
	})
	o := run.RouterOptions{
		Native: native, NativeNames: []string{"mem"}, Home: c.st.Journal(), Default: name,
		Remotes: map[string]*run.Remote{farName: c.Remote},
	}
	if with != nil {
		with(&o)
	}
	c.router = run.NewRouter(o)
	return c
}

func (c *crossing) begin(text string) harness.RunHandle {
	c.t.Helper()
	h, err := c.router.Start(c.ctx(), harness.StartRequest{Lease: c.lease, Message: harness.UserText(text), Config: harness.RunConfig{Model: "p/m"}})
	if err != nil {
		c.t.Fatal(err)
	}
	return h
}

func TestRunsGoOnWhereTheyWereBegun(t *testing.T) {
	t.Parallel()
	c := newCrossing(t, farName, nil)
	h := c.begin("one")
	c.far.put(h.ID(), c.answers("from afar")...)
	c.wait(h)
	home := run.NewRouter(run.RouterOptions{
		Native: nativeOf(c), NativeNames: []string{"mem"}, Home: c.st.Journal(), Default: "mem",
		Remotes: map[string]*run.Remote{farName: c.Remote},
	})
	h2, err := home.Start(c.ctx(), harness.StartRequest{Lease: c.lease, Message: harness.UserText("two")})
	if err != nil {
		t.Fatal(err)
	}
	c.wait(h2)
	if got, want := c.texts(), []string{"user: one", "assistant: from afar", "user: two", "assistant: at home"}; !slices.Equal(got, want) {
		t.Errorf("there is %q", got)
	}
	runs, err := home.List(c.ctx(), harness.RunFilter{})
	if err != nil || len(runs) != 2 || runs[0].Engine != "mem" || runs[1].Engine != farName {
		t.Errorf("listed %+v, %v", runs, err)
	}
	for _, id := range []harness.RunID{h.ID(), h2.ID()} {
		again, err := home.Attach(c.ctx(), c.lease, id)
		if err != nil {
			t.Fatal(err)
		}
		if res := c.wait(again); res.Status != harness.RunCompleted {
			t.Errorf("run %s: %+v", id, res)
		}
		if err := home.Pause(c.ctx(), id); err != nil {
			t.Errorf("pause of run %s at rest: %v", id, err)
		}
	}
}

func nativeOf(c *crossing) *run.Local {
	return run.NewLocal(run.Options{
		Journal: c.st.Journal(), Transcript: c.st.Transcript(), Sessions: c.st.Sessions(), Engine: "mem", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: *c.model}, nil
		},
	})
}

// A message ends the run before it where that is kept, also if its own goes
// elsewhere.
func TestAMessageClosesTheRunBeforeItAtItsOwnEngine(t *testing.T) {
	t.Parallel()
	t.Run("away, then at home", func(t *testing.T) {
		t.Parallel()
		c := newCrossing(t, "mem", nil)
		c.far.resumed = closeFar(t, harness.StopCancelled)
		h := c.start("one")
		c.far.change(h.ID(), func(j *farJob) { j.add(entry(t, restedFailed())) })
		c.wait(h)
		c.wait(c.begin("two"))
		if r, err := c.st.Journal().Get(c.ctx(), h.ID()); err != nil || r.Status != harness.RunCancelled {
			t.Errorf("it is %+v, %v", r, err)
		}
		if j := c.far.only(t); j.job.Run.Status != harness.RunCancelled || j.job.Acknowledged != 3 {
			t.Errorf("the backend has %+v", j.job)
		}
	})
	t.Run("never submitted, then at home", func(t *testing.T) {
		t.Parallel()
		c := newCrossing(t, "mem", nil)
		c.far.submitted = func(run.Submission) error { return errDown }
		h := c.start("one")
		c.wait(h)
		c.wait(c.begin("two"))
		if r, err := c.st.Journal().Get(c.ctx(), h.ID()); err != nil || r.Status != harness.RunCancelled {
			t.Errorf("it is %+v, %v", r, err)
		}
	})
	t.Run("at home, then away", func(t *testing.T) {
		t.Parallel()
		c := newCrossing(t, farName, nil)
		c.model.err = errors.New("no")
		h, err := nativeOf(c).Start(c.ctx(), harness.StartRequest{Lease: c.lease, Message: harness.UserText("one")})
		if err != nil {
			t.Fatal(err)
		}
		if res := c.wait(h); res.Status != harness.RunFailed {
			t.Fatalf("it is %+v", res)
		}
		h2 := c.begin("two")
		c.far.put(h2.ID(), c.answers("hi")...)
		c.wait(h2)
		if r, err := c.st.Journal().Get(c.ctx(), h.ID()); err != nil || r.Status != harness.RunCancelled {
			t.Errorf("it is %+v, %v", r, err)
		}
	})
}

// An engine of older runs is opened when one of them is asked for, and its absence
// keeps nothing else from working.
func TestAnEngineThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	down := errors.New("no such host")
	c := newCrossing(t, "mem", nil)
	h := c.start("one")
	c.far.drive(h.ID(), worker())
	if err := c.Leave(c.ctx(), h.ID()); err != nil {
		t.Fatal(err)
	}
	open := func(_ context.Context, name string) (*run.Remote, error) {
		c.opens++
		if down != nil {
			return nil, down
		}
		return c.Remote, nil
	}
	c.router = run.NewRouter(run.RouterOptions{Native: nativeOf(c), NativeNames: []string{"mem"}, Home: c.st.Journal(), Default: "mem", Open: open})
	runs, err := c.router.List(c.ctx(), harness.RunFilter{})
	if err != nil || len(runs) != 1 || !strings.Contains(runs[0].Unreachable, "no such host") {
		t.Fatalf("listed %+v, %v", runs, err)
	}
	if r, err := c.router.Get(c.ctx(), h.ID()); err != nil || r.Unreachable == "" || r.Interrupted {
		t.Fatalf("got %+v, %v", r, err)
	}
	if _, err := c.router.Fetch(c.ctx(), c.lease); !errors.Is(err, down) {
		t.Errorf("fetch: %v", err)
	}
	_, err = c.router.Start(c.ctx(), harness.StartRequest{Lease: c.lease, Message: harness.UserText("two")})
	if !errors.Is(err, down) || !strings.Contains(err.Error(), "drop --force "+string(h.ID())) {
		t.Errorf("start: %v", err)
	}
	if err := c.router.Abandon(c.ctx(), c.lease, h.ID()); err != nil {
		t.Fatal(err)
	}
	c.wait(c.begin("two"))
	if _, err := c.router.Fetch(c.ctx(), c.lease); err != nil {
		t.Errorf("with nothing open: %v", err)
	}
	if got, want := c.texts(), []string{"user: one", "user: two", "assistant: at home"}; !slices.Equal(got, want) {
		t.Errorf("there is %q", got)
	}
	down = nil
	before := c.opens
	for range 3 {
		if _, err := c.router.Fetch(c.ctx(), c.lease); err != nil {
			t.Fatal(err)
		}
	}
	if c.opens != before+1 {
		t.Errorf("opened %d times", c.opens-before)
	}
}

func restedFailed() loop.Rested {
	return loop.Rested{Status: harness.RunFailed, Stop: harness.StopError}
}
