package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"cairn/harness/mcp"
)

// holder names the file for the numbers of the processes that this test binary, run
// once more, starts.
const holder = "CAIRN_TEST_MCP_HOLDER"

func TestProgramThatIsKilledWithAServer(t *testing.T) {
	pids := os.Getenv(holder)
	if pids == "" {
		t.Skip("it is run by the next test")
	}
	s := scripted(t, "s", "stubborn")
	s.Env["PIDS"] = pids + ".new"
	m, _ := managed(t, mcp.Options{Servers: []mcp.Server{s}})
	ready(t, m)
	if err := os.Rename(pids+".new", pids); err != nil { //nolint:gosec // a file of the test
		t.Fatal(err)
	}
	<-t.Context().Done()
}

// TestAServerEndsWithTheProgram kills the program itself, as no handler can notice.
func TestAServerEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestProgramThatIsKilledWithAServer$")
	cmd.Env = append(os.Environ(), holder+"="+pids)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if _, err = os.Stat(pids); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	leader, child := two(t, pids)
	if over(leader) || over(child) {
		t.Fatal("the server does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for range 600 {
		if over(leader) && over(child) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the server %d or its child %d goes on without the program", leader, child)
	kill(t, child)
}
