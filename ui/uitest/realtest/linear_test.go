//go:build linux

package realtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cairn/ui/chat"
)

// hostile is text that drives terminals: with controls of every kind, among what
// a chat without a screen says in words.
const hostile = "# a\x1b[2J\x1b]0;t\x07\x1bP1$r\x1b\\b\u009b31m\u202etxet\u2066\x7f\x00\x08\r\v\f\u0085" +
	" **bold** [a link](http://e.org/\x1b[1m) \u200b\ufeff 会議 👩‍👩‍👧\n\n```sh\n\tls\x1b[1A\r\n```\n\n| a | b |\n|---|---|\n| 1\x1b[K | 2 |\n\nend\u009d"

// linearModel answers each question with hostile text, and one with "act" by
// asking for a command first.
func linearModel(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program has gone
		}
		w.Header().Set("Content-Type", "text/event-stream")
		defer io.WriteString(w, "data: [DONE]\n\n") //nolint:errcheck // as above
		if strings.HasPrefix(lastQuestion(body), "question act") && !strings.Contains(string(body), `"role":"tool"`) {
			say(w, map[string]any{"tool_calls": asked(t, []toolCall{{"run_command", map[string]any{"command": "touch P; printf '\x1b[2J\u202e\\033[31mred\\r\\n'", "why": "to see\x1b[2J"}}})}, "")
			say(w, map[string]any{}, "tool_calls")
			return
		}
		for i, piece := range strings.SplitAfter(hostile, " ") {
			if i == 0 {
				piece = "begin\n\n" + piece
			}
			say(w, map[string]any{"content": piece}, "")
		}
		say(w, map[string]any{}, "stop")
	}))
	t.Cleanup(s.Close)
	return s
}

// linearHome is a person whose model is at an address.
func linearHome(t *testing.T, address string) home {
	t.Helper()
	h := newHome(t)
	config := filepath.Join(h.dir, ".config", "cairn")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("model = \"own/mock\"\n[providers.own]\nkind = \"openai\"\nbase_url = %q\napi_key = \"sk-1\"\n[chat]\ntitle = \"words\"\n[memory]\ndistill = \"off\"\n", address+"/v1")
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// lineWindow is the program in a terminal that passes each byte on as it was
// written, and that shows nothing of what is typed.
type lineWindow struct {
	t         *testing.T
	cmd       *exec.Cmd
	ptmx, tty *os.File

	mu   sync.Mutex
	more *sync.Cond
	got  []byte
	from int // where the part begins that is looked at
	over bool
}

// openLinear starts the program in such a terminal, with more in its environment.
func (h home) openLinear(env []string, args ...string) *lineWindow {
	h.t.Helper()
	ptmx, tty := openPty(h.t)
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		h.t.Fatal(err)
	}
	state.Oflag &^= unix.OPOST
	state.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, state); err != nil {
		h.t.Fatal(err)
	}
	w := &lineWindow{t: h.t, cmd: h.command(args...), ptmx: ptmx, tty: tty}
	w.more = sync.NewCond(&w.mu)
	w.cmd.Env = append(w.cmd.Env, env...)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = tty, tty, tty
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(w.read)
	deadline := time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
		w.more.Broadcast()
		_ = w.cmd.Process.Kill() // it may have ended just now
	})
	h.t.Cleanup(func() {
		deadline.Stop()
		if w.cmd.ProcessState == nil {
			_ = w.cmd.Process.Kill()
			_ = w.cmd.Wait() // killed: an error by design
		}
		if err := errors.Join(tty.Close(), ptmx.Close()); err != nil {
			h.t.Error(err)
		}
		read.Wait()
	})
	return w
}

