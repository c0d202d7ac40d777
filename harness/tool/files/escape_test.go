//go:build unix

package files

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cairn/harness/tool"
)

// lures adds to a tree what tempts a tool to leave it.
func lures(tb testing.TB) (ws, outside string) {
	tb.Helper()
	ws, outside = tree(tb)
	for link, to := range map[string]string{
		"chain1": "chain2", "chain2": "chain3", "chain3": outside,
		"in1": "in2", "in2": "sub/../in3", "in3": "sub",
		"ping": "pong", "pong": "ping", "sub/ring": "../sub/ring",
		"newout": filepath.Join(outside, "new"), "newup": "../outside/new", "newdeep": filepath.Join(outside, "n/e/w"),
		"newdir": filepath.Join(outside, "none"), "newchain": "newup",
		"newin": "sub/new.txt", "newhidden": ".env.new", "newkeys": ".ssh/new",
		"sub/climb": "../..", "sub/home": "..", "root": "/", "null": "/dev/null", "zero": "/dev/zero", "stdin": "/dev/stdin",
		"environ": "/proc/self/environ", "fd": "/proc/self/fd", "cwd": "/proc/self/cwd", "abs": filepath.Join(ws, "a.txt"),
		"dotdot": "..", "dot": ".", "envdir": "deep/.aws",
	} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(ws, "sub/fifo"), 0o644); err != nil {
		tb.Fatal(err)
	}
	return ws, outside
}

// six are the calls of all tools on one path.
func six(path string) []struct {
	name string
	in   any
} {
	return []struct {
		name string
		in   any
	}{
		{"read_file", readIn{Path: path}},
		{"list_directory", listIn{Path: path}},
		{"glob", globIn{Pattern: "**", Path: path}},
		{"grep", grepIn{Pattern: ".", Path: path}},
		{"edit_file", editIn{Path: path, Old: "a", New: "A", All: true}},
		{"write_file", writeIn{Path: path, Content: "written", Overwrite: true}},
	}
}

func TestNoToolLeavesTheDirectory(t *testing.T) {
	t.Parallel()
	const (
		out    = "leads outside the working directory"
		keys   = "may hold keys or passwords"
		bad    = "is not a usable path"
		kind   = "is not of the kind asked for"
		absent = "there is no"
		stuck  = "cannot be used"
		file   = "FILE"
		dir    = "DIRECTORY"
	)
	rows := map[string]string{
		// Controls: what leads to a place inside works.
		"a.txt": file, "sub/b.txt": file, "./a.txt": file, "sub/../a.txt": file, "a.txt/": file, "sub//b.txt": file,
		"inside": file, "abs": file, "in1/b.txt": file, "absinside/b.txt": file, "sub/home/a.txt": file, "dot/dot/a.txt": file, "-rf": file, "…": file,
		"sub": dir, "sub/": dir, ".": dir, "in1": dir, "absinside": dir, "sub/home/sub": dir, "dot": dir, "WS": dir,
		"WS/a.txt": file, "WS/sub/../a.txt": file, "OUT/../ws/a.txt": file,
		// Spelling.
		"..": out, "../": out, "../outside/x": out, "../outside/new": out, "a/../../x": out, "sub/../../outside/x": out,
		"sub/../../../../../../../../etc/passwd": out, "./../outside/x": out, "a.txt/../../outside/x": out, "none/../../outside/x": out,
		"OUT": out, "OUT/x": out, "OUT/new": out, "WS2/x": out, "WS/../outside/x": out, "/": out, "/etc/passwd": out, "//etc/passwd": out,
		"/proc/self/environ": out, "/proc/self/cwd/a.txt": out, "/dev/stdin": out, "/dev/fd/0": out, "/dev/null": out, "/dev/tty": out,
		// Links.
		"out": out, "out/x": out, "out/new": out, "out/d/y": out, "outfile": out, "up": out, "up/outside/x": out, "sneaky": out, "dotdot/outside/x": out,
		"chain1": out, "chain1/x": out, "chain1/new": out, "in1/climb/outside/x": out, "sub/climb": out, "root/etc/passwd": out, "root": out,
		"newout": out, "newup": out, "newdeep": out, "newdir/x": out, "newchain": out,
		"null": out, "zero": out, "stdin": out, "environ": out, "fd": out, "fd/0": out, "cwd/x": out,
		"loop": stuck, "ping": stuck, "sub/ring": stuck, "loop/x": stuck,
		// Keys, however they are spelled.
		".env": keys, ".ENV": keys, ".Env.Local": keys, "sub/.ENV.local": keys, ".env.": keys, ".env ": keys, ".env. .": keys, ".env::$DATA": keys, ".env:stream": keys,
		".e\u200dnv": keys, "hidden": keys, "newhidden": keys, "newkeys": keys, "new/.env": keys, "id_rsa": keys, "ID_RSA": keys, "tls.PEM": keys,
		"credentials": keys, "secrets.yaml": keys, ".\u017fsh/config": keys, "id_r\u017fa": keys, "tls.\u212aey": keys,
		".ssh": keys, ".ssh/config": keys, ".SSH/config": keys, ".ssh./config": keys, "keys": keys, "keys/config": keys, "keys/new": keys, "envdir": keys, "envdir/x": keys, "deep/.aws/new": keys,
		// No paths, no files.
		"a.txt\x00": bad, "a.txt\x00.png": bad, "..\x00/x": bad, strings.Repeat("a/", 3_000): bad, strings.Repeat("../", 2_000) + "x": bad,
		strings.Repeat("n", 3_000): stuck, "a.txt/x": stuck, "pipe": kind, "sub/fifo": kind,
		// Names of their own, though they look like others.
		"‥": absent, "．．": absent, "\u2024\u2024": absent, "．．/x": absent, "..\u200b": absent, "a.txt.": absent, "a.txt ": absent, "...": absent, `..\outside\x`: absent,
		"..%2foutside%2fx": absent, "%2e%2e/x": absent, "~/x": absent, "$HOME/x": absent, "NUL": absent, "C:x": absent, "dangling": absent, "newin": absent, "no/such/dir/x": absent,
		"file:///etc/passwd": absent,
	}
	if len(rows) < 40 {
		t.Fatalf("%d rows", len(rows))
	}
	for asked, want := range rows {
		t.Run(asked[:min(len(asked), 40)], func(t *testing.T) {
			t.Parallel()
			ws, outside := lures(t)
			before := contents(t, outside)
			set := kit(t, Options{Dir: ws})
			name := strings.NewReplacer("WS", ws, "OUT", outside).Replace(asked)
			for _, c := range six(name) {
				inside := contents(t, ws)
				r := call(t, set, "", c.name, c.in, "")
				expect := want
				forFiles := c.name == "read_file" || c.name == "edit_file" || c.name == "write_file"
				switch {
				case want == file && (c.name == "list_directory" || c.name == "glob"), want == dir && forFiles:
					expect = kind
				case want == file || want == dir, want == absent && c.name == "write_file":
					expect = ""
				}
				if expect == "" && r.Failed || expect != "" && (!r.Failed || !strings.Contains(r.Text, expect)) {
					t.Errorf("%s: got %+.300v, want %q", c.name, r, expect)
				}
				if strings.Contains(r.Text, "SECRET") || r.Failed && !filepath.IsAbs(name) && strings.Contains(r.Text, filepath.Dir(ws)) {
					t.Errorf("%s tells too much: %s", c.name, r.Text)
				}
				if after := contents(t, ws); (expect != "" || !forFiles) && !maps.Equal(inside, after) {
					t.Errorf("%s changed the directory", c.name)
				}
				judged(t, set, ws, c.name, c.in, want == out || want == keys || want == bad)
			}
			if !maps.Equal(before, contents(t, outside)) {
				t.Error("something outside changed")
			}
		})
	}
}

