package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/storage/bolt"
	"cairn/storage/mem"
)

// fate stops a process at its n-th way out: what it wanted to do then was done or
// not, and it never learns which. Nothing after that works.
type fate struct {
	mu   sync.Mutex
	left int
	done bool // the last one was done
	// blip, if set, chooses what fails although the process lives on.
	blip *rand.Rand
}

// errBlip is what fails once, and may have been done all the same.
var errBlip = errors.New("the connection broke")

// errDead is what a process sees that is gone; nobody tries again after it.
var errDead = fmt.Errorf("the process is gone: %w", harness.ErrClosed)

func (f *fate) pass(do func() error) error {
	f.mu.Lock()
	f.left--
	left, done := f.left, f.done
	blip := f.blip != nil && f.blip.IntN(4) == 0
	if blip {
		done = f.blip.IntN(2) == 0
	}
	f.mu.Unlock()
	switch {
	case blip && done:
		return errors.Join(errBlip, do())
	case blip:
		return errBlip
	case left > 0:
		return do()
	case left == 0 && done:
		if err := do(); err != nil {
			return err
		}
	}
	return errDead
}

// fatedJournal, fatedArtifacts and fatedBackend are the ways out of a process.
type fatedJournal struct {
	run.Journal
	*fate
}

func (j fatedJournal) Create(ctx context.Context, l harness.Lease, r harness.Run, first run.Entry, closes ...run.Closing) (made harness.Run, entries []run.Entry, err error) {
	err = j.pass(func() (err error) { made, entries, err = j.Journal.Create(ctx, l, r, first, closes...); return err })
	return made, entries, err
}

func (j fatedJournal) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) (stored []run.Entry, err error) {
	err = j.pass(func() (err error) { stored, err = j.Journal.Append(ctx, l, id, after, entries...); return err })
	return stored, err
}

type fatedArtifacts struct {
	harness.Artifacts
	*fate
}

func (a fatedArtifacts) Put(ctx context.Context, id harness.SessionID, data []byte) (name string, err error) {
	err = a.pass(func() (err error) { name, err = a.Artifacts.Put(ctx, id, data); return err })
	return name, err
}

type fatedBackend struct {
	run.Backend
	*fate
}

func (b fatedBackend) Submit(ctx context.Context, s run.Submission) error {
	return b.pass(func() error { return b.Backend.Submit(ctx, s) })
}

func (b fatedBackend) Resume(ctx context.Context, id harness.RunID, how harness.ResumeHow, here bool) error {
	return b.pass(func() error { return b.Backend.Resume(ctx, id, how, here) })
}

func (b fatedBackend) Acknowledge(ctx context.Context, id harness.RunID, cursor int) error {
	return b.pass(func() error { return b.Backend.Acknowledge(ctx, id, cursor) })
}

func (b fatedBackend) Read(ctx context.Context, id harness.RunID, after int) (entries []run.Entry, err error) {
	err = b.pass(func() (err error) { entries, err = b.Backend.Read(ctx, id, after); return err })
	return entries, err
}

func (b fatedBackend) Artifact(ctx context.Context, id harness.RunID, name string) (data []byte, err error) {
	err = b.pass(func() (err error) { data, err = b.Backend.Artifact(ctx, id, name); return err })
	return data, err
}

// cabinet is a store that has conversations.
type cabinet struct {
	journal    run.Journal
	transcript harness.Transcript
	sessions   harness.Sessions
	owners     harness.Owners
	artifacts  harness.Artifacts
	facts      harness.Facts
	ledger     harness.Ledger
}

