package snapshot

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
)

// A Swapper is a [Store] that replaces only what the caller has seen, in one
// step. [Writer] uses it; a store that can do so should.
type Swapper interface {
	// Swap is Replace, if the key holds bytes of the sha256 was, in lower-case
	// hexadecimal, or, where was is empty, if it holds nothing. Otherwise it
	// writes nothing and returns [harness.ErrLost].
	Swap(ctx context.Context, key, was string, data []byte) error
}

// Writer saves one session time after time and never over what somebody else
// saved meanwhile. It is not safe for concurrent use.
//
// With a [Swapper], such as a directory or memory, that holds at all times. Any
// other store is read before it is written: of two writers that save between the
// same two moments the later one wins, and the other one learns it at its next
// save only.
type Writer struct {
	store Store
	id    harness.SessionID
	// sum is the digest of the file that this writer read or wrote last, empty if
	// there was none; doubt is that of one whose writing failed, perhaps only
	// after it was done.
	sum, doubt string
	// has are the artifacts that are stored already.
	has map[string]bool
}

// Begin returns what was saved under id, without the bytes of its artifacts, and
// a writer that goes on from there. The id is sanitised first. Where nothing was
// saved the document holds the id alone.
func Begin(ctx context.Context, store Store, id string) (Document, *Writer, error) {
	parsed, _, err := harness.ParseSessionID(id)
	if err != nil {
		return Document{}, nil, fmt.Errorf("begin snapshot %q: %w", id, err)
	}
	w := &Writer{store: store, id: parsed, has: map[string]bool{}}
	d, file, err := read(ctx, store, parsed)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return Document{ID: parsed}, w, nil
	case err != nil:
		return Document{}, nil, fmt.Errorf("begin snapshot %s: %w", parsed, err)
	}
	w.saved(d, digest(file))
	return d, w, nil
}

// saved notes that d is what the store holds, as a file of this digest.
func (w *Writer) saved(d Document, sum string) {
	w.sum, w.doubt = sum, ""
	for _, a := range d.Artifacts {
		w.has[a.SHA256] = true
	}
}

// Save keeps d in the place of what this writer read or saved last. If that is
// no longer what the store holds, it writes nothing and returns
// [harness.ErrLost]. The bytes of artifacts that were in the document before may
// be left out.
func (w *Writer) Save(ctx context.Context, d Document) error {
	if d.ID != w.id {
		return fmt.Errorf("save snapshot %s: %w: it is session %s", w.id, ErrInvalid, d.ID)
	}
	file, err := Encode(d)
	if err != nil {
		return err
	}
	if err := put(ctx, w.store, d, w.has); err != nil {
		return fmt.Errorf("save snapshot %s: %w", w.id, err)
	}
	if err := w.swap(ctx, file); err != nil {
		return fmt.Errorf("save snapshot %s: %w", w.id, err)
	}
	w.saved(d, w.sum)
	return nil
}

// swap replaces the file that this writer knows.
func (w *Writer) swap(ctx context.Context, file []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.doubt != "" {
		if err := w.doubted(ctx); err != nil {
			return err
		}
	}
	next := digest(file)
	s, ok := w.store.(Swapper)
	if !ok {
		s = looking{w.store}
	}
	if err := s.Swap(ctx, key(w.id), w.sum, file); err != nil {
		if !errors.Is(err, harness.ErrLost) {
			w.doubt = next
		}
		return err
	}
	w.sum, w.doubt = next, ""
	return nil
}

// doubted finds out whether the save that failed was done all the same.
func (w *Writer) doubted(ctx context.Context) error {
	file, err := w.store.Get(ctx, key(w.id))
	switch {
	case errors.Is(err, harness.ErrNotFound):
	case err != nil:
		return err
	case digest(file) == w.doubt:
		w.sum = w.doubt
	}
	w.doubt = ""
	return nil
}

// looking makes a [Swapper] of a store that is none: it looks, then writes.
type looking struct{ Store }

// Swap implements [Swapper].
func (l looking) Swap(ctx context.Context, key, was string, data []byte) error {
	now := ""
	switch file, err := l.Get(ctx, key); {
	case err == nil:
		now = digest(file)
	case !errors.Is(err, harness.ErrNotFound):
		return err
	}
	if now != was {
		return lost(key)
	}
	return l.Replace(ctx, key, data)
}

// lost says that a key does not hold what its writer has seen.
func lost(key string) error {
	return fmt.Errorf("%s was changed by somebody else: %w", key, harness.ErrLost)
}