// judged checks what a tool says that it would touch.
func judged(t *testing.T, set *tool.Set, ws, name string, in any, refused bool) {
	t.Helper()
	tl, ok := set.Lookup(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	all, err := tl.Touches(tool.Call{Input: input(t, in)})
	if refused != (err != nil) && refused {
		t.Errorf("%s would touch %+v, %v", name, all, err)
	}
	for _, a := range all {
		if a.Root != ws || a.Path != ws && !strings.HasPrefix(a.Path, ws+"/") || (a.Kind == tool.AccessWrite) != slices.Contains([]string{"write_file", "edit_file"}, name) {
			t.Errorf("%s would touch %+v", name, a)
		}
	}
	if tl.Propose != nil && refused {
		if p, err := tl.Propose(t.Context(), tool.Call{Input: input(t, in)}); err == nil {
			t.Errorf("%s proposes %+v", name, p)
		}
	}
}

func TestTouchesNamesTheRealPlace(t *testing.T) {
	t.Parallel()
	ws, outside := lures(t)
	set := kit(t, Options{Roots: []string{outside}})
	for asked, want := range map[string][2]string{
		"a.txt": {ws, "a.txt"}, "inside": {ws, "sub/b.txt"}, "in1/new/x": {ws, "sub/new/x"}, "newin": {ws, "sub/new.txt"}, "abs": {ws, "a.txt"},
		"out/x": {outside, "x"}, "newdeep": {outside, "n/e/w"}, "../outside/d": {outside, "d"}, outside: {outside, "."},
	} {
		for _, c := range six(asked) {
			tl, ok := set.Lookup(c.name)
			if !ok {
				t.Fatalf("no %s", c.name)
			}
			all, err := tl.Touches(tool.Call{Dir: ws, Input: input(t, c.in)})
			if err != nil || len(all) != 1 || all[0].Root != want[0] || all[0].Path != filepath.Join(want[0], want[1]) {
				t.Errorf("%s of %q touches %+v, %v; want %v", c.name, asked, all, err, want)
			}
		}
	}
}

func TestFurtherRoots(t *testing.T) {
	t.Parallel()
	ws, outside := lures(t)
	set := kit(t, Options{Dir: ws, Roots: []string{outside, filepath.Join(outside, "not-there")}})
	for _, name := range []string{"out/x", outside + "/x", "../outside/x", "outfile"} {
		if r := call(t, set, "", "read_file", readIn{Path: name}, ""); r.Failed || r.Text != "SECRET\n" {
			t.Errorf("%s gives %+v", name, r)
		}
	}
	in := editIn{Path: "out/x", Old: "SECRET", New: "open"}
	p, err := proposal(t, set, "", "edit_file", in)
	if err != nil || p.Subject != filepath.Join(outside, "x") || !slices.Contains(p.About, "outside the working directory") || !slices.Contains(p.About, "asked for as out/x") {
		t.Errorf("got %+v, %v", p, err)
	}
	if r := call(t, set, "", "edit_file", in, p.State); r.Failed {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "", "read_file", readIn{Path: "../ws2"}, ""); !r.Failed || !strings.Contains(r.Text, "outside") {
		t.Errorf("got %+v", r)
	}
	// A root that was replaced by a link allows nothing any more.
	if err := errors.Join(os.Rename(outside, outside+"2"), os.Symlink("/etc", outside)); err != nil {
		t.Fatal(err)
	}
	if r := call(t, set, "", "read_file", readIn{Path: outside + "/passwd"}, ""); !r.Failed || !strings.Contains(r.Text, "outside") {
		t.Errorf("behind a root that became a link: %+v", r)
	}
	var none tool.Set
	if err := Register(&none, Options{Roots: []string{"relative"}}); !errors.Is(err, ErrPath) {
		t.Errorf("a relative root gives %v", err)
	}
	if err := Register(set, Options{}); !errors.Is(err, tool.ErrDuplicate) {
		t.Errorf("twice gives %v", err)
	}
}

func TestALinkSwappedAfterTheJudgementIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range six("d/x") {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ws, outside := lures(t)
			put(t, ws, "d/x", "a")
			in := c.in
			if c.name == "list_directory" || c.name == "glob" {
				in = map[string]string{"path": "d", "pattern": "**"}
				if c.name == "list_directory" {
					in = listIn{Path: "d"}
				}
			}
			set := kit(t, Options{Dir: ws})
			judged(t, set, ws, c.name, in, false)
			d := filepath.Join(ws, "d")
			if err := errors.Join(os.Rename(d, d+"2"), os.Symlink(outside, d)); err != nil {
				t.Fatal(err)
			}
			before := contents(t, outside)
			if r := call(t, set, "", c.name, in, ""); !r.Failed || !strings.Contains(r.Text, ErrOutside.Error()) {
				t.Errorf("got %+v", r)
			}
			if !maps.Equal(before, contents(t, outside)) {
				t.Error("something outside changed")
			}
		})
	}
}

