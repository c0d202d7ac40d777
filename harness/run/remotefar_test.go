package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
)

const farName = "postgres://box:5432/runs"

// errDown is a backend that does not answer.
var errDown = errors.New("connection refused")

// far is a backend whose runs do what a test says.
type far struct {
	mu   sync.Mutex
	jobs map[harness.RunID]*farJob
	// down is what every call returns; calls counts them by name.
	down  error
	calls map[string]int
	// submitted is done before a run is taken; an error refuses it.
	submitted func(run.Submission) error
	// resumed, decided and asked do what a driver would.
	resumed func(j *farJob, how harness.ResumeHow, here bool) error
	decided func(j *farJob, ds []harness.Decision) error
	asked   func(j *farJob, a run.Ask)
	closed  bool
}

// farJob is a run of a far.
type farJob struct {
	run.Submission

	job     run.Job
	entries []run.Entry
	bytes   map[string][]byte
	live    chan harness.Event
	watch   map[chan struct{}]bool
}

var _ run.Backend = (*far)(nil)

func newFar() *far { return &far{jobs: map[harness.RunID]*farJob{}, calls: map[string]int{}} }

// entry returns the journal entry of a record.
func entry(t *testing.T, rec loop.Record) run.Entry {
	t.Helper()
	enc, err := loop.Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	e := run.Entry{Kind: enc.Kind, Data: enc.Data, Message: enc.Message, Condensed: enc.Condensed}
	switch rec := rec.(type) {
	case loop.Started, loop.Resumed:
		e.Status = harness.RunRunning
	case loop.Cut:
		e.Rewind = rec.Off
	case loop.Rested:
		e.Status, e.Stop, e.Error = rec.Status, rec.Stop, rec.Error
	}
	return e
}

// enter is every call's first step.
func (f *far) enter(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	return f.down
}

// count returns how often a call was made.
func (f *far) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[name]
}

