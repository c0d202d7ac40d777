package bolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

// pruneSlice is how many runs one transaction of Prune looks at.
const pruneSlice = 100

// Read implements [run.Journal].
func (j *Journal) Read(ctx context.Context, id harness.RunID, after int) ([]run.Entry, error) {
	var entries []run.Entry
	err := j.d.view(ctx, "read run "+string(id), func(t *tx) error {
		r, err := t.findRun(id)
		if err != nil {
			return err
		}
		entries, err = r.entries(after)
		return err
	})
	return entries, err
}

// entries reads the entries after a number.
func (r *runBucket) entries(after int) ([]run.Entry, error) {
	var entries []run.Entry
	for seq := max(after, 0) + 1; seq <= r.info.Cursor; seq++ {
		e, err := r.entry(seq)
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// entry reads one entry and joins its message to it.
func (r *runBucket) entry(seq int) (run.Entry, error) {
	var e run.Entry
	if err := r.need(logKey(seq), &e); err != nil {
		return e, err
	}
	if e.Record == 0 {
		return e, nil
	}
	rec, err := r.s.record(e.Record)
	if err != nil {
		return e, err
	}
	return rules.Join(e, rec)
}

// Get implements [run.Journal].
func (j *Journal) Get(ctx context.Context, id harness.RunID) (harness.Run, error) {
	var got harness.Run
	err := j.d.view(ctx, "read run "+string(id), func(t *tx) error {
		r, err := t.findRun(id)
		if err != nil {
			return err
		}
		got, err = r.shown()
		return err
	})
	return got, err
}

// runRef is a run in a list before it is read.
type runRef struct {
	id      harness.RunID
	session harness.SessionID
	number  int
}

// List implements [run.Journal].
func (j *Journal) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	var list []harness.Run
	err := j.d.view(ctx, "list runs", func(t *tx) error {
		list = nil
		refs, err := t.runRefs(f)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r, err := t.findRun(ref.id)
			if err != nil {
				return err
			}
			if !rules.MatchRun(r.info.Run, f) {
				continue
			}
			shown, err := r.shown()
			if err != nil {
				return err
			}
			if list = append(list, shown); len(list) == f.Limit {
				break
			}
		}
		return nil
	})
	return list, err
}

// runRefs returns the runs that may pass f, newest first.
func (t *tx) runRefs(f harness.RunFilter) ([]runRef, error) {
	where, err := t.root("where")
	if err != nil {
		return nil, err
	}
	var refs []runRef
	switch {
	case f.Unfinished:
		refs, err = t.unfinishedRefs(where)
	case f.Session != "":
		refs, err = t.sessionRefs(where, f.Session)
	default:
		refs, err = t.allRefs(where)
	}
	if f.Session != "" {
		// Damage of another session's run does not matter here.
		refs = slices.DeleteFunc(refs, func(r runRef) bool { return r.session != f.Session })
	}
	slices.SortFunc(refs, func(a, b runRef) int { return cmp.Compare(b.number, a.number) })
	return refs, err
}

func (t *tx) unfinishedRefs(where bucket) ([]runRef, error) {
	unfinished, err := t.root("unfinished")
	if err != nil {
		return nil, err
	}
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	var ids []harness.RunID
	err = unfinished.each(nil, func(key, value []byte) (bool, error) {
		var s harness.SessionID
		ids = append(ids, harness.RunID(key))
		return true, unfinished.decode(key, value, &s)
	})
	if err == nil && len(ids) != c.Unfinished {
		err = t.d.damaged("unfinished", fmt.Sprintf("it lists %d runs of %d", len(ids), c.Unfinished))
	}
	if err != nil {
		return nil, err
	}
	return refsOf(where, ids)
}

func (t *tx) sessionRefs(where bucket, id harness.SessionID) ([]runRef, error) {
	s, ok, err := t.find(id)
	if err != nil || !ok {
		return nil, err
	}
	ids, err := s.runIDs()
	if err != nil {
		return nil, err
	}
	return refsOf(where, ids)
}

