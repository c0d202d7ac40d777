package bolt

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
)

// Inspection is what a sound file holds.
type Inspection struct {
	Path string `json:"path"`
	// Bytes is the size of the file, Free how much of that is not in use.
	Bytes  int64 `json:"bytes"`
	Free   int64 `json:"free"`
	Schema int   `json:"schema"`
	// Sessions are with deleted ones, Messages those of sessions that are not.
	Sessions int `json:"sessions"`
	Messages int `json:"messages"`
	// Artifacts are the files and long results that are kept apart.
	Artifacts int `json:"artifacts"`
	Facts     int `json:"facts"`
	Notes     int `json:"notes"`
	// Wasteful says that so much is free that compacting the file is worth it.
	Wasteful bool `json:"wasteful"`
}

// Inspect reads everything in the file at path and changes nothing; an older file
// keeps its schema. A file that does not exist is [harness.ErrNotFound], and one
// of which something is damaged [harness.ErrDamaged], with each place.
func Inspect(ctx context.Context, path string, o Options) (Inspection, error) {
	return inspectWith(ctx, path, o, steps())
}

func inspectWith(ctx context.Context, path string, o Options, all []step) (i Inspection, err error) {
	d, err := openExisting(ctx, path, o, func(d *DB) { d.asIs, d.steps = true, all })
	if err != nil {
		return i, fmt.Errorf("check: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	n, err := d.Stats(ctx)
	if err != nil {
		return i, err
	}
	i = Inspection{Path: d.path, Bytes: n.Size, Free: n.Free, Schema: n.Schema, Wasteful: n.Wasteful()}
	if n.Schema != d.schema() {
		// How an older file hangs together is known to the steps that change it.
		c, err := d.count(ctx)
		i.Sessions, i.Messages, i.Artifacts, i.Facts, i.Notes = c.Sessions, c.Messages, c.Artifacts, c.Facts, c.Notes
		return i, err
	}
	report, err := d.Check(ctx)
	if err == nil {
		err = report.problem()
	}
	if err != nil {
		return i, err
	}
	i.Sessions, i.Artifacts, i.Facts, i.Notes = n.Sessions, report.Artifacts, n.Facts, n.Notes
	sessions, err := d.Sessions().List(ctx, harness.SessionFilter{})
	for _, s := range sessions {
		i.Messages += s.Messages
	}
	return i, err
}

// offerBytes is how much of a file has to be free before it is worth telling.
const offerBytes = 8 << 20

// Wasteful reports whether so much of a file is free that giving it back to the
// system is worth a word: a fifth of it, and some megabytes.
func (s Stats) Wasteful() bool { return s.Free >= offerBytes && s.Free >= s.Size/5 }

// offerCompaction tells if much of the file is free.
func (d *DB) offerCompaction(ctx context.Context) error {
	s, err := d.Stats(ctx)
	if err != nil || !s.Wasteful() {
		return err
	}
	d.tell(NoticeSpace, fmt.Sprintf("%d MB of the %d MB of %s are free: cairn db compact gives them back", s.Free>>20, s.Size>>20, d.path))
	return nil
}
