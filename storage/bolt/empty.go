package bolt

import (
	"context"
	"math"
	"time"
)

// Trash returns how much was deleted and can still be brought back.
func (d *DB) Trash(ctx context.Context) (Purged, error) {
	var p Purged
	err := d.view(ctx, "look into the trash", func(t *tx) error {
		c, err := t.counters()
		if err != nil {
			return err
		}
		trash, err := t.root("trash")
		if err != nil {
			return err
		}
		p.Sessions = c.Trashed
		for name, n := range map[string]*int{d.Facts().v.kind.Name: &p.Facts, d.Notes().v.kind.Name: &p.Notes} {
			kind, ok := trash.sub(name)
			if !ok {
				continue
			}
			err := kind.each(nil, func([]byte, []byte) (bool, error) {
				*n++
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// EmptyTrash removes for good what was deleted, however long ago, as [DB.Purge]
// does; but for sessions that somebody has open. The last traces in the file go
// with [DB.Compact], which it leaves to the caller, and in the copies of the file
// with these.
func (d *DB) EmptyTrash(ctx context.Context) (Purged, error) {
	return d.purgeTrash(ctx, time.Unix(0, math.MaxInt64))
}
