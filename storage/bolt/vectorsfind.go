package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/memory/near"
	"cairn/storage/index"
	"cairn/storage/internal/rules"
)

const (
	// keptSigns bounds the bytes of signs that are kept in memory: those of half a
	// million messages.
	keptSigns = 48 << 20
	// closeSigns is how many windows are compared number by number, of all those
	// whose signs were compared.
	closeSigns = 400
)

// heldRun is what is kept in memory of a run of windows: their signs.
type heldRun struct {
	key     string
	stamp   uint32
	session harness.SessionID
	signs   [][]uint64
}

func (r *heldRun) bytes() int {
	n := 200 + len(r.key)
	for _, s := range r.signs {
		n += 24 + 8*len(s)
	}
	return n
}

// candidate is a window that may be near.
type candidate struct {
	run   *heldRun
	n     int
	apart int
	// What follows is read of the stored vectors.
	vectorWindow
	sum   uint32
	last  int
	score float64
}

// scan looks for the windows nearest to a question.
type scan struct {
	q      near.Query
	vector []int8
	signs  []uint64
	length float64
	// most is how far apart the signs may be, as soon as there are enough.
	most  int
	close []candidate
}

func newScan(q near.Query) (*scan, error) {
	if len(q.Vector) != q.Space.Dims {
		return nil, near.ErrMoved
	}
	v := index.Quantise(q.Vector)
	return &scan{q: q, vector: v, signs: index.Signs(v), length: index.Length(v), most: len(v) + 1}, nil
}

// look looks at a run.
func (s *scan) look(r *heldRun) {
	for i, signs := range r.signs {
		apart := index.Apart(s.signs, signs)
		if apart >= s.most {
			continue
		}
		if s.close = append(s.close, candidate{run: r, n: i, apart: apart}); len(s.close) >= 4*closeSigns {
			s.cut()
		}
	}
}

// cut keeps the windows whose signs are the nearest.
func (s *scan) cut() {
	slices.SortStableFunc(s.close, func(a, b candidate) int { return cmp.Compare(a.apart, b.apart) })
	if len(s.close) > closeSigns {
		s.close = s.close[:closeSigns]
		s.most = s.close[closeSigns-1].apart + 1
	}
}

// best returns the windows that are near enough, the nearest first, of each text
// the nearest one. Their numbers are read from the bucket of that name.
func (v *Vectors) best(ctx context.Context, s *scan, name string, key func(candidate) string) ([]candidate, error) {
	s.cut()
	slices.SortStableFunc(s.close, func(a, b candidate) int { return strings.Compare(a.run.key, b.run.key) })
	left, of := s.close, map[string]int{}
	var best []candidate
	err := v.d.inSlices(ctx, "search by meaning", func(t *tx) (bool, error) {
		in, err := t.inSpace(s.q.Space)
		if err != nil {
			return false, err
		}
		b, err := in.must(name)
		if err != nil || len(left) == 0 {
			return true, err
		}
		run := left[0].run
		raw := b.b.Get([]byte(run.key))
		r, err := b.getRun([]byte(run.key), raw, s.q.Space.Dims)
		whole := err == nil && stampOf(raw) == run.stamp
		for ; len(left) > 0 && left[0].run == run; left = left[1:] {
			c := left[0]
			if !whole || c.n >= len(r.windows) {
				continue // it was changed a moment ago
			}
			c.vectorWindow, c.sum, c.last = r.windows[c.n], r.sum, r.to
			length := s.length * index.Length(c.vector)
			if length == 0 {
				continue
			}
			if c.score = float64(index.Dot(s.vector, c.vector)) / length; c.score < s.q.Floor {
				continue
			}
			k := key(c)
			if at, ok := of[k]; !ok {
				of[k] = len(best)
				best = append(best, c)
			} else if c.score > best[at].score {
				best[at] = c
			}
		}
		return len(left) == 0, nil
	})
	slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return best, err
}

// eachRun calls fn for all runs of a bucket of the space, in slices. What cannot be
// read is logged and passed over: words find it none the less.
func (v *Vectors) eachRun(ctx context.Context, s near.Space, name, prefix string, fn func(*heldRun)) error {
	after := []byte(prefix)
	return v.d.inSlices(ctx, "search by meaning", func(t *tx) (bool, error) {
		stored, b, ok := t.space()
		if !ok || stored.Space != s {
			return false, near.ErrMoved
		}
		in, err := b.must(name)
		if err != nil {
			return false, err
		}
		c := in.b.Cursor()
		key, raw := c.Seek(after)
		for range surveyBatch {
			if key == nil || !strings.HasPrefix(string(key), prefix) {
				return true, nil
			}
			if err := in.reached(key); err != nil {
				return false, err
			}
			if r := v.heldRun(stored, in, key, raw); r != nil {
				fn(r)
			}
			key, raw = c.Next()
		}
		after = bytes.Clone(key)
		return key == nil, nil
	})
}

