package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/storage/mem"
)

// desk is a store with the engine of one process over a backend.
type desk struct {
	*run.Remote

	t     *testing.T
	st    *mem.Store
	far   *far
	lease harness.Lease
}

// newDesk opens session s of a new store.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, st: mem.New(nil), far: newFar()}
	d.open(func(*run.RemoteOptions) {})
	return d
}

// open is another process that takes the session.
func (d *desk) open(with func(o *run.RemoteOptions)) {
	d.t.Helper()
	lease, err := d.st.Owners().Force(d.t.Context(), harness.Session{ID: "s", Dir: "/home/ada"}, harness.Holder{PID: 7})
	if err != nil {
		d.t.Fatal(err)
	}
	d.lease = lease
	o := run.RemoteOptions{
		Home: d.st.Journal(), Transcript: d.st.Transcript(), Sessions: d.st.Sessions(), Artifacts: d.st.Artifacts(),
		Grants: d.st.Grants(), Facts: d.st.Facts(), Notes: d.st.Notes(), Backend: d.far, Engine: farName, Store: "st1", Host: "box",
	}
	with(&o)
	r := run.NewRemote(o)
	d.t.Cleanup(func() { _ = r.Close(context.Background()) })
	d.Remote = r
}

func (d *desk) ctx() context.Context { return d.t.Context() }

func (d *desk) start(text string) harness.RunHandle {
	d.t.Helper()
	h, err := d.Start(d.ctx(), harness.StartRequest{Lease: d.lease, Message: harness.UserText(text), Config: harness.RunConfig{Agent: "a@1", Model: "p/m"}, Dir: "/home/ada"})
	if err != nil {
		d.t.Fatal(err)
	}
	return h
}

