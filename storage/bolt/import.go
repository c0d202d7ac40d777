package bolt

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// Import implements [harness.Sessions].
func (v *Sessions) Import(ctx context.Context, s harness.Session, records []harness.Record, whole ...[]byte) (harness.Session, bool, error) {
	if s.ID == "" {
		s.ID = harness.SessionID(harness.NewID())
	}
	if err := rules.CheckSessionID(s.ID); err != nil {
		return harness.Session{}, false, fmt.Errorf("import: %w", err)
	}
	records, artifacts, err := importApart(records, whole)
	if err != nil {
		return harness.Session{}, false, fmt.Errorf("import session %s: %w", s.ID, err)
	}
	var stored harness.Session
	var existed bool
	err = v.d.update(ctx, "import session "+string(s.ID), func(t *tx) error {
		wanted := s.ID
		for n := 2; ; n++ {
			same, free, err := t.importable(ctx, s, records)
			if err != nil {
				return err
			}
			if same != nil {
				stored, existed = *same, true
				return nil
			}
			if free {
				stored, err = t.importNew(s, records, artifacts)
				return err
			}
			s.ID = rules.NextImportID(wanted, n)
		}
	})
	return stored, existed, err
}

// importable tells whether the id of an import is free, or the session of equal
// content that has it.
func (t *tx) importable(ctx context.Context, imported harness.Session, records []harness.Record) (same *harness.Session, free bool, err error) {
	s, ok, err := t.find(imported.ID)
	if err != nil {
		return nil, false, err
	}
	if !ok {
		reserved, err := t.reserved(imported.ID)
		return nil, !reserved, err
	}
	if s.info.Deleted != nil || s.info.Hidden || s.info.Records != len(records) {
		return nil, false, nil
	}
	have, err := s.log(ctx, 0, 0)
	if err != nil || !rules.SameLog(have, s.info.Head, imported, records) {
		return nil, false, err
	}
	shown, err := s.shown()
	return &shown, false, err
}

func (t *tx) importNew(s harness.Session, records []harness.Record, artifacts []packed) (harness.Session, error) {
	s, records = rules.ImportedRecords(s, records, t.now)
	made, err := t.madeSession(s)
	if err != nil {
		return s, err
	}
	// It is as old here as it was elsewhere.
	if err := made.listedAt(s.Updated); err != nil {
		return s, err
	}
	if err := made.putArtifacts(artifacts); err != nil {
		return s, err
	}
	for _, r := range records {
		if err := made.putRecord(r); err != nil {
			return s, err
		}
	}
	return made.info.Session, made.save()
}
