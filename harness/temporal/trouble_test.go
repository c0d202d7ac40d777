package temporal_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "go.temporal.io/sdk/temporal"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
)

func TestACallThatMayRunAgainAndKillsEveryWorkerEndsTheRun(t *testing.T) {
	t.Parallel()
	ran := 0
	var r *rehearsal
	r = rehearse(t, func(int, temporal.Task) (temporal.Done, error) {
		return r.records(asksFor(true, "1")...), nil
	}, func(int, temporal.Task) (temporal.Done, error) {
		ran++
		return temporal.Done{}, silent()
	})
	entries := r.play()
	last := entries[len(entries)-1]
	if last.Status != harness.RunFailed || last.Error == nil || last.Error.Kind != "worker" || ran == 0 {
		t.Errorf("after %d workers the run ends with %+v", ran, last)
	}
}

func TestACallWhoseResultCannotBeStoredEndsTheRunWithItsName(t *testing.T) {
	t.Parallel()
	ran := 0
	var r *rehearsal
	r = rehearse(t, func(int, temporal.Task) (temporal.Done, error) {
		return r.records(asksFor(true, "1")...), nil
	}, func(int, temporal.Task) (temporal.Done, error) {
		ran++
		return temporal.Done{}, sdk.NewNonRetryableApplicationError("store a payload of 70,000 bytes: no space left", "store", nil)
	})
	entries := r.play()
	last := entries[len(entries)-1]
	if ran != 1 || last.Status != harness.RunFailed || last.Error == nil || last.Error.Text != "what t returned could not be stored: store a payload of 70,000 bytes: no space left" {
		t.Errorf("after %d calls the run ends with %+v (%+v)", ran, last, last.Error)
	}
}

// ids are the runs of a list.
func ids(t *testing.T, b *temporal.Backend, f run.JobFilter) []harness.RunID {
	t.Helper()
	jobs, err := b.List(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var got []harness.RunID
	for _, j := range jobs {
		got = append(got, j.Run.ID)
	}
	return got
}

// untilStuck waits for the task of a workflow to have failed a few times.
func untilStuck(t *testing.T, b *temporal.Backend, id harness.RunID) {
	t.Helper()
	for !b.Stuck(t.Context(), id) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("its task does not fail")
		}
	}
}

func TestARunThatThisVersionCannotReadHindersNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(parts(t, script(says("done"))))
	store := "store-" + harness.NewID()
	newer, good := submission("go", true), submission("go", true)
	newer.First.Kind = "from a later version"
	newer.Carried.Store, good.Carried.Store = store, store
	strange, id := submit(t, b, newer), submit(t, b, good)
	untilStatus(t, b, id, harness.RunCompleted)
	untilStuck(t, b, strange)
	jobs, err := b.List(t.Context(), run.JobFilter{Store: store})
	if err != nil || len(jobs) != 2 {
		t.Fatalf("listed are %+v: %v", jobs, err)
	}
	for _, j := range jobs {
		if j.Run.ID == strange && (!strings.Contains(j.Run.Waits, "another version") || j.Run.Status != harness.RunRunning) {
			t.Errorf("the strange run is %+v", j.Run)
		}
	}
	if _, err := b.Get(t.Context(), strange); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("asking for it gives %v", err)
	}
	if err := b.Ask(t.Context(), strange, run.AskCancel); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("cancelling it gives %v", err)
	}
	h, err := b.History(t.Context(), strange)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.GetEvents() {
		if kind := e.GetEventType().String(); kind == "WorkflowTaskCompleted" || kind == "WorkflowExecutionFailed" {
			t.Errorf("it was touched: %s", kind)
		}
	}
}

