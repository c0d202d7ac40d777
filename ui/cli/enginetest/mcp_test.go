//go:build unix

package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cairn/harness/mcp/mcptest"
)

// uses writes a configuration with the reference server, which offers more tools where
// a person can be asked.
func (h person) uses(program string) {
	h.t.Helper()
	dir := filepath.Join(h.home, ".config", "cairn")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	config := fmt.Sprintf("[mcp.servers.every]\ncommand = %q\nenv = { PATH = %q }\n", program, os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// A worker with the servers of a chat drives what the chat leaves to it, although
// nobody can be asked there; one without them leaves it alone and says what it lacks.
func TestAWorkerWithTheServersOfAChatTakesItsRunAndOneWithoutDoesNot(t *testing.T) {
	t.Parallel()
	program := mcptest.Program(t, "mcp-server-everything")
	h := person{t, t.TempDir(), "sqlite:" + filepath.Join(t.TempDir(), "runs.db")}
	h.uses(program)
	bare := person{t, t.TempDir(), h.engine}
	without := bare.starts("worker")
	without.says("worker started")
	chat := h.converses("hello\n", "--plain", "-s", "one", "--drive", "workers")
	without.says("it has no tool every_")
	with := h.starts("worker")
	chat.says("cairn without a language model")
	if code := chat.ends(); code != 0 {
		t.Errorf("the chat ended with exit code %d:\n%.4000s", code, chat.text())
	}
	with.signal(syscall.SIGTERM)
	if code := with.ends(); code != 0 {
		t.Errorf("the worker ended with exit code %d:\n%s", code, with.text())
	}
	if out := with.text(); !strings.Contains(out, "run taken") || strings.Contains(out, "run refused") {
		t.Errorf("the worker said:\n%s", out)
	}
}