// heldRun returns a stored run, from memory if it was read before; nil if it cannot
// be read.
func (v *Vectors) heldRun(s storedSpace, in bucket, key, raw []byte) *heldRun {
	v.cache.mu.Lock()
	defer v.cache.mu.Unlock()
	v.cache.of(s.N)
	stamp := stampOf(raw)
	have := v.cache.runs[string(key)]
	if have != nil && have.stamp == stamp {
		return have
	}
	r, err := in.getRun(key, raw, s.Dims)
	id, _, ok := splitRunKey(key)
	if err != nil {
		v.d.log.Warn("vectors are not readable; they are made anew", slog.String("error", err.Error()))
		return nil
	}
	if !ok {
		id = harness.SessionID(key) // a fact or note
	}
	h := &heldRun{key: string(key), session: id, stamp: stamp}
	for _, w := range r.windows {
		h.signs = append(h.signs, index.Signs(w.vector))
	}
	if have != nil {
		v.cache.size -= have.bytes()
		delete(v.cache.runs, string(key))
	}
	if size := h.bytes(); v.cache.size+size <= keptSigns {
		v.cache.runs[string(key)] = h
		v.cache.size += size
	}
	return h
}

// Messages implements [near.Vectors].
func (v *Vectors) Messages(ctx context.Context, q near.Query) ([]harness.Hit, error) {
	sc, err := newScan(q)
	if err != nil {
		return nil, err
	}
	there := map[harness.SessionID]bool{}
	err = v.d.view(ctx, "search by meaning", func(t *tx) error {
		ids, err := t.recentIDs()
		for _, id := range ids {
			there[id] = true
		}
		return err
	})
	if err == nil {
		err = v.eachRun(ctx, q.Space, "messages", "", func(r *heldRun) {
			if there[r.session] {
				sc.look(r)
			}
		})
	}
	if err != nil {
		return nil, err
	}
	best, err := v.best(ctx, sc, "messages", func(c candidate) string { return string(runKey(c.run.session, c.message)) })
	if err != nil {
		return nil, err
	}
	words := index.NewQuery(q.Words)
	var hits []harness.Hit
	err = v.d.inSlices(ctx, "search by meaning", func(t *tx) (bool, error) {
		if len(best) == 0 || q.Limit > 0 && len(hits) >= q.Limit {
			return true, nil
		}
		c := best[0]
		best = best[1:]
		hit, ok, err := t.hit(words, c)
		if ok {
			hits = append(hits, hit)
		}
		return false, err
	})
	return hits, err
}

// hit reads what was found; false if that is not there any more.
func (t *tx) hit(words index.Query, c candidate) (hit harness.Hit, ok bool, err error) {
	s, ok, err := t.find(c.run.session)
	if err != nil || !ok || s.info.Deleted != nil {
		return hit, false, err
	}
	log, err := s.conversation()
	if err != nil || stampOf(log.b.Get(number(c.last))) != c.sum {
		return hit, false, err // another session had the id
	}
	w := c.vectorWindow
	r, err := s.recordIn(log, w.message)
	if err != nil || r.Message == nil {
		return hit, false, err
	}
	text := r.Message.Text()
	if w.from < 0 || w.from >= w.to || w.to > len(text) {
		return hit, false, nil
	}
	found, err := rules.Hits(words, []index.Match{{Session: string(c.run.session), Message: w.message, Score: c.score}},
		func(string, int) (string, error) { return strings.ToValidUTF8(text[w.from:w.to], ""), nil })
	if err != nil {
		return hit, false, err
	}
	return found[0], true, nil
}

