//go:build unix

package files

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/tool"
)

// kit is the whole family in a set.
func kit(t *testing.T, o Options) *tool.Set {
	t.Helper()
	var set tool.Set
	if err := Register(&set, o); err != nil {
		t.Fatal(err)
	}
	return &set
}

// call runs a tool as the agent does.
func call(t *testing.T, set *tool.Set, dir, name string, in any, state string) harness.ToolResult {
	t.Helper()
	return set.Run(t.Context(), harness.ToolCall{ID: "1", Name: name, Input: input(t, in)}, tool.Call{Dir: dir, State: state})
}

func input(t *testing.T, in any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// proposal asks a tool what it would do.
func proposal(t *testing.T, set *tool.Set, dir, name string, in any) (harness.Proposal, error) {
	t.Helper()
	tl, ok := set.Lookup(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	return tl.Propose(t.Context(), tool.Call{Dir: dir, Input: input(t, in)})
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return file
}

// contents are all files below a directory, links as their targets.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case e.Type().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			all[file] = string(data)
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(file)
			if err != nil {
				return err
			}
			all[file] = "-> " + to
		default:
			all[file] = e.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWriteFileMakesAFileAndItsDirectories(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	set := kit(t, Options{})
	p, err := proposal(t, set, ws, "write_file", writeIn{Path: "a/b/c.txt", Content: "one\ntwo", Why: "to begin"})
	if err != nil {
		t.Fatal(err)
	}
	want := "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
	if p.Kind != harness.ProposalEdit || p.Subject != "a/b/c.txt" || p.Diff != want || p.Added != 2 || p.Removed != 0 || p.Why != "to begin" || p.State == "" {
		t.Errorf("got %+v", p)
	}
	if p.About[0] != "new file" {
		t.Errorf("about %q", p.About)
	}
	if entries, err := os.ReadDir(ws); err != nil || len(entries) > 0 {
		t.Fatalf("the proposal made %v, %v", entries, err)
	}
	r := call(t, set, ws, "write_file", writeIn{Path: "a/b/c.txt", Content: "one\ntwo"}, p.State)
	if r.Failed || r.Text != "created a/b/c.txt: 7 bytes, 2 lines added, 0 lines removed" {
		t.Errorf("got %+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(ws, "a/b/c.txt")); err != nil || string(data) != "one\ntwo" {
		t.Errorf("got %q, %v", data, err)
	}
	if entries, err := os.ReadDir(filepath.Join(ws, "a/b")); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestWriteFileReplacesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	set := kit(t, Options{Dir: ws})
	file := put(t, ws, "run.sh", "old\n")
	if err := os.Chmod(file, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := proposal(t, set, "", "write_file", writeIn{Path: "run.sh", Content: "new\n"}); err == nil || !strings.Contains(err.Error(), "overwrite") {
		t.Errorf("proposed with %v", err)
	}
	if r := call(t, set, "", "write_file", writeIn{Path: "run.sh", Content: "new\n"}, ""); !r.Failed || !strings.Contains(r.Text, "overwrite") {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "", "write_file", writeIn{Path: "run.sh", Content: "new\n", Overwrite: true}, ""); r.Failed || !strings.HasPrefix(r.Text, "changed run.sh: 4 bytes, 1 line added, 1 line removed") {
		t.Errorf("got %+v", r)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if r := call(t, set, "", "write_file", writeIn{Path: "run.sh", Content: "new\n", Overwrite: true}, ""); !r.Failed {
		t.Errorf("the same again gives %+v", r)
	}
}

func TestWhatChangedSinceItWasShownIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tool   string
		in     any
		before func(t *testing.T, ws string)
		meddle func(ws string) error
	}{
		"content of a written file": {
			"write_file",
			writeIn{Path: "f", Content: "new", Overwrite: true},
			func(t *testing.T, ws string) { t.Helper(); put(t, ws, "f", "old") },
			func(ws string) error { return os.WriteFile(filepath.Join(ws, "f"), []byte("theirs"), 0o644) },
		},
		"content elsewhere in an edited file": {
			"edit_file",
			editIn{Path: "f", Old: "a", New: "b"},
			func(t *testing.T, ws string) { t.Helper(); put(t, ws, "f", "a\n") },
			func(ws string) error { return os.WriteFile(filepath.Join(ws, "f"), []byte("a\nmore\n"), 0o644) },
		},
		"a new file that came to be": {
			"write_file",
			writeIn{Path: "f", Content: "new", Overwrite: true},
			func(*testing.T, string) {},
			func(ws string) error { return os.WriteFile(filepath.Join(ws, "f"), nil, 0o644) },
		},
		"a file that went": {
			"edit_file",
			editIn{Path: "f", Old: "a", New: "b"},
			func(t *testing.T, ws string) { t.Helper(); put(t, ws, "f", "a\n") },
			func(ws string) error { return os.Remove(filepath.Join(ws, "f")) },
		},
		"a link that leads to an equal file": {
			"edit_file",
			editIn{Path: "l", Old: "a", New: "b"},
			func(t *testing.T, ws string) {
				t.Helper()
				put(t, ws, "f", "a\n")
				put(t, ws, "g", "a\n")
				if err := os.Symlink("f", filepath.Join(ws, "l")); err != nil {
					t.Fatal(err)
				}
			},
			func(ws string) error {
				return errors.Join(os.Remove(filepath.Join(ws, "l")), os.Symlink("g", filepath.Join(ws, "l")))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := t.TempDir()
			set := kit(t, Options{Dir: ws})
			tc.before(t, ws)
			p, err := proposal(t, set, "", tc.tool, tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.meddle(ws); err != nil {
				t.Fatal(err)
			}
			before := contents(t, ws)
			if r := call(t, set, "", tc.tool, tc.in, p.State); !r.Failed || !strings.Contains(r.Text, "changed") {
				t.Errorf("got %+v", r)
			}
			if after := contents(t, ws); !maps.Equal(before, after) {
				t.Errorf("%v became %v", before, after)
			}
		})
	}
}

func TestWhatIsShownIsOneLineAndTold(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	set := kit(t, Options{Dir: ws})
	put(t, ws, "a\nb\u202e.txt", "x\r\ny\r\n")
	p, err := proposal(t, set, "", "write_file", writeIn{Path: "a\nb\u202e.txt", Content: "x\ny\n", Overwrite: true})
	if err != nil || p.Subject != `"a\nb\u202e.txt"` || !strings.HasPrefix(p.Diff, "--- a/\"a\\nb\\u202e.txt\"\n+++ b/") {
		t.Errorf("got %+v, %v", p, err)
	}
	if !slices.Contains(p.About, "changes the line ends from CRLF to LF") || p.Added != 2 || p.Removed != 2 {
		t.Errorf("got %+v", p)
	}
	p, err = proposal(t, set, "", "edit_file", editIn{Path: "a\nb\u202e.txt", Old: "x\ny", New: "x\nz"})
	if err != nil || p.Added != 1 || p.Removed != 1 || !strings.Contains(p.Diff, "-y\r\n+z\r\n") || len(p.About) != 1 || !strings.HasPrefix(p.About[0], "in ") {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = proposal(t, set, "", "write_file", writeIn{Path: ".git/hooks/pre-commit", Content: "x"})
	if err != nil || !strings.Contains(strings.Join(p.About, "; "), "new file; makes its directory; in ") || !strings.Contains(p.About[len(p.About)-1], "git itself") {
		t.Errorf("got %+v, %v", p, err)
	}
	r := call(t, set, "", "edit_file", editIn{Path: "a\nb\u202e.txt", Old: "y", New: "z"}, "")
	if r.Failed || r.Text != `changed "a\nb\u202e.txt": 6 bytes, 1 line added, 1 line removed` {
		t.Errorf("got %+v", r)
	}
}

func TestFailingEditsChangeNothing(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	set := kit(t, Options{Dir: ws})
	put(t, ws, "f", "a\nb\na\n")
	put(t, ws, "latin", "caf\xe9 is good, and this is mostly text")
	put(t, ws, "full", strings.Repeat("x", maxWrite))
	before := contents(t, ws)
	for name, tc := range map[string]struct {
		in   editIn
		want string
	}{
		"twice":     {editIn{Path: "f", Old: "a", New: "c"}, "occurs 2 times, beginning on lines 1, 3"},
		"not there": {editIn{Path: "f", Old: "z", New: "c"}, "does not occur"},
		"empty":     {editIn{Path: "f", New: "c"}, "old is empty"},
		"same":      {editIn{Path: "f", Old: "b", New: "b"}, "change nothing"},
		"NUL":       {editIn{Path: "f", Old: "b", New: "\x00"}, "NUL"},
		"missing":   {editIn{Path: "g", Old: "b", New: "c"}, "there is no"},
		"no UTF-8":  {editIn{Path: "latin", Old: "good", New: "bad"}, "not UTF-8"},
		"too large": {editIn{Path: "full", Old: "x", New: "xx", All: true}, "at most"},
	} {
		if p, err := proposal(t, set, "", "edit_file", tc.in); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s is proposed: %.200v, %v", name, p, err)
		}
		if r := call(t, set, "", "edit_file", tc.in, ""); !r.Failed || !strings.Contains(r.Text, tc.want) {
			t.Errorf("%s gives %+v", name, r)
		}
	}
	if after := contents(t, ws); !maps.Equal(before, after) {
		t.Error("something changed")
	}
}
