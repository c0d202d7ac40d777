package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cairn/storage/mem"
)

// examined runs the doctor at a terminal that answers.
func examined(t *testing.T, env map[string]string, answer string, args ...string) (string, int) {
	t.Helper()
	w := &scriptWorld{clock: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	w.store = mem.New(w.now)
	home := t.TempDir()
	var out, errs bytes.Buffer
	s := Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, InTTY: true, OutTTY: true, Width: 80, Height: 24, Dir: home, Now: w.now,
		Ask: func(string, time.Duration) ([]byte, error) {
			if answer == "gone" {
				return nil, errors.New("it is gone")
			}
			return []byte(answer), nil
		},
		Getenv: func(name string) string {
			if name == "HOME" {
				return home
			}
			return env[name]
		},
	}
	code := Main(t.Context(), s, append([]string{"doctor"}, args...), w.wire())
	return out.String(), code
}

func TestTheDoctorTellsWhatTheTerminalAnswered(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TERM": "xterm-kitty", "LANG": "C.UTF-8", "EDITOR": "sh"}
	said, code := examined(t, env, "\x1b]11;rgb:ffff/ffff/f0f0\x1b\\\x1b[?5u\x1b[?2026;2$y\x1b[?2027;0$y\x1b[?2031;1$y\x1bP>|kitty(0.36.1)\x1b\\\x1b[?62;52c")
	if code != ExitDone {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"asked terminal     kitty(0.36.1)", "keys               unambiguous", "(mode 2026): yes", "(mode 2027): no",
		"background         light; it tells when that changes", "size               80 columns, 24 rows", "colours            16 million", "editor             sh (from EDITOR)",
	} {
		if !strings.Contains(strings.Join(strings.Fields(said), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

func TestTheDoctorSaysWhyThereAreNoColours(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"by the variable":      {map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}, nil, "none, by NO_COLOR or --no-color"},
		"by the flag":          {map[string]string{"TERM": "xterm-256color"}, []string{"--no-color"}, "none, by NO_COLOR or --no-color"},
		"by the terminal":      {map[string]string{"TERM": "vt100"}, nil, "none: a terminal of this kind has none"},
		"there are some, then": {map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, nil, "256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, _ := examined(t, c.env, "", c.args...)
			if !strings.Contains(strings.Join(strings.Fields(said), " "), " colours "+c.want+" ") {
				t.Errorf("it does not say that there are %q:\n%s", c.want, said)
			}
		})
	}
}

func TestASilentTerminalPromisesNothing(t *testing.T) {
	t.Parallel()
	said, _ := examined(t, map[string]string{"TERM": "xterm"}, "")
	if !strings.Contains(said, "answered nothing") || strings.Contains(said, "unambiguous") {
		t.Error(said)
	}
	said, _ = examined(t, map[string]string{"TERM": "xterm"}, "gone")
	if !strings.Contains(said, "cannot be asked: it is gone") {
		t.Error(said)
	}
}

func TestNothingHostileOfTheSurroundingsReachesTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;pwned\x07\x1b[2J\u202e\x9b31mx"
	env := map[string]string{}
	for _, name := range []string{"TERM", "COLORTERM", "TERM_PROGRAM", "STY", "SSH_TTY", "LANG", "LC_ALL", "EDITOR", "VISUAL", "OPENAI_BASE_URL"} {
		env[name] = hostile
	}
	for _, args := range [][]string{nil, {"--json"}} {
		said, _ := examined(t, env, "\x1bP>|evil\x9b2J\u202e\x1b\\\x1b[?1c"+hostile, args...)
		if i := strings.IndexFunc(said, func(r rune) bool {
			return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xfffd)
		}); i >= 0 {
			t.Errorf("%q: %q", args, said[i:min(i+20, len(said))])
		}
	}
}

func TestFindingsFitTheirWidth(t *testing.T) {
	t.Parallel()
	list := []finding{good("a thing", "is as it should be, in many words that go on and on"), noted("日本語", "wide 日本語日本語日本語日本語", "do this and that and something else")}
	for _, width := range []int{10, 20, 40, 80} {
		for _, l := range strings.Split(findingsText(list, width), "\n") {
			if ansi.StringWidth(l) > width {
				t.Errorf("width %d: %q", width, l)
			}
		}
	}
	if n := strings.Count(findingsText(list, 0), "\n"); n != 3 {
		t.Errorf("%d lines without a width, not 3", n)
	}
}

