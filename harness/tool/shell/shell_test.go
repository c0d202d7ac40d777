package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
)

// input writes a call's arguments.
func input(t *testing.T, in runIn) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// setOf is a set with the tool.
func setOf(t *testing.T, o Options) *tool.Set {
	t.Helper()
	var set tool.Set
	if err := Register(&set, o); err != nil {
		t.Fatal(err)
	}
	return &set
}

// result runs a command through the set, as a turn does.
func result(t *testing.T, o Options, command string) harness.ToolResult {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	call := harness.ToolCall{ID: "c1", Name: "run_command", Input: input(t, runIn{Command: command})}
	return setOf(t, o).Run(t.Context(), call, tool.Call{})
}

// plain is a runner whose times a test may change.
func plain(t *testing.T) (*runner, job) {
	t.Helper()
	r, err := newRunner(Options{}, exec.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	return r, job{dir: t.TempDir(), timeout: MaxTimeout}
}

// running reports whether a process runs: one that nobody waited for does not.
func running(t *testing.T, pid int) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	state := strings.TrimSpace(string(out))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return state != "" && !strings.HasPrefix(state, "Z")
}

// number reads a process number that a command wrote.
func number(t *testing.T, dir, name string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestResultHasOutputErrorsAndExitCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, want string }{
		"output":                  {"echo hello", "hello\nexit code 0"},
		"no output":               {"true", "(no output)\nexit code 0"},
		"no end of line":          {"printf hello", "hello\nexit code 0"},
		"errors":                  {"echo no >&2; exit 3", "stderr:\nno\nexit code 3"},
		"both":                    {"echo a; echo b >&2; echo c", "a\nc\nstderr:\nb\nexit code 0"},
		"several lines":           {"echo a\necho b", "a\nb\nexit code 0"},
		"a pipe":                  {"printf 'b\\na\\n' | sort", "a\nb\nexit code 0"},
		"a word like an option":   {"-s", "exit code 127"},
		"options of the shell":    {"+x; echo on", "on\nstderr:\n"},
		"unknown":                 {"no-such-program-anywhere", "exit code 127"},
		"broken syntax":           {"echo 'open", "exit code"},
		"a signal":                {"kill -SEGV $$", "signal 11"},
		"input is empty":          {"wc -c; read x || echo none", "0\nnone\nexit code 0"},
		"invalid text":            {`printf 'a\377b\n'`, "a\uFFFDb\nexit code 0"},
		"escape sequences stay":   {`printf '\033[31mred\033[0m\n'`, "\x1b[31mred\x1b[0m\nexit code 0"},
		"progress":                {`printf '10%%\r50%%\r100%%\n'`, "100%\n(2 earlier states of lines that were written over are left out)\nexit code 0"},
		"Windows ends of lines":   {`printf 'a\r\nb\r\n'`, "a\nb\nexit code 0"},
		"a closed output":         {"exec >&- 2>&-; true", "(no output)\nexit code 0"},
		"it is no terminal":       {"test -t 0 || test -t 1 || test -t 2 || echo none", "none\nexit code 0"},
		"there is no terminal":    {"(: >/dev/tty) 2>/dev/null || echo none", "none\nexit code 0"},
		"paging is off":           {"echo $PAGER $TERM $NO_COLOR $GIT_TERMINAL_PROMPT", "cat dumb 1 0\nexit code 0"},
		"the shell does not read": {"echo ${BASH_ENV:-unset} ${ENV:-unset}", "unset unset\nexit code 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := result(t, Options{}, c.command)
			if r.Failed || r.Unknown {
				t.Errorf("failed %t, unknown %t", r.Failed, r.Unknown)
			}
			if !strings.HasPrefix(r.Text, c.want) && !strings.Contains(r.Text, c.want) {
				t.Errorf("got %q, want %q", r.Text, c.want)
			}
			last := r.Text[strings.LastIndexByte(r.Text, '\n')+1:]
			if !strings.HasPrefix(last, "exit code ") && !strings.HasPrefix(last, "ended by signal ") {
				t.Errorf("the last line is %q", last)
			}
		})
	}
}

