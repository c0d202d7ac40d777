package mem

import (
	"context"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

var _ run.Steerable = (*Journal)(nil)

// Steer implements [run.Steerable].
func (j *Journal) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	e, err := clone(e)
	if err != nil {
		return err
	}
	return j.st.change(ctx, "steer run "+string(id), func() error {
		s := j.st.runs[id]
		if s == nil {
			return harness.ErrNotFound
		}
		d := j.st.begin(s)
		r, err := d.run(id)
		if err != nil {
			return err
		}
		if err := rules.Steers(r.run, e); err != nil {
			return err
		}
		driver := r.run.Driver // who drives it is who drove it
		if _, err := d.add(id, r.run.Cursor, []run.Entry{e}); err != nil {
			return err
		}
		r.run.Driver = driver
		return d.commit()
	})
}
