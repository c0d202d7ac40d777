package shell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// helper names the directory in which this test binary, run once more, is a
// program that runs a command.
const helper = "CAIRN_TEST_SHELL_DIR"

func TestProgramThatIsKilled(t *testing.T) {
	dir := os.Getenv(helper)
	if dir == "" {
		t.Skip("it is run by the next test")
	}
	r, j := plain(t)
	j.dir, j.command = dir, "echo $$ >pid.new; mv pid.new pid; while :; do sleep 0.05; done; true"
	text, err := r.exec(t.Context(), j)
	t.Errorf("it ended: %q, %v", text, err)
}

// TestShellEndsWithTheProgram kills the program itself, as no handler can
// notice, and the shell must not go on to its next command.
func TestShellEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestProgramThatIsKilled$")
	cmd.Env = append(os.Environ(), helper+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	for {
		_, err := os.Stat(filepath.Join(dir, "pid"))
		if err == nil {
			break
		}
		select {
		case err := <-over:
			t.Fatalf("it ended before: %v", err)
		default:
			runtime.Gosched()
		}
	}
	shell := number(t, dir, "pid")
	if !running(t, shell) {
		t.Fatal("the shell does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-over; !errors.As(err, &exit) {
		t.Fatalf("got %v", err)
	}
	for running(t, shell) {
		// It takes the kernel a moment; if it never ends, the test does.
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}
