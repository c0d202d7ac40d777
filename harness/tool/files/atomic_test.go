//go:build unix

package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/harness/tool"
)

// roleEnv makes the test binary a process that writes a file in the directory
// roleDir.
const (
	roleEnv = "CAIRN_TEST_ROLE"
	roleDir = "CAIRN_TEST_DIR"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := play(role, os.Getenv(roleDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play is what the other process does.
func play(role, dir string) error {
	s, err := newSpace(dir, nil)
	if err != nil {
		return err
	}
	write := func(name, text string) error {
		ch, err := planWrite(s, writeIn{Path: name, Content: text, Overwrite: true}, "")
		if err != nil {
			return err
		}
		_, err = ch.apply(context.Background(), s)
		return errors.Join(err, ch.close())
	}
	switch role {
	case "full disk":
		// The system refuses to make a file longer than this, in the middle of
		// the write.
		limit := syscall.Rlimit{Cur: 1_000, Max: 1_000}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		return errors.Join(write("f", strings.Repeat("new\n", 10_000)), write("d/e/f/g", strings.Repeat("new\n", 10_000)))
	case "mask":
		syscall.Umask(0o077)
		return errors.Join(write("d/new", "text"), write("old", "text"))
	case "for ever":
		letter := byte('a')
		if old, err := os.ReadFile(filepath.Join(dir, "f")); err == nil {
			letter = old[0]
		}
		for first := true; ; first = false {
			letter = 'a' + (letter-'a'+1)%26
			if err := write("f", strings.Repeat(string(letter), maxWrite)); err != nil {
				return err
			}
			if first {
				fmt.Println("writing")
			}
		}
	}
	return fmt.Errorf("no role %q", role)
}

// actor is a process with a role.
func actor(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, roleDir+"="+dir)
	return cmd
}

func TestAFailureInTheMiddleLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	for _, old := range []string{"old\n", ""} {
		ws := t.TempDir()
		put(t, ws, "d/other", "")
		if old != "" {
			put(t, ws, "f", old)
		}
		before := contents(t, ws)
		out, err := actor(t, "full disk", ws).CombinedOutput()
		if err == nil || !strings.Contains(string(out), `"f" cannot be used: file too large`) || !strings.Contains(string(out), `"d/e/f/g" cannot be used`) {
			t.Errorf("the write ended with %v: %s", err, out)
		}
		if after := contents(t, ws); fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("%q became %q", before, after)
		}
	}
}

func TestAKilledWriterLeavesAWholeFileAndTheNextOneTidiesUp(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	left := 0
	for range 5 {
		cmd := actor(t, "for ever", ws)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "writing\n" {
			t.Fatalf("got %q, %v", line, err)
		}
		young := len(temps(t, ws))
		for looks := 0; looks < 20_000 && len(temps(t, ws)) == young; looks++ {
			continue // until it is in the middle of a write, if it can be seen there
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("the writer ended by itself")
		}
		data, err := os.ReadFile(filepath.Join(ws, "f"))
		if err != nil || len(data) != maxWrite || strings.Trim(string(data), string(data[:1])) != "" {
			t.Fatalf("a file of %d bytes is not whole: %v", len(data), err)
		}
		left = len(temps(t, ws))
	}
	t.Logf("%d temporary files were left", left)
	// One is surely left; one of a living writer is young and stays.
	put(t, ws, ".cairn-DEAD.tmp", "half")
	past := time.Unix(1_000_000_000, 0)
	for _, name := range temps(t, ws) {
		if err := os.Chtimes(filepath.Join(ws, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	put(t, ws, ".cairn-LIVING.tmp", "half")
	set := kit(t, Options{Dir: ws})
	if r := call(t, set, "", "write_file", writeIn{Path: "f", Content: "next", Overwrite: true}, ""); r.Failed {
		t.Errorf("got %+v", r)
	}
	if names := temps(t, ws); len(names) != 1 || names[0] != ".cairn-LIVING.tmp" {
		t.Errorf("left behind: %q", names)
	}
}

// temps are the names of temporary files in a directory.
func temps(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if temporary(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestModes(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	if err := os.Chmod(put(t, ws, "old", "before"), 0o664); err != nil {
		t.Fatal(err)
	}
	if out, err := actor(t, "mask", ws).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]fs.FileMode{"d": 0o700, "d/new": 0o600, "old": 0o664} {
		info, err := os.Stat(filepath.Join(ws, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info, err, want)
		}
	}
}

func TestAWriteThatCannotBeDoneChangesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in     writeIn
		before func(ws string) error
		want   string
		root   bool // also counts for the superuser
	}{
		"read-only file":      {writeIn{Path: "f", Content: "x", Overwrite: true}, func(ws string) error { return os.Chmod(filepath.Join(ws, "f"), 0o444) }, "read-only", true},
		"read-only directory": {writeIn{Path: "d/f", Content: "x"}, func(ws string) error { return os.Chmod(filepath.Join(ws, "d"), 0o555) }, "may not be used", false},
		"below a file":        {writeIn{Path: "f/x", Content: "x"}, func(string) error { return nil }, "cannot be used", true},
		"a long name below":   {writeIn{Path: "d/e/f/" + strings.Repeat("n", 300) + "/x", Content: "x"}, func(string) error { return nil }, "cannot be used", true},
		"a directory":         {writeIn{Path: "d", Content: "x", Overwrite: true}, func(string) error { return nil }, "is a directory", true},
		"a long name":         {writeIn{Path: strings.Repeat("n", 300), Content: "x"}, func(string) error { return nil }, "cannot be used", true},
		"NUL":                 {writeIn{Path: "new", Content: "a\x00b"}, func(string) error { return nil }, "NUL", true},
		"too much":            {writeIn{Path: "new", Content: strings.Repeat("x", maxWrite+1)}, func(string) error { return nil }, "at most", true},
		"over a binary file":  {writeIn{Path: "b", Content: "x", Overwrite: true}, func(ws string) error { return os.WriteFile(filepath.Join(ws, "b"), []byte("a\x00b"), 0o600) }, "binary", true},
		"over a large file":   {writeIn{Path: "b", Content: "x", Overwrite: true}, func(ws string) error { return os.WriteFile(filepath.Join(ws, "b"), make([]byte, maxWrite+1), 0o600) }, "more than", true},
		"through a loop":      {writeIn{Path: "l", Content: "x", Overwrite: true}, func(ws string) error { return os.Symlink("l", filepath.Join(ws, "l")) }, "cannot be used", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !tc.root && os.Getuid() == 0 {
				t.Skip("the superuser may write everywhere")
			}
			ws := t.TempDir()
			put(t, ws, "f", "old\n")
			put(t, ws, "d/other", "")
			if err := tc.before(ws); err != nil {
				t.Fatal(err)
			}
			before := contents(t, ws)
			r := call(t, kit(t, Options{Dir: ws}), "", "write_file", tc.in, "")
			if !r.Failed || !strings.Contains(r.Text, tc.want) {
				t.Errorf("got %.300v", r)
			}
			if after := contents(t, ws); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%.200q became %.200q", before, after)
			}
		})
	}
}

