package bolt

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"

	"cairn/harness"
)

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
			parent, err := b.parent()
			if err != nil {
				return false, err
			}
			known = knownParent{sum, parent}
			x.known[id] = known
		}
		if known.parent != nil {
			x.forks[id] = known.parent
		}
		return true, nil
	})
}

// parent reads from the bucket of a session what it was forked from.
func (b bucket) parent() (*harness.Origin, error) {
	var parent *harness.Origin
	err := b.brief(func(name, value []byte) error {
		if string(name) != "parent" {
			return nil
		}
		return json.Unmarshal(value, &parent)
	})
	return parent, err
}

// hide keeps of a session only the records that its forks reach.
func (s *session) hide(forked []int) error {
	log, err := s.conversation()
	if err != nil {
		return err
	}
	reached, artifacts := map[int]bool{}, map[string]bool{}
	for _, seq := range forked {
		for seq != 0 && !reached[seq] {
			r, err := s.recordIn(log, seq)
			if err != nil {
				return err
			}
			if r.Message != nil {
				for _, name := range r.Message.Artifacts() {
					artifacts[name] = true
				}
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
	if err := s.dropArtifacts(artifacts); err != nil {
		return err
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
