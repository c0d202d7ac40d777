package bolt

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"cairn/harness"
)

// purgeSessions is how many sessions one transaction of a purge removes.
const purgeSessions = 20

// Purged says what [DB.Purge] removed.
type Purged struct {
	Sessions, Facts, Notes int
}

// Purge removes for good what was deleted before the time. A session's notes
// and facts stay, in no session and with their source marked gone. Records that
// a fork reaches stay too, hidden, until no fork does. A session goes in one
// transaction, so a process that is killed leaves each either as it was or gone.
// In the end the file is compacted if that is worth it, for which others wait;
// [DB.Housekeep] does without.
func (d *DB) Purge(ctx context.Context, before time.Time) (Purged, error) {
	p, err := d.purge(ctx, before)
	if err == nil && p != (Purged{}) {
		err = d.tidy(ctx)
	}
	return p, err
}

func (d *DB) purge(ctx context.Context, before time.Time) (Purged, error) {
	var p Purged
	var ids []harness.SessionID
	err := d.view(ctx, "purge", func(t *tx) (err error) {
		ids, err = t.trashedBefore(ctx, before)
		return err
	})
	x := purger{before: before}
	for batch := range slices.Chunk(ids, purgeSessions) {
		if err != nil {
			return p, err
		}
		err = d.update(ctx, "purge sessions", func(t *tx) error { return x.run(ctx, t, batch) })
		if err == nil {
			p.Sessions += len(x.gone)
		}
	}
	if err == nil {
		p.Facts, err = d.Facts().v.purge(ctx, before)
	}
	if err == nil {
		p.Notes, err = d.Notes().v.purge(ctx, before)
	}
	if err == nil {
		err = d.update(ctx, "purge the inbox", func(t *tx) error { _, err := tray{t}.purge(before); return err })
	}
	return p, err
}