func TestAWriteByOthersInBetweenIsNotLost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		asked  string
		meddle func(ws string) error
	}{
		"same file": {"f", func(ws string) error { return os.WriteFile(filepath.Join(ws, "f"), []byte("theirs\n"), 0o644) }},
		"another file": {"f", func(ws string) error {
			return errors.Join(os.WriteFile(filepath.Join(ws, "g"), []byte("old\n"), 0o644), os.Rename(filepath.Join(ws, "g"), filepath.Join(ws, "f")))
		}},
		"gone": {"f", func(ws string) error { return os.Remove(filepath.Join(ws, "f")) }},
		"a link": {"f", func(ws string) error {
			return errors.Join(os.Rename(filepath.Join(ws, "f"), filepath.Join(ws, "g")), os.Symlink("g", filepath.Join(ws, "f")))
		}},
		"came to be": {"new", func(ws string) error { return os.WriteFile(filepath.Join(ws, "new"), []byte("theirs\n"), 0o644) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := t.TempDir()
			put(t, ws, "f", "old\n")
			s := at(t, ws)
			ch, err := planWrite(s, writeIn{Path: tc.asked, Content: "mine\n", Overwrite: true}, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := tc.meddle(ws); err != nil {
				t.Fatal(err)
			}
			before := contents(t, ws)
			if text, err := ch.apply(t.Context(), s); !errors.Is(err, ErrChanged) {
				t.Errorf("got %q, %v", text, err)
			}
			if after := contents(t, ws); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("%q became %q", before, after)
			}
			if err := ch.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAStoppedWriteChangesNothing(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	put(t, ws, "f", "old\n")
	s := at(t, ws)
	ch, err := planWrite(s, writeIn{Path: "f", Content: "new\n", Overwrite: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := contents(t, ws)
	if _, err := ch.apply(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if after := contents(t, ws); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("%q became %q", before, after)
	}
	if err := ch.close(); err != nil {
		t.Error(err)
	}
}

func TestALinkInsideIsWrittenAtItsRealPlace(t *testing.T) {
	t.Parallel()
	ws, _ := lures(t)
	set := kit(t, Options{Dir: ws})
	for _, c := range []struct{ link, real string }{{"inside", "sub/b.txt"}, {"newin", "sub/new.txt"}, {"in1/b2.txt", "sub/b2.txt"}} {
		in := writeIn{Path: c.link, Content: "written\n", Overwrite: true}
		p, err := proposal(t, set, "", "write_file", in)
		if err != nil || p.Subject != c.real || !strings.Contains(p.Diff, "+++ b/"+c.real+"\n") || !strings.Contains(fmt.Sprint(p.About), "asked for as "+c.link) {
			t.Errorf("%s is shown as %+v, %v", c.link, p, err)
		}
		r := call(t, set, "", "write_file", in, p.State)
		if r.Failed || !strings.Contains(r.Text, c.real) {
			t.Errorf("got %+v", r)
		}
		data, err := os.ReadFile(filepath.Join(ws, c.real))
		if err != nil || string(data) != "written\n" {
			t.Errorf("got %q, %v", data, err)
		}
	}
	for _, link := range []string{"inside", "newin"} {
		if info, err := os.Lstat(filepath.Join(ws, link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", link, info, err)
		}
	}
}

func TestWritingToolsAskAndAreNeverMadeTwice(t *testing.T) {
	t.Parallel()
	set := kit(t, Options{})
	for name, writes := range map[string]bool{"read_file": false, "list_directory": false, "glob": false, "grep": false, "write_file": true, "edit_file": true} {
		tl, ok := set.Lookup(name)
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		want := tool.Tool{Permission: tool.Allow, Replay: tool.Safe}
		if writes {
			want = tool.Tool{Permission: tool.Ask, Replay: tool.Manual, Sequential: true}
		}
		if tl.Permission != want.Permission || tl.Replay != want.Replay || tl.Sequential != want.Sequential || tl.Touches == nil || (tl.Propose != nil) != writes {
			t.Errorf("%s is %s, %s, sequential %t", name, tl.Permission, tl.Replay, tl.Sequential)
		}
	}
}
