package mem

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Sessions = (*Sessions)(nil)

// Sessions finds and describes the conversations of a store.
type Sessions struct{ st *Store }

// Get implements [harness.Sessions].
func (v *Sessions) Get(ctx context.Context, id harness.SessionID) (harness.Session, error) {
	if err := ctx.Err(); err != nil {
		return harness.Session{}, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	s, err := v.st.present(id)
	if err != nil {
		return harness.Session{}, fmt.Errorf("read session %s: %w", id, err)
	}
	return v.st.shown(s)
}

// present returns a session that is not deleted.
func (st *Store) present(id harness.SessionID) (*session, error) {
	s := st.sessions[id]
	if s == nil || s.info.Deleted != nil {
		return nil, harness.ErrNotFound
	}
	return s, nil
}

// shown returns a session as lists show it.
func (st *Store) shown(s *session) (harness.Session, error) {
	out, err := clone(s.info)
	out.HasDraft = !rules.EmptyDraft(s.draft)
	out.Owner = st.owner(out.ID)
	return out, err
}

// List implements [harness.Sessions].
func (v *Sessions) List(ctx context.Context, f harness.SessionFilter) ([]harness.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	match := rules.MatchSession(f)
	var list []harness.Session
	for _, s := range sorted(v.st.sessions, before(f.Deleted)) {
		if !match(s.info) {
			continue
		}
		shown, err := v.st.shown(s)
		if err != nil {
			return nil, err
		}
		if list = append(list, shown); len(list) == f.Limit {
			break
		}
	}
	return list, nil
}

// before orders lists: pinned first, then last used first; the trash by the
// time of deletion, last first.
func before(trash bool) func(a, b *session) int {
	return func(a, b *session) int {
		if trash && a.info.Deleted != nil && b.info.Deleted != nil {
			if c := b.info.Deleted.Compare(*a.info.Deleted); c != 0 {
				return c
			}
		}
		if a.info.Pinned != b.info.Pinned {
			if a.info.Pinned {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.order, a.order), cmp.Compare(b.info.ID, a.info.ID))
	}
}

// Edit implements [harness.Sessions].
func (v *Sessions) Edit(ctx context.Context, id harness.SessionID, e harness.SessionEdit) (harness.Session, error) {
	var out harness.Session
	err := v.st.change(ctx, "edit session "+string(id), func() error {
		s, err := v.st.present(id)
		if err != nil {
			return err
		}
		rules.EditSession(&s.info, e)
		out, err = v.st.shown(s)
		return err
	})
	return out, err
}

// change runs fn with the store locked and tells the watchers if it succeeds.
// fn must change nothing before it knows that it succeeds.
func (st *Store) change(ctx context.Context, op string, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := fn(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	st.tell()
	return nil
}

// Delete implements [harness.Sessions].
func (v *Sessions) Delete(ctx context.Context, id harness.SessionID) error {
	return v.st.change(ctx, "delete session "+string(id), func() error {
		s, err := v.st.present(id)
		if err != nil {
			return err
		}
		now := v.st.now()
		s.info.Deleted = &now
		return nil
	})
}

// Restore implements [harness.Sessions].
func (v *Sessions) Restore(ctx context.Context, id harness.SessionID) error {
	return v.st.change(ctx, "restore session "+string(id), func() error {
		s := v.st.sessions[id]
		if s == nil {
			return harness.ErrNotFound
		}
		s.info.Deleted = nil
		return nil
	})
}

// Import implements [harness.Sessions].
func (v *Sessions) Import(ctx context.Context, s harness.Session, records []harness.Record, artifacts ...[]byte) (stored harness.Session, existed bool, err error) {
	if s.ID == "" {
		s.ID = harness.SessionID(harness.NewID())
	}
	if err := rules.CheckSessionID(s.ID); err != nil {
		return harness.Session{}, false, fmt.Errorf("import: %w", err)
	}
	records, files, err := rules.ImportApart(records, artifacts)
	if err != nil {
		return harness.Session{}, false, fmt.Errorf("import session %s: %w", s.ID, err)
	}
	if records, err = clone(records); err != nil {
		return harness.Session{}, false, fmt.Errorf("import: %w", err)
	}
	err = v.st.change(ctx, "import session "+string(s.ID), func() error {
		wanted := s.ID
		for n := 2; ; n++ {
			have := v.st.sessions[s.ID]
			if have == nil && v.st.owner(s.ID) == nil {
				break
			}
			if have != nil && have.info.Deleted == nil && rules.SameLog(have.records, have.info.Head, s, records) {
				existed = true
				stored, err = v.st.shown(have)
				return err
			}
			s.ID = rules.NextImportID(wanted, n)
		}
		info, numbered := rules.ImportedRecords(s, records, v.st.now())
		made := newSession(info)
		made.records = numbered
		if err := v.st.keepArtifacts(made, files); err != nil {
			return err
		}
		latest := v.st.order
		v.st.add(made)
		// It is as old here as it was elsewhere.
		if at := info.Updated; at.After(time.Unix(0, 0)) && !at.After(v.st.now()) {
			made.order = at.UnixNano()
			if made.order >= latest {
				made.order = max(made.order, latest+1)
			}
			v.st.order = max(latest, made.order)
		}
		stored, err = v.st.shown(made)
		return err
	})
	return stored, existed, err
}

// Fork implements [harness.Sessions].
func (v *Sessions) Fork(ctx context.Context, id harness.SessionID, of harness.Origin, s harness.Session) (forked harness.Session, err error) {
	fresh := s.ID == ""
	if !fresh {
		if err := rules.CheckSessionID(s.ID); err != nil {
			return harness.Session{}, fmt.Errorf("fork: %w", err)
		}
	}
	err = v.st.change(ctx, "fork session "+string(id), func() error {
		parent, err := v.st.present(id)
		if err != nil {
			return err
		}
		of, messages, err := v.st.forkPoint(parent, of)
		if err != nil {
			return err
		}
		for fresh && (s.ID == "" || v.st.sessions[s.ID] != nil) {
			s.ID = harness.SessionID(harness.NewID())
		}
		if v.st.sessions[s.ID] != nil || v.st.owner(s.ID) != nil {
			return fmt.Errorf("session %s: %w", s.ID, harness.ErrExists)
		}
		made := newSession(rules.ForkedSession(s, parent.info, of, messages, v.st.now()))
		v.st.add(made)
		forked, err = v.st.shown(made)
		return err
	})
	return forked, err
}

// forkPoint returns where a fork of a session leaves it, and how many messages
// there are before.
func (st *Store) forkPoint(s *session, of harness.Origin) (at harness.Origin, messages int, err error) {
	if of == (harness.Origin{}) {
		of.Record = s.info.Head
		if up := s.info.Parent; of.Record == 0 && up != nil {
			of = *up
		}
	}
	of.Session = cmp.Or(of.Session, s.info.ID)
	in := st.lineage(s, of.Session)
	if in == nil || of.Record < 1 || of.Record > len(in.records) {
		return of, 0, fmt.Errorf("record %d: %w", of.Record, harness.ErrNotFound)
	}
	for _, r := range st.branch(in, s.info.ID, of.Record, 0) {
		if r.Message != nil {
			messages++
		}
	}
	return of, messages, nil
}

func newSession(info harness.Session) *session {
	return &session{info: info, runs: map[harness.RunID]*storedRun{}, requests: map[string]harness.RunID{}, artifacts: map[string]bool{}}
}

// add puts a new session into the store as the one last used.
func (st *Store) add(s *session) {
	st.sessions[s.info.ID] = s
	st.used(s)
}

func (st *Store) used(s *session) {
	st.order = max(st.now().UnixNano(), st.order+1)
	s.order = st.order
}
