//go:build unix

package files

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wood makes directories whose names sort differently with a slash behind them.
func wood(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, name := range []string{
		"a/b/c/d.go", "a/b-/x", "a/b.txt", "a/b0/y", "a-/z/z.go", "a.md", "a0", "lib/o.o", "lib/.gitignore", "lib/sub/kept.o",
		"lib/sub/.gitignore", "lib/sub/gone.txt", "build/out/x", ".git/config", ".env", "z/.ssh/id", "z/z",
	} {
		text := map[string]string{"lib/.gitignore": "*.o\n", "lib/sub/.gitignore": "!kept.o\ngone.*\n"}[name]
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("/build/\n"), 0o644); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func TestNamesComeNearestFirst(t *testing.T) {
	t.Parallel()
	all, more, err := Names(t.Context(), wood(t), ".", true, 1_000)
	want := []string{
		".gitignore", "a-/", "a.md", "a/", "a0", "lib/", "z/",
		"a-/z/", "a/b-/", "a/b.txt", "a/b/", "a/b0/", "lib/.gitignore", "lib/sub/", "z/z",
		"a-/z/z.go", "a/b-/x", "a/b/c/", "a/b0/y", "lib/sub/.gitignore", "lib/sub/kept.o",
		"a/b/c/d.go",
	}
	if err != nil || more || !slices.Equal(all, want) {
		t.Errorf("more %t, %v, the names are\n%q, not\n%q", more, err, all, want)
	}
}

func TestFewNamesAreTheFirstOfAll(t *testing.T) {
	t.Parallel()
	dir := wood(t)
	all, _, err := Names(t.Context(), dir, ".", true, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	depth := func(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }
	if !slices.IsSortedFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b)) }) {
		t.Errorf("not the nearest first: %q", all)
	}
	for most := range len(all) + 1 {
		got, more, err := Names(t.Context(), dir, ".", true, most)
		if err != nil || more != (most < len(all)) || !slices.Equal(got, all[:most]) {
			t.Errorf("at most %d: %q, more %t, %v", most, got, more, err)
		}
	}
}

// How long a list takes depends on how much is shown, not on what lies below.
func TestNamesLookNoFurtherThanTheyShow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	forest(t, dir, 20, 20)
	s, err := newSpace(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.existing(".")
	if err != nil {
		t.Fatal(err)
	}
	defer closing(&err, p.close)
	found := 0
	one := func() error {
		if found++; found > 30 {
			return errEnough
		}
		return nil
	}
	w := walk{visit: func(*os.Root, string, fs.DirEntry) error { return one() }, found: func(string) error { return one() }}
	if err := w.near(t.Context(), p); err != nil || w.seen > 31 {
		t.Errorf("31 of 420 paths took a look at %d, %v", w.seen, err)
	}
}

func TestNamesEndWhenStopped(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if paths, _, err := Names(ctx, wood(t), ".", true, 10); err == nil {
		t.Errorf("a stopped list has %q", paths)
	}
}

func BenchmarkNames(b *testing.B) {
	dir := b.TempDir()
	forest(b, dir, 100, 100)
	for b.Loop() {
		if paths, more, err := Names(b.Context(), dir, ".", true, 1_000); err != nil || !more || len(paths) != 1_000 {
			b.Fatal(len(paths), more, err)
		}
	}
}

// forest makes so many directories with so many files each.
func forest(tb testing.TB, at string, dirs, files int) {
	tb.Helper()
	for d := range dirs {
		dir := filepath.Join(at, fmt.Sprintf("dir%d", d))
		if err := os.Mkdir(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		for f := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", f)), nil, 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
}
