package bolt

import (
	"bytes"
	"context"
	"encoding/json"

	"cairn/harness"
)

// checkBatch is how many values a check reads between two looks at the clock, and
// checkBytes about how long they are.
const (
	checkBatch = 200
	checkBytes = 1 << 20
)

// walker reads all values, bucket by bucket. It remembers where it is by keys,
// as the buckets it is in may change between two slices.
type walker struct {
	report *Report
	// path are the names of the nested buckets, after the last key that was
	// looked at in each; there is one more of the latter.
	path  []string
	after [][]byte
	// seen is told of every value that is whole, if it is set.
	seen func(path []string, key, value []byte)
}

// step looks at some keys of one bucket.
func (w *walker) step(t *tx) (done bool, err error) {
	if w.after == nil {
		w.after = [][]byte{nil}
	}
	b, ok := w.open(t)
	size := 0
	if ok {
		for range checkBatch {
			if size > checkBytes {
				break
			}
			key, value := b.after(w.after[len(w.path)])
			if key == nil {
				ok = false
				break
			}
			if err := b.reached(key); err != nil {
				return false, err
			}
			w.after[len(w.path)] = bytes.Clone(key)
			if value == nil && len(w.path) == 0 && derived(key) {
				continue
			}
			if value == nil {
				w.path, w.after = append(w.path, string(key)), append(w.after, nil)
				return false, nil
			}
			size += len(value)
			if err := w.value(b, key, value); err != nil {
				return false, err
			}
		}
	}
	if ok {
		return false, nil
	}
	if len(w.path) == 0 {
		return true, nil
	}
	w.path, w.after = w.path[:len(w.path)-1], w.after[:len(w.after)-1]
	return false, nil
}

// derived reports whether a top-level bucket has what is made of the rest and checked
// for itself; see checkPostings and checkVectors.
func derived(name []byte) bool { return string(name) == "postings" || string(name) == vectorsName }

// value reads one value.
func (w *walker) value(b bucket, key, value []byte) error {
	w.report.Values++
	var any json.RawMessage
	if err := b.decode(key, value, &any); err != nil {
		return w.report.note(err)
	}
	if w.seen != nil {
		w.seen(w.path, key, value)
	}
	return nil
}

// open returns the bucket that the walker is in, if it is still there.
func (w *walker) open(t *tx) (bucket, bool) {
	if len(w.path) == 0 {
		return bucket{t: t}, true
	}
	b, err := t.root(w.path[0])
	ok := err == nil
	for _, name := range w.path[1:] {
		if ok {
			b, ok = b.sub(name)
		}
	}
	return b, ok
}

// after returns the next key behind one; of the nameless bucket that holds the
// top-level ones if b has no bucket.
func (b bucket) after(key []byte) ([]byte, []byte) {
	b.t.touch(b.path, key)
	c := b.t.b.Cursor()
	if b.b != nil {
		c = b.b.Cursor()
	}
	if key == nil {
		return c.First()
	}
	k, v := c.Seek(key)
	if bytes.Equal(k, key) {
		return c.Next()
	}
	return k, v
}

// crossCheck looks whether the lists are right, and whether each session has what
// its info says.
type crossCheck struct {
	report *Report
	// lists is how many of the lists were looked at.
	lists    int
	sessions []harness.SessionID
	seq      int
	// artifacts is how far those of the present session are, hidden the sessions
	// that are only kept for their forks.
	artifacts artifactCheck
	hidden    map[harness.SessionID]bool
}

// checks are those of the lists, each of which is looked at in one piece.
func (c *crossCheck) checks(ctx context.Context, t *tx) []func() error {
	return []func() error{
		func() error { return c.list(t.listRecent(ctx, harness.SessionFilter{})) },
		func() error { return c.list(t.listTrash(ctx, harness.SessionFilter{Deleted: true})) },
		func() error { _, err := t.runRefs(harness.RunFilter{}); return err },
		func() error { _, err := t.runRefs(harness.RunFilter{Unfinished: true}); return err },
		func() error { _, err := t.d.Facts().v.all(ctx, t); return err },
		func() error { _, err := t.d.Notes().v.all(ctx, t); return err },
		func() error { return t.eachChatDraft(func([]byte, chatDraft) error { return nil }) },
		t.checkGrants,
		func() error { _, err := tray{t}.All(); return err },
		t.checkLimits,
		t.checkSpending,
	}
}

// list takes the sessions of a list to be checked.
func (c *crossCheck) list(sessions []harness.Session, err error) error {
	for _, s := range sessions {
		c.sessions = append(c.sessions, s.ID)
	}
	c.report.Sessions = len(c.sessions)
	return err
}

// in returns what checks a list, or some records of one session and its runs once
// they are done.
func (c *crossCheck) in(ctx context.Context) func(*tx) (bool, error) {
	return func(t *tx) (bool, error) { return c.step(ctx, t) }
}

func (c *crossCheck) step(ctx context.Context, t *tx) (bool, error) {
	if all := c.checks(ctx, t); c.lists < len(all) {
		c.lists++
		return false, c.report.note(all[c.lists-1]())
	}
	if len(c.sessions) == 0 {
		return true, nil
	}
	done, err := c.checkSession(t, c.sessions[0])
	if err != nil || done {
		c.sessions, c.seq, c.artifacts = c.sessions[1:], 0, artifactCheck{}
	}
	return false, c.report.note(err)
}

func (c *crossCheck) checkSession(t *tx, id harness.SessionID) (done bool, err error) {
	s, ok, err := t.find(id)
	if err != nil || !ok {
		return true, err // a session can be purged meanwhile
	}
	if s.info.Hidden {
		return c.artifacts.step(s, c.report)
	}
	log, err := s.conversation()
	if err != nil {
		return true, err
	}
	for end := min(c.seq+checkBatch, s.info.Records); c.seq < end; c.seq++ {
		if _, err := s.recordIn(log, c.seq+1); err != nil {
			return true, err
		}
		if err := s.checkNamed(log, c.seq+1); err != nil {
			return true, err
		}
	}
	if c.seq < s.info.Records {
		return false, nil
	}
	if done, err := c.artifacts.step(s, c.report); err != nil || !done {
		return err != nil, err
	}
	if err := c.parents(s); err != nil {
		return true, err
	}
	if _, err := s.draft(); err != nil {
		return true, err
	}
	if err := s.checkGrants(); err != nil {
		return true, err
	}
	return true, s.checkRuns()
}

// checkRuns reads the runs of a session.
func (s *session) checkRuns() error {
	where, err := s.t.root("where")
	if err != nil {
		return err
	}
	refs, err := s.t.sessionRefs(where, s.info.ID)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		r, err := s.run(ref.id)
		if err != nil {
			return err
		}
		for seq := 1; seq <= r.info.Cursor; seq++ {
			if err := r.need(logKey(seq), &json.RawMessage{}); err != nil {
				return err
			}
		}
	}
	return nil
}
