package bolt

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/memory/near"
	"cairn/storage/internal/rules"
)

const (
	// nextParts bounds how many parts are given out at once.
	nextParts = 64
	// tidyEvery is how often a process looks for vectors of what is gone.
	tidyEvery = 10 * time.Minute
)

// vectorCache is what one process remembers of the vectors.
type vectorCache struct {
	mu sync.Mutex
	// n is the space that the rest is of.
	n int
	// done are sessions all of whose records have their vectors, as their infos then
	// were, and items the counter of changes when all facts and notes had theirs.
	done  map[harness.SessionID]*knownSession
	items int
	// tidied is when it was last looked for what is gone.
	tidied time.Time
	// runs are the ones that were read, size their bytes.
	runs map[string]*heldRun
	size int
}

// of forgets what is of another space.
func (c *vectorCache) of(n int) {
	if c.n != n {
		c.n, c.done, c.items, c.runs, c.size = n, nil, -1, nil, 0
	}
	if c.done == nil {
		c.done, c.runs = map[harness.SessionID]*knownSession{}, map[string]*heldRun{}
	}
}

// want is what [Vectors.Next] collects.
type want struct {
	v       *Vectors
	space   near.Space
	windows int
	cut     func(text string) []near.Span
	parts   []near.Part
}

func (w *want) full() bool { return w.windows <= 0 || len(w.parts) >= nextParts }

func (w *want) add(p near.Part) {
	w.parts = append(w.parts, p)
	w.windows -= len(p.Windows)
}

// Next implements [near.Maker].
func (v *Vectors) Next(ctx context.Context, s near.Space, windows int, cut func(string) []near.Span) ([]near.Part, error) {
	w := &want{v: v, space: s, windows: windows, cut: cut}
	if err := v.d.view(ctx, "look for what has no vectors", func(t *tx) error { return v.free(t) }); err != nil {
		return nil, err
	}
	if err := v.d.view(ctx, "look for what has no vectors", func(t *tx) error { return w.items(ctx, t) }); err != nil {
		return nil, err
	}
	var todo []harness.SessionID
	err := v.d.view(ctx, "look for what has no vectors", func(t *tx) (err error) {
		todo, err = t.recentIDs()
		return err
	})
	if err == nil {
		err = v.d.inSlices(ctx, "look for what has no vectors", func(t *tx) (bool, error) {
			for range surveyBatch {
				if len(todo) == 0 || w.full() {
					return true, nil
				}
				id := todo[0]
				todo = todo[1:]
				if err := w.session(t, id); err != nil {
					return false, err
				}
			}
			return false, nil
		})
	}
	if err != nil || len(w.parts) == 0 {
		return nil, err
	}
	return w.parts, v.claim(ctx)
}

// free returns [near.ErrBusy] if another process makes vectors now.
func (v *Vectors) free(t *tx) error {
	all, ok := t.vectors()
	if !ok {
		return near.ErrMoved
	}
	var c claim
	if ok, err := all.get(keyClaim, &c); err != nil || !ok {
		return nil //nolint:nilerr // a claim that cannot be read is none
	}
	if c.Process == t.d.process || !t.now.Before(c.Until) || c.Until.Sub(t.now) > claimFor {
		return nil
	}
	_, alive, err := t.owner(c.Process, 1)
	if err == nil && alive {
		err = near.ErrBusy
	}
	return err
}

func (v *Vectors) claim(ctx context.Context) error {
	return v.d.update(ctx, "claim the vectors", func(t *tx) error {
		if err := v.free(t); err != nil {
			return err
		}
		all, err := t.makeVectors()
		if err != nil {
			return err
		}
		process, err := t.process()
		if err != nil {
			return err
		}
		return all.put(keyClaim, claim{process, t.now.Add(claimFor)})
	})
}

// Done implements [near.Maker].
func (v *Vectors) Done(ctx context.Context) error {
	return v.d.update(ctx, "end making vectors", func(t *tx) error {
		all, ok := t.vectors()
		if !ok {
			return nil
		}
		var c claim
		if ok, err := all.get(keyClaim, &c); err != nil || !ok || c.Process != t.d.process {
			return nil //nolint:nilerr // it is not for us to remove
		}
		return all.del(keyClaim)
	})
}

