//go:build unix

package enginetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cairn/harness/temporal/temporaltest"
	"cairn/storage/postgres/pgtest"
)

// person is somebody with a home of their own and no key.
type person struct {
	t      *testing.T
	home   string
	engine string
}

// process is the program while it runs.
type process struct {
	t   *testing.T
	cmd *exec.Cmd

	mu   sync.Mutex
	said bytes.Buffer
	over chan struct{}
}

// Write takes in what the process says.
func (p *process) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(data)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// starts runs the program until it ends, or the test does.
func (h person) starts(args ...string) *process {
	h.t.Helper()
	return h.converses("", args...)
}

// converses starts the program with lines to read.
func (h person) converses(lines string, args ...string) *process {
	h.t.Helper()
	p := &process{t: h.t, cmd: exec.Command(filepath.Join(os.Getenv(binaryEnv), "cairn"), args...), over: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = h.home, strings.NewReader(lines), p, p
	p.cmd.Env = []string{
		"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "OLLAMA_HOST=127.0.0.1:1",
		"CAIRN_ENGINE=" + h.engine, "CAIRN_LEASE=2s",
	}
	if err := p.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer close(p.over)
		_ = p.cmd.Wait() // its exit code is asked for where it matters
	}()
	h.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may be gone already
		<-p.over
	})
	return p
}

// says waits until the process said something.
func (p *process) says(text string) {
	p.t.Helper()
	for over := time.After(patience); !strings.Contains(p.text(), text); {
		select {
		case <-over:
			p.t.Fatalf("%q never said %q:\n%s", p.cmd.Args, text, p.text())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ends waits until the process is gone and returns its exit code.
func (p *process) ends() int {
	p.t.Helper()
	select {
	case <-p.over:
	case <-time.After(patience):
		p.t.Fatalf("%q does not end:\n%s", p.cmd.Args, p.text())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// A chat that leaves its run to workers has the whole answer although the first of
// them is killed in the middle of it, and nothing of it twice.
func TestARunWhoseWorkerWasKilledIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "runs.db") },
		"postgres": func(t *testing.T) string { return pgtest.Start(t).Database(t) },
		"temporal": func(t *testing.T) string { return temporaltest.Start(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := person{t, t.TempDir(), address(t)}
			first := h.starts("worker")
			first.says("worker started")
			chat := h.starts("-p", "--json", "-s", "one", "--drive", "workers", "long markdown 1500 words")
			chat.says(`"type":"text_delta"`)
			first.signal(syscall.SIGKILL)
			first.ends()
			second := h.starts("worker")
			if code := chat.ends(); code != 0 {
				t.Fatalf("the chat ended with exit code %d:\n%.4000s\nthe second worker:\n%s", code, chat.text(), second.text())
			}
			if out := chat.text(); !strings.Contains(out, `"status":"completed"`) {
				t.Errorf("the run did not complete:\n%.4000s", out)
			}
			second.signal(syscall.SIGTERM)
			if code := second.ends(); code != 0 {
				t.Errorf("the second worker ended with exit code %d:\n%s", code, second.text())
			}
			shown := h.starts("sessions", "show", "one")
			if code := shown.ends(); code != 0 || strings.Count(shown.text(), "] you (") != 1 {
				t.Errorf("the conversation, with exit code %d:\n%.4000s", code, shown.text())
			}
		})
	}
}