func (w *lineWindow) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.ptmx.Read(buf)
		w.mu.Lock()
		w.got = append(w.got, buf[:n]...)
		w.more.Broadcast()
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// asks waits until all of want was written since the last line was typed, and
// the program asks for another one. It returns what was written.
func (w *lineWindow) asks(want ...string) string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		text := string(w.got[w.from:])
		ok := strings.HasSuffix(text, "> ")
		for _, s := range want {
			ok = ok && strings.Contains(text, s)
		}
		if ok {
			return text
		}
		if w.over {
			w.t.Fatalf("waited in vain for %q; what came is:\n%s", want, text)
		}
		w.more.Wait()
	}
}

// types types a line.
func (w *lineWindow) types(line string) *lineWindow {
	w.t.Helper()
	w.mu.Lock()
	w.from = len(w.got)
	w.mu.Unlock()
	if _, err := w.ptmx.WriteString(line + "\n"); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// ends waits for the program's end and returns its code and all that it wrote.
func (w *lineWindow) ends() (code int, written string) {
	w.t.Helper()
	var exit *exec.ExitError
	if err := w.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	if _, err := w.tty.WriteString(lastWords); err != nil {
		w.t.Fatal(err)
	}
	w.hears(lastWords)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cmd.ProcessState.ExitCode(), strings.TrimSuffix(string(w.got), lastWords)
}

// printable fails if anything but printable text and newlines was written, or
// signs that only draw.
func printable(t *testing.T, written string) {
	t.Helper()
	if !utf8.ValidString(written) {
		t.Errorf("what was written is no UTF-8: %q", written)
	}
	for i, r := range written {
		switch {
		case r == '\n':
		case r < 0x20, r >= 0x7f && r < 0xa0: // controls
		case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff, r == 0x61c: // unseen, or turning text around
		case r >= 0x2500 && r <= 0x259f, r >= 0x2800 && r <= 0x28ff: // boxes and Braille patterns
		default:
			continue
		}
		if r != '\n' {
			t.Fatalf("%U was written behind\n%q", r, written[max(0, i-200):i])
		}
	}
}

// Whatever is done in the chat without a screen, and whatever text comes from a
// model, a command, a title or a fact, only printable text and newlines reach the
// terminal.
func TestTheLinearChatWritesTextAlone(t *testing.T) {
	t.Parallel()
	h := linearHome(t, linearModel(t).URL)
	w := h.openLinear(nil, "--plain", "-s", "blind")
	w.asks("session blind")
	w.types("question one \x1b[2J\x9b \u202e").asks("begin\n\nheading 1: ", "code, sh:", "end of code", "table, columns a, b:", "  b: 2", "end⟨U+")
	w.types("/rename title \x1b]0;x\x07").asks("renamed to")
	w.types("/remember tea \x1b[2J\u202e\x7f").asks("remembered f1")
	w.types("question act").asks("run_command wants to run:", "May it run? Type a number.")
	w.types("1").asks("approved by", "end of table")
	for _, s := range chat.Slashes() {
		if s.Name != "quit" {
			w.types("/" + s.Name)
			for !strings.HasSuffix(w.asks(), "\n> ") { // a list asks
				w.types("")
			}
		}
	}
	for _, line := range []string{"/sessions", "1 show", "trash", "", "/facts", "1", "1 history", "", "", "/find begin", "1", "", "/search begin", "1", "", "/read", "/queue", "/copy", "/no such", "/result", "/runs all", "1", ""} {
		w.types(line).asks()
	}
	w.types("/quit")
	code, written := w.ends()
	if code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	printable(t, written)
}

// A turn with a consent is possible for who only hears lines: what would be done
// is said whole, nothing typed before counts, and an empty line decides nothing.
func TestAConsentWithoutAScreen(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"ACCESSIBLE=1", "TERM=dumb"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			h := linearHome(t, linearModel(t).URL)
			touched := func() bool {
				_, err := os.Stat(filepath.Join(h.dir, "P"))
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				return err == nil
			}
			w := h.openLinear([]string{env}, "-s", "work")
			w.asks("cairn, session work")
			w.types("question act\n1").asks("touch P; printf '␛[2J", "to see␛[2J", "May it run?", ": 1")
			w.types("").asks("left for later")
			if touched() {
				t.Fatal("it ran without consent")
			}
			w.types("/continue").asks("touch P;", "May it run?")
			w.types("9").asks("there is no choice 9 here", "May it run?")
			w.types("1").asks("approved by", "exit code 0", "end of table")
			if !touched() {
				t.Error("it was approved and did not run")
			}
			w.types("/quit")
			code, written := w.ends()
			if code != 0 {
				t.Errorf("the exit code is %d", code)
			}
			printable(t, written)
		})
	}
}

