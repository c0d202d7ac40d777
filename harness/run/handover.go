package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

// mirror is a run as far as its session was handed it over.
type mirror struct {
	info  harness.Run
	state loop.State
	// records are the numbers in the conversation by the number of the entry, from
	// the first; 0 is one that has none.
	records []int
	// last is the last entry, without what it holds.
	last Entry
}

// take lets the mirror follow an entry, which has the record number of the
// conversation, and returns what that tells watchers.
func (m *mirror) take(e Entry) ([]harness.Event, loop.Record, error) {
	if e.Seq != m.info.Cursor+1 {
		return nil, nil, fmt.Errorf("run %s: entry %d follows entry %d: %w", m.info.ID, e.Seq, m.info.Cursor, harness.ErrDamaged)
	}
	rec, err := recordOf(e)
	if err != nil {
		return nil, nil, fmt.Errorf("run %s: %w", m.info.ID, err)
	}
	events := agent.EventsOf(m.state, rec, agent.Stored{Seq: e.Seq, Record: e.Record}, e.At)
	m.state, _ = loop.Step(m.state, rec)
	m.records = append(m.records, e.Record)
	m.last = Entry{Seq: e.Seq, At: e.At, Kind: e.Kind}
	m.info.Cursor, m.info.Updated = e.Seq, e.At
	m.info.Usage = m.info.Usage.Add(e.Usage)
	if e.Status != "" {
		m.info.Status, m.info.Stop, m.info.Error = e.Status, e.Stop, e.Error
	}
	return events, rec, nil
}

// mirror reads a run as it was handed over.
func (r *Remote) mirror(ctx context.Context, id harness.RunID) (*mirror, error) {
	info, err := r.o.Home.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	if info.Engine != r.o.Engine {
		return nil, fmt.Errorf("run %s is one of %s and not of %s: %w", id, info.Engine, r.o.Engine, harness.ErrNotFound)
	}
	entries, err := r.o.Home.Read(ctx, id, 0)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	m := &mirror{info: info}
	m.info.Cursor, m.info.Usage = 0, harness.Usage{}
	for _, e := range entries {
		if _, _, err := m.take(e); err != nil {
			return nil, err
		}
	}
	m.info.Updated = info.Updated
	return m, nil
}

// real returns the number of a record in the conversation.
func (m *mirror) real(record int) int {
	if seq := record - AwayRecord; seq > 0 && seq <= len(m.records) {
		return m.records[seq-1]
	}
	return record
}

// homely returns an entry as the conversation is to have it: with its own record
// numbers.
func (m *mirror) homely(e Entry) Entry {
	e.Record = 0
	if e.Condensed == nil {
		return e
	}
	c := *e.Condensed
	c.Kept = m.real(c.Kept)
	if c.Pruned != nil {
		c.Pruned = &harness.Origin{Session: c.Pruned.Session, Record: m.real(c.Pruned.Record)}
	}
	c.Pins = slices.Clone(c.Pins)
	for i, o := range c.Pins {
		c.Pins[i].Record = m.real(o.Record)
	}
	e.Condensed = &c
	return e
}

// homeError is one of the store that has the conversation, not of the backend.
type homeError struct{ error }

// Unwrap returns what went wrong.
func (e *homeError) Unwrap() error { return e.error }

// hand returns the lock of whoever hands entries of a session over.
func (r *Remote) hand(id harness.SessionID) *sync.Mutex {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handing[id] == nil {
		r.handing[id] = new(sync.Mutex)
	}
	return r.handing[id]
}