// Items implements [near.Vectors].
func (v *Vectors) Items(ctx context.Context, kind string, q near.Query) ([]near.Item, error) {
	sc, err := newScan(q)
	if err != nil {
		return nil, err
	}
	if err := v.eachRun(ctx, q.Space, "items", kind, sc.look); err != nil {
		return nil, err
	}
	var items []near.Item
	best, err := v.best(ctx, sc, "items", func(c candidate) string { return string(c.run.session) })
	if err != nil {
		return nil, err
	}
	err = v.d.inSlices(ctx, "search by meaning", func(t *tx) (bool, error) {
		if len(best) == 0 || q.Limit > 0 && len(items) >= q.Limit {
			return true, nil
		}
		c := best[0]
		best = best[1:]
		// Vectors of an earlier revision say nothing about this one.
		text, ok, err := t.itemText(string(c.run.session))
		if ok && textSum(text) == c.sum {
			items = append(items, near.Item{ID: string(c.run.session), Score: c.score})
		}
		return false, err
	})
	return items, err
}

// Tidy implements [near.Maker].
func (v *Vectors) Tidy(ctx context.Context) error {
	if err := v.dropOthers(ctx); err != nil {
		return err
	}
	now := v.d.now()
	v.cache.mu.Lock()
	late := v.cache.tidied.IsZero() || now.Sub(v.cache.tidied) >= tidyEvery || now.Before(v.cache.tidied)
	v.cache.mu.Unlock()
	if !late {
		return nil
	}
	w := sweeper{v: v, from: map[harness.SessionID]int{}}
	for _, step := range []func(*tx) (bool, error){w.messages, w.items} {
		w.after = nil
		if err := v.d.inSlices(ctx, "look for vectors of what is gone", step); err != nil {
			return err
		}
	}
	if len(w.from)+len(w.gone) > 0 {
		if err := v.d.update(ctx, "drop vectors", w.drop); err != nil {
			return err
		}
	}
	v.cache.mu.Lock()
	v.cache.tidied = now
	v.cache.mu.Unlock()
	return nil
}

// sweeper finds vectors of what is gone, and those that cannot be read.
type sweeper struct {
	v     *Vectors
	after []byte
	// from is the record from which on the vectors of a session are to go, gone are
	// facts and notes.
	from map[harness.SessionID]int
	gone []string
	// of is the session at hand, nil if none of its vectors may stay.
	id harness.SessionID
	of *session
}

// some looks at the next values of a bucket.
func (w *sweeper) some(t *tx, name string, look func(in bucket, key, raw []byte) error) (bool, error) {
	_, b, ok := t.space()
	if !ok {
		return true, nil
	}
	in, err := b.must(name)
	if err != nil {
		return true, err
	}
	w.id, w.of = "", nil // what was read is of this transaction
	for range surveyBatch {
		key, raw := in.after(w.after)
		if key == nil {
			return true, nil
		}
		if err := in.reached(key); err != nil {
			return true, err
		}
		w.after = bytes.Clone(key)
		if err := look(in, w.after, raw); err != nil {
			return true, err
		}
	}
	return false, nil
}

func (w *sweeper) messages(t *tx) (bool, error) {
	return w.some(t, "messages", func(in bucket, key, raw []byte) error {
		id, from, ok := splitRunKey(key)
		if !ok {
			return t.d.damaged(place(in.path, key), "it is no key of vectors")
		}
		if id != w.id {
			s, ok, err := t.find(id)
			if err != nil && !errors.Is(err, harness.ErrDamaged) {
				return err
			}
			if w.id, w.of = id, nil; err == nil && ok && !s.info.Hidden && !s.info.NoMemory {
				w.of = s
			}
		}
		if _, dropped := w.from[id]; dropped {
			return nil
		}
		if w.of == nil {
			w.from[id] = 0
			return nil
		}
		log, err := w.of.conversation()
		if err != nil {
			return err
		}
		r, err := in.getRun(key, raw, 0)
		if err != nil || r.to < from || stampOf(log.b.Get(number(r.to))) != r.sum {
			w.from[id] = from
		}
		return nil
	})
}

func (w *sweeper) items(t *tx) (bool, error) {
	return w.some(t, "items", func(in bucket, key, raw []byte) error {
		_, ok, err := t.itemText(string(key))
		if err != nil && !errors.Is(err, harness.ErrDamaged) {
			return err
		}
		if _, bad := in.getRun(key, raw, 0); bad != nil || err == nil && !ok {
			w.gone = append(w.gone, string(key))
		}
		return nil
	})
}

// drop removes what was found.
func (w *sweeper) drop(t *tx) error {
	_, b, ok := t.space()
	if !ok {
		return nil
	}
	messages, err := b.must("messages")
	if err != nil {
		return err
	}
	for id, from := range w.from {
		if err := messages.dropRuns(id, from); err != nil {
			return err
		}
	}
	for _, id := range w.gone {
		if err := t.forgetItemVectors(id); err != nil {
			return err
		}
	}
	return nil
}