func cabinets(t *testing.T) map[string]func(t *testing.T) cabinet {
	t.Helper()
	return map[string]func(t *testing.T) cabinet{
		"mem": func(*testing.T) cabinet {
			m := mem.New(nil)
			return cabinet{m.Journal(), m.Transcript(), m.Sessions(), m.Owners(), m.Artifacts(), m.Facts(), m.Ledger()}
		},
		"bolt": func(t *testing.T) cabinet {
			t.Helper()
			db, err := bolt.Open(filepath.Join(t.TempDir(), "cairn.db"), bolt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			return cabinet{db.Journal(), db.Transcript(), db.Sessions(), db.Owners(), db.Artifacts(), db.Facts(), db.Ledger()}
		},
	}
}

// acting is a far whose runs do what is in a play: a few entries each time that
// they are looked at, until they rest.
type acting struct {
	*far

	t      *testing.T
	random *rand.Rand
	// plays are the entries of the runs by the text that begins them.
	plays map[string][]run.Entry
	left  map[harness.RunID][]run.Entry
	bytes []byte
}

func newActing(t *testing.T, seed uint64) *acting {
	t.Helper()
	a := &acting{far: newFar(), t: t, random: rand.New(rand.NewPCG(seed, 1)), left: map[harness.RunID][]run.Entry{}, bytes: bytes.Repeat([]byte("long "), 2_000)}
	look, save := harness.ToolCall{ID: "c1", Name: "look", Input: json.RawMessage(`{}`)}, harness.ToolCall{ID: "c2", Name: "save_fact", Input: json.RawMessage(`{}`)}
	calls := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &look}, {Kind: harness.PartCall, Call: &save}}}
	long := loop.Result(look, "long long …", false, false)
	long.Parts[0].Result.Artifact = harness.ArtifactName(a.bytes)
	paid := entry(t, loop.Answered{Message: &calls, Stop: harness.StopTools, Attempt: 1})
	paid.Usage = harness.Usage{Input: 100, Output: 20, Cost: 0.5, CostKnown: true}
	saved := entry(t, loop.Ended{Message: loop.Result(save, "saved", false, false)})
	saved.Effects = []harness.Effect{{Key: "k1", Kind: harness.EffectSaveFact, Fact: &harness.Fact{Text: "Likes tea", By: harness.ByModel}}}
	text := "Likes green tea"
	used := entry(t, says("first", 2))
	used.Usage = harness.Usage{Input: 200, Output: 30, Cost: 1, CostKnown: true}
	used.Effects = []harness.Effect{
		{Key: "k2", Kind: harness.EffectEditFact, IDs: []string{harness.NewIDPrefix + "k1"}, FactEdit: &harness.FactEdit{Text: &text}},
		{Kind: harness.EffectUsed, IDs: []string{harness.NewIDPrefix + "k1"}},
	}
	a.plays = map[string][]run.Entry{
		"one": {
			paid,
			entry(t, loop.Judged{CallID: "c1", Permission: "allow"}), entry(t, loop.Judged{CallID: "c2", Permission: "allow"}),
			entry(t, loop.Began{CallID: "c1"}), entry(t, loop.Began{CallID: "c2"}),
			entry(t, loop.Ended{Message: long}), saved,
			entry(t, loop.Condensed{Condensed: harness.Condensed{Note: "so far", Kept: run.AwayRecord + 2, Pins: []harness.Origin{{Session: "s", Record: run.AwayRecord + 7}}}}),
			used,
			entry(t, loop.Rested{Status: harness.RunCompleted, Stop: harness.StopEnd}),
		},
		"two": {
			entry(t, loop.Rested{Status: harness.RunPaused}),
			entry(t, loop.Resumed{How: harness.ResumeContinue}),
			entry(t, says("second", 1)),
			entry(t, loop.Rested{Status: harness.RunCompleted, Stop: harness.StopEnd}),
		},
	}
	a.resumed = func(j *farJob, _ harness.ResumeHow, _ bool) error {
		if j.job.Run.Status == harness.RunPaused {
			a.act(j, 1)
		}
		return nil
	}
	return a
}

// Submit implements [run.Backend].
func (a *acting) Submit(ctx context.Context, s run.Submission) error {
	a.mu.Lock()
	if a.jobs[s.Run.ID] == nil {
		a.left[s.Run.ID] = a.plays[s.First.Message.Text()]
	}
	a.mu.Unlock()
	err := a.far.Submit(ctx, s)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs[s.Run.ID].bytes[harness.ArtifactName(a.bytes)] = a.bytes
	return err
}

// act adds up to n of the entries that are left, and stops where the run rests.
func (a *acting) act(j *farJob, n int) {
	for ; n > 0 && len(a.left[j.Run.ID]) > 0; n-- {
		next := a.left[j.Run.ID][0]
		a.left[j.Run.ID] = a.left[j.Run.ID][1:]
		j.add(next)
		if next.Status != "" && next.Status != harness.RunRunning {
			break
		}
	}
	j.told()
}

// Get implements [run.Backend].
func (a *acting) Get(ctx context.Context, id harness.RunID) (run.Job, error) {
	a.mu.Lock()
	if j := a.jobs[id]; j != nil && j.job.Run.Status == harness.RunRunning {
		a.act(j, a.random.IntN(4))
		j.told()
	}
	a.mu.Unlock()
	return a.far.Get(ctx, id)
}