// deliver hands entries over, each in a transaction of its own after the bytes that
// it names. see is told of each once it is stored. What was stored before
// and could not be confirmed is taken as it is.
func (r *Remote) deliver(ctx context.Context, l harness.Lease, m *mirror, entries []Entry, see func(stored Entry) error) error {
	lock := r.hand(l.Session)
	lock.Lock()
	defer lock.Unlock()
	for _, e := range entries {
		if e.Seq <= m.info.Cursor {
			continue
		}
		missing, err := r.bring(ctx, l.Session, m.info.ID, e.Message)
		if err != nil {
			return err
		}
		stored, err := r.store(ctx, l, m, e)
		if err != nil {
			return &homeError{fmt.Errorf("hand over entry %d of run %s: %w", e.Seq, m.info.ID, err)}
		}
		for i, e := range stored {
			if i == 0 {
				e.Effects = append(e.Effects, missing...)
			}
			if err := see(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// store appends an entry to the conversation's journal.
func (r *Remote) store(ctx context.Context, l harness.Lease, m *mirror, e Entry) ([]Entry, error) {
	free := context.WithoutCancel(ctx) // a commit that has begun is finished
	stored, err := r.o.Home.Append(free, l, m.info.ID, m.info.Cursor, m.homely(e))
	if !errors.Is(err, harness.ErrStale) {
		return stored, err
	}
	have, e2 := r.o.Home.Read(free, m.info.ID, m.info.Cursor)
	if e2 != nil || len(have) == 0 {
		return nil, errors.Join(err, e2)
	}
	return have, nil
}

// bring puts the bytes that a message names where the conversation is. What the
// backend does not have any more is told as what could not be carried out.
func (r *Remote) bring(ctx context.Context, session harness.SessionID, id harness.RunID, m *harness.Message) (missing []harness.Effect, err error) {
	if r.o.Artifacts == nil {
		return nil, nil
	}
	for _, name := range artifactsOf(m) {
		_, err := r.o.Artifacts.Get(ctx, session, name)
		if err == nil {
			continue
		}
		if !errors.Is(err, harness.ErrNotFound) && !errors.Is(err, harness.ErrDamaged) {
			return nil, &homeError{fmt.Errorf("hand over artifact %s of run %s: %w", name, id, err)}
		}
		data, err := r.o.Backend.Artifact(ctx, id, name)
		if errors.Is(err, harness.ErrNotFound) {
			missing = append(missing, harness.Effect{Failed: fmt.Sprintf("what is stored as %.12s is not at %s any more: the conversation has only what was shown of it", name, r.o.Engine)})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("artifact %s of run %s: %w", name, id, err)
		}
		if _, err := r.o.Artifacts.Put(context.WithoutCancel(ctx), session, data); err != nil {
			return nil, &homeError{fmt.Errorf("hand over artifact %s of run %s: %w", name, id, err)}
		}
	}
	return missing, nil
}

// failures are the sentences about what of an entry could not be carried out.
func failures(e Entry) []string {
	var lost []string
	for _, f := range e.Effects {
		if f.Failed != "" {
			lost = append(lost, f.Failed)
		}
	}
	return lost
}

// errOlder means that a backend has another run than the conversation knows: it was
// put back from an older copy, and the run went its own way from there, or will.
var errOlder = fmt.Errorf("it was put back from an older copy: %w", harness.ErrNotFound)

// newer reads what the backend has of a run and the session has not. The last entry
// that was handed over is read once more, to tell whether the others follow it.
func (r *Remote) newer(ctx context.Context, m *mirror) ([]Entry, error) {
	last := m.last
	entries, err := r.o.Backend.Read(ctx, m.info.ID, max(last.Seq-1, 0))
	switch {
	case err != nil:
	case last.Seq == 0:
		return entries, nil
	case len(entries) == 0 || entries[0].Seq != last.Seq || entries[0].Kind != last.Kind || !entries[0].At.Equal(last.At):
		err = errOlder
	default:
		return entries[1:], nil
	}
	return nil, fmt.Errorf("run %s at %s: %w", m.info.ID, r.o.Engine, err)
}

// knows returns errOlder if the backend has less of a run than was handed over.
func (m *mirror) knows(j Job) error {
	if j.Run.Cursor < m.info.Cursor {
		return fmt.Errorf("run %s: %w", m.info.ID, errOlder)
	}
	return nil
}

// catchUp hands over what the backend has of a run and the session has not, and
// acknowledges it.
func (r *Remote) catchUp(ctx context.Context, l harness.Lease, m *mirror) (got harness.Fetched, err error) {
	entries, err := r.newer(ctx, m)
	if err != nil {
		return got, err
	}
	err = r.deliver(ctx, l, m, entries, func(stored Entry) error {
		got.Entries, got.Runs = got.Entries+1, 1
		got.Lost = append(got.Lost, failures(stored)...)
		_, _, err := m.take(stored)
		return err
	})
	if got.Entries > 0 || err == nil {
		r.acknowledge(ctx, m.info.ID, m.info.Cursor)
	}
	return got, err
}

// acknowledge tells the backend what the session has. If that does not arrive it
// is told again when the session is fetched for the next time.
func (r *Remote) acknowledge(ctx context.Context, id harness.RunID, cursor int) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), answerWithin)
	defer end()
	if err := r.o.Backend.Acknowledge(ctx, id, cursor); err != nil {
		r.o.Logger.Warn("acknowledge", attrs(id, err)...)
	}
}

// attrs are those of a log line about a run.
func attrs(id harness.RunID, err error) []any {
	return []any{slog.String("run", string(id)), slog.String("error", err.Error())}
}

// Fetch implements [harness.Remote]. A session of which nothing is missing does not
// need the engine.
func (r *Remote) Fetch(ctx context.Context, l harness.Lease) (got harness.Fetched, err error) {
	runs, err := r.o.Home.List(ctx, harness.RunFilter{Session: l.Session})
	if err != nil {
		return got, fmt.Errorf("runs of session %s: %w", l.Session, err)
	}
	ours, open := map[harness.RunID]bool{}, false
	for _, have := range runs {
		if have.Engine == r.o.Engine {
			ours[have.ID], open = true, open || !have.Status.Closed()
		}
	}
	if len(ours) == 0 {
		return got, nil
	}
	jobs, err := r.o.Backend.List(ctx, JobFilter{Store: r.o.Store, Session: l.Session, Unacknowledged: true})
	if err != nil {
		if !open {
			r.o.Logger.Warn("fetch", slog.String("session", string(l.Session)), slog.String("error", err.Error()))
			return got, nil
		}
		return got, fmt.Errorf("fetch session %s from %s: %w", l.Session, r.o.Engine, err)
	}
	more, err := r.behind(ctx, runs, jobs)
	errs := []error{err}
	for _, j := range slices.Backward(append(more, jobs...)) {
		if !ours[j.Run.ID] {
			continue
		}
		one, err := r.fetch(ctx, l, j)
		got.Entries, got.Runs, got.Lost = got.Entries+one.Entries, got.Runs+one.Runs, append(got.Lost, one.Lost...)
		if err != nil {
			errs = append(errs, fmt.Errorf("fetch session %s: %w", l.Session, err))
		}
	}
	return got, errors.Join(errs...)
}

// behind returns the runs that have not ended for the conversation and are not among
// jobs, if the backend has more of them: that store was put back from an older copy,
// and what it had before was acknowledged.
func (r *Remote) behind(ctx context.Context, runs []harness.Run, jobs []Job) (more []Job, err error) {
	for _, have := range runs {
		if have.Engine != r.o.Engine || have.Status.Closed() || slices.ContainsFunc(jobs, func(j Job) bool { return j.Run.ID == have.ID }) {
			continue
		}
		j, err := r.o.Backend.Get(ctx, have.ID)
		switch {
		case errors.Is(err, harness.ErrNotFound):
		case err != nil:
			return more, r.silent(have.ID, err)
		case j.Run.Cursor > have.Cursor:
			more = append(more, j)
		}
	}
	return more, nil
}

// fetch hands over what is missing of one run.
func (r *Remote) fetch(ctx context.Context, l harness.Lease, j Job) (harness.Fetched, error) {
	m, err := r.mirror(ctx, j.Run.ID)
	if err != nil {
		return harness.Fetched{}, err
	}
	if m.info.Status.Closed() && (j.Run.Cursor != m.info.Cursor || !j.Run.Status.Closed()) {
		return r.givenUp(ctx, m, j)
	}
	return r.catchUp(ctx, l, m)
}

// givenUp ends a run at the backend that was given up at home, see [Remote.Abandon].
func (r *Remote) givenUp(ctx context.Context, m *mirror, j Job) (got harness.Fetched, err error) {
	if !j.Run.Status.Closed() {
		if err := r.o.Backend.Ask(ctx, j.Run.ID, AskCancel); err != nil {
			return got, fmt.Errorf("cancel run %s at %s: %w", j.Run.ID, r.o.Engine, err)
		}
		return got, nil
	}
	got.Lost = []string{fmt.Sprintf("run %s was given up: what it did at %s after that is not in the conversation", j.Run.ID, r.o.Engine)}
	r.acknowledge(ctx, m.info.ID, j.Run.Cursor)
	return got, nil
}
