package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cairn/harness"
	"cairn/harness/memory/markdown"
	"cairn/storage/bolt"
)

// remembering is a data directory of its own with the real store.
type remembering struct {
	t    *testing.T
	dir  string
	wire Wire
}

func newRemembering(t *testing.T) remembering {
	t.Helper()
	w, _, _, _ := world1(t)
	r := remembering{t: t, dir: filepath.Join(t.TempDir(), "data"), wire: onDisk(w)}
	open := r.wire.OpenStore
	r.wire.OpenStore = func(ctx context.Context, dir string, o StoreOptions) (Store, error) {
		if o.NoMemory {
			return open(ctx, dir, o)
		}
		db, err := bolt.Open(filepath.Join(dir, bolt.FileName), bolt.Options{Now: o.Now, Logger: o.Log}) //nolint:contextcheck // opening takes none
		if err != nil {
			return Store{}, err
		}
		return Store{Facts: db.Facts(), Notes: db.Notes(), Sessions: db.Sessions(), Close: db.Close}, nil
	}
	return r
}

// run runs the program, which must end with a code, and returns its output.
func (r remembering) run(want int, args ...string) string {
	r.t.Helper()
	_, s, out, errs := world1(r.t)
	if code := Main(r.t.Context(), s, append([]string{"--dir", r.dir}, args...), r.wire); code != want {
		r.t.Fatalf("%v: exit code %d, not %d: %s%s", args, code, want, out, errs)
	}
	return out.String() + errs.String()
}

