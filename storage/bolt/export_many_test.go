package bolt

import (
	"context"
	"fmt"

	"cairn/harness"
)

// ManySessions makes sessions s0, s1, … with the same records, and forks every
// hundredth.
func (d *DB) ManySessions(ctx context.Context, n int, records []harness.Record) error {
	return d.update(ctx, "make sessions", func(t *tx) error {
		for i := range n {
			if _, err := t.importNew(harness.Session{ID: harness.SessionID(fmt.Sprint("s", i))}, records, nil); err != nil {
				return err
			}
			if i%100 != 0 {
				continue
			}
			fork := harness.Session{ID: harness.SessionID(fmt.Sprint("fork", i)), Created: t.now, Parent: &harness.Origin{Session: harness.SessionID(fmt.Sprint("s", i)), Record: 4}}
			s, err := t.newSession(fork)
			if err == nil {
				err = s.save()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteHalf puts every other one of those sessions into the trash.
func (d *DB) DeleteHalf(ctx context.Context, n int) error {
	return d.update(ctx, "delete sessions", func(t *tx) error {
		for i := 0; i < n; i += 2 {
			s, err := t.present(harness.SessionID(fmt.Sprint("s", i)))
			if err != nil {
				return err
			}
			recent, err := t.root("recent")
			if err != nil {
				return err
			}
			if err := recent.del(s.recentKey()); err != nil {
				return err
			}
			now := t.now
			s.info.Deleted = &now
			if err := s.moveTrash(+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// RunsPage is the first page of the runs of a session, and how long a page is.
func (d *DB) RunsPage(ctx context.Context, id harness.SessionID) (page, size int, err error) {
	err = d.view(ctx, "find the runs", func(t *tx) error {
		s, err := t.present(id)
		if err != nil {
			return err
		}
		runs, err := s.must("runs")
		if err == nil {
			page, size = int(runs.b.RootPage()), t.b.DB().Info().PageSize
		}
		return err
	})
	return page, size, err
}
