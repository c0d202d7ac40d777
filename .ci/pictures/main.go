// Command pictures makes the pictures of the README from the real screens: it runs
// cairn in a terminal, types, and draws what is seen then. A scene is one line of
// the table below.
//
//	pictures CAIRN DIR [SCENE...]
//	pictures --check DIR
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	width, height = 96, 30
	// quiet is how long nothing may change before a picture, patience the longest
	// wait for that.
	quiet, patience = 600 * time.Millisecond, 15 * time.Second
)

// scene is a screen. Steps are typed one after the other; "<enter>" and its like
// are keys, and "?text" waits until text is seen.
type scene struct {
	name, title string
	args, steps []string
	fresh       bool // in a home in which nothing is
}

func scenes() []scene {
	ask := []string{"?write a message", "Why does the importer drop rows with a blank VAT id?", "<enter>", "?the blank check"}
	then := func(more ...string) []string { return append(slices.Clone(ask), more...) }
	work := []string{"-s", "vat"}
	return []scene{
		{name: "chat", title: "A conversation about code", args: work, steps: then("Also check the credit-note path")},
		{name: "streaming", title: "An answer while it comes", args: work, steps: []string{"?write a message", "Tell me slowly about the importer", "<enter>", "?ErrBadRow"}},
		{name: "approval", title: "A command that is asked about", args: work, steps: []string{"?write a message", "Please run the tests", "<enter>", "?go test"}},
		{name: "selection", title: "A message is selected", args: work, steps: then("<tab>")},
		{name: "find", title: "Words are found in a conversation", args: work, steps: then("/find VAT", "<enter>")},
		{name: "palette", title: "Everything that can be done, by name", args: work, steps: then("<ctrl+p>")},
		{name: "models", title: "The models", args: work, steps: then("/model", "<enter>")},
		{name: "themes", title: "The themes", args: work, steps: then("/theme", "<enter>")},
		{name: "sessions", title: "The sessions", args: work, steps: then("<ctrl+s>")},
		{name: "memory", title: "What is remembered", args: work, steps: then("/memory", "<enter>")},
		{name: "inbox", title: "What was suggested to be remembered", args: work, steps: then("/inbox", "<enter>")},
		{name: "runs", title: "The runs", args: work, steps: then("/runs", "<enter>")},
		{name: "context", title: "What fills the context window", args: work, steps: then("/context", "<enter>")},
		{name: "usage", title: "What models used", args: work, steps: then("/usage", "<enter>")},
		{name: "permissions", title: "What may run without asking", args: work, steps: then("/permissions", "<enter>")},
		{name: "help", title: "The keys", args: work, steps: then("<f1>")},
		{name: "welcome", title: "The very first start", steps: []string{"?none answers"}, fresh: true},
		{name: "plain", title: "The linear chat", args: []string{"--plain", "-s", "vat"}, steps: []string{"?>", "Why does the importer drop rows with a blank VAT id?", "<enter>", "?the blank check"}},
	}
}

// keys are the names of keys in steps.
func keys() map[string]string {
	return map[string]string{
		"<enter>": "\r", "<esc>": "\x1b", "<tab>": "\t", "<up>": "\x1b[A", "<down>": "\x1b[B", "<f1>": "\x1bOP", "<alt+up>": "\x1b[1;3A",
		"<ctrl+s>": "\x13", "<ctrl+p>": "\x10", "<ctrl+f>": "\x06", "<ctrl+x>": "\x18",
	}
}

func main() {
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func do(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "--check":
		return check(args[1])
	case len(args) < 2:
		return errors.New("give the program and a directory")
	}
	server := httptest.NewServer(models())
	defer server.Close()
	var failed []error
	for _, s := range scenes() {
		if len(args) > 2 && !slices.Contains(args[2:], s.name) {
			continue
		}
		for _, l := range looks() {
			if err := s.draw(args[0], args[1], server.URL, l); err != nil {
				failed = append(failed, fmt.Errorf("%s, %s: %w", s.name, l.name, err))
			}
		}
	}
	return errors.Join(failed...)
}

