package mem

import (
	"context"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

var (
	_ run.Journal = (*Journal)(nil)
	_ run.Pruner  = (*Journal)(nil)
)

// Journal keeps the runs of a store.
type Journal struct{ st *Store }

// draftSession is a session with changes that become its own all at once.
type draftSession struct {
	st   *Store
	s    *session
	info harness.Session
	// records, runs and usage are what commit adds or replaces.
	records []harness.Record
	runs    map[harness.RunID]*storedRun
	usage   []modelUsage
	files   []rules.Bytes
	// effects are the entries that change the memory, as they are returned.
	effects []effect
}

// effect is an entry with effects and its run.
type effect struct {
	run   *storedRun
	entry *run.Entry
}

type modelUsage struct {
	model string
	usage harness.Usage
}

func (st *Store) begin(s *session) *draftSession {
	return &draftSession{st: st, s: s, info: s.info, runs: map[harness.RunID]*storedRun{}}
}

// run returns a copy of a run for changes.
func (d *draftSession) run(id harness.RunID) (*storedRun, error) {
	if r := d.runs[id]; r != nil {
		return r, nil
	}
	r := d.s.runs[id]
	if r == nil {
		return nil, fmt.Errorf("run %s: %w", id, harness.ErrNotFound)
	}
	copied := *r
	d.runs[id] = &copied
	return &copied, nil
}

// add appends entries to a run after entry number after.
func (d *draftSession) add(id harness.RunID, after int, entries []run.Entry) ([]run.Entry, error) {
	r, err := d.run(id)
	if err != nil {
		return nil, err
	}
	if r.run.Cursor != after {
		return nil, fmt.Errorf("run %s is at entry %d, not %d: %w", id, r.run.Cursor, after, harness.ErrStale)
	}
	added := make([]run.Entry, 0, len(entries))
	for _, e := range entries {
		var err error
		if e.Message, err = d.st.memory(nil).Settle(e.Message); err != nil {
			return nil, err
		}
		e, rec, err := rules.AddEntry(&r.run, &d.info, e, d.st.now())
		if err != nil {
			return nil, err
		}
		if rec != nil {
			d.records = append(d.records, *rec)
		}
		if rules.DropsPartial(e) {
			r.partial = nil
		}
		d.usage = append(d.usage, modelUsage{rules.UsageModel(r.run, e), e.Usage})
		// The log of the stored run must not see a new entry before commit.
		r.log = append(r.log[:len(r.log):len(r.log)], rules.Apart(e))
		added = append(added, e)
		if len(e.Effects) > 0 {
			d.effects = append(d.effects, effect{r, &added[len(added)-1]})
		}
	}
	return added, nil
}

// commit makes the changes, which can fail at the files alone, as what is kept in
// memory cannot be damaged: nothing is changed then.
func (d *draftSession) commit() error {
	if err := d.st.keepArtifacts(d.s, d.files); err != nil {
		return err
	}
	d.s.info = d.info
	d.s.records = append(d.s.records, d.records...)
	for id, r := range d.runs {
		d.s.runs[id] = r
		d.st.runs[id] = d.s
		if r.run.Request != "" {
			d.s.requests[r.run.Request] = id
		}
	}
	for _, u := range d.usage {
		d.st.book(u.model, u.usage)
	}
	d.st.wrote(d.s)
	for _, e := range d.effects {
		effects, err := clone(e.entry.Effects)
		if err != nil {
			return err
		}
		if e.entry.Effects, err = d.st.memory(e.run.log).Apply(effects); err != nil {
			return err
		}
	}
	return nil
}

// createApart copies what a new run is made of, the bytes of files apart.
func createApart(first run.Entry, closes []run.Closing) (run.Entry, []run.Closing, []rules.Bytes, error) {
	entries, files, err := rules.EntriesApart([]run.Entry{first})
	if err != nil {
		return first, nil, nil, err
	}
	closes, more, err := rules.ClosingsApart(closes)
	if err != nil {
		return first, nil, nil, err
	}
	if closes, err = clone(closes); err != nil {
		return first, nil, nil, err
	}
	first, err = clone(entries[0])
	return first, closes, append(files, more...), err
}

// Create implements [run.Journal]. The entry that is returned is the first one.
func (j *Journal) Create(ctx context.Context, l harness.Lease, r harness.Run, first run.Entry, closes ...run.Closing) (made harness.Run, entries []run.Entry, err error) {
	entry, closes, files, err := createApart(first, closes)
	if err != nil {
		return made, nil, fmt.Errorf("start run %s of session %s: %w", r.ID, l.Session, err)
	}
	err = j.st.change(ctx, fmt.Sprintf("start run %s of session %s", r.ID, l.Session), func() error {
		s, err := j.st.writable(l)
		if err != nil {
			return err
		}
		if before := s.requests[r.Request]; r.Request != "" && before != "" {
			if made, err = j.st.shownRun(s, s.runs[before]); err != nil {
				return err
			}
			return harness.ErrExists
		}
		d := j.st.begin(s)
		d.files = files
		for _, c := range closes {
			if _, err := d.add(c.Run, c.After, c.Entries); err != nil {
				return err
			}
		}
		if err := d.blocked(); err != nil {
			return err
		}
		var stored *storedRun
		if stored, entries, err = d.start(r, l.Session, entry); err != nil {
			return err
		}
		if err := d.commit(); err != nil {
			return err
		}
		if entries, err = clone(entries); err != nil {
			return err
		}
		made, err = j.st.shownRun(s, stored)
		return err
	})
	return made, entries, err
}

// start adds a new run with its first entry.
func (d *draftSession) start(r harness.Run, id harness.SessionID, first run.Entry) (*storedRun, []run.Entry, error) {
	if r.ID == "" {
		return nil, nil, fmt.Errorf("a run needs an id")
	}
	if d.st.runs[r.ID] != nil {
		return nil, nil, fmt.Errorf("run %s: %w", r.ID, harness.ErrExists)
	}
	d.st.starts++
	stored := &storedRun{run: rules.NewRun(r, id, d.st.now()), number: d.st.starts}
	d.runs[r.ID] = stored
	entries, err := d.add(r.ID, 0, []run.Entry{first})
	if err == nil {
		stored.run.First = entries[0].Record
	}
	return stored, entries, err
}

// blocked returns why the session takes no new run now.
func (d *draftSession) blocked() error {
	if d.info.OpenRun == "" {
		return nil
	}
	open, err := d.run(d.info.OpenRun)
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", open.run.ID, rules.Blocks(open.run))
}

// Append implements [run.Journal].
func (j *Journal) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) (added []run.Entry, err error) {
	entries, files, err := rules.EntriesApart(entries)
	if err != nil {
		return nil, fmt.Errorf("append to run %s: %w", id, err)
	}
	if entries, err = clone(entries); err != nil {
		return nil, err
	}
	err = j.st.change(ctx, "append to run "+string(id), func() error {
		s, err := j.st.writableRun(l)
		if err != nil {
			return err
		}
		d := j.st.begin(s)
		d.files = files
		if added, err = d.add(id, after, entries); err != nil || len(entries) == 0 {
			return err
		}
		if err := d.commit(); err != nil {
			return err
		}
		added, err = clone(added)
		return err
	})
	return added, err
}