// store opens the store itself.
func (r remembering) store(f func(ctx context.Context, facts harness.Facts, notes harness.Notes)) {
	r.t.Helper()
	clock := time.Date(2026, 3, 4, 5, 0, 0, 7, time.UTC)
	db, err := bolt.Open(filepath.Join(r.dir, bolt.FileName), bolt.Options{Now: func() time.Time {
		clock = clock.Add(time.Microsecond)
		return clock
	}})
	if err != nil {
		r.t.Fatal(err)
	}
	f(r.t.Context(), db.Facts(), db.Notes())
	if err := db.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// all is what the store has but the trash, by number.
func (r remembering) all() (facts []harness.Fact, notes []harness.Note) {
	r.t.Helper()
	r.store(func(ctx context.Context, f harness.Facts, n harness.Notes) {
		var err error
		if facts, notes, err = (exportOptions{kinds: allKinds(), all: true}).chosen(ctx, Store{Facts: f, Notes: n}, nil); err != nil {
			r.t.Fatal(err)
		}
	})
	return facts, notes
}

// hostile are texts that a careless file loses.
var hostile = []string{
	"a\r\nb\r\n", "- dash\n  - nested", "---\ntitle: x\n---\nbody", "cairn: note", "trailing  \nspaces\t ", "no\n\n\nend", "^f1", "x ^f2\ny",
	"👩‍👩‍👧 שלום مرحبا", "\u202eturned", "a: b #c \"d\" \\e", "# heading", strings.Repeat("long ", 20_000), "null", "\x1b[31mred",
}

// What leaves one store as files arrives in another byte for byte, and importing
// it twice changes nothing.
func TestMemoryTravelsAsFiles(t *testing.T) {
	t.Parallel()
	from, to := newRemembering(t), newRemembering(t)
	from.run(ExitDone, "facts", "add", "made first")
	from.store(func(ctx context.Context, facts harness.Facts, notes harness.Notes) {
		for i, text := range hostile {
			state := []harness.FactState{harness.StateActive, harness.StateOff}[i%2]
			f := harness.Fact{Text: text, Category: hostile[(i+3)%len(hostile)], Tags: []string{fmt.Sprint("tag ", i)}, State: state, Pinned: i%3 == 0}
			if _, created, err := facts.Save(ctx, f, ""); err != nil || !created {
				t.Fatal(created, err)
			}
			n := harness.Note{Title: text, Body: text + "\n" + hostile[(i+5)%len(hostile)], Tags: f.Tags, State: state, Pinned: i%2 == 0}
			if _, err := notes.Save(ctx, n, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	from.run(ExitDone, "memory", "export", "--all", out)
	if got := to.run(ExitDone, "memory", "import", out, "--dry-run"); !strings.Contains(got, "31 new; nothing was changed") {
		t.Error(got)
	}
	if _, err := os.Stat(to.dir); !os.IsNotExist(err) {
		t.Errorf("a dry run made a store: %v", err)
	}
	to.run(ExitDone, "memory", "import", out)
	if got := to.run(ExitDone, "memory", "import", out, "--update"); !strings.HasSuffix(got, "\n31 there already\n") && got != "31 there already\n" {
		t.Error(got)
	}
	facts, notes := from.all()
	gotFacts, gotNotes := to.all()
	byText := cmpopts.SortSlices(func(a, b harness.Fact) bool { return a.Text < b.Text })
	byTitle := cmpopts.SortSlices(func(a, b harness.Note) bool { return a.Title < b.Title })
	other := []string{"ID", "By", "Source", "Updated", "Session"}
	if diff := cmp.Diff(facts, gotFacts, byText, cmpopts.IgnoreFields(harness.Fact{}, other...)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(notes, gotNotes, byTitle, cmpopts.IgnoreFields(harness.Note{}, other...)); diff != "" {
		t.Error(diff)
	}
	for _, f := range gotFacts {
		if f.By != harness.ByImport || !strings.HasPrefix(f.Source.Quote, "facts/") {
			t.Errorf("%s is by %s, from %q", f.ID, f.By, f.Source.Quote)
		}
	}
}

// The rule by which an import tells a duplicate is that of the store.
func TestImportKnowsDuplicatesAsTheStoreDoes(t *testing.T) {
	t.Parallel()
	texts := []string{"Prefers tea", "prefers  TEA.", "Prefers té", "Prefers te\u0301!", "Straße", "STRASSE", "x", "x…", "x y", "xy", "...", "?"}
	for _, a := range texts {
		for _, b := range texts {
			w, _, _, _ := world1(t)
			facts := w.store.Facts()
			if _, _, err := facts.Save(t.Context(), harness.Fact{Text: a}, ""); err != nil {
				t.Fatal(err)
			}
			_, created, err := facts.Save(t.Context(), harness.Fact{Text: b}, "")
			if same := sameText(a) != "" && sameText(a) == sameText(b); err != nil || created == same {
				t.Errorf("%q and %q: created %v, but the import says same %v (%v)", a, b, created, same, err)
			}
		}
	}
}

// An export that cannot be finished leaves no half file and nothing else behind.
func TestExportLeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	r.run(ExitDone, "notes", "add", "Title", "body")
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "Title.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := r.run(ExitFailed, "notes", "export", "--force", out); !strings.Contains(got, "Title.md is a directory and was left alone") {
		t.Error(got)
	}
	elsewhere := filepath.Join(t.TempDir(), "target")
	write(t, elsewhere, "mine", 0o600)
	second := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(second, "Title.md")); err != nil {
		t.Skip(err)
	}
	r.run(ExitFailed, "notes", "export", second)
	r.run(ExitDone, "notes", "export", "--force", second)
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "mine" {
		t.Errorf("the export followed a link: %q, %v", data, err)
	}
	entries, err := os.ReadDir(second)
	if err != nil || len(entries) != 1 || !entries[0].Type().IsRegular() {
		t.Errorf("%v, %v", entries, err)
	}
}

// A file that appears between the look and the write is not replaced.
func TestAFreshFileReplacesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}()
	write(t, filepath.Join(dir, "a.md"), "mine", 0o600)
	f := exportFolder{root: root, at: "."}
	if err := f.write("a.md", []byte("other"), true); !os.IsExist(err) {
		t.Errorf("error %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.md")); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A file that is too large is told and the others are imported.
func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	r, dir := newRemembering(t), t.TempDir()
	write(t, filepath.Join(dir, "big.md"), strings.Repeat("x", markdown.MaxFile+1), 0o600)
	write(t, filepath.Join(dir, "small.md"), "small", 0o600)
	if got := r.run(ExitFailed, "memory", "import", dir); !strings.Contains(got, "new n1 small") || !strings.Contains(got, "big.md: it has more than 16 MiB") {
		t.Error(got)
	}
}

// A time of a file that is still to come is not taken over.
func TestNothingIsFromTheFuture(t *testing.T) {
	t.Parallel()
	r, dir := newRemembering(t), t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "---\ncreated: 9999-01-01\n---\nx", 0o600)
	r.run(ExitDone, "memory", "import", dir)
	if _, notes := r.all(); len(notes) != 1 || notes[0].Created.Year() != 2026 {
		t.Errorf("%+v", notes)
	}
}
