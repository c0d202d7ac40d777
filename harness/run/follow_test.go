package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

// worker is somebody who drives runs elsewhere.
func worker() *harness.Holder { return &harness.Holder{PID: 3, Purpose: "worker"} }

// collect gathers the events of a run until it rests or ctx ends.
func collect(ctx context.Context, h harness.RunHandle, after int) <-chan []harness.Event {
	out := make(chan []harness.Event, 1)
	go func() {
		var all []harness.Event
		for e := range h.Events(ctx, after) {
			all = append(all, e)
		}
		out <- all
	}()
	return out
}

// streamedText joins the text of one attempt, and fails if a part is missing or
// comes twice.
func streamedText(t *testing.T, events []harness.Event, attempt int) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		if e.Type != harness.EventText || e.Attempt != attempt {
			continue
		}
		if e.Offset != b.Len() {
			t.Errorf("text at %d follows %d bytes", e.Offset, b.Len())
		}
		b.WriteString(e.Text)
	}
	return b.String()
}

func seqs(events []harness.Event) []int {
	var all []int
	for _, e := range events {
		if e.Seq > 0 {
			all = append(all, e.Seq)
		}
	}
	return all
}

func (f *far) stream(id harness.RunID, attempt int, text string) {
	f.change(id, func(j *farJob) { j.job.Run.Partial = &harness.Partial{Attempt: attempt, Text: text} })
}

// Text that streams elsewhere is shown by attempt and offset, and the events with a
// number come without a gap, whatever number a reader comes back with.
func TestARunThatIsDrivenElsewhereIsSeenWithoutAGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("hello")
		whole := collect(t.Context(), h, 0)
		d.far.drive(h.ID(), worker())
		for _, text := range []string{"a", "ab", "ab", "abcd"} {
			d.far.stream(h.ID(), 1, text)
			time.Sleep(700 * time.Millisecond)
		}
		d.far.stream(h.ID(), 2, "new") // the attempt before broke off
		time.Sleep(time.Second)
		call := harness.ToolCall{ID: "c1", Name: "look"}
		m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartText, Text: "news"}, {Kind: harness.PartCall, Call: &call}}}
		d.far.put(h.ID(), d.entry(loop.Answered{Message: &m, Stop: harness.StopTools, Attempt: 2}))
		time.Sleep(time.Second)
		d.far.put(h.ID(), d.entry(loop.Judged{CallID: "c1", Permission: "allow"}), d.entry(loop.Began{CallID: "c1"}),
			d.entry(loop.Ended{Message: loop.Result(call, "seen", false, false)}))
		late := collect(t.Context(), h, 4)
		time.Sleep(time.Second)
		d.far.stream(h.ID(), 3, "don")
		time.Sleep(time.Second)
		e := d.entry(says("done", 3))
		d.far.put(h.ID(), e, d.entry(loop.Rested{Status: harness.RunCompleted, Stop: harness.StopEnd}))
		time.Sleep(time.Second)
		d.far.drive(h.ID(), nil)
		if res := d.wait(h); res.Status != harness.RunCompleted {
			t.Errorf("result %+v", res)
		}
		events := <-whole
		if got := streamedText(t, events, 1); got != "abcd" {
			t.Errorf("attempt 1 said %q", got)
		}
		if got := streamedText(t, events, 2); got != "new" {
			t.Errorf("attempt 2 said %q", got)
		}
		if got := streamedText(t, events, 3); got != "don" {
			t.Errorf("attempt 3 said %q", got)
		}
		var kinds []string
		for _, e := range events {
			if e.Type == harness.EventReset {
				kinds = append(kinds, string(e.Type))
			}
		}
		if len(kinds) != 1 {
			t.Errorf("%d resets", len(kinds))
		}
		// Entry 3 tells nobody anything; the result has the number of the last one.
		if got, want := seqs(events), []int{1, 2, 4, 5, 6, 7}; !slices.Equal(got, want) {
			t.Errorf("numbers %v, want %v", got, want)
		}
		if got, want := seqs(<-late), []int{5, 6, 7}; !slices.Equal(got, want) {
			t.Errorf("after 4 the numbers are %v, want %v", got, want)
		}
		// A reader of another process that comes back.
		d.open(func(*run.RemoteOptions) {})
		again, err := d.Attach(t.Context(), d.lease, h.ID())
		if err != nil {
			t.Fatal(err)
		}
		for after := range 7 {
			got := seqs(<-collect(t.Context(), again, after))
			want := slices.DeleteFunc([]int{1, 2, 4, 5, 6, 7}, func(n int) bool { return n <= after })
			if !slices.Equal(got, want) {
				t.Errorf("after %d the numbers are %v, want %v", after, got, want)
			}
		}
	})
}

