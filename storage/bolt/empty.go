package bolt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// EmptyTrash opens the database at a path, has the person agree to what would go,
// and removes it for good, as [DB.EmptyTrash] does. An error of agree leaves all
// as it is. Left is how many sessions stayed, as somebody has them open.
func EmptyTrash(ctx context.Context, path string, o Options, agree func(Purged) error) (gone Purged, left int, err error) {
	d, err := Open(path, o) //nolint:contextcheck // opening is bounded by itself
	if err != nil {
		return gone, 0, fmt.Errorf("empty the trash: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	was, err := d.Trash(ctx)
	if err == nil {
		err = agree(was)
	}
	if err != nil {
		return gone, 0, err
	}
	gone, err = d.EmptyTrash(ctx)
	return gone, max(was.Sessions-gone.Sessions, 0), err
}

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