func TestARunWhoseWorkflowWasEndedOnTheServerIsNotThereAnyMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(agent.Steps{})
	s := submission("go", false)
	s.Carried.Store = "store-" + harness.NewID()
	id := submit(t, b, s)
	if err := b.Cut(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(t.Context(), id); !errors.Is(err, harness.ErrNotFound) || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("asking for it gives %v", err)
	}
	if got := ids(t, b, run.JobFilter{Store: s.Carried.Store}); len(got) > 0 {
		t.Errorf("listed are %v", got)
	}
}

func TestWhatWasFetchedFromARunThatGoesOnIsNotCountedAsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	stopped := make(chan time.Time, 1)
	b := w.open(parts(t, hanging("half", stopped)))
	s := submission("go", true)
	s.Carried.Store = "store-" + harness.NewID()
	id := submit(t, b, s)
	if err := b.Acknowledge(t.Context(), id, 1); err != nil {
		t.Fatal(err)
	}
	if j, err := b.Get(t.Context(), id); err != nil || j.Acknowledged != 1 || j.Run.Unfetched != 0 {
		t.Errorf("the run is %+v (%v)", j, err)
	}
	if got := ids(t, b, run.JobFilter{Store: s.Carried.Store, Unacknowledged: true}); len(got) > 0 {
		t.Errorf("not fetched are %v", got)
	}
	if err := b.Ask(t.Context(), id, run.AskCancel); err != nil {
		t.Fatal(err)
	}
	<-stopped
	untilStatus(t, b, id, harness.RunCancelled)
	if got := ids(t, b, run.JobFilter{Store: s.Carried.Store, Unacknowledged: true}); !slices.Equal(got, []harness.RunID{id}) {
		t.Errorf("when it has ended, not fetched are %v", got)
	}
}

func TestRunsAreNotLookedForBesidesTheListsForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	var mu sync.Mutex
	at := time.Now()
	o := w.options(parts(t, script(says("done"))))
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	}
	b := connect(t, w, o)
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	id := submit(t, b, submission("go", true))
	j := untilStatus(t, b, id, harness.RunCompleted)
	if err := b.Acknowledge(t.Context(), id, j.Run.Cursor); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	at = at.Add(time.Hour)
	mu.Unlock()
	ids(t, b, run.JobFilter{Unfinished: true})
	if n := b.Fresh(); n != 0 {
		t.Errorf("%d runs are still looked for", n)
	}
}

func TestAWorkerTellsWhatItDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(agent.Steps{})
	steps := parts(t, script(says("done")))
	o := w.options(steps)
	o.Steps = func(_ context.Context, j run.Job, _ run.Carried) (agent.Steps, error) {
		if j.Run.Dir == "/elsewhere" {
			return agent.Steps{}, run.ErrUnfit
		}
		return steps, nil
	}
	worker, err := temporal.NewWorker(t.Context(), w.address, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- worker.Run(ctx) }()
	unfit := submission("go", false)
	unfit.Run.Dir = "/elsewhere"
	refused := submit(t, b, unfit)
	untilStatus(t, b, submit(t, b, submission("go", false)), harness.RunCompleted)
	until(t, b, refused, "a refusal", func(j run.Job) bool { return strings.Contains(j.Run.Waits, "cannot drive") })
	s := worker.Status()
	if s.Done != 1 || s.Failed != 0 || s.Refused != 1 || s.Trouble != "" || s.Since.IsZero() || len(s.Driving) > 0 {
		t.Errorf("it tells %+v", s)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// greets returns the first bytes that a client sends to a listener.
func greets(t *testing.T, query string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	got := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		first := make([]byte, 3)
		_, _ = c.Read(first)
		_ = c.Close()
		got <- string(first)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() {
		_, err := temporal.Open(ctx, "temporal://"+l.Addr().String()+"/n"+query, temporal.Options{Blobs: t.TempDir()})
		over <- err
	}()
	first := <-got
	cancel()
	if err := <-over; err == nil {
		t.Error("it connects to what is no server")
	}
	return first
}

func TestAnEncryptedServerIsGreetedEncrypted(t *testing.T) {
	t.Setenv("TEMPORAL_API_KEY", "")
	const hello = "\x16\x03" // the record of a TLS greeting
	if first := greets(t, "?tls=true"); !strings.HasPrefix(first, hello) {
		t.Errorf("with tls=true it begins with %q", first)
	}
	if first := greets(t, ""); first != "PRI" {
		t.Errorf("without tls it begins with %q", first)
	}
	t.Setenv("TEMPORAL_API_KEY", "a-secret-key")
	if first := greets(t, ""); !strings.HasPrefix(first, hello) {
		t.Errorf("with a key it begins with %q", first)
	}
	_, err := temporal.Open(t.Context(), "temporal://127.0.0.1:1/n?tls=false", temporal.Options{Blobs: t.TempDir()})
	if !errors.Is(err, run.ErrAddress) || !strings.Contains(err.Error(), "TLS") || strings.Contains(err.Error(), "a-secret-key") {
		t.Errorf("a key without TLS gives %v", err)
	}
}

func TestNamesOfOthersReachNoOtherFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	b := w.open(agent.Steps{})
	for _, name := range []string{"../payloads/x", "", "x", strings.Repeat("g", 64)} {
		if _, err := b.Artifact(t.Context(), "r", name); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("the artifact %q gives %v", name, err)
		}
	}
}

