package run_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// putBack is what a backend does whose store is put back from an older copy, in which
// a run had so many entries; on are what it does from there on.
func (f *far) putBack(id harness.RunID, had int, on ...run.Entry) {
	f.change(id, func(j *farJob) {
		j.entries, j.job.Run.Cursor, j.job.Run.Status = j.entries[:had], had, harness.RunRunning
		j.job.Acknowledged, j.job.Run.Worker = min(j.job.Acknowledged, had), nil
		at := j.Run.Started
		j.Run.Started = at.Add(time.Hour)
		j.add(on...)
		j.Run.Started = at
	})
}

// older are the ways in which a backend can have another run than the conversation.
func older(d *desk) map[string][]run.Entry {
	return map[string][]run.Entry{
		"it is behind":      nil,
		"it is as far":      {d.entry(says("another half", 1)), d.entry(loop.Rested{Status: harness.RunPaused})},
		"it went past":      append([]run.Entry{d.entry(says("another half", 1)), d.entry(loop.Rested{Status: harness.RunPaused}), d.entry(loop.Resumed{How: harness.ResumeContinue})}, d.answers("no")...),
		"it came to a rest": {d.entry(loop.Rested{Status: harness.RunPaused})},
	}
}

// A run of which the backend has an older copy, or what became of one, is mixed with
// nothing that the conversation has, and can be dropped.
func TestARunThatItsBackendHasAnOlderCopyOf(t *testing.T) {
	t.Parallel()
	for name, on := range older(newDesk(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			h := d.start("hello")
			d.far.put(h.ID(), d.answers("half")[0], d.entry(loop.Rested{Status: harness.RunPaused}))
			d.wait(h)
			d.far.putBack(h.ID(), 1, on...)
			for _, how := range []harness.ResumeHow{harness.ResumeContinue, harness.ResumeRetry} {
				h, err := d.Resume(t.Context(), d.lease, h.ID(), how)
				if err == nil { // it tells in its result
					err = errors.New(d.wait(h).Error.Text)
				}
				if !strings.Contains(err.Error(), "drop the run") {
					t.Errorf("%s: %v", how, err)
				}
			}
			if got, err := d.Fetch(t.Context(), d.lease); got.Entries != 0 {
				t.Errorf("fetched %+v, %v", got, err)
			}
			h2, err := d.Resume(t.Context(), d.lease, h.ID(), harness.ResumeDrop)
			if err != nil {
				t.Fatal(err)
			}
			if res := d.wait(h2); res.Status != harness.RunCancelled || res.Stop != harness.StopDropped {
				t.Errorf("result %+v", res)
			}
			if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: half"}) {
				t.Errorf("there is %q", got)
			}
		})
	}
}

// A message that follows a run of which the backend has an older copy is begun.
func TestAMessageFollowsARunThatItsBackendHasAnOlderCopyOf(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.put(h.ID(), d.answers("half")[0], d.entry(loop.Rested{Status: harness.RunPaused}))
	d.wait(h)
	d.far.putBack(h.ID(), 1)
	next := d.start("go on")
	d.far.put(next.ID(), d.answers("hi")...)
	if res := d.wait(next); res.Status != harness.RunCompleted {
		t.Errorf("result %+v", res)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: half", "user: go on", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
}

// Who follows a run is told when its backend is put back from an older copy, and
// waits for nothing that cannot come.
func TestWhoFollowsARunIsToldOfAnOlderCopy(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), worker())
	d.far.put(h.ID(), d.answers("half")[0])
	events := h.Events(t.Context(), 0)
	for e := range events {
		if e.Seq == 2 {
			break
		}
	}
	d.far.putBack(h.ID(), 1)
	res := d.wait(h)
	if res.Error == nil || !strings.Contains(res.Error.Text, "older copy") {
		t.Errorf("result %+v", res)
	}
	r, err := d.Get(t.Context(), h.ID())
	if err != nil || !strings.Contains(r.Waits, "older copy") || !r.Interrupted {
		t.Errorf("it is %+v, %v", r, err)
	}
	list, err := d.List(t.Context(), harness.RunFilter{Session: "s"})
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Waits, "older copy") {
		t.Errorf("listed %+v, %v", list, err)
	}
}

// A conversation that was put back from an older copy gets what its backend was told
// that it has.
func TestAConversationThatWasPutBackIsFetchedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), worker())
	if err := d.Leave(t.Context(), h.ID()); err != nil {
		t.Fatal(err)
	}
	d.far.put(h.ID(), d.answers("hi")...)
	// The backend was told that the conversation has all of it.
	d.far.change(h.ID(), func(j *farJob) { j.job.Acknowledged, j.job.Run.Worker = j.job.Run.Cursor, nil })
	got, err := d.Fetch(t.Context(), d.lease)
	if err != nil || got.Entries != 2 || got.Runs != 1 {
		t.Errorf("fetched %+v, %v", got, err)
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: hi"}) {
		t.Errorf("there is %q", got)
	}
}
