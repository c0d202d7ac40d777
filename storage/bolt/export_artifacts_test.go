package bolt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
)

// AppendInline adds records as a cairn does that keeps the bytes of files in the
// messages.
func (d *DB) AppendInline(ctx context.Context, l harness.Lease, records ...harness.Record) error {
	return d.update(ctx, "append", func(t *tx) error {
		s, err := t.writable(l)
		if err == nil {
			_, err = s.addRecords(records)
		}
		if err == nil {
			err = s.written()
		}
		return err
	})
}

// ForgetCounts writes the info of a session, and the counters, as a cairn does
// that knows neither artifacts nor holds.
func (d *DB) ForgetCounts(ctx context.Context, id harness.SessionID) error {
	return d.update(ctx, "forget the counts", func(t *tx) error {
		s, _, err := t.find(id)
		if err != nil {
			return err
		}
		c, err := t.counters()
		if err != nil {
			return err
		}
		c.Holds, s.info.Artifacts = 0, 0
		return s.save()
	})
}

// Holds is all that is held, whenever that was.
func (d *DB) Holds(ctx context.Context) (held []harness.Hold, err error) {
	err = d.view(ctx, "read what is held", func(t *tx) error {
		held = nil
		b, ok, err := t.spendingIfAny()
		if err != nil || !ok {
			return err
		}
		kept, err := b.holds()
		for _, k := range kept {
			held = append(held, k.Hold)
		}
		return err
	})
	return held, err
}

// NamedIn lets a session store a message that names an artifact, and returns what
// others are told meanwhile.
func (d *DB) NamedIn(ctx context.Context, id harness.SessionID, sum string) (work string, err error) {
	err = d.update(ctx, "name an artifact", func(t *tx) error {
		s, _, err := t.find(id)
		if err != nil {
			return err
		}
		_, err = s.keepNamed(&harness.Message{Parts: []harness.Part{{Kind: harness.PartFile, File: &harness.File{Artifact: sum}}}})
		if err != nil {
			return err
		}
		work = readNote(lockPath(d.path)).Work
		return s.save()
	})
	return work, err
}

// DropSpending removes the bucket of what is held, as damage would.
func (d *DB) DropSpending(ctx context.Context) error {
	return d.update(ctx, "damage", func(t *tx) error {
		t.dirty = true
		return t.b.DeleteBucket([]byte(spendingName))
	})
}

// KeptArtifacts says which sessions have which artifacts of their own, by the
// names that the caller gives them.
func (d *DB) KeptArtifacts(t *testing.T, names map[string]string) string {
	t.Helper()
	var all []string
	err := d.view(t.Context(), "look", func(t *tx) error {
		sessions, err := t.root("sessions")
		if err != nil {
			return err
		}
		return sessions.each(nil, func(key, _ []byte) (bool, error) {
			b, err := sessions.must(string(key))
			if err != nil {
				return false, err
			}
			own, ok := b.sub(artifactsName)
			if !ok {
				return true, nil
			}
			var kept []string
			err = own.each(nil, func(name, _ []byte) (bool, error) { kept = append(kept, names[string(name)]); return true, nil })
			slices.Sort(kept)
			all = append(all, fmt.Sprintf("%s: %s", key, strings.Join(kept, " ")))
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "; ")
}

// ChangeArtifact lets a test do to the bucket of an artifact what damage does.
func (d *DB) ChangeArtifact(ctx context.Context, id harness.SessionID, sum string, change func(a Artifact) error) error {
	return d.update(ctx, "damage", func(t *tx) error {
		s, _, err := t.find(id)
		if err != nil {
			return err
		}
		all, err := s.must(artifactsName)
		if err != nil {
			return err
		}
		b, err := all.must(sum)
		if err != nil {
			return err
		}
		return change(Artifact{all, artifact{b, sum}})
	})
}

// Artifact is a stored artifact in the hands of a test.
type Artifact struct {
	all bucket
	a   artifact
}

// Drop removes it.
func (x Artifact) Drop() error { return x.all.drop(x.a.name) }

// DropHead removes its head, DropPiece a piece.
func (x Artifact) DropHead() error { return x.a.del(keyHead) }

// DropPiece removes a piece.
func (x Artifact) DropPiece(n int) error { return x.a.del(number(n)) }

// Put stores something else as a piece, with a checksum that is right.
func (x Artifact) Put(n int, text string) error { return x.a.putPayload(number(n), []byte(text)) }

// Resize makes the head say something else.
func (x Artifact) Resize(size int64, pieces int) error {
	return x.a.put(keyHead, artifactHead{size, pieces})
}

// Sizes are the stored bytes of all values of the artifact, by their keys.
func (x Artifact) Sizes() (largest, total int, err error) {
	all := flat{}
	if err := flatten(x.a.b, "", all); err != nil {
		return 0, 0, err
	}
	for value := range maps.Values(all) {
		largest, total = max(largest, len(value)), total+len(value)
	}
	return largest, total, nil
}

// PackedPiece is the piece that some bytes become, and AppendPiece reads it.
func PackedPiece(data []byte) ([][]byte, error) {
	_, all, err := importApart(nil, [][]byte{data})
	if err != nil {
		return nil, err
	}
	return all[0].pieces, nil
}

// AppendPiece reads a piece.
func AppendPiece(data, text []byte) ([]byte, error) { return appendPiece(data, text) }
