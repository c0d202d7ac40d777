package bolt

import (
	"context"
	"errors"
	"log/slog"

	"cairn/harness"
	"cairn/harness/memory/near"
)

// Status implements [near.Vectors].
func (v *Vectors) Status(ctx context.Context) (near.Status, error) {
	var st near.Status
	var s storedSpace
	var todo []harness.SessionID
	err := v.d.view(ctx, "look at the vectors", func(t *tx) (err error) {
		var ok bool
		var in bucket
		if s, in, ok = t.space(); ok {
			space := s.Space
			st.Space = &space
		}
		err = errors.Join(countItems(ctx, t, &st, in, ok, t.d.Facts().v), countItems(ctx, t, &st, in, ok, t.d.Notes().v))
		if err == nil {
			todo, err = t.recentIDs()
		}
		return err
	})
	if err != nil {
		return st, err
	}
	err = v.d.inSlices(ctx, "look at the vectors", func(t *tx) (bool, error) {
		now, in, ok := t.space()
		for range surveyBatch {
			if len(todo) == 0 {
				return true, nil
			}
			id := todo[0]
			todo = todo[1:]
			if err := t.countSession(&st, in, ok && now.N == s.N, id); err != nil {
				return false, err
			}
		}
		return false, nil
	})
	if err != nil || st.Space == nil {
		return st, err
	}
	for _, name := range []string{"messages", "items"} {
		err := v.eachRaw(ctx, s, name, func(b bucket, key, raw []byte) {
			st.Bytes += int64(len(key) + len(raw))
			if r, err := b.getRun(key, raw, s.Dims); err == nil {
				st.Vectors += len(r.windows)
			}
		})
		if errors.Is(err, near.ErrMoved) {
			return st, nil
		}
		if err != nil {
			return st, err
		}
	}
	return st, nil
}

// countItems counts facts or notes.
func countItems[T any](ctx context.Context, t *tx, st *near.Status, in bucket, there bool, v shelf[T]) error {
	all, err := v.all(ctx, t)
	if err != nil {
		return err
	}
	var items bucket
	if there {
		if items, err = in.must("items"); err != nil {
			return err
		}
	}
	for _, f := range all {
		switch {
		case *v.common(f).State == harness.StateTrashed:
		case there && items.itemDone(f.id, textSum(v.kind.Text(f.Item))):
			st.Items++
		default:
			st.Missing++
		}
	}
	return nil
}

// countSession counts the records of a session.
func (t *tx) countSession(st *near.Status, in bucket, there bool, id harness.SessionID) error {
	s, ok, err := t.find(id)
	if err != nil || !ok || !s.embeddable() {
		return err
	}
	done := 0
	if there {
		messages, err := in.must("messages")
		if err != nil {
			return err
		}
		if key, raw := messages.lastRun(id); key != nil {
			if r, err := messages.getRun(key, raw, 0); err == nil {
				done = min(r.to, s.info.Records)
			}
		}
	}
	st.Records, st.Missing = st.Records+done, st.Missing+s.info.Records-done
	return nil
}

// eachRaw calls fn for all stored values of a bucket of a space, in slices.
func (v *Vectors) eachRaw(ctx context.Context, s storedSpace, name string, fn func(b bucket, key, raw []byte)) error {
	var after []byte
	return v.d.inSlices(ctx, "look at the vectors", func(t *tx) (bool, error) {
		now, b, ok := t.space()
		if !ok || now.N != s.N {
			return false, near.ErrMoved
		}
		in, err := b.must(name)
		if err != nil {
			return false, err
		}
		for range surveyBatch {
			key, raw := in.after(after)
			if key == nil {
				return true, nil
			}
			if err := in.reached(key); err != nil {
				return false, err
			}
			fn(in, key, raw)
			after = append(after[:0], key...)
		}
		return false, nil
	})
}

// checkVectors reads all vectors. What is wrong with them is made anew from the
// texts by itself. If something else is damaged that comes first.
func (d *DB) checkVectors(ctx context.Context, r *Report) error {
	if len(r.Problems) > 0 {
		return nil
	}
	v := d.Vectors()
	var s storedSpace
	there := false
	err := d.view(ctx, "check the vectors", func(t *tx) error {
		all, ok := t.vectors()
		if !ok {
			return nil
		}
		if _, err := all.get(keySpace, &s); err != nil {
			r.Problems = append(r.Problems, indexProblem(d, err))
			return nil
		}
		_, _, there = t.space()
		return nil
	})
	if err != nil || !there {
		return err
	}
	for _, name := range []string{"messages", "items"} {
		err := v.eachRaw(ctx, s, name, func(b bucket, key, raw []byte) {
			if _, err := b.getRun(key, raw, s.Dims); err != nil {
				r.Problems = append(r.Problems, indexProblem(d, err))
			}
		})
		if err != nil && !errors.Is(err, near.ErrMoved) {
			return err
		}
	}
	return nil
}

// copyVectors copies the vectors to a file that is made anew, if they are whole:
// else they are left out, and made anew in time.
func (d *DB) copyVectors(ctx context.Context, from *DB) error {
	err := d.copyLater(ctx, from, vectorsName)
	if !errors.Is(err, harness.ErrDamaged) {
		return err
	}
	d.log.Warn("the vectors are left out, as they are damaged; they are made anew", slog.String("error", err.Error()))
	return d.update(ctx, "leave out the vectors", func(t *tx) error {
		if _, ok := t.vectors(); !ok {
			return nil
		}
		t.dirty = true
		return t.b.DeleteBucket([]byte(vectorsName))
	})
}