// lines counts the lines of a log that are below warnings.
type lines struct {
	slog.Handler

	mu  sync.Mutex
	low []string
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Level < slog.LevelWarn {
		l.low = append(l.low, r.Message)
	}
	return nil
}

func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *lines) WithGroup(string) slog.Handler      { return l }

func TestTheLibraryOfTheServerLogsNothingBelowWarnings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, temporaltest.Start(t))
	log := &lines{Handler: slog.DiscardHandler}
	o := w.options(parts(t, script(says("done"))))
	o.Logger = slog.New(log)
	b := connect(t, w, o)
	untilStatus(t, b, submit(t, b, submission("go", true)), harness.RunCompleted)
	if err := b.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.low) > 0 {
		t.Errorf("it logs %q", log.low)
	}
}

// TestClosingLeavesNothingBehind runs alone: it looks at all that the process does.
func TestClosingLeavesNothingBehind(t *testing.T) {
	w := newWorld(t, temporaltest.Start(t))
	begun := func() string {
		all := make([]byte, 4<<20)
		var ours []string
		for _, stack := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
			if strings.Contains(stack, "harness/temporal.") || strings.Contains(stack, "sdk/internal.(*baseWorker)") {
				if !strings.Contains(stack, "testing.tRunner") {
					ours = append(ours, stack)
				}
			}
		}
		return strings.Join(ours, "\n\n")
	}
	b := connect(t, w, w.options(parts(t, script(says("done")))))
	ctx, stop := context.WithCancel(t.Context())
	id := submit(t, b, submission("go", true))
	changed, err := b.Watch(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	untilStatus(t, b, id, harness.RunCompleted)
	if err := b.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	stop()
	for range changed {
	}
	for left := begun(); left != ""; left = begun() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("after closing there are\n%s", left)
		}
	}
}

// TestTwoBackendsOfOneProcessKeepTheirRunsApart drives runs in two at the same time.
func TestTwoBackendsOfOneProcessKeepTheirRunsApart(t *testing.T) {
	t.Parallel()
	s := temporaltest.Start(t)
	one, two := newWorld(t, s), newWorld(t, s)
	first, second := one.open(parts(t, script(says("first")))), two.open(parts(t, script(says("second"))))
	for range 3 {
		a, b := submit(t, first, submission("go", true)), submit(t, second, submission("go", true))
		untilStatus(t, first, a, harness.RunCompleted)
		untilStatus(t, second, b, harness.RunCompleted)
		if x, y := lastText(read(t, first, a)), lastText(read(t, second, b)); x != "first" || y != "second" {
			t.Errorf("the answers are %q and %q", x, y)
		}
	}
}
