//go:build unix

package realtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sent is one request as the service got it.
type sent struct {
	Messages []struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID string `json:"id"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// TestACallThatAKillInterruptedHasOneResult kills the program while a command
// runs, and ends the run. The requests of later turns have exactly one result right behind the
// call, however often the session is opened.
func TestACallThatAKillInterruptedHasOneResult(t *testing.T) {
	t.Parallel()
	s := newService(t, toolCall{"run_command", map[string]any{"command": "echo $$ > pid.new; mv pid.new pid; exec sleep 300"}})
	h := keyed(t, s.URL)
	cmd := h.command("-q", "-p", "--yolo", "-s", "work", "wait for it")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := h.written("pid")
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // what the killed program left
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: an error by design
	// Nobody saw its end, and a person says so.
	_, errs, code := h.answered("-q", "-p", "-s", "work", "go on")
	_, run, told := strings.Cut(errs, "cairn runs resolve ")
	if code != 5 || !told {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	run, _, _ = strings.Cut(run, ",")
	if out, errs, code := h.answered("-q", "runs", "resolve", run, "--abort"); code > 1 {
		t.Fatalf("resolve: exit code %d: %s%s", code, out, errs)
	}
	for _, prompt := range []string{"go on", "and once more"} {
		if out, errs, code := h.answered("-q", "-p", "-s", "work", prompt); code != 0 || strings.TrimSpace(out) != "done" {
			t.Fatalf("%s: exit code %d: %s%s", prompt, code, out, errs)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, body := range s.bodies[1:] {
		var request sent
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			t.Fatal(err)
		}
		calls, results := 0, 0
		for n, m := range request.Messages {
			if m.Role == "tool" {
				results++
			}
			for _, c := range m.ToolCalls {
				calls++
				if n+1 == len(request.Messages) || request.Messages[n+1].ToolCallID != c.ID {
					t.Errorf("request %d: the call has no result behind it: %.2000s", i, body)
				}
			}
		}
		if calls != 1 || results != 1 {
			t.Errorf("request %d has %d calls and %d results", i, calls, results)
		}
	}
}

// written waits for a file with a number.
func (h home) written(name string) int {
	h.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(patience); ; {
		data, err := os.ReadFile(filepath.Join(h.dir, name))
		if err == nil {
			n, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				h.t.Fatal(err)
			}
			return n
		}
		select {
		case <-tick.C:
		case <-over:
			h.t.Fatalf("%s is not written", name)
		}
	}
}
