package run_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// The window that took the session over hands over; this one says that it lost it.
func TestALostSessionEndsHandingOverAndNotTheRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), &harness.Holder{PID: 3})
	lost := d.Remote
	d.open(func(*run.RemoteOptions) {})
	d.far.put(h.ID(), d.answers("hi")...)
	d.far.drive(h.ID(), nil)
	res := d.wait(h)
	if res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "lost" {
		t.Errorf("result %+v", res)
	}
	if r, err := lost.Get(d.ctx(), h.ID()); err != nil || r.Status != harness.RunCompleted || r.Unfetched != 2 {
		t.Errorf("it is %+v, %v", r, err)
	}
	h2, err := d.Attach(d.ctx(), d.lease, h.ID())
	if err != nil {
		t.Fatal(err)
	}
	if res := d.wait(h2); res.Status != harness.RunCompleted || res.Text != "hi" {
		t.Errorf("result %+v", res)
	}
}

// Record numbers that only the backend could give are those of the conversation.
func TestACondensingIsHandedOverWithRealNumbers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("one")
	d.far.put(h.ID(), d.answers("first")...)
	d.wait(h)
	if _, err := d.st.Transcript().Append(d.ctx(), d.lease, harness.Record{Kind: harness.RecordConfig, Data: json.RawMessage(`{"key":"model","new":"p/m"}`)}); err != nil {
		t.Fatal(err)
	}
	h = d.start("two") // record 4, entry 1
	call := harness.ToolCall{ID: "c1", Name: "look", Input: json.RawMessage(`{}`)}
	m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}}
	const away = run.AwayRecord
	d.far.put(h.ID(),
		d.entry(loop.Answered{Message: &m, Stop: harness.StopTools, Attempt: 1}),                  // entry 2, record 5
		d.entry(loop.Judged{CallID: "c1", Permission: "allow"}),                                   // entry 3
		d.entry(loop.Began{CallID: "c1"}),                                                         // entry 4
		d.entry(loop.Ended{Message: loop.Result(call, strings.Repeat("seen ", 9), false, false)}), // entry 5, record 6
		d.entry(loop.Condensed{Condensed: harness.Condensed{ // entry 6, record 7
			Note: "note", Kept: away + 2, Pruned: &harness.Origin{Session: "s", Record: away + 5},
			Pins: []harness.Origin{{Session: "s", Record: 1}, {Session: "s", Record: 4}, {Session: "s", Record: away + 5}},
		}}))
	d.far.put(h.ID(), d.answers("second")...)
	d.wait(h)
	rec, err := d.st.Transcript().Record(d.ctx(), "s", 7)
	if err != nil {
		t.Fatal(err)
	}
	var c harness.Condensed
	if err := json.Unmarshal(rec.Data, &c); err != nil {
		t.Fatal(err)
	}
	want := harness.Condensed{
		Note: "note", Kept: 5, Pruned: &harness.Origin{Session: "s", Record: 6},
		Pins: []harness.Origin{{Session: "s", Record: 1}, {Session: "s", Record: 4}, {Session: "s", Record: 6}},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestAnAwayRunOfADeletedSessionIsNotLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), &harness.Holder{PID: 3})
	if err := d.st.Sessions().Delete(d.ctx(), "s"); err != nil {
		t.Fatal(err)
	}
	// In the trash it goes on as ever.
	d.far.put(h.ID(), d.answers("hi")...)
	d.far.drive(h.ID(), nil)
	if res := d.wait(h); res.Status != harness.RunCompleted {
		t.Fatalf("result %+v", res)
	}
	if err := d.st.Sessions().Restore(d.ctx(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
}

func TestARunIsGivenUpWithoutItsBackend(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.far.asked = func(j *farJob, a run.Ask) {
		j.add(entry(t, loop.Rested{Status: harness.RunCancelled, Stop: harness.StopCancelled}))
		j.job.Run.Worker = nil
	}
	h := d.start("hello")
	d.far.drive(h.ID(), &harness.Holder{PID: 3})
	d.far.setDown(errDown)
	if err := d.Abandon(d.ctx(), d.lease, h.ID()); err != nil {
		t.Fatal(err)
	}
	d.far.setDown(nil)
	d.far.put(h.ID(), d.answers("hi")[:1]...)
	for range 2 { // first it is cancelled, then told
		got, err := d.Fetch(d.ctx(), d.lease)
		if err != nil || got.Entries != 0 {
			t.Fatalf("fetched %+v, %v", got, err)
		}
		if len(got.Lost) > 0 && !strings.Contains(got.Lost[0], "given up") {
			t.Errorf("told %q", got.Lost)
		}
	}
	if j := d.far.only(t); j.job.Acknowledged != 3 {
		t.Errorf("acknowledged %d", j.job.Acknowledged)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello"}) {
		t.Errorf("there is %q", got)
	}
}

// purged is a journal whose session was deleted for good.
type purged struct{ run.Journal }

func (purged) Append(context.Context, harness.Lease, harness.RunID, int, ...run.Entry) ([]run.Entry, error) {
	return nil, harness.ErrNotFound
}

func TestAnAwayRunOfAPurgedSessionStaysAtItsBackend(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.open(func(o *run.RemoteOptions) { o.Home = purged{o.Home} })
	h := d.start("hello")
	d.far.put(h.ID(), d.answers("hi")...)
	res := d.wait(h)
	if res.Status != harness.RunFailed || res.Error.Kind != "store" || !strings.Contains(res.Error.Text, "deleted for good") {
		t.Errorf("result %+v", res)
	}
	if j := d.far.only(t); j.job.Acknowledged > 1 {
		t.Errorf("acknowledged %d", j.job.Acknowledged)
	}
}

// What a backend lost can be dropped and nothing else; what it pruned after the
// conversation had it is of no interest.
func TestARunThatItsBackendLost(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.put(h.ID(), d.answers("half")[0], d.entry(loop.Rested{Status: harness.RunPaused}))
	d.wait(h)
	d.far.mu.Lock()
	d.far.jobs = map[harness.RunID]*farJob{}
	d.far.mu.Unlock()
	ctx := t.Context()
	r, err := d.Get(ctx, h.ID())
	if err != nil || !strings.Contains(r.Waits, "drop it") {
		t.Fatalf("it is %+v, %v", r, err)
	}
	if _, err := d.Resume(ctx, d.lease, h.ID(), harness.ResumeContinue); err == nil || !strings.Contains(err.Error(), "drop the run") {
		t.Errorf("resumed with %v", err)
	}
	if err := d.Pause(ctx, h.ID()); err != nil {
		t.Errorf("pause: %v", err)
	}
	h2, err := d.Resume(ctx, d.lease, h.ID(), harness.ResumeDrop)
	if err != nil {
		t.Fatal(err)
	}
	if res := d.wait(h2); res.Status != harness.RunCancelled || res.Stop != harness.StopDropped {
		t.Errorf("result %+v", res)
	}
	if err := d.Cancel(ctx, h.ID()); err != nil {
		t.Errorf("cancel: %v", err)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: half"}) {
		t.Errorf("there is %q", got)
	}
}

// A person who goes on with a run that has ended meanwhile gets its answer.
func TestResumingARunThatHasEndedMeanwhileFetchesIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), worker())
	if err := d.Leave(t.Context(), h.ID()); err != nil {
		t.Fatal(err)
	}
	d.far.put(h.ID(), d.answers("hi")...)
	d.far.drive(h.ID(), nil)
	h2, err := d.Resume(t.Context(), d.lease, h.ID(), harness.ResumeContinue)
	if err != nil {
		t.Fatal(err)
	}
	if res := d.wait(h2); res.Status != harness.RunCompleted || res.Text != "hi" {
		t.Errorf("result %+v", res)
	}
	if got, want := seqs(<-collect(t.Context(), h2, 1)), []int{2, 3}; !slices.Equal(got, want) {
		t.Errorf("numbers %v, want %v", got, want)
	}
	if _, err := d.Resume(t.Context(), d.lease, h.ID(), harness.ResumeContinue); err == nil {
		t.Error("resumed again")
	}
}

// Bytes that the backend lost are told, and keep nothing else from being handed over.
func TestBytesThatTheBackendLostAreTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), worker())
	if err := d.Leave(t.Context(), h.ID()); err != nil {
		t.Fatal(err)
	}
	call := harness.ToolCall{ID: "c1", Name: "look"}
	m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}}
	seen := loop.Result(call, "long …", false, false)
	seen.Parts[0].Result.Artifact = harness.ArtifactName([]byte("long long"))
	d.far.put(h.ID(), d.entry(loop.Answered{Message: &m, Stop: harness.StopTools, Attempt: 1}),
		d.entry(loop.Judged{CallID: "c1", Permission: "allow"}), d.entry(loop.Began{CallID: "c1"}), d.entry(loop.Ended{Message: seen}))
	got, err := d.Fetch(t.Context(), d.lease)
	if err != nil || got.Entries != 4 || len(got.Lost) != 1 || !strings.Contains(got.Lost[0], seen.Parts[0].Result.Artifact[:12]) {
		t.Errorf("fetched %+v, %v", got, err)
	}
}
