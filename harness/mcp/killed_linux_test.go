package mcp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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
	eventually(t, "the server of the program", func() bool {
		_, err := os.Stat(pids)
		return err == nil
	})
	leader, child := two(t, pids)
	if over(leader) || over(child) {
		t.Fatal("the server does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	t.Cleanup(func() {
		if !over(child) {
			kill(t, child)
		}
	})
	eventually(t, fmt.Sprintf("the end of the server %d and its child %d", leader, child), func() bool { return over(leader) && over(child) })
}