func TestChildrenGetNoKeys(t *testing.T) {
	t.Parallel()
	planted := []string{
		"OPENAI_API_KEY=planted-1", "ANTHROPIC_API_KEY=planted-2", "GEMINI_API_KEY=planted-3", "OPENROUTER_API_KEY=planted-4",
		"DATABASE_URL=postgres://u:planted-5@db/x", "PGPASSWORD=planted-6", "AWS_SECRET_ACCESS_KEY=planted-7", "GITHUB_TOKEN=planted-8",
		"LC_API_KEY=planted-9", "PATH_TOKEN=planted-10", "SSH_AUTH_SOCK=planted-11", "BASH_ENV=/planted-12", "LD_PRELOAD=planted-13",
		"BASH_FUNC_ls%%=() { echo planted-14; }", "GIT_ASKPASS=planted-15", "HTTPS_PROXY=http://u:planted-16@proxy",
	}
	environ := func() []string {
		return append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=/home/ada", "LANG=C.UTF-8", "LC_TIME=C", "TZ=UTC", "DECLARED=first", "DECLARED=shown", "=::=::", "",
		}, planted...)
	}
	look := "env; set; tr '\\0' '\\n' </proc/self/environ; echo \"$OPENAI_API_KEY\"; bash -lc env; ls"
	r := result(t, Options{Environ: environ, Env: []string{"DECLARED", "NOT_SET"}}, look)
	if strings.Contains(r.Text, "planted") {
		t.Errorf("a key came through:\n%s", r.Text)
	}
	for _, want := range []string{"DECLARED=shown", "HOME=/home/ada", "LC_TIME=C", "TZ=UTC", "TERM=dumb"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q in\n%s", want, r.Text)
		}
	}
	if strings.Contains(r.Text, "NOT_SET") {
		t.Error("a variable that is not set is passed on")
	}
	// The control: what is declared comes through, also a key.
	if r := result(t, Options{Environ: environ, Env: []string{"GITHUB_TOKEN"}}, "echo $GITHUB_TOKEN"); !strings.HasPrefix(r.Text, "planted-8\n") {
		t.Errorf("a declared variable is missing: %q", r.Text)
	}
}

func TestNoProgramIsFoundInTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, at := range []string{"ls", filepath.Join("bin", "ls")} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, at), []byte("#!/bin/sh\necho the wrong one\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{".:" + os.Getenv("PATH"), ":" + os.Getenv("PATH"), "bin:./bin::" + os.Getenv("PATH"), ".", ""} {
		o := Options{Dir: dir, Environ: func() []string { return []string{"PATH=" + path} }}
		if r := result(t, o, "ls"); strings.Contains(r.Text, "wrong") || !strings.Contains(r.Text, "bin") {
			t.Errorf("PATH=%s: %q", path, r.Text)
		}
	}
}