// runIDs returns the runs of a session, all of which have to be there.
func (s *session) runIDs() ([]harness.RunID, error) {
	runs, err := s.must("runs")
	if err != nil {
		return nil, err
	}
	var ids []harness.RunID
	err = runs.each(nil, func(key, _ []byte) (bool, error) {
		ids = append(ids, harness.RunID(key))
		return true, nil
	})
	if err == nil && len(ids) != s.info.Runs {
		err = s.t.d.damaged(runs.path, fmt.Sprintf("it has %d runs of %d", len(ids), s.info.Runs))
	}
	return ids, err
}

func refsOf(where bucket, ids []harness.RunID) ([]runRef, error) {
	refs := make([]runRef, 0, len(ids))
	for _, id := range ids {
		var at runPlace
		if err := where.need(whereRun(id), &at); err != nil {
			return nil, err
		}
		refs = append(refs, runRef{id, at.Session, at.Number})
	}
	return refs, nil
}

func (t *tx) allRefs(where bucket) ([]runRef, error) {
	c, err := t.counters()
	if err != nil {
		return nil, err
	}
	var refs []runRef
	prefix := whereRun("")
	err = where.each(prefix, func(key, value []byte) (bool, error) {
		var at runPlace
		err := where.decode(key, value, &at)
		refs = append(refs, runRef{harness.RunID(bytes.TrimPrefix(key, prefix)), at.Session, at.Number})
		return true, err
	})
	if err == nil && len(refs) != c.Runs {
		err = t.d.damaged("where", fmt.Sprintf("it lists %d runs of %d", len(refs), c.Runs))
	}
	return refs, err
}

// Prune implements [run.Journal].
func (j *Journal) Prune(ctx context.Context, before time.Time) (int, error) {
	return j.PruneRuns(ctx, run.Prune{Before: before})
}

// PruneRuns implements [run.Pruner]. It works in slices, so that others get their
// turn.
func (j *Journal) PruneRuns(ctx context.Context, p run.Prune) (int, error) {
	var refs []runRef
	err := j.d.view(ctx, "prune runs", func(t *tx) error {
		var err error
		refs, err = t.runRefs(harness.RunFilter{})
		return err
	})
	pruned, kept := 0, 0
	for ; err == nil && len(refs) > 0; refs = refs[min(pruneSlice, len(refs)):] {
		n, closed := 0, 0
		err = j.d.update(ctx, "prune runs", func(t *tx) error {
			n, closed = 0, 0
			for _, ref := range refs[:min(pruneSlice, len(refs))] {
				gone, stays, err := t.pruneRun(ref, p, kept+closed)
				if err != nil {
					return err
				}
				if gone {
					n++
				}
				if stays {
					closed++
				}
			}
			return nil
		})
		if err == nil {
			pruned, kept = pruned+n, kept+closed
		}
	}
	return pruned, err
}

// pruneRun removes a run if it is closed and p says so, of which so many newer ones
// are kept. It reports whether the run is gone, or is closed and stays.
func (t *tx) pruneRun(ref runRef, p run.Prune, newer int) (gone, stays bool, err error) {
	where, err := t.root("where")
	if err != nil || !where.has(whereRun(ref.id)) {
		return false, false, err // pruned by somebody else meanwhile
	}
	r, err := t.findRun(ref.id)
	if err != nil || !r.info.Status.Closed() {
		return false, false, err
	}
	if !rules.Prunes(p, r.info.Run, newer) {
		return false, true, nil
	}
	return true, false, r.remove()
}

// remove removes a run for good.
func (r *runBucket) remove() error {
	t, id := r.t, r.info.ID
	where, err := t.root("where")
	if err != nil {
		return err
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	runs, err := r.s.must("runs")
	if err != nil {
		return err
	}
	if err := runs.drop(string(id)); err != nil {
		return err
	}
	if err := where.del(whereRun(id)); err != nil {
		return err
	}
	if r.info.Request != "" {
		requests, err := r.s.must("requests")
		if err != nil {
			return err
		}
		if err := requests.del(requestKey(r.info.Request)); err != nil {
			return err
		}
	}
	c.Runs--
	r.s.info.Runs--
	if r.s.info.LastRun == id {
		r.s.info.LastRun, r.s.info.LastCursor = "", 0
	}
	return r.s.save()
}
