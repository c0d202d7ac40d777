package bolt

import (
	"bytes"
	"context"
	"errors"
	"math"

	"cairn/harness"
	"cairn/storage/index"
)

// checkPostings makes each segment anew from the messages it is of and compares.
// If something else is damaged only the bytes are checked: the same messages may
// not be readable.
func (d *DB) checkPostings(ctx context.Context, r *Report) error {
	sound := len(r.Problems) == 0
	c, err := d.survey(ctx)
	if err != nil {
		if !sound && errors.Is(err, harness.ErrDamaged) {
			return nil // it was found before
		}
		return err
	}
	if c.closed && sound {
		return d.view(ctx, "check the search index", func(t *tx) error {
			_, err := t.segments()
			return err
		})
	}
	for _, s := range c.all {
		if s.broken != nil {
			r.Problems = append(r.Problems, indexProblem(d, s.broken))
		}
	}
	for _, s := range c.parts {
		n, err := d.checkSegment(ctx, s, sound)
		r.Indexed += n
		if errors.Is(err, errUnreadable) {
			r.Problems = append(r.Problems, indexProblem(d, err))
		} else if err != nil {
			return err
		}
	}
	return nil
}

func indexProblem(d *DB, err error) string {
	return d.path + ": " + err.Error() + "; it is only for search, nothing that was said is lost, and it is made anew by itself"
}

// checkSegment checks one segment and returns how many records it is of.
func (d *DB) checkSegment(ctx context.Context, s segment, compare bool) (int, error) {
	read := func() (data []byte, err error) {
		err = d.view(ctx, "check the search index", func(t *tx) error {
			data, err = t.segmentData(s)
			return err
		})
		return data, err
	}
	data, err := read()
	if errors.Is(err, harness.ErrNotFound) {
		return 0, nil // purged meanwhile
	}
	m := maker{d: d, cut: cut{most: math.MaxInt, mostBytes: math.MaxInt}}
	for _, r := range s.Ranges {
		m.rest = append(m.rest, span{r.Session, r.From, r.To})
	}
	records := spanned(m.rest)
	if err != nil || !compare {
		return records, err
	}
	b, err := m.read(ctx)
	if err != nil || bytes.Equal(index.Build(b.docs), data) {
		return records, err
	}
	if _, err = read(); errors.Is(err, harness.ErrNotFound) {
		return 0, nil
	}
	return records, errors.Join(err, s.unreadable(errors.New("it is not what its messages give")))
}
