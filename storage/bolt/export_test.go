package bolt

import "context"

// Settle closes the handle as the timer does, so that the next use opens the
// file again.
func (d *DB) Settle() {
	d.gate <- struct{}{}
	d.giveUp()
	d.leave()
}

// SetSchema makes the file one of another version.
func (d *DB) SetSchema(ctx context.Context, n int) error {
	return d.update(ctx, "set the schema", func(t *tx) error {
		meta, err := t.root("meta")
		if err != nil {
			return err
		}
		return meta.put(keyFormat, format{Schema: n, MinReader: n})
	})
}