func (st *Store) writableRun(l harness.Lease) (*session, error) {
	if st.sessions[l.Session] == nil {
		return nil, harness.ErrNotFound
	}
	return st.writable(l)
}

// SavePartial implements [run.Journal]. A run that has ended takes none.
func (j *Journal) SavePartial(ctx context.Context, l harness.Lease, id harness.RunID, p harness.Partial) error {
	return j.st.change(ctx, "save the text of run "+string(id), func() error {
		s, err := j.st.writableRun(l)
		if err != nil {
			return err
		}
		r := s.runs[id]
		if r == nil {
			return harness.ErrNotFound
		}
		if r.run.Status.Closed() {
			return fmt.Errorf("the run has ended: %w", harness.ErrStale)
		}
		if p.At.IsZero() {
			p.At = j.st.now()
		}
		r.partial = &p
		return nil
	})
}

// Read implements [run.Journal].
func (j *Journal) Read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.st.mu.Lock()
	defer j.st.mu.Unlock()
	s := j.st.runs[id]
	if s == nil {
		return nil, fmt.Errorf("read run %s: %w", id, harness.ErrNotFound)
	}
	var entries []run.Entry
	for _, e := range s.runs[id].log {
		if e.Seq <= after {
			continue
		}
		if e.Record != 0 {
			var err error
			if e, err = rules.Join(e, s.records[e.Record-1]); err != nil {
				return nil, fmt.Errorf("read run %s: %w", id, err)
			}
		}
		entries = append(entries, e)
	}
	return clone(entries)
}

// Get implements [run.Journal].
func (j *Journal) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	if err := ctx.Err(); err != nil {
		return harness.Run{}, err
	}
	j.st.mu.Lock()
	defer j.st.mu.Unlock()
	s := j.st.runs[id]
	if s == nil {
		return harness.Run{}, fmt.Errorf("read run %s: %w", id, harness.ErrNotFound)
	}
	return j.st.shownRun(s, s.runs[id])
}

// shownRun returns a run as callers see it.
func (st *Store) shownRun(s *session, r *storedRun) (harness.Run, error) {
	out := r.run
	out.Partial = r.partial
	out.Interrupted = rules.Interrupted(out, s.info.Generation, st.owner(s.info.ID) != nil)
	return clone(out)
}

// List implements [run.Journal].
func (j *Journal) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.st.mu.Lock()
	defer j.st.mu.Unlock()
	var list []harness.Run
	for _, r := range j.st.newestRuns() {
		if !rules.MatchRun(r.run, f) {
			continue
		}
		shown, err := j.st.shownRun(j.st.runs[r.run.ID], r)
		if err != nil {
			return nil, err
		}
		if list = append(list, shown); len(list) == f.Limit {
			break
		}
	}
	return list, nil
}

// Prune implements [run.Journal].
func (j *Journal) Prune(ctx context.Context, before time.Time) (int, error) {
	return j.PruneRuns(ctx, run.Prune{Before: before})
}

// PruneRuns implements [run.Pruner].
func (j *Journal) PruneRuns(ctx context.Context, p run.Prune) (int, error) {
	pruned := 0
	err := j.st.change(ctx, "prune runs", func() error {
		kept := 0
		for _, r := range j.st.newestRuns() {
			if !r.run.Status.Closed() {
				continue
			}
			if !rules.Prunes(p, r.run, kept) {
				kept++
				continue
			}
			s := j.st.runs[r.run.ID]
			delete(s.runs, r.run.ID)
			delete(s.requests, r.run.Request)
			delete(j.st.runs, r.run.ID)
			pruned++
		}
		return nil
	})
	return pruned, err
}

// newestRuns returns all runs, newest first.
func (st *Store) newestRuns() []*storedRun {
	all := map[harness.RunID]*storedRun{}
	for id, s := range st.runs {
		all[id] = s.runs[id]
	}
	return sorted(all, func(a, b *storedRun) int { return b.number - a.number })
}
