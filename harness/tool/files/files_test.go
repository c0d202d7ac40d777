//go:build unix

package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/tool"
)

// tree makes a working directory with a neighbour outside and returns both.
func tree(tb testing.TB) (ws, outside string) {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	ws, outside = filepath.Join(base, "ws"), filepath.Join(base, "outside")
	for name, text := range map[string]string{
		"ws/a.txt": "alpha\n", "ws/sub/b.txt": "beta\n", "ws/.env": "KEY=1", "ws/sub/.ENV.local": "KEY=1", "ws/id_rsa": "k",
		"ws/tls.pem": "k", "ws/.ssh/config": "Host x", "ws/secrets.yaml": "k", "ws/credentials": "k", "ws/deep/.aws/x": "k",
		"ws/ünï cödé \n.txt": "odd\n", "ws/-rf": "dash\n", "ws/…": "data\n", "outside/x": "SECRET", "outside/d/y": "SECRET",
	} {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"out": outside, "outfile": filepath.Join(outside, "x"), "up": "..", "inside": "sub/b.txt", "absinside": filepath.Join(ws, "sub"),
		"loop": "loop", "dangling": "nowhere", "hidden": ".env", "keys": ".ssh", "sneaky": "sub/../../outside/x",
	} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(ws, "pipe"), 0o644); err != nil {
		tb.Fatal(err)
	}
	return ws, outside
}

// at is the space of a working directory.
func at(t *testing.T, dir string, roots ...string) space {
	t.Helper()
	s, err := newSpace(dir, roots)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPathsNeverLeadOut(t *testing.T) {
	t.Parallel()
	ws, outside := tree(t)
	for name, tc := range map[string]struct {
		path string
		want error
		text string
	}{
		"plain":                       {"a.txt", nil, "alpha\n"},
		"below":                       {"sub/b.txt", nil, "beta\n"},
		"dots that stay in":           {"sub/../a.txt", nil, "alpha\n"},
		"absolute inside":             {ws + "/a.txt", nil, "alpha\n"},
		"link to a file inside":       {"inside", nil, "beta\n"},
		"absolute link inside":        {"absinside/b.txt", nil, "beta\n"},
		"control characters":          {"ünï cödé \n.txt", nil, "odd\n"},
		"like an option":              {"-rf", nil, "dash\n"},
		"an ellipsis":                 {"…", nil, "data\n"},
		"parent":                      {"../outside/x", ErrOutside, ""},
		"parent behind a directory":   {"sub/../../outside/x", ErrOutside, ""},
		"absolute outside":            {outside + "/x", ErrOutside, ""},
		"absolute with a like prefix": {ws + "2/x", ErrOutside, ""},
		"passwd":                      {"/etc/passwd", ErrOutside, ""},
		"environ":                     {"/proc/self/environ", ErrOutside, ""},
		"link to a directory outside": {"out/x", ErrOutside, ""},
		"link to a file outside":      {"outfile", ErrOutside, ""},
		"link up":                     {"up/outside/x", ErrOutside, ""},
		"link with dots":              {"sneaky", ErrOutside, ""},
		"dot-env":                     {".env", ErrSecret, ""},
		"dot-env in capitals":         {"sub/.ENV.local", ErrSecret, ""},
		"link to dot-env":             {"hidden", ErrSecret, ""},
		"below dot-ssh":               {".ssh/config", ErrSecret, ""},
		"link to dot-ssh":             {"keys/config", ErrSecret, ""},
		"below dot-aws":               {"deep/.aws/x", ErrSecret, ""},
		"private key":                 {"id_rsa", ErrSecret, ""},
		"certificate key":             {"tls.pem", ErrSecret, ""},
		"secrets file":                {"secrets.yaml", ErrSecret, ""},
		"credentials":                 {"credentials", ErrSecret, ""},
		"a secret that is not there":  {"x/.npmrc", ErrSecret, ""},
		"NUL":                         {"a.txt\x00.png", ErrPath, ""},
		"very long":                   {strings.Repeat("a/", 4_000), ErrPath, ""},
		"long name":                   {strings.Repeat("a", 3_000), nil, ""},
		"empty":                       {"", ErrPath, ""},
		"missing":                     {"none.txt", fs.ErrNotExist, ""},
		"dangling link":               {"dangling", fs.ErrNotExist, ""},
		"loop":                        {"loop", nil, ""},
		"directory":                   {"sub", ErrKind, ""},
		"pipe":                        {"pipe", ErrKind, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := read(t.Context(), at(t, ws), readIn{Path: tc.path})
			if tc.text == "" && err == nil || tc.text != "" && err != nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("got %q, %v; want %q, %v", text, err, tc.text, tc.want)
			}
			if text != tc.text {
				t.Errorf("got %q, want %q", text, tc.text)
			}
			if err != nil && !strings.HasPrefix(tc.path, ws) && strings.Contains(err.Error(), ws) {
				t.Errorf("the refusal shows a path of the machine: %v", err)
			}
		})
	}
}