// trashedBefore returns the sessions that were deleted before a time.
func (t *tx) trashedBefore(ctx context.Context, before time.Time) ([]harness.SessionID, error) {
	list, err := t.listTrash(ctx, harness.SessionFilter{Deleted: true})
	var ids []harness.SessionID
	for _, s := range list {
		if s.Deleted.Before(before) {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}

// purger removes sessions, some in each transaction: what has to be looked
// through for one of them is looked through once for all.
type purger struct {
	before time.Time
	// gone are those that the last transaction removed.
	gone map[harness.SessionID]bool
	// known is what was read of the parents of sessions, and forks are they in the
	// present transaction.
	known map[harness.SessionID]knownParent
	forks map[harness.SessionID]*harness.Origin
	// at is the state of the file that forks are of.
	at moment
}

// knownParent is the parent of a session as long as its stored info has the sum.
type knownParent struct {
	sum    [sha256.Size]byte
	parent *harness.Origin
}

// run removes those of the sessions that are still old enough in the trash.
func (x *purger) run(ctx context.Context, t *tx, ids []harness.SessionID) error {
	x.gone = map[harness.SessionID]bool{}
	if err := x.findForks(ctx, t); err != nil {
		return err
	}
	for _, id := range ids {
		if err := x.session(t, id); err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	if len(x.gone) == 0 {
		return nil
	}
	if err := t.dropPrompts(x.gone); err != nil {
		return err
	}
	if err := (tray{t}).leave(x.gone); err != nil {
		return err
	}
	return t.forgetPostings(x.gone)
}

// session removes a session, unless it was restored or somebody still writes to
// it.
func (x *purger) session(t *tx, id harness.SessionID) error {
	s, ok, err := t.find(id)
	if err != nil || !ok || s.info.Deleted == nil || s.info.Hidden || !s.info.Deleted.Before(x.before) {
		return err
	}
	if _, alive, err := t.owner(id, s.info.Generation); err != nil || alive {
		return err
	}
	if err := s.unlist(); err != nil {
		return err
	}
	if err := moveOut(t.d.Facts().v, s, func(f *harness.Fact) *harness.Source { return &f.Source }); err != nil {
		return err
	}
	if err := moveOut(t.d.Notes().v, s, func(n *harness.Note) *harness.Source { return &n.Source }); err != nil {
		return err
	}
	if err := s.dropGrants(); err != nil {
		return err
	}
	x.gone[id] = true
	return x.dropUnreached(s)
}

// dropUnreached removes of a session that nobody can open what no fork reaches.
// If that is all of it, the same is due for a hidden one that it was forked from.
func (x *purger) dropUnreached(s *session) error {
	for {
		if forked := x.forkedAt(s.info.ID); len(forked) > 0 {
			return s.hide(forked)
		}
		parent := s.info.Parent
		if err := s.remove(); err != nil {
			return err
		}
		delete(x.forks, s.info.ID)
		if parent == nil {
			return nil
		}
		up, ok, err := s.t.find(parent.Session)
		if err != nil || !ok || !up.info.Hidden {
			return err
		}
		s = up
	}
}

// remove drops all that is left of a session that is in no list.
func (s *session) remove() error {
	sessions, err := s.t.root("sessions")
	if err != nil {
		return err
	}
	where, err := s.t.root("where")
	if err != nil {
		return err
	}
	if err := where.del(whereSession(s.info.ID)); err != nil {
		return err
	}
	return sessions.drop(string(s.info.ID))
}

// unlist drops the session's runs and takes it out of the trash.
func (s *session) unlist() error {
	trash, err := s.t.root("trash")
	if err != nil {
		return err
	}
	kind, err := trash.must(trashSessions)
	if err != nil {
		return err
	}
	c, err := s.t.counters()
	if err != nil {
		return err
	}
	if err := s.t.dropWish(s.info.ID); err != nil {
		return err
	}
	if err := s.dropRuns(c); err != nil {
		return err
	}
	c.Sessions--
	c.Trashed--
	return kind.del(s.trashKey())
}

func (s *session) dropRuns(c *counters) error {
	where, err := s.t.root("where")
	if err != nil {
		return err
	}
	unfinished, err := s.t.root("unfinished")
	if err != nil {
		return err
	}
	refs, err := s.t.sessionRefs(where, s.info.ID)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := where.del(whereRun(ref.id)); err != nil {
			return err
		}
		if !unfinished.has([]byte(ref.id)) {
			continue
		}
		c.Unfinished--
		if err := unfinished.del([]byte(ref.id)); err != nil {
			return err
		}
	}
	c.Runs -= len(refs)
	for _, name := range []string{"runs", "requests"} {
		if _, ok := s.sub(name); !ok {
			continue
		}
		if err := s.drop(name); err != nil {
			return err
		}
	}
	return nil
}

// forkedAt returns the records of a session at which forks begin, also deleted
// and hidden ones.
func (x *purger) forkedAt(id harness.SessionID) []int {
	var at []int
	for fork, p := range x.forks {
		if p.Session == id && fork != id {
			at = append(at, p.Record)
		}
	}
	return at
}

// findForks reads the parents of all sessions, unless nobody has written since the
// last transaction of this purge. An info that was read before is only compared.
func (x *purger) findForks(ctx context.Context, t *tx) error {
	now, err := t.moment()
	if err != nil {
		return err
	}
	was := x.at
	if x.at = now; x.forks != nil && now.transaction == was.transaction+1 && os.SameFile(now.file, was.file) {
		return nil
	}
	x.forks = map[harness.SessionID]*harness.Origin{}
	if x.known == nil {
		x.known = map[harness.SessionID]knownParent{}
	}
	sessions, err := t.root("sessions")
	if err != nil {
		return err
	}
	return sessions.each(nil, func(key, _ []byte) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		id := harness.SessionID(key)
		if id == harness.NoSession {
			return true, nil
		}
		b, err := sessions.must(string(key))
		if err != nil {
			return false, err
		}
		b.t.touch(b.path, keyInfo)
		known, sum := x.known[id], sha256.Sum256(b.b.Get(keyInfo))
		if known.sum != sum {
			var info struct {
				Parent *harness.Origin `json:"parent"`
			}
			if err := b.need(keyInfo, &info); err != nil {
				return false, err
			}
			known = knownParent{sum, info.Parent}
			x.known[id] = known
		}
		if known.parent != nil {
			x.forks[id] = known.parent
		}
		return true, nil
	})
}

// hide keeps of a session only the records that its forks reach.
func (s *session) hide(forked []int) error {
	log, err := s.conversation()
	if err != nil {
		return err
	}
	reached := map[int]bool{}
	for _, seq := range forked {
		for seq != 0 && !reached[seq] {
			r, err := s.recordIn(log, seq)
			if err != nil {
				return err
			}
			reached[seq] = true
			seq = r.Prev
		}
	}
	for seq := 1; seq <= s.info.Records; seq++ {
		if reached[seq] {
			continue
		}
		if err := log.del(number(seq)); err != nil {
			return err
		}
	}
	if s.info.Draft {
		if err := s.drop("draft"); err != nil {
			return err
		}
	}
	s.info.Hidden, s.info.Draft, s.info.OpenRun, s.info.OpenStatus, s.info.Runs, s.info.LastRun = true, false, "", "", 0, ""
	s.info.Title, s.info.Preview, s.info.System, s.info.Tags = "", "", "", nil
	if _, err := s.make("runs"); err != nil {
		return err
	}
	return s.save()
}

// dropPrompts empties the prompts of sessions. Their numbers stay, as the numbers
// are without a gap.
func (t *tx) dropPrompts(gone map[harness.SessionID]bool) error {
	prompts, err := t.root("prompts")
	if err != nil {
		return err
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	for seq := c.FirstPrompt; seq <= c.LastPrompt; seq++ {
		var p prompt
		if err := prompts.need(number(seq), &p); err != nil {
			return fmt.Errorf("prompt %s: %w", strconv.Itoa(seq), err)
		}
		if !gone[p.Session] {
			continue
		}
		if err := prompts.put(number(seq), prompt{}); err != nil {
			return err
		}
	}
	return nil
}
