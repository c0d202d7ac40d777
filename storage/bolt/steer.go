package bolt

import (
	"context"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

var _ run.Steerable = (*Journal)(nil)

// Steer implements [run.Steerable].
func (j *Journal) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	return j.d.update(ctx, "steer run "+string(id), func(t *tx) error {
		r, err := t.findRun(id)
		if err != nil {
			return err
		}
		if r.s.info.Hidden {
			return harness.ErrNotFound
		}
		if err := rules.Steers(r.info.Run, e); err != nil {
			return err
		}
		driver := r.info.Driver // who drives it is who drove it
		if _, err := r.add([]run.Entry{e}); err != nil {
			return err
		}
		r.info.Driver = driver
		if err := r.save(); err != nil {
			return err
		}
		return r.s.written()
	})
}