// What this process drives is shown as it comes, and not again from the disk.
func TestLiveTextIsShownOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		live := make(chan harness.Event)
		d.far.submitted = func(run.Submission) error { return nil }
		h := d.start("hello")
		d.far.change(h.ID(), func(j *farJob) { j.live, j.job.Run.Worker = live, worker() })
		events := collect(t.Context(), h, 0)
		say := func(offset int, text string) {
			live <- harness.Event{Type: harness.EventText, Attempt: 1, Offset: offset, Text: text}
		}
		say(0, "ab")
		d.far.stream(h.ID(), 1, "ab")
		say(2, "cd")
		live <- harness.Event{Type: harness.EventRetry, Text: "again", Wait: 1}
		time.Sleep(time.Second)
		d.far.change(h.ID(), func(j *farJob) {
			j.add(d.answers("abcd")...)
			j.live = nil
		})
		time.Sleep(time.Second)
		close(live)
		time.Sleep(time.Second)
		d.far.drive(h.ID(), nil)
		d.wait(h)
		got := <-events
		if text := streamedText(t, got, 1); text != "abcd" {
			t.Errorf("text %q", text)
		}
		if !slices.ContainsFunc(got, func(e harness.Event) bool { return e.Type == harness.EventRetry && e.Run == h.ID() }) {
			t.Errorf("no sign of the retry in %v", got)
		}
	})
}

func TestARunThatNobodyTakesIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		began := time.Now()
		h := d.start("hello")
		unclaimed := make(chan time.Duration, 10)
		var words []string
		go func() {
			for e := range h.Events(t.Context(), 0) {
				if e.Type == harness.EventUnclaimed {
					words = append(words, e.Text)
					unclaimed <- time.Since(began)
				}
			}
			close(unclaimed)
		}()
		time.Sleep(2 * time.Second)
		d.far.change(h.ID(), func(*farJob) {}) // a change does not begin the wait anew
		if after := <-unclaimed; after != 5*time.Second {
			t.Errorf("told after %v", after)
		}
		d.far.change(h.ID(), func(j *farJob) { j.job.Run.Waits = "worker on box: it lacks the tool pay" })
		<-unclaimed
		d.far.change(h.ID(), func(*farJob) {})
		// Resuming it drives it here.
		d.far.resumed = func(j *farJob, how harness.ResumeHow, here bool) error {
			if !here || how != harness.ResumeContinue {
				t.Errorf("resumed with %s, here %v", how, here)
			}
			j.job.Run.Worker, j.job.Run.Waits = worker(), ""
			return nil
		}
		h2, err := d.Resume(t.Context(), d.lease, h.ID(), harness.ResumeContinue)
		if err != nil || h2 != h {
			t.Fatalf("got %v, %v", h2, err)
		}
		if _, err := d.Resume(t.Context(), d.lease, h.ID(), harness.ResumeContinue); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("under way it is %v", err)
		}
		d.far.put(h.ID(), d.answers("hi")...)
		d.far.drive(h.ID(), nil)
		d.wait(h)
		for range unclaimed {
			t.Error("told once more")
		}
		want := []string{"no worker has taken it", "worker on box: it lacks the tool pay"}
		if !slices.Equal(words, want) {
			t.Errorf("told %q, want %q", words, want)
		}
	})
}

// A worker that dies silently changes nothing that anybody is told of.
func TestARunWhoseDriverIsSilentIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("hello")
		d.far.drive(h.ID(), worker())
		events := collect(t.Context(), h, 0)
		time.Sleep(time.Minute)
		d.far.mu.Lock() // its lease passes
		r := &d.far.only2().job.Run
		r.Worker, r.Interrupted = nil, true
		d.far.mu.Unlock()
		time.Sleep(15 * time.Second)
		d.far.put(h.ID(), d.answers("hi")...)
		got := <-events
		if !slices.ContainsFunc(got, func(e harness.Event) bool {
			return e.Type == harness.EventUnclaimed && strings.Contains(e.Text, "gone")
		}) {
			t.Errorf("not told in %v", got)
		}
	})
}