func TestTheDoctorSaysWhichLineTmuxNeeds(t *testing.T) {
	t.Parallel()
	values := map[string]string{"escape-time": "500", "focus-events": "off", "extended-keys": "always", "set-clipboard": "external"}
	option := func(_ context.Context, name string) (string, error) { return values[name], nil }
	var do []string
	for _, f := range examineTmux(t.Context(), option) {
		do = append(do, f.Do)
	}
	if want := "[in ~/.tmux.conf: set -sg escape-time 10 in ~/.tmux.conf: set -g focus-events on in ~/.tmux.conf: set -s set-clipboard on]"; fmt.Sprint(do) != want {
		t.Errorf("it says %v", do)
	}
	values = map[string]string{"escape-time": "0", "focus-events": "on", "extended-keys": "on", "set-clipboard": "on"}
	if list := examineTmux(t.Context(), option); len(list) != 1 || list[0].State != stateOK {
		t.Errorf("right settings are told as %v", list)
	}
	broken := func(context.Context, string) (string, error) { return "", errors.New("no tmux") }
	if list := examineTmux(t.Context(), broken); len(list) != 1 || list[0].State != stateNote {
		t.Errorf("a tmux that is not found is told as %v", list)
	}
}

func TestALowDiskAndAnOldBackupAreTold(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]string{12: "12 bytes", 4096: "4.0 kB", 5 << 20: "5.0 MB", 3 << 30: "3.0 GB"} {
		if got := sizeText(size); got != want {
			t.Errorf("%d is %q", size, got)
		}
	}
	if full, roomy := roomFinding(200<<20), roomFinding(300<<20); full.State != stateBad || roomy.State != stateOK {
		t.Errorf("%+v, %+v", full, roomy)
	}
	w, s, _, _ := world1(t)
	a, dir := newApp(s, w.wire()), t.TempDir()
	backup := filepath.Join(dir, backupsDir, "cairn.db.2026-03-01")
	for age, want := range map[time.Duration]string{6 * 24 * time.Hour: stateOK, 8 * 24 * time.Hour: stateNote} {
		write(t, backup, "", 0o600)
		made := s.Now().Add(-age)
		if err := os.Chtimes(backup, made, made); err != nil {
			t.Fatal(err)
		}
		if got := a.examineCopies(dir); len(got) != 1 || got[0].State != want || !strings.Contains(got[0].Text, backup) {
			t.Errorf("a backup of %v ago is told as %+v", age, got)
		}
	}
	if free, ok := freeSpace(t.TempDir()); ok && free < 0 {
		t.Errorf("%d bytes are free", free)
	}
	if dir := t.TempDir(); nearestDir(dir+"/a/b/c") != dir {
		t.Errorf("the nearest directory is %s", nearestDir(dir+"/a/b/c"))
	}
}

// What is stored may be of a later time than the clock says.
func TestAClockThatIsBehindIsTold(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	if code := Main(t.Context(), s, []string{"-p", "text x"}, w.wire()); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for behind, want := range map[time.Duration]bool{0: false, time.Hour: true} {
		a := newApp(s, w.wire())
		a.s.Now = func() time.Time { return w.now().Add(-behind) }
		told := false
		for _, f := range a.examineOwners(t.Context(), w.open()) {
			told = told || f.About == "clock" && f.State == stateNote
		}
		if told != want {
			t.Errorf("a clock that is %v behind: told %t", behind, told)
		}
	}
}

// From within a chat the terminal is in use: it is not asked, and what is found
// comes as lines that are safe.
func TestTheDoctorOfAChatLeavesTheTerminalAlone(t *testing.T) {
	t.Parallel()
	w, s, out, errs := world1(t)
	s.OutTTY, s.InTTY, s.ErrTTY = true, true, true
	s.Ask = func(string, time.Duration) ([]byte, error) {
		t.Error("the terminal was asked")
		return nil, nil
	}
	getenv := s.Getenv
	s.Getenv = func(name string) string {
		if name == "TERM" || name == "LANG" {
			return "odd\x1b]0;x\x07"
		}
		return getenv(name)
	}
	text, err := newApp(s, w.wire()).doctor(t.Context(), 60)
	if err != nil || strings.ContainsAny(text, "\x1b\x07") || !strings.Contains(text, "terminal") {
		t.Errorf("%v: %q", err, text)
	}
	if out.Len()+errs.Len() > 0 {
		t.Errorf("it wrote %q and %q", out, errs)
	}
}

// No name of a finding drives a terminal.
func TestFindingsAreSafe(t *testing.T) {
	t.Parallel()
	for _, width := range []int{0, 20, 80} {
		if text := findingsText([]finding{noted("key of \x1b[31mx", "a\x9bb", "c\x07d")}, width); strings.ContainsAny(text, "\x1b\x07") || strings.Contains(text, "a\x9b") {
			t.Errorf("at width %d: %q", width, text)
		}
	}
}
