package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
)

// Save keeps d in store, in the place of what was saved under its id before, and
// returns the id. The artifacts come first, so that no document names one that is
// not there. Of two savers at the same time the later one wins.
func Save(ctx context.Context, store Store, d Document) (harness.SessionID, error) {
	file, err := Encode(d)
	if err != nil {
		return "", err
	}
	if err := put(ctx, store, d, nil); err != nil {
		return "", fmt.Errorf("save snapshot %s: %w", d.ID, err)
	}
	if err := store.Replace(ctx, key(d.ID), file); err != nil {
		return "", fmt.Errorf("save snapshot %s: %w", d.ID, err)
	}
	return d.ID, nil
}

// Want is what a loader insists on. Nil fields, and limits of 0, accept whatever
// was saved.
type Want struct {
	Model    *string
	System   *string
	NoMemory *bool
	Limits   Limits
	// Extensions are the names of those that the loader has.
	Extensions []string
}

// Load returns what was saved under id, with the bytes of its artifacts, all
// checksums verified. The id is sanitised first.
func Load(ctx context.Context, store Store, id string, want Want) (Document, error) {
	d, err := load(ctx, store, id, want)
	if err != nil {
		return Document{}, fmt.Errorf("load snapshot %q: %w", id, err)
	}
	return d, nil
}

func load(ctx context.Context, store Store, typed string, want Want) (Document, error) {
	id, _, err := harness.ParseSessionID(typed)
	if err != nil {
		return Document{}, err
	}
	d, _, err := read(ctx, store, id)
	if err != nil {
		return Document{}, err
	}
	if err := want.Check(d); err != nil {
		return Document{}, err
	}
	for i := range d.Artifacts {
		a := &d.Artifacts[i]
		a.Data, err = store.Get(ctx, artifactKey(id, a.SHA256))
		switch {
		case errors.Is(err, harness.ErrNotFound):
			// Not found is said of the snapshot alone, which is there.
			return Document{}, fmt.Errorf("%w: artifact %s is missing", harness.ErrDamaged, a.SHA256)
		case err != nil:
			return Document{}, fmt.Errorf("artifact %s: %w", a.SHA256, err)
		case int64(len(a.Data)) != a.Size:
			return Document{}, fmt.Errorf("%w: artifact %s has %d bytes, want %d", harness.ErrDamaged, a.SHA256, len(a.Data), a.Size)
		case digest(a.Data) != a.SHA256:
			return Document{}, fmt.Errorf("%w: checksum mismatch in artifact %s", harness.ErrDamaged, a.SHA256)
		}
	}
	return d, nil
}

// read returns what was saved under id, without the bytes of its artifacts, and
// its file.
func read(ctx context.Context, store Store, id harness.SessionID) (Document, []byte, error) {
	file, err := store.Get(ctx, key(id))
	if err != nil {
		return Document{}, nil, err
	}
	d, err := Decode(file)
	switch {
	case err != nil:
		return Document{}, nil, err
	case d.ID != id:
		return Document{}, nil, fmt.Errorf("%w: it holds session %s", harness.ErrDamaged, d.ID)
	}
	return d, file, nil
}

// Check compares what is wanted with a document: an [ErrConfig] that names the
// field, or an [ErrExtensions].
func (w Want) Check(d Document) error {
	c := d.Config
	switch {
	case w.Model != nil && *w.Model != c.Model:
		return fmt.Errorf("%w: model is %q, want %q", ErrConfig, c.Model, *w.Model)
	case w.System != nil && *w.System != c.System:
		return fmt.Errorf("%w: system is %q, want %q", ErrConfig, c.System, *w.System)
	case w.NoMemory != nil && *w.NoMemory != c.NoMemory:
		return fmt.Errorf("%w: no_memory is %t, want %t", ErrConfig, c.NoMemory, *w.NoMemory)
	}
	if err := w.Limits.check(c.Limits); err != nil {
		return err
	}
	var missing []string
	for name := range d.Extensions {
		if !slices.Contains(w.Extensions, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("%w: %s", ErrExtensions, strings.Join(missing, ", "))
	}
	return nil
}

// check names the first limit that is set and not the saved one.
func (l Limits) check(saved Limits) error {
	for _, f := range []struct {
		name        string
		saved, want float64
	}{
		{"steps", float64(saved.Steps), float64(l.Steps)},
		{"window", float64(saved.Window), float64(l.Window)},
		{"reply", float64(saved.Reply), float64(l.Reply)},
		{"result", float64(saved.Result), float64(l.Result)},
		{"cost", saved.Cost, l.Cost},
		{"input_price", saved.InputPrice, l.InputPrice},
		{"output_price", saved.OutputPrice, l.OutputPrice},
		{"attempts", float64(saved.Attempts), float64(l.Attempts)},
		{"backoff", saved.Backoff, l.Backoff},
		{"timeout", saved.Timeout, l.Timeout},
	} {
		if f.want != 0 && f.saved != f.want {
			return fmt.Errorf("%w: limits.%s is %v, want %v", ErrConfig, f.name, f.saved, f.want)
		}
	}
	return nil
}

// List returns the ids of all sessions in store, sorted.
func List(ctx context.Context, store Store) ([]harness.SessionID, error) {
	keys, err := store.List(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var ids []harness.SessionID
	for _, k := range keys {
		name, ok := strings.CutSuffix(strings.TrimPrefix(k, prefix), ".json")
		if id, changed, err := harness.ParseSessionID(name); ok && err == nil && !changed {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Delete removes what was saved under id, the document first. An id without a
// snapshot is no error.
func Delete(ctx context.Context, store Store, typed string) error {
	id, _, err := harness.ParseSessionID(typed)
	if err != nil {
		return fmt.Errorf("delete snapshot: %w", err)
	}
	if err := store.Delete(ctx, key(id)); err != nil {
		return fmt.Errorf("delete snapshot %s: %w", id, err)
	}
	keys, err := store.List(ctx, artifactKey(id, ""))
	if err != nil {
		return fmt.Errorf("delete snapshot %s: %w", id, err)
	}
	for _, k := range keys {
		if err := store.Delete(ctx, k); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", id, err)
		}
	}
	return nil
}