// Ctrl+c stops an answer, and leaves where none is under way; the code says so.
func TestCtrlCWithoutAScreen(t *testing.T) {
	t.Parallel()
	s := newTalker(t)
	h := linearHome(t, s.URL)
	w := h.openLinear(nil, "--plain", "-s", "work")
	w.asks("cairn, session work")
	w.types("question slow")
	w.hears("half of ")
	w.presses("\x03")
	w.asks("stopping the answer", "- stopped")
	w.types("question two").asks("answer to question two")
	w.presses("\x03")
	w.asks("ctrl+c again leaves")
	w.presses("\x03")
	code, written := w.ends()
	if code != 130 || !strings.Contains(written, "To come back: cairn -r work") {
		t.Errorf("the exit code is %d, and what was written\n%s", code, written)
	}
	printable(t, written)
}

// presses sends keys that end no line.
func (w *lineWindow) presses(keys string) {
	w.t.Helper()
	if _, err := w.ptmx.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// hears waits for text that was written since the last line was typed.
func (w *lineWindow) hears(want string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !bytes.Contains(w.got[w.from:], []byte(want)) {
		if w.over {
			w.t.Fatalf("waited in vain for %q; what came is:\n%s", want, w.got[w.from:])
		}
		w.more.Wait()
	}
}

// piped runs the program between pipes with a script, and returns what it wrote.
func (h home) piped(script string) string {
	h.t.Helper()
	cmd := h.command("--plain", "-s", "work")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(script), &out, &errs
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	return out.String()
}

// A script in a pipe does the same each time, consents to nothing, and writes
// text alone.
func TestAScriptWithoutAScreen(t *testing.T) {
	t.Parallel()
	const script = "question one\n/remember tea\n/facts\n1\n\n/sessions\n1 show\n\n/find begin\n\n/usage\n/context\n/theme\n/copy\nquestion act\n1\n"
	address := linearModel(t).URL
	times := regexp.MustCompile(`\d{4}-\d\d-\d\d( \d\d:\d\d)?|r[a-z2-7]{10,}`)
	var all []string
	for range 2 {
		h := linearHome(t, address)
		written := h.piped(script)
		printable(t, written)
		if _, err := os.Stat(filepath.Join(h.dir, "P")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it ran without consent (%v):\n%s", err, written)
		}
		if !strings.Contains(written, "left for later") {
			t.Errorf("the decision is not left for later:\n%s", written)
		}
		all = append(all, strings.ReplaceAll(times.ReplaceAllString(written, "T"), h.dir, "HOME"))
	}
	if all[0] != all[1] {
		t.Errorf("the second time it is\n%s\nnot\n%s", all[1], all[0])
	}
}

// An output that nobody reads any more ends the chat in order: the answer is
// stored, and the session free.
func TestAnOutputThatIsGoneEndsTheLinearChat(t *testing.T) {
	t.Parallel()
	h := linearHome(t, newTalker(t).URL)
	cmd := h.command("--plain", "-s", "work")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 16)
	if _, err := io.ReadFull(out, first); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	// It may have noticed, and ended, already.
	if _, err := io.WriteString(in, "question one\nquestion two\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	var sessions []struct {
		ID    string          `json:"id"`
		Owner json.RawMessage `json:"owner"`
	}
	if err := json.Unmarshal([]byte(h.tells("sessions", "list", "--json")), &sessions); err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if len(s.Owner) > 0 {
			t.Errorf("session %s is owned by %s", s.ID, s.Owner)
		}
	}
}