// draw plays a scene in a home of its own and draws its end.
func (s scene) draw(binary, dir, url string, l look) error {
	home, err := os.MkdirTemp("", "ada")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	env := []string{
		"HOME=" + home, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "USER=ada", "PATH=" + os.Getenv("PATH"), "CAIRN_THEME=" + l.name,
		"OLLAMA_HOST=127.0.0.1:1",
	}
	if !s.fresh {
		env = append(env, "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+url+"/v1", "CAIRN_MODEL=openai/gpt-5", "CAIRN_DISTILL=off")
		if err := furnish(binary, home, env); err != nil {
			return err
		}
	}
	t, err := open(binary, home, env, s.args)
	if err != nil {
		return err
	}
	defer t.close()
	for _, step := range s.steps {
		if want, ok := strings.CutPrefix(step, "?"); ok {
			if err := t.wait(want); err != nil {
				return err
			}
			continue
		}
		if key, ok := keys()[step]; ok {
			step = key
		}
		t.settle()
		if err := t.send(step); err != nil {
			return err
		}
	}
	t.settle()
	t.mu.Lock()
	defer t.mu.Unlock()
	return os.WriteFile(filepath.Join(dir, s.name+"-"+l.name+".svg"), picture(t.seen, l, s.title), 0o644)
}

// furnish puts sessions, facts and notes into a home.
func furnish(binary, home string, env []string) error {
	day := func(n int) string { return time.Now().AddDate(0, 0, -n).UTC().Format(time.RFC3339) }
	var lines strings.Builder
	for i, title := range []string{"Parser for bank statements", "Trip to Bergen", "Regex for postcodes", "Letter to the landlord"} {
		fmt.Fprintf(&lines, "{\"session\":{\"id\":\"s%d\",\"title\":%q,\"created_at\":%q}}\n", i, title, day(i+1))
		fmt.Fprintf(&lines, "{\"message\":{\"role\":\"user\",\"content\":%q,\"created_at\":%q}}\n{\"message\":{\"role\":\"assistant\",\"content\":\"Gladly. Here is a first draft.\",\"created_at\":%q}}\n", title+", please", day(i+1), day(i+1))
	}
	for _, c := range []struct {
		in   string
		args []string
	}{
		{lines.String(), []string{"sessions", "import", "-"}},
		{"", []string{"facts", "add", "Writes Go; tests first"}},
		{"", []string{"facts", "add", "Prefers short answers"}},
		{"", []string{"facts", "add", "The importer lives in importer/row.go"}},
		{"", []string{"permissions", "allow", "run_command(go vet)"}},
	} {
		cmd := exec.Command(binary, c.args...)
		cmd.Env, cmd.Dir, cmd.Stdin = env, home, strings.NewReader(c.in)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cairn %s: %w: %s", strings.Join(c.args, " "), err, out)
		}
	}
	return nil
}

// terminal is cairn in a terminal.
type terminal struct {
	cmd  *exec.Cmd
	pty  *os.File
	mu   sync.Mutex
	seen *vt.Emulator
	last time.Time // of a change
}

func open(binary, home string, env, args []string) (*terminal, error) {
	t := &terminal{cmd: exec.Command(binary, args...), seen: vt.NewEmulator(width, height), last: time.Now()}
	t.cmd.Env, t.cmd.Dir = env, home
	f, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: width, Rows: height})
	if err != nil {
		return nil, err
	}
	t.pty = f
	go io.Copy(io.Discard, t.seen) // its answers: the screens do not hang on them
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, err := f.Read(b)
			t.mu.Lock()
			t.seen.Write(b[:n])
			t.last = time.Now()
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t, nil
}

// send types. What it does is still to be seen then.
func (t *terminal) send(keys string) error {
	t.mu.Lock()
	t.last = time.Now()
	t.mu.Unlock()
	_, err := io.WriteString(t.pty, keys)
	return err
}

// settle waits until nothing changes.
func (t *terminal) settle() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		t.mu.Lock()
		still := time.Since(t.last) > quiet
		t.mu.Unlock()
		if still {
			return
		}
	}
}

// wait waits until a text is seen.
func (t *terminal) wait(text string) error {
	screen := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		t.mu.Lock()
		screen = t.seen.String()
		t.mu.Unlock()
		if strings.Contains(screen, text) {
			return nil
		}
	}
	return fmt.Errorf("waited in vain for %q; the screen is:\n%s", text, screen)
}

func (t *terminal) close() {
	t.cmd.Process.Kill()
	t.cmd.Wait()
	t.pty.Close()
}
