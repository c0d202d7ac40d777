package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/storage/mem"
)

// world1 is a program with a store in memory and its own home.
func world1(t *testing.T) (*scriptWorld, Streams, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	w := &scriptWorld{clock: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	w.store = mem.New(w.now)
	var out, errs bytes.Buffer
	home := t.TempDir()
	s := Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, Dir: t.TempDir(), Now: w.now,
		Getenv: func(k string) string {
			return map[string]string{"HOME": home, "ANTHROPIC_API_KEY": "k"}[k]
		},
	}
	return w, s, &out, &errs
}

// signalled calls a function when something is written.
type signalled struct {
	bytes.Buffer
	when func()
}

func (s *signalled) Write(p []byte) (int, error) {
	s.when()
	return s.Buffer.Write(p)
}

// A person who interrupts gets exit code 130; the run is cancelled and not
// left, and what came stays out of a pipe.
func TestInterruptCancelsTheRun(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// The first event that is printed is the moment of the interrupt.
	out := &signalled{when: cancel}
	s.Out = out
	code := Main(ctx, s, []string{"-p", "--json", "-s", "one", "delta Half\nwait"}, w.wire())
	if code != ExitInterrupted {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if !strings.Contains(out.String(), `"status":"cancelled"`) {
		t.Errorf("the run was left: %s", out)
	}
	if want := "cairn: interrupted; what came is kept in session one\n"; errs.String() != want {
		t.Errorf("%q, not %q", errs, want)
	}
	if _, err := w.store.Owners().Acquire(context.Background(), harness.Session{ID: "one"}, harness.Holder{}); err != nil {
		t.Errorf("the session was not given back: %v", err)
	}
}

// A window that asks for the session gets it: the run is paused.
func TestAskingPausesTheRun(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	asked := false
	out := &signalled{when: func() {
		if !asked {
			asked = true
			if err := w.store.Owners().Ask(context.Background(), "one", harness.Holder{PID: 99, Terminal: "pts/7"}); err != nil {
				t.Error(err)
			}
		}
	}}
	s.Out = out
	code := Main(context.Background(), s, []string{"-p", "--json", "-s", "one", "delta Half\nwait"}, w.wire())
	if code != ExitBusy || !strings.Contains(errs.String(), "pid 99 on pts/7 took session one over") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if !strings.Contains(out.String(), `"status":"paused"`) {
		t.Errorf("the run was not paused: %s", out)
	}
}

// full is a device without space.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

// An answer that could not be written is a failure.
func TestFullOutputFails(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-p", "text hello"}, {"sessions", "list", "--json"}, {"--version"}, {"man"}} {
		w, s, _, errs := world1(t)
		s.Out = full{}
		if code := Main(context.Background(), s, args, w.wire()); code != ExitFailed || !strings.Contains(errs.String(), "write to standard output") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
		if strings.Contains(errs.String(), "--dir") || !strings.Contains(errs.String(), "free some space there, or send the output elsewhere") {
			t.Errorf("%v: %s", args, errs)
		}
	}
}

// Each step of the way is named once.
func TestErrorsNameEachStepOnce(t *testing.T) {
	t.Parallel()
	a := newApp(Streams{}, Wire{})
	inner := errors.New("search: damaged page 3: 7")
	if got := a.words(fmt.Errorf("search: %w", inner)); got != inner.Error() {
		t.Errorf("%q", got)
	}
}

// A terminal gets text as it comes, and each piece of it once.
func TestTerminalStreams(t *testing.T) {
	t.Parallel()
	text := func(attempt, offset int, s string) harness.Event {
		return harness.Event{Type: harness.EventText, Attempt: attempt, Offset: offset, Text: s}
	}
	message := func(s string, calls ...harness.Part) harness.Event {
		m := harness.AssistantText(s)
		m.Parts = append(m.Parts, calls...)
		return harness.Event{Type: harness.EventMessage, Message: &m}
	}
	call := harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "grep"}}
	for name, c := range map[string]struct {
		events []harness.Event
		result string
		want   string
	}{
		"in pieces":         {[]harness.Event{text(1, 0, "He"), text(1, 2, "llo"), message("Hello")}, "Hello", "Hello\n"},
		"pieces overlap":    {[]harness.Event{text(1, 0, "Hel"), text(1, 2, "llo"), message("Hello")}, "Hello", "Hello\n"},
		"a piece is missed": {[]harness.Event{text(1, 0, "He"), message("Hello")}, "Hello", "Hello\n"},
		"nothing streamed":  {[]harness.Event{message("Hello\n")}, "Hello\n", "Hello\n"},
		"no message":        {nil, "Hello", "Hello\n"},
		"before a tool":     {[]harness.Event{text(1, 0, "Look"), message("Look", call), text(2, 0, "Hi"), message("Hi")}, "Hi", "Look\nHi\n"},
		"void":              {[]harness.Event{text(1, 0, "Wro"), {Type: harness.EventReset, Attempt: 1}, text(2, 0, "Hi"), message("Hi")}, "Hi", "Wro\nHi\n"},
		"in two messages":   {[]harness.Event{text(1, 0, "ab"), message("ab"), text(2, 0, "cd"), message("cd")}, "cd", "abcd\n"},
		"escape sequence":   {[]harness.Event{text(1, 0, "\x1b"), text(1, 1, "[2J"), message("\x1b[2J")}, "", "␛[2J\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			a := newApp(Streams{Out: &out, Err: &errs, OutTTY: true}, Wire{})
			p := a.printer("one")
			for _, e := range c.events {
				if err := p.event(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.end(harness.Result{Status: harness.RunCompleted, Text: c.result}); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("%q, not %q", out.String(), c.want)
			}
		})
	}
}