func (f *far) setDown(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

// change changes a run and tells whoever watches it.
func (f *far) change(id harness.RunID, do func(j *farJob)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.jobs[id]
	do(j)
	j.told()
}

func (j *farJob) told() {
	for c := range j.watch {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// add appends entries as a driver does.
func (j *farJob) add(entries ...run.Entry) {
	for _, e := range entries {
		e.Seq = len(j.entries) + 1
		if e.Seq > 1 && (e.Message != nil || e.Condensed != nil) {
			e.Record = run.AwayRecord + e.Seq
		}
		e.At = j.Run.Started
		j.entries = append(j.entries, e)
		r := &j.job.Run
		r.Cursor, r.Usage = e.Seq, r.Usage.Add(e.Usage)
		if e.Status != "" {
			r.Status, r.Stop, r.Error = e.Status, e.Stop, e.Error
		}
		if e.Message != nil && e.Message.Role == harness.RoleAssistant {
			r.Partial = nil
		}
	}
}

// put is a driver's append.
func (f *far) put(id harness.RunID, entries ...run.Entry) {
	f.change(id, func(j *farJob) { j.add(entries...) })
}

// drive says who drives a run, nil for nobody.
func (f *far) drive(id harness.RunID, h *harness.Holder) {
	f.change(id, func(j *farJob) { j.job.Run.Worker = h })
}

// only is the one run that there is.
func (f *far) only(t *testing.T) *farJob {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.jobs) != 1 {
		t.Fatalf("%d runs were submitted, want 1", len(f.jobs))
	}
	for _, j := range f.jobs {
		return j
	}
	return nil
}

func (f *far) Submit(_ context.Context, s run.Submission) error {
	if err := f.enter("submit"); err != nil {
		return err
	}
	if f.submitted != nil {
		if err := f.submitted(s); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jobs[s.Run.ID] != nil {
		return nil
	}
	j := &farJob{Submission: s, bytes: map[string][]byte{}, watch: map[chan struct{}]bool{}}
	j.job = run.Job{Run: s.Run, Store: s.Carried.Store, Needs: s.Carried.Needs}
	for _, b := range s.Artifacts {
		j.bytes[harness.ArtifactName(b)] = b
	}
	if s.Here {
		j.job.Run.Worker = &harness.Holder{PID: 1, Purpose: "chat"}
	}
	j.job.Run.Usage = harness.Usage{}
	j.add(s.First)
	f.jobs[s.Run.ID] = j
	return nil
}

func (f *far) job(id harness.RunID) (*farJob, error) {
	j := f.jobs[id]
	if j == nil {
		return nil, harness.ErrNotFound
	}
	return j, nil
}

func (f *far) Get(_ context.Context, id harness.RunID) (run.Job, error) {
	if err := f.enter("get"); err != nil {
		return run.Job{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return run.Job{}, err
	}
	return j.job, nil
}

func (f *far) List(_ context.Context, q run.JobFilter) ([]run.Job, error) {
	if err := f.enter("list"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []run.Job
	for _, j := range f.jobs {
		r := j.job
		if q.Store != "" && q.Store != r.Store || q.Session != "" && q.Session != r.Run.Session ||
			q.Unfinished && r.Run.Status.Closed() || q.Unacknowledged && r.Acknowledged >= r.Run.Cursor {
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b run.Job) int { return b.Run.Started.Compare(a.Run.Started) })
	return all, nil
}

func (f *far) Read(_ context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	if err := f.enter("read"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(j.entries[min(after, len(j.entries)):])
	if err != nil {
		return nil, err
	}
	var entries []run.Entry
	return entries, json.Unmarshal(raw, &entries)
}

func (f *far) Artifact(_ context.Context, id harness.RunID, name string) ([]byte, error) {
	if err := f.enter("artifact"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return nil, err
	}
	if j.bytes[name] == nil {
		return nil, harness.ErrNotFound
	}
	return slices.Clone(j.bytes[name]), nil
}

func (f *far) Watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	if err := f.enter("watch"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return nil, err
	}
	c := make(chan struct{}, 1)
	j.watch[c] = true
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(j.watch, c)
		close(c)
	})
	return c, nil
}

func (f *far) Ask(_ context.Context, id harness.RunID, a run.Ask) error {
	if err := f.enter("ask"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return err
	}
	j.job.Asked = a
	if f.asked != nil {
		f.asked(j, a)
	}
	j.told()
	return nil
}

func (f *far) Acknowledge(_ context.Context, id harness.RunID, cursor int) error {
	if err := f.enter("acknowledge"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return err
	}
	j.job.Acknowledged = max(j.job.Acknowledged, cursor)
	return nil
}

func (f *far) Prune(context.Context, run.Prune) (int, error) { return 0, f.enter("prune") }

func (f *far) Resume(_ context.Context, id harness.RunID, how harness.ResumeHow, here bool) error {
	if err := f.enter("resume"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return err
	}
	if j.job.Run.Worker != nil {
		return &harness.HeldError{Session: j.Run.Session, Holder: *j.job.Run.Worker}
	}
	err = f.resumed(j, how, here)
	j.told()
	return err
}

func (f *far) Decide(_ context.Context, id harness.RunID, _ bool, ds ...harness.Decision) error {
	if err := f.enter("decide"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	j, err := f.job(id)
	if err != nil {
		return err
	}
	if j.job.Run.Worker != nil {
		return &harness.HeldError{Session: j.Run.Session, Holder: *j.job.Run.Worker}
	}
	err = f.decided(j, ds)
	j.told()
	return err
}

func (f *far) Live(_ context.Context, id harness.RunID) (<-chan harness.Event, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j := f.jobs[id]
	if j == nil || j.live == nil {
		return nil, false
	}
	return j.live, true
}

func (f *far) Close(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// running are the runs that nobody ended.
func (f *far) running() []harness.RunID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.jobs))
}
