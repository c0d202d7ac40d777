package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"cairn/harness"
)

// smallFile is the size up to which opening a database looks at all of its
// pages, which takes some milliseconds.
const smallFile = 16 << 20

// Report is what [DB.Check] found.
type Report struct {
	// Values is how many stored values were read, Sessions how many sessions.
	Values, Sessions int
	// Artifacts is how many files and long results of sessions were read.
	Artifacts int
	// Indexed is how many records are in the search index. What is wrong with
	// that is made anew from the messages by itself.
	Indexed int
	// Problems are sentences, one for each place that is damaged; none means that
	// all is well.
	Problems []string
	// damages are those of the problems that are damage at a place.
	damages []*damage
}

// Stats says what is in a database and how large it is.
type Stats struct {
	Path string `json:"path"`
	// Store is the id that the database got when it was made.
	Store  string `json:"store"`
	Schema int    `json:"schema"`
	// Size is the length of the file, Free what of it is not in use, in bytes.
	Size       int64 `json:"size"`
	Free       int64 `json:"free"`
	Sessions   int   `json:"sessions"`
	Trashed    int   `json:"trashed"`
	Runs       int   `json:"runs"`
	Unfinished int   `json:"unfinished"`
	Facts      int   `json:"facts"`
	Notes      int   `json:"notes"`
	Prompts    int   `json:"prompts"`
}

// Stats describes the database.
func (d *DB) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Path: d.path}
	err := d.view(ctx, "describe the database", func(t *tx) error {
		c, err := t.counters()
		if err != nil {
			return err
		}
		f, err := t.format()
		if err != nil {
			return err
		}
		file, err := os.Open(d.path)
		if err != nil {
			return err
		}
		m, free, err := d.readState(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		s.Store, s.Schema = f.Store, f.Schema
		s.Size, s.Free = t.b.Size(), int64(len(free))*int64(m.pageSize)
		s.Sessions, s.Trashed, s.Runs, s.Unfinished = c.Sessions, c.Trashed, c.Runs, c.Unfinished
		s.Facts, s.Notes, s.Prompts = c.Facts, c.Notes, c.LastPrompt-c.FirstPrompt+1
		return nil
	})
	return s, err
}

// readState reads the current meta page and the list of free pages.
func (d *DB) readState(f *os.File) (metaPage, []uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return metaPage{}, nil, err
	}
	m, err := d.readMetas(f, info.Size())
	if err != nil {
		return m, nil, err
	}
	free, err := d.readFreelist(f, m)
	return m, free, err
}

// checkSmall looks at all pages of a file that is not large.
func (d *DB) checkSmall() error {
	if info, err := os.Stat(d.path); err != nil || info.Size() > smallFile {
		return d.unusable(err)
	}
	return d.checkAllPages(d.path)
}

// checkAllPages looks at all pages of the file at path.
func (d *DB) checkAllPages(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return d.unusable(err)
	}
	m, free, err := d.readState(f)
	if err == nil {
		err = d.treeProblem(checkTree(f, m, free))
	}
	return errors.Join(err, f.Close())
}

func (d *DB) treeProblem(err error) error {
	if tree := (*treeError)(nil); errors.As(err, &tree) {
		return d.damaged(fmt.Sprintf("page %d", tree.page), tree.what)
	}
	return d.unusable(err)
}

// Check reads everything and says what is damaged. It works in slices of some
// hundredths of a second, so that others get their turn; only its first look,
// at the pages alone, is in one piece. The error is about the check itself.
func (d *DB) Check(ctx context.Context) (Report, error) {
	var r Report
	err := d.view(ctx, "check the pages", func(*tx) error { return d.checkAllPages(d.path) })
	if err != nil {
		// What follows the pages could go in circles.
		return r, r.note(err)
	}
	err = d.checkContents(ctx, &r)
	return r, err
}

// checkContents reads all values of a file whose pages are right.
func (d *DB) checkContents(ctx context.Context, r *Report) error {
	err := d.checkRecords(ctx, r, (*DB).inSlices)
	if err == nil {
		err = d.checkPostings(ctx, r)
	}
	if err == nil {
		err = d.checkVectors(ctx, r)
	}
	return r.note(err)
}

// pace repeats a step in short transactions: [DB.inSlices] or [DB.gently].
type pace func(d *DB, ctx context.Context, op string, step func(*tx) (done bool, err error)) error

// checkRecords reads all values but those of the search index. An error that is
// damage is one that it could not go on after.
func (d *DB) checkRecords(ctx context.Context, r *Report, pace pace) error {
	w, c := walker{report: r}, crossCheck{report: r}
	err := pace(d, ctx, "check the values", w.step)
	if err == nil {
		err = pace(d, ctx, "check the sessions", c.in(ctx))
	}
	return err
}

// note adds damage to the problems and returns every other error. What is damaged
// at a place that is known already is no news: values are read once for
// themselves, and again to see how they hang together.
func (r *Report) note(err error) error {
	if !errors.Is(err, harness.ErrDamaged) {
		return err
	}
	found := (*damage)(nil)
	if !errors.As(err, &found) {
		r.Problems = append(r.Problems, err.Error())
		return nil
	}
	known := func(other *damage) bool { return other.place == found.place }
	if !slices.ContainsFunc(r.damages, known) {
		r.Problems, r.damages = append(r.Problems, found.Error()), append(r.damages, found)
	}
	return nil
}

// problem returns the problems as one error, nil if there are none.
func (r *Report) problem() error {
	places := make([]string, 0, len(r.damages))
	for _, found := range r.damages {
		places = append(places, found.place+": "+found.what)
	}
	switch {
	case len(r.Problems) == 0:
		return nil
	case len(r.Problems) == 1 && len(places) == 1:
		return r.damages[0]
	case len(r.Problems) == len(places):
		// The file and the advice are the same for all.
		first := r.damages[0]
		return fmt.Errorf("%s: %w in %d places: %s; %s", first.path, harness.ErrDamaged, len(places), strings.Join(places, "; "), first.advice)
	}
	return fmt.Errorf("%w: %s", harness.ErrDamaged, strings.Join(r.Problems, "; "))
}
