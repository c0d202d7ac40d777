//go:build unix

package realtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// towerEnv, in the environment, makes this program an MCP server that works in the
// directory which it names.
const towerEnv = "CAIRN_REALTEST_TOWER"

// serveTower is a server whose one tool leaves a mark for each call, and does not end
// while there is a file that holds it.
func serveTower(dir string) error {
	if key := os.Getenv("OPENAI_API_KEY"); key != "" {
		return fmt.Errorf("it was given a key: %s", key)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "tower", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "deploy", Description: "Deploys."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
		marks, err := os.OpenFile(filepath.Join(dir, "marks"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, err
		}
		if _, err := marks.WriteString("x"); err != nil {
			return nil, nil, err
		}
		if err := marks.Close(); err != nil {
			return nil, nil, err
		}
		pid := filepath.Join(dir, "pid")
		if err := os.WriteFile(pid+".new", []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return nil, nil, err
		}
		if err := os.Rename(pid+".new", pid); err != nil {
			return nil, nil, err
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "hold")); errors.Is(err, fs.ErrNotExist) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "deployed with " + os.Getenv("TOWER_TOKEN")}}}, nil, nil
			}
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
	})
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// towered is a person who has that server configured.
func towered(t *testing.T, address string) home {
	t.Helper()
	h := keyed(t, address)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h.tells("-q", "mcp", "add", "tower", "--env", towerEnv+"="+h.dir, "--env", "TOWER_TOKEN=Zq87planted0tower", "--", self)
	return h
}

// marks are the calls that the server began.
func (h home) marks() int {
	data, err := os.ReadFile(filepath.Join(h.dir, "marks"))
	if err != nil {
		return 0
	}
	return len(data)
}

func (h home) put(name string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// gone waits until a process is no more.
func (h home) gone(pid int) {
	h.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(patience); ; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			h.t.Fatalf("process %d is still there", pid)
		}
	}
}

// TestACallOfAnMCPServerRunsAsItIsDecided kills the program in the middle of a call,
// which nobody sees end. The server goes with it; what then becomes of the call is
// a person's to say, and it runs once more or not at all, as they say.
func TestACallOfAnMCPServerRunsAsItIsDecided(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide []string
		runs   int
		told   string
	}{
		"run again": {[]string{"--retry", "--allow", "tower_deploy"}, 2, "deployed with [redacted mcp.servers.tower.env.TOWER_TOKEN]"},
		"a result":  {[]string{"--result", "it was deployed by hand"}, 1, "it was deployed by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, toolCall{"tower_deploy", map[string]any{}})
			h := towered(t, s.URL)
			h.put("hold")
			cmd := h.command("-q", "-p", "--allow", "tower_*", "-s", "work", "deploy it")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			server := h.written("pid")
			t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGKILL) })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed: an error by design
			h.gone(server)
			_, errs, code := h.answered("-q", "-p", "-s", "work", "go on")
			_, run, told := strings.Cut(errs, "cairn runs resolve ")
			if code != 5 || !told {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			run, _, _ = strings.Cut(run, ",")
			if shown := h.tells("-q", "runs", "show", run); !strings.Contains(shown, "tower_deploy") {
				t.Errorf("the call is not named: %s", shown)
			}
			if h.marks() != 1 {
				t.Fatalf("it ran %d times before that was decided", h.marks())
			}
			if err := os.Remove(filepath.Join(h.dir, "hold")); err != nil {
				t.Fatal(err)
			}
			out, errs, code := h.answered(append([]string{"-q", "runs", "resolve", run}, c.decide...)...)
			if code != 0 || strings.TrimSpace(out) != "done" {
				t.Fatalf("exit code %d: %s%s", code, out, errs)
			}
			if h.marks() != c.runs {
				t.Errorf("it ran %d times, not %d", h.marks(), c.runs)
			}
			s.mu.Lock()
			last := s.bodies[len(s.bodies)-1]
			s.mu.Unlock()
			quoted, err := json.Marshal(c.told)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(last, strings.Trim(string(quoted), `"`)) || strings.Contains(last, "Zq87planted") {
				t.Errorf("the model is told %.3000s", last)
			}
			h.gone(h.written("pid"))
		})
	}
}

// TestToolsOfMCPServersAreDeniedWhereNobodyIsAsked has nobody at the terminal, and the
// call is refused with the rule that would allow it.
func TestToolsOfMCPServersAreDeniedWhereNobodyIsAsked(t *testing.T) {
	t.Parallel()
	s := newService(t, toolCall{"tower_deploy", map[string]any{}})
	h := towered(t, s.URL)
	_, errs, code := h.answered("-p", "-s", "work", "deploy it")
	if code != 5 || !strings.Contains(errs, "--allow 'tower_deploy'") && !strings.Contains(errs, "--allow tower_deploy") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if h.marks() != 0 {
		t.Error("it ran")
	}
	if out, errs, code := h.answered("-q", "-p", "--allow", "tower_*", "--deny", "tower_deploy", "-s", "other", "deploy it"); h.marks() != 0 {
		t.Errorf("what is denied ran: exit code %d: %s%s", code, out, errs)
	}
	if out, errs, code := h.answered("-q", "-p", "--allow", "tower_*", "-s", "third", "deploy it"); code != 0 || h.marks() != 1 {
		t.Errorf("what is allowed ran %d times, exit code %d: %s%s", h.marks(), code, out, errs)
	}
}
