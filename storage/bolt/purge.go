package bolt

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"cairn/harness"
)

// Purged says what [DB.Purge] removed.
type Purged struct {
	Sessions, Facts, Notes int
}

// Purge removes for good what was deleted before the time. A session's notes
// and facts stay, in no session and with their source marked gone. Records that
// a fork reaches stay too, hidden. Each session goes in a transaction of its
// own, so a process that is killed leaves each either as it was or gone. In the
// end the file is compacted if that is worth it, for which others wait;
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
	for _, id := range ids {
		if err != nil {
			return p, err
		}
		gone := false
		err = d.update(ctx, "purge session "+string(id), func(t *tx) (err error) {
			gone, err = t.purgeSession(ctx, id, before)
			return err
		})
		if gone {
			p.Sessions++
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

func (t *tx) purgeSession(ctx context.Context, id harness.SessionID, before time.Time) (bool, error) {
	s, ok, err := t.find(id)
	if err != nil || !ok || s.info.Deleted == nil || s.info.Hidden || !s.info.Deleted.Before(before) {
		return false, err // restored meanwhile
	}
	if _, alive, err := t.owner(id, s.info.Generation); err != nil || alive {
		return false, err // somebody still writes to it
	}
	forked, err := t.forkedAt(ctx, id)
	if err != nil {
		return false, err
	}
	if err := s.unlist(); err != nil {
		return false, err
	}
	if err := moveOut(t.d.Facts().v, s, func(f *harness.Fact) *harness.Source { return &f.Source }); err != nil {
		return false, err
	}
	if err := moveOut(t.d.Notes().v, s, func(n *harness.Note) *harness.Source { return &n.Source }); err != nil {
		return false, err
	}
	if err := t.dropPrompts(id); err != nil {
		return false, err
	}
	if err := (tray{t}).leave(id); err != nil {
		return false, err
	}
	if err := s.dropGrants(); err != nil {
		return false, err
	}
	if err := t.forgetPostings(id); err != nil {
		return false, err
	}
	if len(forked) > 0 {
		return true, s.hide(forked)
	}
	sessions, err := t.root("sessions")
	if err != nil {
		return false, err
	}
	where, err := t.root("where")
	if err != nil {
		return false, err
	}
	if err := where.del(whereSession(id)); err != nil {
		return false, err
	}
	return true, sessions.drop(string(id))
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
func (t *tx) forkedAt(ctx context.Context, id harness.SessionID) ([]int, error) {
	sessions, err := t.root("sessions")
	if err != nil {
		return nil, err
	}
	var at []int
	err = sessions.each(nil, func(key, _ []byte) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if harness.SessionID(key) == harness.NoSession {
			return true, nil
		}
		b, err := sessions.must(string(key))
		if err != nil {
			return false, err
		}
		var info sessionInfo
		if err := b.need(keyInfo, &info); err != nil {
			return false, err
		}
		if p := info.Parent; p != nil && p.Session == id && info.ID != id {
			at = append(at, p.Record)
		}
		return true, nil
	})
	return at, err
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

// dropPrompts empties the prompts of a session. Their numbers stay, as the
// numbers are without a gap.
func (t *tx) dropPrompts(id harness.SessionID) error {
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
		if p.Session != id {
			continue
		}
		if err := prompts.put(number(seq), prompt{}); err != nil {
			return err
		}
	}
	return nil
}