// only2 is the one run; the caller holds mu.
func (f *far) only2() *farJob {
	for _, j := range f.jobs {
		return j
	}
	return nil
}

func TestFollowingAsksNothingWhileNothingChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("hello")
		time.Sleep(10 * time.Second)
		before := d.far.count("get") + d.far.count("read")
		time.Sleep(time.Hour)
		if asked := d.far.count("get") + d.far.count("read") - before; asked != 0 {
			t.Errorf("asked %d times while it waited", asked)
		}
		// Text that changes all the time is looked at now and then.
		d.far.drive(h.ID(), worker())
		synctest.Wait()
		before = d.far.count("get")
		for n := range 3_000 {
			d.far.stream(h.ID(), 1, strings.Repeat("x", n+1))
			time.Sleep(time.Millisecond)
		}
		if asked := d.far.count("get") - before; asked < 5 || asked > 11 {
			t.Errorf("asked %d times in 3 s", asked)
		}
		if asked := d.far.count("read"); asked != 0 {
			t.Errorf("read %d times though there was no entry", asked)
		}
		d.far.put(h.ID(), d.answers("x")...)
		d.far.drive(h.ID(), nil)
		d.wait(h)
	})
}

// A backend that goes away and comes back is waited for; meanwhile that is told.
func TestFollowingOutlivesTheBackendsAbsence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("hello")
		events := collect(t.Context(), h, 0)
		d.far.drive(h.ID(), worker())
		synctest.Wait()
		d.far.setDown(errDown)
		d.far.put(h.ID(), d.answers("hi")...)
		d.far.drive(h.ID(), nil)
		time.Sleep(20 * time.Second)
		d.far.setDown(nil)
		if res := d.wait(h); res.Status != harness.RunCompleted {
			t.Errorf("result %+v", res)
		}
		waits := 0
		for _, e := range <-events {
			if e.Type == harness.EventWaiting && e.Error.Kind == "engine" {
				waits++
			}
		}
		if waits < 2 || waits > 8 {
			t.Errorf("told %d times", waits)
		}
	})
}

// With no lease a run is only seen: it says nothing of the conversation's numbers.
func TestFollowingWithoutALeaseHandsNothingOver(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), worker())
	if err := d.Leave(t.Context(), h.ID()); err != nil {
		t.Fatal(err)
	}
	only, err := d.Attach(t.Context(), harness.Lease{}, h.ID())
	if err != nil {
		t.Fatal(err)
	}
	events := collect(t.Context(), only, 0)
	d.far.put(h.ID(), d.answers("hi")...)
	d.far.drive(h.ID(), nil)
	if res := d.wait(only); res.Status != harness.RunCompleted || res.Text != "hi" {
		t.Errorf("result %+v", res)
	}
	for _, e := range <-events {
		if e.Record != 0 {
			t.Errorf("event %+v has the number of a record", e)
		}
	}
	if got := d.texts(); !slices.Equal(got, []string{"user: hello"}) {
		t.Errorf("there is %q", got)
	}
}

func TestClosingLeavesRunsOfOthersAndEndsTheirHandles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.start("hello")
	d.far.drive(h.ID(), worker())
	if err := d.Close(t.Context()); err != nil || !d.far.closed {
		t.Fatalf("closed %v, %v", d.far.closed, err)
	}
	if _, err := h.Wait(t.Context()); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("its handle says %v", err)
	}
	if _, err := d.Start(t.Context(), harness.StartRequest{Lease: d.lease, Message: harness.UserText("more")}); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("a start says %v", err)
	}
}

// Not every backend tells of streamed text: it is looked for while a model answers.
func TestTextIsSeenAlsoWhereNobodyTellsOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		h := d.start("hello")
		d.far.drive(h.ID(), worker())
		events := collect(t.Context(), h, 0)
		synctest.Wait()
		for _, text := range []string{"a", "ab", "abc"} {
			d.far.mu.Lock()
			d.far.only2().job.Run.Partial = &harness.Partial{Attempt: 1, Text: text}
			d.far.mu.Unlock()
			time.Sleep(2 * time.Second)
		}
		d.far.put(h.ID(), d.answers("abcd")...)
		d.far.drive(h.ID(), nil)
		d.wait(h)
		got := <-events
		if text := streamedText(t, got, 1); text != "abc" {
			t.Errorf("text %q", text)
		}
	})
}
