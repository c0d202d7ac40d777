package bolt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/storage/bolt"
)

func TestInspectionTellsWhatThereIsOrWhatIsDamaged(t *testing.T) {
	t.Parallel()
	path := populated(t)
	raw, err := os.ReadFile(path)
	ok(t, err)
	i, err := bolt.Inspect(t.Context(), path, bolt.Options{})
	ok(t, err)
	if i.Path != path || i.Schema != 2 || i.Sessions != 44 || i.Messages < 100 || i.Artifacts != 9 || i.Facts != 4 || i.Notes != 4 || i.Bytes == 0 {
		t.Fatalf("%+v", i)
	}
	unchanged(t, path, raw)
	for _, text := range []string{"A fact from beta", "A fact from alpha"} {
		raw = []byte(strings.ReplaceAll(string(raw), text, strings.ToUpper(text)))
	}
	ok(t, os.WriteFile(path, raw, 0o600))
	_, err = bolt.Inspect(t.Context(), path, bolt.Options{})
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "sessions/alpha/facts/f1") || !strings.Contains(err.Error(), "sessions/beta") {
		t.Fatalf("error %v", err)
	}
	unchanged(t, path, raw)
	if _, err := bolt.Inspect(t.Context(), filepath.Join(t.TempDir(), "none"), bolt.Options{}); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("error %v", err)
	}
}

func TestSpaceIsWorthAWordOnlyIfThereIsMuch(t *testing.T) {
	t.Parallel()
	for s, want := range map[bolt.Stats]bool{
		{Size: 40 << 20, Free: 8 << 20}: true, {Size: 41 << 20, Free: 8 << 20}: false,
		{Size: 1 << 20, Free: 1 << 19}: false, {Size: 1 << 30, Free: 300 << 20}: true,
	} {
		if s.Wasteful() != want {
			t.Errorf("%+v", s)
		}
	}
}

// Values are read once for themselves and again for what they hang together with;
// damage is told once.
func TestEachDamagedPlaceIsToldOnce(t *testing.T) {
	t.Parallel()
	path := populated(t)
	overwrite(t, path, "A fact from beta", "A fact from Beta")
	_, err := bolt.Inspect(t.Context(), path, bolt.Options{})
	if !errors.Is(err, harness.ErrDamaged) || strings.Count(err.Error(), "checksum") != 1 || !strings.HasPrefix(err.Error(), path+": sessions/beta/") {
		t.Fatalf("error %v", err)
	}
	overwrite(t, path, "A fact from alpha", "A fact from Alpha")
	_, err = bolt.Inspect(t.Context(), path, bolt.Options{})
	if !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), " places: ") ||
		strings.Count(err.Error(), "sessions/alpha/facts/f1: ") != 1 || strings.Count(err.Error(), path) != 1 {
		t.Fatalf("error %v", err)
	}
}