func (d *desk) wait(h harness.RunHandle) harness.Result {
	d.t.Helper()
	res, err := h.Wait(d.ctx())
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

// texts are the messages of the branch.
func (d *desk) texts() []string {
	d.t.Helper()
	records, err := d.st.Transcript().Tail(d.ctx(), "s", 0, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	var all []string
	for _, r := range records {
		if r.Message != nil {
			all = append(all, string(r.Message.Role)+": "+r.Message.Text())
		}
	}
	return all
}

func (d *desk) entry(rec loop.Record) run.Entry { return entry(d.t, rec) }

// says is an answer that ends the turn.
func says(text string, attempt int) loop.Answered {
	m := harness.AssistantText(text)
	return loop.Answered{Message: &m, Stop: harness.StopEnd, Attempt: attempt}
}

// answers are the entries of an answer that ends the run.
func (d *desk) answers(text string) []run.Entry {
	e := d.entry(says(text, 1))
	e.Usage = harness.Usage{Input: 10, Output: 5, Cost: 0.25, CostKnown: true}
	return []run.Entry{e, d.entry(loop.Rested{Status: harness.RunCompleted, Stop: harness.StopEnd})}
}

// closeFar ends a run as a backend does that is asked to.
func closeFar(t *testing.T, stop harness.StopReason) func(*farJob, harness.ResumeHow, bool) error {
	t.Helper()
	return func(j *farJob, _ harness.ResumeHow, _ bool) error {
		j.add(entry(t, loop.Rested{Status: harness.RunCancelled, Stop: stop}))
		return nil
	}
}

func TestAnAwayRunEntersTheConversation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	if got := d.texts(); !slices.Equal(got, []string{"user: hello"}) {
		t.Fatalf("before the answer there is %q", got)
	}
	d.far.put(h.ID(), d.answers("hi")...)
	res := d.wait(h)
	if res.Status != harness.RunCompleted || res.Text != "hi" || res.Usage.Cost != 0.25 {
		t.Errorf("result %+v", res)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
	s, err := d.st.Sessions().Get(d.ctx(), "s")
	if err != nil || s.OpenRun != "" || s.Usage.Cost != 0.25 {
		t.Errorf("session %+v, %v", s, err)
	}
	if j := d.far.only(t); j.job.Acknowledged != 3 || j.Run.Engine != farName || j.Run.First != 1 {
		t.Errorf("the backend has %+v of %+v", j.job, j.Run)
	}
	// Later readers are told of it from the conversation alone.
	d.far.setDown(errDown)
	again, err := d.Attach(d.ctx(), d.lease, h.ID())
	if err != nil {
		t.Fatal(err)
	}
	var types []harness.EventType
	for e := range again.Events(d.ctx(), 0) {
		types = append(types, e.Type)
	}
	if want := []harness.EventType{harness.EventRunStarted, harness.EventMessage, harness.EventResult}; !slices.Equal(types, want) {
		t.Errorf("events %v", types)
	}
}

// What a run takes along is what a local one reads from the store.
func TestARunTakesAlongWhatItsRequestsMayHold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx := d.ctx()
	file := []byte("the whole file")
	h := d.start("first")
	d.far.put(h.ID(), d.answers("one")...)
	d.wait(h)
	if _, err := d.st.Transcript().Append(ctx, d.lease, harness.Record{Kind: harness.RecordPin, Data: json.RawMessage(`{"message":1}`)}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Likes tea", "Has a boat", "Lives in Riga"} {
		if _, _, err := d.st.Facts().Save(ctx, harness.Fact{Text: text, State: harness.StateActive, By: harness.ByYou, Pinned: text == "Has a boat"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.st.Grants().Save(ctx, harness.Grant{Session: "s", Rule: "run_command(git status)"}); err != nil {
		t.Fatal(err)
	}
	m := harness.UserText("about tea")
	m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a.txt", MediaType: "text/plain", Data: file}})
	h2, err := d.Start(ctx, harness.StartRequest{Lease: d.lease, Message: m, Config: harness.RunConfig{Agent: "a@1", Model: "p/m"}})
	if err != nil {
		t.Fatal(err)
	}
	d.far.mu.Lock()
	s := d.far.jobs[h2.ID()].Submission
	d.far.mu.Unlock()
	c := s.Carried
	if c.Store != "st1" || c.Session.ID != "s" || c.Needs.Agent != "a@1" {
		t.Errorf("carried %+v", c)
	}
	if len(c.History) != 3 || c.History[1].Message.Text() != "one" {
		t.Errorf("history %+v", c.History)
	}
	if len(c.Pinned) != 1 || c.Pinned[0].Seq != 1 {
		t.Errorf("pinned %+v", c.Pinned)
	}
	if len(c.Facts) != 3 || c.Facts[0].Text != "Has a boat" || c.Facts[1].Text != "Likes tea" {
		t.Errorf("facts %+v", c.Facts)
	}
	if len(c.Grants) != 1 {
		t.Errorf("grants %+v", c.Grants)
	}
	if len(s.Artifacts) != 1 || string(s.Artifacts[0]) != string(file) {
		t.Errorf("%d artifacts", len(s.Artifacts))
	}
	if f := s.First.Message.Parts[1].File; len(f.Data) > 0 || f.Artifact != harness.ArtifactName(file) {
		t.Errorf("the first message has %+v", f)
	}
	// A session without memory takes none along.
	d.far.put(h2.ID(), d.answers("two")...)
	d.wait(h2)
	h3, err := d.Start(ctx, harness.StartRequest{Lease: d.lease, Message: m, Config: harness.RunConfig{NoMemory: true}})
	if err != nil {
		t.Fatal(err)
	}
	d.far.mu.Lock()
	defer d.far.mu.Unlock()
	if c := d.far.jobs[h3.ID()].Carried; len(c.Facts)+len(c.Notes) > 0 {
		t.Errorf("carried %+v", c)
	}
}

func TestAMessageStaysWhenTheBackendIsDown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.far.setDown(errDown)
	res := d.wait(d.start("hello"))
	if res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "engine" || !strings.Contains(res.Error.Text, "connection refused") {
		t.Fatalf("result %+v", res)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello"}) {
		t.Fatalf("there is %q", got)
	}
	r, err := d.Get(d.ctx(), res.Run)
	if err != nil || !strings.Contains(r.Unreachable, "connection refused") || r.Interrupted {
		t.Fatalf("unreachable it is %+v, %v", r, err)
	}
	// A message after it has to wait: the backend may have the run.
	_, err = d.Start(d.ctx(), harness.StartRequest{Lease: d.lease, Message: harness.UserText("more")})
	if err == nil || !strings.Contains(err.Error(), "drop --force "+string(res.Run)) || len(d.texts()) != 1 {
		t.Fatalf("got %v, there is %q", err, d.texts())
	}
	d.far.setDown(nil)
	if r, err = d.Get(d.ctx(), res.Run); err != nil || !r.Interrupted || r.Waits == "" || r.Unreachable != "" {
		t.Fatalf("never submitted it is %+v, %v", r, err)
	}
	h, err := d.Resume(d.ctx(), d.lease, res.Run, harness.ResumeContinue)
	if err != nil {
		t.Fatal(err)
	}
	d.far.put(h.ID(), d.answers("hi")...)
	if res := d.wait(h); res.Status != harness.RunCompleted || res.Run != r.ID {
		t.Errorf("result %+v", res)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
}

// What the backend never got is ended in the transaction of the next message.
func TestAMessageFollowsOneThatWasNeverSubmitted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.far.submitted = func(run.Submission) error { return errDown }
	first := d.wait(d.start("hello"))
	d.far.submitted = nil
	h := d.start("more")
	if r, err := d.st.Journal().Get(d.ctx(), first.Run); err != nil || r.Status != harness.RunCancelled {
		t.Errorf("the first is %+v, %v", r, err)
	}
	d.far.put(h.ID(), d.answers("hi")...)
	d.wait(h)
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "user: more", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
}

func TestAMessageClosesAnInterruptedRunAtItsBackend(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.far.resumed = closeFar(t, harness.StopCancelled)
	h := d.start("hello")
	d.far.drive(h.ID(), &harness.Holder{PID: 3})
	if _, err := d.Start(d.ctx(), harness.StartRequest{Lease: d.lease, Message: harness.UserText("more")}); !errors.Is(err, harness.ErrBusy) {
		t.Fatalf("under way it is %v", err)
	}
	d.far.change(h.ID(), func(j *farJob) { j.job.Run.Worker, j.job.Run.Interrupted = nil, true })
	h2 := d.start("more")
	if res := d.wait(h); res.Status != harness.RunCancelled {
		t.Errorf("the first is %+v", res)
	}
	d.far.put(h2.ID(), d.answers("hi")...)
	d.wait(h2)
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "user: more", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
}

func TestARequestStartsOneAwayRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	q := harness.StartRequest{Lease: d.lease, Message: harness.UserText("hello"), Request: "once"}
	h, err := d.Start(d.ctx(), q)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Start(d.ctx(), q)
	if err != nil || again.ID() != h.ID() || len(d.far.running()) != 1 {
		t.Fatalf("got %v, %v", again, err)
	}
}

func TestCancelReachesWhoeverDrives(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.far.asked = func(j *farJob, a run.Ask) {
		if a == run.AskCancel {
			j.add(entry(t, loop.Rested{Status: harness.RunCancelled, Stop: harness.StopCancelled}))
			j.job.Run.Worker = nil
		}
	}
	h := d.start("hello")
	d.far.drive(h.ID(), &harness.Holder{PID: 3})
	if err := d.Cancel(d.ctx(), h.ID()); err != nil {
		t.Fatal(err)
	}
	// It is handed over when Cancel returns.
	if r, err := d.st.Journal().Get(d.ctx(), h.ID()); err != nil || r.Status != harness.RunCancelled {
		t.Errorf("it is %+v, %v", r, err)
	}
	if err := d.Cancel(d.ctx(), h.ID()); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := d.Cancel(d.ctx(), "none"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("of none: %v", err)
	}
}

func TestARunThatIsLeftGoesOnAndIsFetched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), &harness.Holder{PID: 3})
	if err := d.Leave(d.ctx(), h.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(d.ctx()); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("who followed it is told %v", err)
	}
	d.far.put(h.ID(), d.answers("hi")...)
	d.far.drive(h.ID(), nil)
	runs, err := d.List(d.ctx(), harness.RunFilter{Session: "s", Unfinished: true})
	if err != nil || len(runs) != 1 || runs[0].Status != harness.RunCompleted || runs[0].Unfetched != 2 {
		t.Fatalf("listed as %+v, %v", runs, err)
	}
	d.open(func(*run.RemoteOptions) {}) // another process
	got, err := d.Fetch(d.ctx(), d.lease)
	if err != nil || got.Entries != 2 || got.Runs != 1 || len(got.Lost) != 0 {
		t.Fatalf("fetched %+v, %v", got, err)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
	if got, err = d.Fetch(d.ctx(), d.lease); err != nil || got.Entries != 0 {
		t.Errorf("again %+v, %v", got, err)
	}
	d.far.setDown(errDown)
	if _, err := d.Fetch(d.ctx(), d.lease); err != nil {
		t.Errorf("nothing is missing, and yet %v", err)
	}
}

func TestListsWaitForABackendForABoundedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("hello")
		d.far.drive(h.ID(), &harness.Holder{PID: 3})
		if err := d.Leave(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		d.open(func(o *run.RemoteOptions) { o.Backend = slow{d.far} })
		began := time.Now()
		runs, err := d.List(t.Context(), harness.RunFilter{})
		if err != nil || len(runs) != 1 || !strings.Contains(runs[0].Unreachable, "did not answer") {
			t.Errorf("listed %+v, %v", runs, err)
		}
		r, err := d.Get(t.Context(), h.ID())
		if err != nil || !strings.Contains(r.Unreachable, "did not answer") || r.Status != harness.RunRunning {
			t.Errorf("got %+v, %v", r, err)
		}
		if waited := time.Since(began); waited > 5*time.Second {
			t.Errorf("that took %v", waited)
		}
	})
}

// slow is a backend that never answers.
type slow struct{ *far }

func (slow) Get(ctx context.Context, _ harness.RunID) (run.Job, error) {
	<-ctx.Done()
	return run.Job{}, fmt.Errorf("get: %w", ctx.Err())
}
