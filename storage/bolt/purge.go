package bolt

import (
	"context"
	"crypto/sha256"
	"fmt"
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
	p, err := d.purgeTrash(ctx, before)
	if err == nil {
		err = d.update(ctx, "purge the inbox", func(t *tx) error { _, err := tray{t}.purge(before); return err })
	}
	return p, err
}

// purgeTrash purges all but the inbox.
func (d *DB) purgeTrash(ctx context.Context, before time.Time) (Purged, error) {
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
	if err := t.forgetVectors(x.gone); err != nil {
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