// items collects facts and notes.
func (w *want) items(ctx context.Context, t *tx) error {
	s, b, ok := t.space()
	if !ok || s.Space != w.space {
		return near.ErrMoved
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	w.v.cache.mu.Lock()
	w.v.cache.of(s.N)
	done := w.v.cache.items == c.LastChange
	w.v.cache.mu.Unlock()
	if done {
		return nil
	}
	items, err := b.must("items")
	if err != nil {
		return err
	}
	if err := errors.Join(missingItems(ctx, t, w, items, t.d.Facts().v), missingItems(ctx, t, w, items, t.d.Notes().v)); err != nil {
		return err
	}
	if len(w.parts) == 0 {
		w.v.cache.mu.Lock()
		w.v.cache.items = c.LastChange
		w.v.cache.mu.Unlock()
	}
	return nil
}

// missingItems collects the items of a kind that have no vectors.
func missingItems[T any](ctx context.Context, t *tx, w *want, in bucket, v shelf[T]) error {
	all, err := v.all(ctx, t)
	if err != nil {
		return err
	}
	for _, f := range all {
		if w.full() {
			return nil
		}
		text := v.kind.Text(f.Item)
		sum := textSum(text)
		if *v.common(f).State == harness.StateTrashed || in.itemDone(f.id, sum) {
			continue
		}
		p := near.Part{ID: f.id, Sum: sum}
		p.Windows = windowsOf(0, text, w.cut)
		w.add(p)
	}
	return nil
}

// itemDone reports whether there are vectors of a text of an item.
func (b bucket) itemDone(id string, sum uint32) bool {
	raw := b.b.Get([]byte(id))
	if raw == nil {
		return false
	}
	r, err := b.getRun([]byte(id), raw, 0)
	return err == nil && r.sum == sum
}

func windowsOf(message int, text string, cut func(string) []near.Span) []near.Window {
	var windows []near.Window
	for _, sp := range cut(text) {
		windows = append(windows, near.Window{Message: message, From: sp.From, To: sp.To, Text: text[sp.From:sp.To]})
	}
	return windows
}

// session collects the next records of a session.
func (w *want) session(t *tx, id harness.SessionID) error {
	_, known, err := t.d.searched.session(t, id)
	if err != nil || known == nil {
		return err
	}
	w.v.cache.mu.Lock()
	done := w.v.cache.done[id] == known
	w.v.cache.mu.Unlock()
	if done {
		return nil
	}
	b, err := t.inSpace(w.space)
	if err != nil {
		return err
	}
	messages, err := b.must("messages")
	if err != nil {
		return err
	}
	s, ok, err := t.find(id)
	if err != nil || !ok {
		return err
	}
	p, whole, err := w.part(s, messages)
	if err != nil {
		return err
	}
	if p.To > 0 {
		w.add(p)
	} else if whole {
		w.v.cache.mu.Lock()
		w.v.cache.done[id] = known
		w.v.cache.mu.Unlock()
	}
	return nil
}

// embeddable reports whether anything of a session may be sent to a model that
// makes vectors.
func (s *session) embeddable() bool {
	return s.info.Deleted == nil && !s.info.Hidden && !s.info.NoMemory
}

// part returns the next records of a session that have no vectors; whole says that
// there are none.
func (w *want) part(s *session, messages bucket) (p near.Part, whole bool, err error) {
	if !s.embeddable() {
		return p, true, nil
	}
	log, err := s.conversation()
	if err != nil {
		return p, false, err
	}
	next := 1
	if key, raw := messages.lastRun(s.info.ID); key != nil {
		last, err := messages.getRun(key, raw, 0)
		if err != nil || stampOf(log.b.Get(number(last.to))) != last.sum {
			return p, false, nil //nolint:nilerr // Tidy drops it
		}
		next = last.to + 1
	}
	if next > s.info.Records {
		return p, true, nil
	}
	p = near.Part{Session: s.info.ID, From: next}
	quiet := map[harness.RunID]bool{}
	for seq := next; seq <= s.info.Records && seq < next+runRecords; seq++ {
		r, err := s.recordIn(log, seq)
		if err != nil {
			return p, false, err
		}
		var windows []near.Window
		if doc, ok := rules.Document(s.info.ID, r); ok && !s.withoutMemory(r.Run, quiet) {
			windows = windowsOf(seq, doc.Text, w.cut)
		}
		if p.To > 0 && len(p.Windows)+len(windows) > min(runWindows, w.windows) {
			break
		}
		p.Windows, p.To, p.Sum = append(p.Windows, windows...), seq, stampOf(log.b.Get(number(seq)))
	}
	return p, false, nil
}

// withoutMemory reports whether a run is known to have been one without memory:
// what was said in it stays where it was said.
func (s *session) withoutMemory(id harness.RunID, known map[harness.RunID]bool) bool {
	if id == "" {
		return false
	}
	if quiet, ok := known[id]; ok {
		return quiet
	}
	known[id] = false
	if runs, ok := s.sub("runs"); ok {
		if _, ok := runs.sub(string(id)); ok {
			r, err := s.run(id)
			known[id] = err != nil || r.info.Config.NoMemory
		}
	}
	return known[id]
}

// Put implements [near.Maker].
func (v *Vectors) Put(ctx context.Context, s near.Space, parts []near.Part) error {
	return v.d.update(ctx, "store vectors", func(t *tx) error {
		b, err := t.inSpace(s)
		if err != nil {
			return err
		}
		messages, err := b.must("messages")
		if err != nil {
			return err
		}
		items, err := b.must("items")
		if err != nil {
			return err
		}
		for _, p := range parts {
			if p.ID != "" {
				err = t.putItemVectors(items, p)
			} else {
				err = t.putRun(messages, p, s.Dims)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// putItemVectors stores those of a fact or note, unless it is another by now.
func (t *tx) putItemVectors(items bucket, p near.Part) error {
	text, ok, err := t.itemText(p.ID)
	if err != nil || !ok || textSum(text) != p.Sum {
		return err
	}
	r := vectorRun{sum: p.Sum, windows: quantised(p)}
	return items.put([]byte(p.ID), r.bytes())
}

// itemText returns the text of a fact or note; false if it is forgotten.
func (t *tx) itemText(id string) (string, bool, error) {
	if t.d.Facts().v.isID(id) {
		return textOf(t, t.d.Facts().v, id)
	}
	return textOf(t, t.d.Notes().v, id)
}

func textOf[T any](t *tx, v shelf[T], id string) (string, bool, error) {
	f, err := v.find(t, id)
	if errors.Is(err, harness.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return v.kind.Text(f.Item), *v.common(f).State != harness.StateTrashed, nil
}

// putRun stores those of records, behind the last ones of the session or with
// them. What another process stored meanwhile stays.
func (t *tx) putRun(messages bucket, p near.Part, dims int) error {
	s, ok, err := t.find(p.Session)
	if err != nil || !ok || !s.embeddable() {
		return err
	}
	log, err := s.conversation()
	if err != nil || stampOf(log.b.Get(number(p.To))) != p.Sum {
		return err
	}
	r := vectorRun{to: p.To, sum: p.Sum, windows: quantised(p)}
	at := runKey(p.Session, p.From)
	key, raw := messages.lastRun(p.Session)
	switch {
	case key == nil && p.From != 1:
		return nil
	case key != nil:
		last, err := messages.getRun(key, raw, dims)
		if err != nil || last.to != p.From-1 {
			return nil //nolint:nilerr // Tidy drops it
		}
		_, from, ok := splitRunKey(key)
		if ok && len(last.windows)+len(r.windows) <= runWindows && p.To-from < runRecords {
			at, r.windows = runKey(p.Session, from), append(last.windows, r.windows...)
		}
	}
	return messages.put(at, r.bytes())
}

// Clear implements [near.Maker].
func (v *Vectors) Clear(ctx context.Context) error {
	err := v.d.update(ctx, "drop vectors", func(t *tx) error {
		all, ok := t.vectors()
		if !ok {
			return nil
		}
		var s storedSpace
		if _, err := all.get(keySpace, &s); err != nil {
			t.d.log.Warn("vectors are not readable", slog.String("error", err.Error()))
		}
		return all.put(keySpace, storedSpace{N: s.N + 1})
	})
	if err != nil {
		return err
	}
	return v.dropOthers(ctx)
}
