package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// plain is a caller's own store: a map behind the methods of [snapshot.Store]
// alone.
type plain struct{ snapshot.Store }

// begin returns a writer and a document with one more message.
func begin(t *testing.T, s snapshot.Store) (*snapshot.Writer, snapshot.Document) {
	t.Helper()
	d, w, err := snapshot.Begin(t.Context(), s, "X")
	if err != nil {
		t.Fatal(err)
	}
	return w, said(d, "hello")
}

func said(d snapshot.Document, text string) snapshot.Document {
	m := harness.UserText(text)
	d.Append(harness.Record{Kind: harness.RecordMessage, Message: &m})
	return d
}

func TestWriterLosesToWhoSavedFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	memory := open(t, "mem://")
	for name, stores := range map[string][2]snapshot.Store{
		"directory": {open(t, dir), open(t, dir)},
		"memory":    {memory, memory},
		"own":       {plain{memory}, plain{memory}},
	} {
		if err := snapshot.Delete(t.Context(), stores[0], "x"); err != nil {
			t.Fatal(err)
		}
		first, d1 := begin(t, stores[0])
		second, d2 := begin(t, stores[1])
		if err := first.Save(t.Context(), d1); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := second.Save(t.Context(), said(d2, "mine")); !errors.Is(err, harness.ErrLost) {
				t.Errorf("%s: the second of two gets %v", name, err)
			}
		}
		d1 = said(d1, "more")
		if err := first.Save(t.Context(), d1); err != nil {
			t.Errorf("%s: the first goes on with %v", name, err)
		}
		if got, err := snapshot.Load(t.Context(), stores[1], "x", snapshot.Want{}); err != nil || !reflect.DeepEqual(got, d1) {
			t.Errorf("%s: it holds %+v, %v", name, got, err)
		}
		if err := snapshot.Delete(t.Context(), stores[1], "x"); err != nil {
			t.Fatal(err)
		}
		if err := first.Save(t.Context(), d1); !errors.Is(err, harness.ErrLost) {
			t.Errorf("%s: over a removed one it gets %v", name, err)
		}
	}
}

// faulty is a store that fails once it has written, or before.
type faulty struct {
	snapshot.Store

	before, after error
}

func (f *faulty) Replace(ctx context.Context, key string, data []byte) error {
	if f.before != nil {
		return f.before
	}
	return errors.Join(f.Store.Replace(ctx, key, data), f.after)
}

func TestWriterGoesOnAfterASaveThatFailed(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for name, f := range map[string]*faulty{
		"before it was done": {before: full}, "after it was done": {after: full},
	} {
		f.Store = plain{open(t, "mem://")}
		w, d := begin(t, f)
		for range 2 {
			if err := w.Save(t.Context(), d); !errors.Is(err, full) {
				t.Errorf("%s: %v", name, err)
			}
		}
		f.before, f.after = nil, nil
		want := said(d, "again")
		if err := w.Save(t.Context(), want); err != nil {
			t.Errorf("%s: the next save gives %v", name, err)
		}
		if got, err := snapshot.Load(t.Context(), f, "x", snapshot.Want{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it holds %+v, %v", name, got, err)
		}
	}
}

func TestWriterKeepsArtifacts(t *testing.T) {
	t.Parallel()
	s := open(t, "mem://")
	w, d := begin(t, s)
	kept := snapshot.Artifacts{Store: s}
	data := []byte("a long result")
	sum, err := kept.Put(t.Context(), "x", data)
	if err != nil {
		t.Fatal(err)
	}
	a := snapshot.Artifact{SHA256: sum, Size: int64(len(data))}
	d.Artifacts = []snapshot.Artifact{a}
	if err := w.Save(t.Context(), d); !errors.Is(err, snapshot.ErrInvalid) {
		t.Errorf("an artifact without bytes, new to the document, gives %v", err)
	}
	d.Artifacts[0].Data = data
	if err := w.Save(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	d, w, err = snapshot.Begin(t.Context(), s, "x")
	if err != nil || d.Artifacts[0].Data != nil {
		t.Fatalf("begun again it is %+v, %v", d, err)
	}
	if err := w.Save(t.Context(), said(d, "more")); err != nil {
		t.Errorf("saved again without the bytes: %v", err)
	}
	if got, err := kept.Get(t.Context(), "x", sum); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the artifact is %q, %v", got, err)
	}
	for _, bad := range [][2]string{{"x", "../../secret"}, {"x", ""}, {"../x", sum}, {"*", sum}, {"X", sum}} {
		if _, err := kept.Get(t.Context(), harness.SessionID(bad[0]), bad[1]); err == nil || errors.Is(err, harness.ErrNotFound) != (bad[0] == "x") {
			t.Errorf("artifact %q of %q gives %v", bad[1], bad[0], err)
		}
		if _, err := kept.Put(t.Context(), harness.SessionID(bad[0]), data); err == nil && bad[0] != "x" {
			t.Errorf("an artifact of %q was stored", bad[0])
		}
	}
	if err := s.Replace(t.Context(), "artifacts/session-x/"+sum, []byte("a wrong result")); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Get(t.Context(), "x", sum); !errors.Is(err, harness.ErrDamaged) {
		t.Errorf("changed, it gives %v", err)
	}
}

// An artifact is found by the first digits of its name, if they are its alone.
func TestArtifactsAreFoundByDigits(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]snapshot.Store{"memory": open(t, "mem://"), "directory": open(t, t.TempDir())} {
		kept := snapshot.Artifacts{Store: s}
		sum, err := kept.Put(t.Context(), "talk", []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range []string{sum, sum[:harness.MinArtifact], sum[:40], strings.ToUpper(sum[:13])} {
			if data, err := kept.Get(t.Context(), "talk", asked); err != nil || string(data) != "text" {
				t.Errorf("%s: %s is %q, %v", name, asked, data, err)
			}
		}
		for _, asked := range []string{"", sum[:11], sum + "0", sum[:12] + "/", "../../../../x", strings.Repeat("g", 64), strings.Repeat("0", 12)} {
			if data, err := kept.Get(t.Context(), "talk", asked); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("%s: %s is %q, %v", name, asked, data, err)
			}
		}
		// What somebody put beside it with a name that begins alike.
		twin := sum[:20] + strings.Repeat("0", 44)
		if err := s.Put(t.Context(), "artifacts/session-talk/"+twin, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := kept.Get(t.Context(), "talk", sum[:20]); !errors.Is(err, harness.ErrNotFound) || !strings.Contains(err.Error(), "more digits") {
			t.Errorf("%s: of two: %v", name, err)
		}
		if _, err := kept.Get(t.Context(), "talk", twin); !errors.Is(err, harness.ErrDamaged) {
			t.Errorf("%s: not its own: %v", name, err)
		}
	}
}