func TestBackgroundJobsEndWithTheCommand(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"a job that holds the pipes":    "sleep 1000 & echo $! >pid; echo done",
		"a job of its own":              "sleep 1000 >/dev/null 2>&1 & echo $! >pid; echo done",
		"one that cannot be asked":      "(trap '' TERM; echo ready >&2; while :; do sleep 0.05; done) & echo $! >pid; echo done",
		"nohup":                         "nohup sleep 1000 >/dev/null 2>&1 & echo $! >pid; echo done",
		"a grandchild":                  "bash -c 'sleep 1000 & echo $! >pid'; echo done",
		"a process group of its own":    "set -m; sleep 1000 & echo $! >pid; echo done",
		"one whose parent went away":    "(sleep 1000 & echo $! >pid) & wait; echo done",
		"one that is stopped":           "sleep 1000 & echo $! >pid; kill -STOP $!; echo done",
		"a name with parentheses in it": "cp \"$(command -v sleep)\" 'a) S 1 1 1'; './a) S 1 1 1' 1000 & echo $! >pid; echo done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(command, "set -m") && runtime.GOOS != "linux" {
				t.Skip("sessions are listed on Linux only")
			}
			dir := t.TempDir()
			r := result(t, Options{Dir: dir}, command)
			if !strings.HasPrefix(r.Text, "done\n") || !strings.HasSuffix(r.Text, "exit code 0") {
				t.Errorf("got %q", r.Text)
			}
			if pid := number(t, dir, "pid"); running(t, pid) {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

func TestPlainShell(t *testing.T) {
	t.Parallel()
	r, j := plain(t)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	r.shell = sh
	for command, want := range map[string]string{
		"echo a; exit 4":                "a\nexit code 4",
		"-s":                            "exit code 127",
		"sleep 1000 & echo done":        "done\nexit code 0",
		"echo $-; test -t 0 || echo no": "no\nexit code 0",
	} {
		j.command = command
		if text, err := r.exec(t.Context(), j); err != nil || !strings.HasSuffix(text, want) {
			t.Errorf("%q: got %q, %v", command, text, err)
		}
	}
}

func TestTimeoutEndsAllAndKeepsTheOutput(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"plain":                    "echo $$ >pid; echo so far; sleep 1000",
		"a grandchild":             "echo so far; bash -c 'echo $$ >pid; sleep 1000; true'; true",
		"one that cannot be asked": "trap '' TERM; echo $$ >pid; echo so far; while :; do sleep 0.05; done",
		"one that ends well":       "trap 'exit 0' TERM; echo $$ >pid; echo so far; while :; do sleep 0.05; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, j := plain(t)
			j.command, j.timeout, r.polite = command, 500*time.Millisecond, 50*time.Millisecond
			text, err := r.exec(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			// The shell may tell of the child that was ended.
			want := "\ntimed out after 500ms: it was ended, and it may have taken effect in part"
			if !strings.HasPrefix(text, "so far\n") || !strings.HasSuffix(text, want) {
				t.Errorf("got %q, want %q", text, want)
			}
			if pid := number(t, j.dir, "pid"); running(t, pid) {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

func TestCancelEndsAllAndKeepsTheOutput(t *testing.T) {
	t.Parallel()
	r, j := plain(t)
	fifo := filepath.Join(j.dir, "ready")
	j.command = "trap '' TERM; mkfifo ready; echo so far; sleep 1000 & echo $! >pid; echo >ready; wait; sleep 1000"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		text, err := r.exec(ctx, j)
		done <- outcome{text, err}
	}()
	// It is stopped as soon as its child runs.
	for {
		raw, err := os.ReadFile(fifo)
		if err == nil && len(raw) > 0 {
			break
		}
		select {
		case o := <-done:
			t.Fatalf("ended before: %+v", o)
		default:
			runtime.Gosched()
		}
	}
	cancel()
	o := <-done
	if o.err != nil || !strings.HasPrefix(o.text, "so far\n") || !strings.HasSuffix(o.text, "\nstopped before its end: it was ended, and it may have taken effect in part") {
		t.Errorf("got %q, %v", o.text, o.err)
	}
	if pid := number(t, j.dir, "pid"); running(t, pid) {
		t.Errorf("process %d still runs", pid)
	}
}

func TestProcessThatLeftHoldsNothingUp(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid")
	}
	r, j := plain(t)
	j.command = "setsid bash -c 'echo $$ >pid; sleep 1000' & while ! test -s pid; do sleep 0.01; done; echo done"
	text, err := r.exec(t.Context(), j)
	if err != nil || text != "done\nexit code 0" {
		t.Errorf("got %q, %v", text, err)
	}
	pid := number(t, j.dir, "pid")
	t.Cleanup(func() {
		if p, err := os.FindProcess(-pid); err != nil || p.Kill() != nil {
			t.Errorf("process %d is left behind", pid)
		}
	})
	if !running(t, pid) {
		t.Error("what makes a session of its own was ended, which the documentation should say")
	}
}

func TestLargeOutputIsBounded(t *testing.T) {
	t.Parallel()
	r, j := plain(t)
	j.command = "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last; head -c 2000000 /dev/zero | tr '\\0' y >&2"
	text, err := r.exec(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 4*maxEnd+500 {
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{"first\n", "\nlast\n", "(2475724 bytes left out)", "(1475712 bytes left out)", "exit code 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestCommandsThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(Options{}, exec.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in  runIn
		dir string
		is  error
	}{
		"empty":             {runIn{}, dir, ErrCommand},
		"spaces":            {runIn{Command: " \n\t"}, dir, ErrCommand},
		"NUL":               {runIn{Command: "echo a\x00b"}, dir, ErrCommand},
		"too long":          {runIn{Command: strings.Repeat("x", maxCommand+1)}, dir, ErrCommand},
		"negative time":     {runIn{Command: "true", Timeout: -1}, dir, ErrCommand},
		"too much time":     {runIn{Command: "true", Timeout: 601}, dir, ErrCommand},
		"no directory":      {runIn{Command: "true"}, "", ErrCommand},
		"missing directory": {runIn{Command: "true"}, filepath.Join(dir, "gone"), os.ErrNotExist},
		"a file":            {runIn{Command: "true"}, file, ErrCommand},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := tool.Call{Dir: c.dir, Input: input(t, c.in)}
			if _, err := r.touches(call); !errors.Is(err, c.is) {
				t.Errorf("touches: %v", err)
			}
			if _, err := r.propose(t.Context(), call); !errors.Is(err, c.is) {
				t.Errorf("propose: %v", err)
			}
			if text, err := r.run(t.Context(), call, c.in); !errors.Is(err, c.is) || text != "" {
				t.Errorf("run: %q, %v", text, err)
			}
		})
	}
}

func TestProposalShowsTheWholeCommand(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "src", "ledger")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	environ := func() []string { return []string{"HOME=" + home, "TOKEN=x"} }
	look := func(name string) (string, error) {
		if name == "bash" {
			return "", exec.ErrNotFound
		}
		return "/bin/" + name, nil
	}
	r, err := newRunner(Options{Environ: environ, Env: []string{"TOKEN", "OTHER"}}, look)
	if err != nil {
		t.Fatal(err)
	}
	command := "echo " + strings.Repeat("harmless ", 400) + "\r\n; touch P"
	call := tool.Call{Dir: dir, Input: input(t, runIn{Command: command, Timeout: 90, Why: " to see "})}
	p, err := r.propose(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != harness.ProposalCommand || p.Body != command || p.Why != "to see" {
		t.Errorf("got %q of kind %q because %q", p.Body, p.Kind, p.Why)
	}
	if got, want := strings.Join(p.About, "; "), "in ~/src/ledger; timeout 90 s; by sh; gets TOKEN"; got != want {
		t.Errorf("about %q, want %q", got, want)
	}
	all, err := r.touches(call)
	if err != nil || len(all) != 1 || all[0] != (tool.Access{Kind: tool.AccessRun, Command: command}) {
		t.Errorf("touches %+v, %v", all, err)
	}
}

func TestDirectoriesAreShortened(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"/home/ada", "/home/ada", "~"},
		{"/home/ada/x", "/home/ada", "~/x"},
		{"/home/adam", "/home/ada", "/home/adam"},
		{"/srv", "/home/ada", "/srv"},
		{"/srv", "", "/srv"},
		{"/srv", "relative", "/srv"},
	} {
		if got := atHome(c[0], c[1]); got != c[2] {
			t.Errorf("%s at home %q is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestConsentCountsForItsPlace(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(base, "here")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(Options{Dir: link}, exec.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	in := runIn{Command: "touch P"}
	p, err := r.propose(t.Context(), tool.Call{Input: input(t, in)})
	if err != nil {
		t.Fatal(err)
	}
	agreed := tool.Call{Input: input(t, in), State: p.State}
	if text, err := r.run(t.Context(), agreed, in); err != nil || text != "(no output)\nexit code 0" {
		t.Fatalf("got %q, %v", text, err)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("b", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.run(t.Context(), agreed, in); !errors.Is(err, ErrMoved) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(base, "b", "P")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it ran in another directory than agreed to")
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	set := setOf(t, Options{})
	got, ok := set.Lookup("run_command")
	if !ok || got.Permission != tool.Ask || got.Replay != tool.Manual || !got.Sequential || got.Timeout <= MaxTimeout {
		t.Errorf("got %+v, %t", got, ok)
	}
	if err := Register(set, Options{}); !errors.Is(err, tool.ErrDuplicate) {
		t.Errorf("registered twice: %v", err)
	}
	if _, err := newRunner(Options{Timeout: MaxTimeout + 1}, exec.LookPath); err == nil {
		t.Error("a timeout above the highest is taken")
	}
	none := func(string) (string, error) { return "", exec.ErrNotFound }
	r, err := newRunner(Options{Dir: t.TempDir()}, none)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.touches(tool.Call{Input: input(t, runIn{Command: "true"})}); !errors.Is(err, ErrNoShell) {
		t.Errorf("without a shell: %v", err)
	}
}