func TestSystemDirectoriesAreNotReadFromTheRoot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"/proc/self/environ", "proc/self/environ", "/dev/null", "dev/tty"} {
		if text, err := read(t.Context(), at(t, "/"), readIn{Path: name}); !errors.Is(err, ErrSecret) {
			t.Errorf("%s gives %d bytes, %v", name, len(text), err)
		}
	}
}

func TestALinkSwappedAfterTheCheckIsNotFollowed(t *testing.T) {
	t.Parallel()
	ws, outside := tree(t)
	file := filepath.Join(ws, "a.txt")
	for name, target := range map[string]string{"out of the root": filepath.Join(outside, "x"), "to a secret": ".env"} {
		p, err := at(t, ws).existing("a.txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(file), os.Symlink(target, file)); err != nil {
			t.Fatal(err)
		}
		if f, err := p.open(); err == nil {
			t.Errorf("%s: the swapped link was opened", name)
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := errors.Join(p.close(), os.Remove(file), os.WriteFile(file, []byte("alpha\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := at(t, ws).existing("sub/b.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.Rename(filepath.Join(ws, "sub"), filepath.Join(ws, "sub2")),
		os.Symlink(outside, filepath.Join(ws, "sub")),
		os.WriteFile(filepath.Join(outside, "b.txt"), []byte("SECRET"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	f, err := p.open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close(), p.close()); err != nil || string(text) != "beta\n" {
		t.Errorf("behind a swapped directory: %q, %v", text, err)
	}
}

func TestSecretNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".env", ".ENV", ".env.local", ".envrc", "prod.env", "a/.netrc", "x.pem", "X.PEM", "server.key", "id_ed25519", "id_rsa.old",
		".npmrc", ".pypirc", "credentials.json", "credentials.py", "secret.js", "Secrets.toml", "a/.ssh/known_hosts", "b/.gnupg/x", "/h/.config/gcloud/x", ".git-credentials", ".env.", ".e\u200dnv", ".env:stream",
	} {
		if !secret(name) {
			t.Errorf("%q would be read", name)
		}
	}
	for _, name := range []string{"environment.go", "secrets.go", "credentials_test.go", "key.go", "pem.md", "my.ssh.md", "env", "secrets/readme.md", "credentials/main.go", "a.keys.md", "/h/gcloud/main.go"} {
		if secret(name) {
			t.Errorf("%q would not be read", name)
		}
	}
}

func TestReadPages(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	var b strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lines", b.String())
	write("empty", "")
	write("unended", "a\nb")
	write("windows", "a\r\nb\r\n")
	write("long", strings.Repeat("👩‍👩‍👧", 100_000)+"\nnext\n")
	write("wide", strings.Repeat(strings.Repeat("x", 1_500)+"\n", 50))
	write("binary", "GIF89a\x00\x01")
	write("latin", strings.Repeat("\xe9\xe8 ", 100))
	write("almost", "caf\xe9 is good, and this is mostly text")
	for name, tc := range map[string]struct {
		in         readIn
		has, hasNo string
	}{
		"start":        {readIn{Path: "lines", Limit: 2}, "line 1\nline 2\n(lines 1 to 2; more follow from offset 3)", "line 3"},
		"middle":       {readIn{Path: "lines", Offset: 1500, Limit: 1}, "line 1500\n(lines 1500 to 1500; more follow from offset 1501)", "line 1499\n"},
		"end":          {readIn{Path: "lines", Offset: 2999}, "line 2999\nline 3000\n(lines 2999 to 3000, the end)", "more"},
		"exact end":    {readIn{Path: "lines", Offset: 3000, Limit: 1}, "line 3000\n(lines 3000 to 3000, the end)", "more"},
		"behind":       {readIn{Path: "lines", Offset: 4000}, "has only 3000 lines", "line 1"},
		"default":      {readIn{Path: "lines"}, "more follow from offset 401", "line 401\n"},
		"empty":        {readIn{Path: "empty"}, `("empty" is empty)`, ""},
		"no last end":  {readIn{Path: "unended"}, "a\nb\n", "("},
		"carriage":     {readIn{Path: "windows"}, "a\nb\n", "\r"},
		"one long":     {readIn{Path: "long"}, "the rest is left out)\nnext\n", "\uFFFD"},
		"by size":      {readIn{Path: "wide"}, "(lines 1 to 7; more follow from offset 8)", "\n\n"},
		"some invalid": {readIn{Path: "almost"}, "caf\uFFFD is", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := read(t.Context(), at(t, ws), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, tc.has) || tc.hasNo != "" && strings.Contains(text, tc.hasNo) {
				t.Errorf("got %.300q … want %q and not %q", text, tc.has, tc.hasNo)
			}
			if n := utf8.RuneCountInString(text); n > tool.MaxResult {
				t.Errorf("%d characters", n)
			}
		})
	}
	for _, name := range []string{"binary", "latin"} {
		if _, err := read(t.Context(), at(t, ws), readIn{Path: name}); !errors.Is(err, ErrKind) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if _, err := read(t.Context(), at(t, ws), readIn{Path: "lines", Offset: -1}); err == nil {
		t.Error("a negative offset was accepted")
	}
}

func TestListDirectory(t *testing.T) {
	t.Parallel()
	ws, _ := tree(t)
	text, err := list(t.Context(), at(t, ws), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a.txt  6 bytes\n", "sub/\n", "out@\n", "pipe  (device, pipe or socket)\n", `"ünï cödé \n.txt"  4 bytes`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for name, want := range map[string]error{"out": ErrOutside, "..": ErrOutside, "/": ErrOutside, ".ssh": ErrSecret, "a.txt": ErrKind, "none": fs.ErrNotExist} {
		if text, err := list(t.Context(), at(t, ws), name); !errors.Is(err, want) {
			t.Errorf("%s gives %q, %v; want %v", name, text, err, want)
		}
	}
	if text, err := list(t.Context(), at(t, ws), "absinside"); err != nil || !strings.HasPrefix(text, ".ENV.local") {
		t.Errorf("a link inside gives %q, %v", text, err)
	}
}

func TestListIsBounded(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	if text, err := list(t.Context(), at(t, ws), "."); err != nil || !strings.Contains(text, "is empty") {
		t.Errorf("got %q, %v", text, err)
	}
	for i := range maxEntries + 7 {
		if err := os.WriteFile(filepath.Join(ws, fmt.Sprintf("%04d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := list(t.Context(), at(t, ws), ".")
	if err != nil || !strings.Contains(text, "(7 more entries are left out)") {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}

func TestToolsReadInTheCallsDirectory(t *testing.T) {
	t.Parallel()
	ws, outside := tree(t)
	set := kit(t, Options{Dir: outside})
	run := func(name, input, dir string) harness.ToolResult {
		return set.Run(t.Context(), harness.ToolCall{ID: "1", Name: name, Input: json.RawMessage(input)}, tool.Call{Dir: dir})
	}
	if r := run("read_file", `{"path":"a.txt"}`, ws); r.Failed || r.Text != "alpha\n" {
		t.Errorf("got %+v", r)
	}
	if r := run("read_file", `{"path":"x"}`, ""); r.Text != "SECRET\n" {
		t.Errorf("without a directory the call reads %+v", r)
	}
	if r := run("list_directory", `{}`, ws); r.Failed || !strings.Contains(r.Text, "sub/") {
		t.Errorf("got %+v", r)
	}
	if r := run("read_file", `{"path":"../outside/x"}`, ws); !r.Failed || strings.Contains(r.Text, "SECRET") {
		t.Errorf("got %+v", r)
	}
}