func TestALinkSwappedWhileWritingIsNotFollowed(t *testing.T) {
	t.Parallel()
	ws, outside := lures(t)
	put(t, ws, "d/x", "a")
	d := filepath.Join(ws, "d")
	for _, name := range []string{"d/x", "d/new", "d/deep/new"} {
		for _, to := range []string{outside, "sub", ".ssh"} {
			ch, err := at(t, ws).load(name, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Rename(d, d+"2"), os.Symlink(to, d)); err != nil {
				t.Fatal(err)
			}
			ch.new = "written"
			before, inside := contents(t, outside), contents(t, ws)
			if text, err := ch.apply(t.Context(), at(t, ws)); err == nil {
				t.Errorf("%s behind a link to %s: %s", name, to, text)
			}
			if !maps.Equal(before, contents(t, outside)) || !maps.Equal(inside, contents(t, ws)) {
				t.Errorf("%s behind a link to %s changed something", name, to)
			}
			if err := errors.Join(ch.close(), os.Remove(d), os.Rename(d+"2", d)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func FuzzPathsStayInside(f *testing.F) {
	for _, seed := range []string{"a.txt", "..", "out/x", "sub/../../outside/x", "newdeep", ".env", "in1/climb/../outside/x", "a.txt\x00", "/etc/passwd", "‥/x", "dot/dot/dotdot/outside/x"} {
		f.Add(seed)
	}
	ws, outside := lures(f)
	f.Fuzz(func(t *testing.T, name string) {
		before := contents(t, outside)
		set := kit(t, Options{Dir: ws})
		if p, err := at(t, ws).locate(name); err == nil {
			if _, _, ok := within([]string{ws}, p.path); !ok || secret(p.path) {
				t.Errorf("%q passed as %q", name, p.path)
			}
		}
		for _, c := range six(name) {
			if r := call(t, set, "", c.name, c.in, ""); strings.Contains(r.Text, "SECRET") || strings.Contains(r.Text, "KEY=1") {
				t.Errorf("%s of %q gives %q", c.name, name, r.Text)
			}
		}
		if !maps.Equal(before, contents(t, outside)) {
			t.Errorf("%q changed something outside", name)
		}
	})
}