// live is the life of one process: it wants both turns said and done. It returns
// whether they are.
func live(t *testing.T, st cabinet, far *acting, f *fate) bool {
	t.Helper()
	return lives(t, st, "st1", far, f)
}

func lives(t *testing.T, st cabinet, store string, b run.Backend, f *fate) bool {
	t.Helper()
	ctx := t.Context()
	lease, err := st.owners.Force(ctx, harness.Session{ID: "s"}, harness.Holder{PID: 7})
	if err != nil {
		t.Error(err)
		return false
	}
	r := run.NewRemote(run.RemoteOptions{
		Home: fatedJournal{st.journal, f}, Transcript: st.transcript, Sessions: st.sessions, Artifacts: fatedArtifacts{st.artifacts, f},
		Facts: st.facts, Backend: fatedBackend{b, f}, Engine: farName, Store: store,
	})
	defer func() {
		if err := r.Close(ctx); err != nil {
			gone(t, err)
		}
	}()
	if _, err := r.Fetch(ctx, lease); err != nil {
		return gone(t, err)
	}
	for _, text := range []string{"one", "two"} {
		h, err := r.Start(ctx, harness.StartRequest{Lease: lease, Message: harness.UserText(text), Request: text, Config: harness.RunConfig{Model: "p/m"}})
		for {
			if err != nil {
				return gone(t, err)
			}
			if _, err := h.Wait(ctx); err != nil {
				return gone(t, err)
			}
			info, err2 := r.Get(ctx, h.ID())
			switch {
			case err2 != nil:
				return gone(t, err2)
			case info.Unreachable != "":
				return gone(t, errDead)
			}
			if info.Status.Closed() {
				break
			}
			if info.Status == harness.RunRunning && !info.Interrupted {
				h, err = r.Attach(ctx, lease, h.ID())
				continue
			}
			h, err = r.Resume(ctx, lease, h.ID(), harness.ResumeContinue)
		}
	}
	got, err := r.Fetch(ctx, lease) // whatever was not acknowledged
	if err != nil {
		return gone(t, err)
	}
	if len(got.Lost) > 0 {
		t.Errorf("lost %q", got.Lost)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.left > 0
}

func gone(t *testing.T, err error) bool {
	t.Helper()
	if !errors.Is(err, harness.ErrClosed) && !errors.Is(err, errBlip) {
		t.Errorf("a process fails with %v", err)
	}
	return false
}

// outcome is all that a person has of the conversation in the end.
func outcome(t *testing.T, st cabinet, far *acting) string {
	t.Helper()
	ctx := t.Context()
	var b strings.Builder
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	records, err := st.transcript.Log(ctx, "s", 0, 0)
	must(err)
	for _, r := range records {
		r.At, r.Run = time.Time{}, ""
		raw, err := json.Marshal(r)
		must(err)
		fmt.Fprintf(&b, "%s\n", raw)
	}
	runs, err := st.journal.List(ctx, harness.RunFilter{})
	must(err)
	for _, r := range runs {
		fmt.Fprintln(&b, "run", r.Status, r.Stop, r.Cursor, r.First, r.Usage)
		entries, err := st.journal.Read(ctx, r.ID, 0)
		must(err)
		for _, e := range entries {
			fmt.Fprintln(&b, "entry", e.Seq, e.Kind, e.Record, e.Status)
		}
		far.mu.Lock()
		if j := far.jobs[r.ID]; j.job.Acknowledged != r.Cursor {
			t.Errorf("run %s is acknowledged up to %d of %d", r.ID, j.job.Acknowledged, r.Cursor)
		}
		far.mu.Unlock()
	}
	s, err := st.sessions.Get(ctx, "s")
	must(err)
	fmt.Fprintln(&b, "session", s.Usage, s.OpenRun, s.Head)
	facts, err := st.facts.List(ctx, harness.MemoryFilter{})
	must(err)
	for _, f := range facts {
		fmt.Fprintln(&b, "fact", f.ID, f.Text, f.Uses, f.Revision, f.Source.Message)
	}
	data, err := st.artifacts.Get(ctx, "s", harness.ArtifactName(far.bytes))
	must(err)
	fmt.Fprintln(&b, "artifact", len(data))
	now := time.Now()
	days, err := st.ledger.Days(ctx, now.AddDate(0, 0, -1), now)
	must(err)
	var sum harness.Usage
	for _, d := range days {
		sum = sum.Add(d.Usage)
	}
	fmt.Fprintln(&b, "days", sum)
	return b.String()
}

// Wherever the process of the session's owner dies, and however often: in the end
// the conversation, the facts, the files and the costs are those of a process that
// lived.
func TestHandingOverSurvivesEveryCut(t *testing.T) {
	t.Parallel()
	for name, open := range cabinets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, far := open(t), newActing(t, 0)
			if !live(t, st, far, &fate{left: 1 << 30}) {
				t.Fatal("undisturbed it does not end")
			}
			want := outcome(t, st, far)
			for _, part := range []string{"entry 11 rested", `fact f1 Likes green tea 1 2`, "session {300 50", `"kept":2`, "artifact 10000", `"pins":[{"session":"s","record":3}]`} {
				if !strings.Contains(want, part) {
					t.Fatalf("no %q in\n%s", part, want)
				}
			}
			cuts, lives := 0, 0
			for seed := uint64(1); cuts < 200; seed++ {
				random := rand.New(rand.NewPCG(seed, 2))
				st, far := open(t), newActing(t, seed)
				for over := false; !over; lives++ {
					f := &fate{left: 1 + random.IntN(30), done: random.IntN(2) == 0}
					if over = live(t, st, far, f); !over {
						cuts++
					}
				}
				if got := outcome(t, st, far); got != want {
					t.Fatalf("seed %d: got\n%swant\n%s", seed, got, want)
				}
				if n := far.count("submit"); n < 2 {
					t.Fatalf("seed %d: %d runs submitted", seed, n)
				}
				if len(far.running()) != 2 {
					t.Fatalf("seed %d: there are %d runs", seed, len(far.running()))
				}
			}
			t.Logf("%d cuts in %d lives", cuts, lives)
		})
	}
}

