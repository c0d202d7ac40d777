package bolt

import (
	"cmp"
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// Fork implements [harness.Sessions].
func (v *Sessions) Fork(ctx context.Context, id harness.SessionID, of harness.Origin, s harness.Session) (harness.Session, error) {
	if s.ID != "" {
		if err := rules.CheckSessionID(s.ID); err != nil {
			return harness.Session{}, fmt.Errorf("fork: %w", err)
		}
	}
	var forked harness.Session
	err := v.d.update(ctx, "fork session "+string(id), func(t *tx) error {
		parent, err := t.present(id)
		if err != nil {
			return err
		}
		at, messages, err := parent.forkPoint(ctx, of)
		if err != nil {
			return err
		}
		made := s
		if made.ID, err = t.freeID(s.ID); err != nil {
			return err
		}
		stored, err := t.newSession(rules.ForkedSession(made, parent.info.Session, at, messages, t.now))
		if err != nil {
			return err
		}
		forked = stored.info.Session
		return stored.save()
	})
	return forked, err
}

// forkPoint returns where a fork of s leaves it, and how many messages there are
// before.
func (s *session) forkPoint(ctx context.Context, of harness.Origin) (harness.Origin, int, error) {
	if of == (harness.Origin{}) {
		of.Record = s.info.Head
		if up := s.info.Parent; of.Record == 0 && up != nil {
			of = *up
		}
	}
	of.Session = cmp.Or(of.Session, s.info.ID)
	at, err := s.lineage(of.Session)
	if err != nil {
		return of, 0, err
	}
	log, err := at.conversation()
	if err != nil {
		return of, 0, err
	}
	if of.Record < 1 || at.info.Hidden && !log.has(number(of.Record)) {
		return of, 0, notFound("record", of.Record)
	}
	records, err := at.branch(ctx, of.Record, 0)
	messages := 0
	for _, r := range records {
		if r.Message != nil {
			messages++
		}
	}
	return of, messages, err
}

// freeID returns the id of a session to be made, a fresh one if none is wanted.
func (t *tx) freeID(wanted harness.SessionID) (harness.SessionID, error) {
	for {
		id := cmp.Or(wanted, harness.SessionID(harness.NewID()))
		_, taken, err := t.find(id)
		if err == nil && !taken {
			taken, err = t.reserved(id)
		}
		switch {
		case err != nil || !taken:
			return id, err
		case wanted != "":
			return id, fmt.Errorf("session %s: %w", id, harness.ErrExists)
		}
	}
}

// lineage returns the session of that id among this one and those that it was
// forked from; no id is this one.
func (s *session) lineage(id harness.SessionID) (*session, error) {
	seen := map[harness.SessionID]bool{}
	for id != "" && s.info.ID != id {
		seen[s.info.ID] = true
		parent := s.info.Parent
		if parent == nil || seen[parent.Session] {
			return nil, harness.ErrNotFound
		}
		up, ok, err := s.t.find(parent.Session)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, harness.ErrNotFound
		}
		s = up
	}
	return s, nil
}