// A pipe gets answers only when they are whole.
func TestPipeGetsWholeAnswers(t *testing.T) {
	t.Parallel()
	half := harness.AssistantText("Half")
	half.Mark = harness.MarkIncomplete
	whole := harness.AssistantText("Whole\x1b")
	var out, errs bytes.Buffer
	p := newApp(Streams{Out: &out, Err: &errs}, Wire{}).printer("one")
	for _, e := range []harness.Event{
		{Type: harness.EventWaiting, Text: "condensing 3 messages"},
		{Type: harness.EventText, Attempt: 1, Text: "Ha"},
		{Type: harness.EventMessage, Message: &half},
		{Type: harness.EventRetry, Attempt: 2, Wait: 4, Error: &harness.RunError{Kind: "server", Text: "overloaded"}},
		{Type: harness.EventRetry, Attempt: 2, Text: "asking own/llama instead", Error: &harness.RunError{Kind: "quota", Text: "no credit"}},
		{Type: harness.EventText, Attempt: 2, Text: "Whole"},
		{Type: harness.EventMessage, Message: &whole},
	} {
		if err := p.event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(harness.Result{Status: harness.RunCompleted, Text: "Whole\x1b"}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "Whole\x1b\n" {
		t.Errorf("%q", out.String())
	}
	if errs.String() != "cairn: condensing 3 messages\ncairn: asking again in 4 s: overloaded\ncairn: asking own/llama instead: no credit\n" {
		t.Errorf("%q", errs.String())
	}
}

// What is asked for anew is an answer of its own; the rest of an answer that was
// cut follows without a break.
func TestAnswersOfOneTurnStandApart(t *testing.T) {
	t.Parallel()
	said := func(text string) harness.Event {
		m := harness.AssistantText(text)
		return harness.Event{Type: harness.EventMessage, Message: &m}
	}
	noted := func(r loop.Answered) harness.Event {
		_, cmd := loop.Step(loop.Fold(loop.Started{Message: harness.UserText("go")}), r)
		note, ok := cmd.(loop.Note)
		if !ok {
			t.Fatalf("%+v leads to %T", r, cmd)
		}
		m := note.Notice()
		return harness.Event{Type: harness.EventRecovery, Message: &m}
	}
	half := harness.AssistantText("ab")
	cut := noted(loop.Answered{Message: &half, Stop: harness.StopLength})
	anew := noted(loop.Answered{Stop: harness.StopEnd})
	for _, c := range []struct {
		events         []harness.Event
		piped, printed string
	}{
		{[]harness.Event{said("ab"), cut, said("cd")}, "abcd\n", "abcd\n"},
		{[]harness.Event{said("ab"), anew, said("cd")}, "ab\n\ncd\n", "ab\ncd\n"},
		{[]harness.Event{said("ab\n"), anew, said("cd")}, "ab\n\ncd\n", "ab\ncd\n"},
		{[]harness.Event{said("ab"), anew}, "ab\n", "ab\n"},
		{[]harness.Event{anew, said("cd")}, "cd\n", "cd\n"},
	} {
		for tty, want := range map[bool]string{false: c.piped, true: c.printed} {
			var out, errs bytes.Buffer
			p := newApp(Streams{Out: &out, Err: &errs, OutTTY: tty}, Wire{}).printer("one")
			for _, e := range c.events {
				if err := p.event(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.end(harness.Result{Status: harness.RunCompleted}); err != nil {
				t.Fatal(err)
			}
			if out.String() != want {
				t.Errorf("to a terminal %v: %q, not %q", tty, out.String(), want)
			}
		}
	}
}

// Each kind of failure has its exit code.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none":     {nil, 0},
		"any":      {errors.New("x"), 1},
		"damaged":  {harness.ErrDamaged, 1},
		"newer":    {harness.ErrNewer, 1},
		"usage":    {usage("x"), 2},
		"missing":  {harness.ErrNotFound, 3},
		"provider": {&ProviderError{errors.New("no key")}, 4},
		"awaiting": {harness.ErrAwaiting, 5},
		"held":     {&harness.HeldError{}, 6},
		"locked":   {harness.ErrLocked, 6},
		"lost":     {harness.ErrLost, 6},
		"stopped":  {context.Canceled, 130},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
		if c.err == nil {
			continue
		}
		wrapped := errors.Join(errors.New("open the store"), c.err)
		if got := exitCode(wrapped); got != c.want {
			t.Errorf("%s, wrapped: %d, not %d", name, got, c.want)
		}
	}
}

// A log is for its owner alone, also one that was open to others, and a large
// one is set aside.
func TestLogIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode for others here")
	}
	path := filepath.Join(t.TempDir(), "state", "cairn.log")
	for _, line := range []string{"one\n", "two\n"} {
		w := &logFile{path: path}
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Truncate(path, maxLog+1); err != nil {
		t.Fatal(err)
	}
	w := &logFile{path: path}
	if _, err := w.Write([]byte("three\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 6 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

// Without a place for it there is no log, and that is told once.
func TestLogThatCannotBeIsToldOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x", 0o600)
	told := 0
	w := &logFile{path: filepath.Join(dir, "file", "cairn.log"), failed: func(error) { told++ }}
	for range 3 {
		if n, err := w.Write([]byte("line\n")); n != 5 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// The version is printed without a store, a catalogue or a configuration.
func TestVersionBuildsNothing(t *testing.T) {
	t.Parallel()
	_, s, out, _ := world1(t)
	if code := Main(context.Background(), s, []string{"--version"}, Wire{Version: "9"}); code != 0 || out.String() != "cairn 9\n" {
		t.Errorf("%d, %q", code, out)
	}
}