// What fails and may have been done is tried again by the same process.
func TestHandingOverSurvivesWhatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	open := cabinets(t)["mem"]
	st, far := open(t), newActing(t, 0)
	if !live(t, st, far, &fate{left: 1 << 30}) {
		t.Fatal("undisturbed it does not end")
	}
	want := outcome(t, st, far)
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			st, far := open(t), newActing(t, seed)
			f := &fate{left: 1 << 30, blip: rand.New(rand.NewPCG(seed, 3))}
			for n := 0; !live(t, st, far, f); n++ {
				if n == 100 {
					t.Fatal("it does not end")
				}
			}
			f.blip = nil
			if !live(t, st, far, f) {
				t.Fatal("it does not end")
			}
			if got := outcome(t, st, far); got != want {
				t.Fatalf("seed %d: got\n%swant\n%s", seed, got, want)
			}
		})
	}
}

// Of what is stored and not confirmed the watchers are told once, with the number
// that it has in the conversation.
func TestAHandOverThatIsNotConfirmedIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		j := &unsure{Journal: d.st.Journal()}
		d.open(func(o *run.RemoteOptions) { o.Home = j })
		h := d.start("hello")
		d.far.drive(h.ID(), worker())
		events := collect(t.Context(), h, 0)
		synctest.Wait()
		j.left.Store(1)
		d.far.put(h.ID(), d.answers("hi")...)
		d.far.drive(h.ID(), nil)
		if res := d.wait(h); res.Status != harness.RunCompleted || res.Usage.Input != 10 {
			t.Errorf("result %+v", res)
		}
		got := <-events
		if want := []int{1, 2, 3}; !slices.Equal(seqs(got), want) {
			t.Errorf("numbers %v", seqs(got))
		}
		for _, e := range got {
			if e.Type == harness.EventMessage && e.Record != 2 {
				t.Errorf("event %+v", e)
			}
		}
		if got := d.texts(); !slices.Equal(got, []string{"user: hello", "assistant: hi"}) {
			t.Errorf("there is %q", got)
		}
	})
}

// unsure is a journal some of whose appends are stored and not confirmed.
type unsure struct {
	run.Journal

	left atomic.Int32
}

func (j *unsure) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	stored, err := j.Journal.Append(ctx, l, id, after, entries...)
	if err == nil && j.left.Add(-1) >= 0 {
		return nil, errBlip
	}
	return stored, err
}
