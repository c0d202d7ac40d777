package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/mcp"
	"cairn/harness/tool"
)

// journal is a log that a test reads.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// played is a manager of one scripted server.
func played(t *testing.T, play string, with func(*mcp.Server, *mcp.Options)) (*mcp.Manager, *tool.Set) {
	t.Helper()
	s, o := scripted(t, "s", play), mcp.Options{}
	if with != nil {
		with(&s, &o)
	}
	o.Servers = []mcp.Server{s}
	return managed(t, o)
}

func said(text string) string { return fmt.Sprintf(`{"text":%q}`, text) }

func TestWhatIsNoMessageIsPassedOver(t *testing.T) {
	t.Parallel()
	var j journal
	m, set := played(t, "banner", func(_ *mcp.Server, o *mcp.Options) { o.Log = j.log() })
	ready(t, m)
	works(t, set, "s_do", said("hello"), "you said hello")
	for _, want := range []string{"Welcome to the server!", "{not json}"} {
		if !strings.Contains(j.String(), want) {
			t.Errorf("the log does not have %q", want)
		}
	}
	if strings.Contains(j.String(), "\x1b") {
		t.Error("the log has what drives a terminal")
	}
}

func TestAServerThatDiesInACallLeavesTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"exit", "leave"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			left := filepath.Join(t.TempDir(), "left")
			m, set := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { s.Env["PIDS"] = left })
			ready(t, m)
			r := call(t.Context(), set, "s_do", said(how), nil)
			if !r.Failed || !r.Unknown || !strings.Contains(r.Text, "outcome unknown") {
				t.Errorf("the call gave %+v", r)
			}
			if got := set.Names(); !slices.Equal(got, []string{"s_do"}) {
				t.Errorf("the tools are %q", got)
			}
			works(t, set, "s_do", said("again"), "you said again")
			if how == "leave" {
				gone := number(t, left)
				eventually(t, fmt.Sprintf("the end of the process %d", gone), func() bool { return over(gone) })
			}
		})
	}
}

// two reads two numbers of processes from a file.
func two(t *testing.T, path string) (first, second int) {
	t.Helper()
	data, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(data), &first, &second); err != nil {
		t.Fatal(err)
	}
	return first, second
}

func TestAServerThatHeedsNothingIsEnded(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	s := scripted(t, "s", "stubborn")
	s.Env["PIDS"] = pids
	m := unhurried(t, mcp.Options{Servers: []mcp.Server{s}})
	if err := m.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(t, m)
	leader, child := two(t, pids)
	if over(leader) || over(child) {
		t.Fatal("the server is over before it is ended")
	}
	closed(t, m)
	if !over(leader) || !over(child) {
		t.Errorf("the server %d or its child %d is left", leader, child)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if r := call(t.Context(), new(tool.Set), "x", "{}", nil); !r.Failed {
		t.Error("a tool that is not there ran")
	}
}

func TestNoiseOnStandardErrorHoldsUpNothing(t *testing.T) {
	t.Parallel()
	m, set := played(t, "noisy", nil)
	ready(t, m)
	works(t, set, "s_do", said("hello"), "you said hello")
	s := until(t, m, "heard", func(s harness.ServerStatus) bool { return true })
	if len(s.Said) == 0 || len(s.Said) > 20 || strings.Contains(strings.Join(s.Said, ""), "\x1b") {
		t.Errorf("the last lines are %q", s.Said)
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		with func(*mcp.Server)
		want string
	}{
		"no program":        {func(s *mcp.Server) { s.Command = "cairn-no-such-program" }, `no program "cairn-no-such-program" on PATH`},
		"no path":           {func(s *mcp.Server) { s.Command = filepath.Join(dir, "none") }, "there is no program"},
		"not a program":     {func(s *mcp.Server) { s.Command = plain }, "permission denied"},
		"no directory":      {func(s *mcp.Server) { s.Dir = filepath.Join(dir, "none") }, "directory"},
		"nobody listens":    {func(s *mcp.Server) { *s = mcp.Server{Name: "s", URL: "http://127.0.0.1:1/mcp?token=very-secret-token"} }, "nothing answers"},
		"it ends at once":   {func(s *mcp.Server) { s.Env[script], s.Env["SECRET_KEY"] = "dies", "hunter2hunter2" }, "exit code 7"},
		"it says nothing":   {func(s *mcp.Server) { s.Env[script], s.Start = "silent", time.Second }, "not ready within 1s"},
		"it is no server":   {func(s *mcp.Server) { s.Command, s.Args = "/bin/echo", []string{"hello"} }, "ended"},
		"it is another one": {func(s *mcp.Server) { *s = mcp.Server{Name: "s", URL: "https://name.invalid/mcp"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, set := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { c.with(s) })
			s := failed(t, m)
			if !strings.Contains(s.Err, c.want) {
				t.Errorf("the server says %s", s.Err)
			}
			if all := fmt.Sprintf("%+v", s); strings.Contains(all, "hunter2") || strings.Contains(all, "very-secret") {
				t.Errorf("a secret is in %s", all)
			}
			if got := set.Names(); len(got) != 0 {
				t.Errorf("the tools are %q", got)
			}
		})
	}
}

func TestAServerGetsNoSecretThatIsNotForIt(t *testing.T) {
	t.Parallel()
	environ := func() []string {
		return append(os.Environ(), "OPENAI_API_KEY=sk-openai-fake", "ANTHROPIC_API_KEY=sk-ant-fake", "PGPASSWORD=pg-fake", "HOME=/home/ada", "LC_API_KEY=lc-fake")
	}
	for name, env := range map[string]map[string]string{
		"without an environment of its own": nil,
		"with one":                          {"DECLARED": "yes indeed", "ANTHROPIC_API_KEY": "sk-given-to-it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, set := played(t, "plain", func(s *mcp.Server, o *mcp.Options) {
				o.Environ = environ
				for k, v := range env {
					s.Env[k] = v
				}
			})
			ready(t, m)
			r := call(t.Context(), set, "s_do", said("env"), nil)
			if r.Failed || !strings.Contains(r.Text, "HOME=/home/ada") || !strings.Contains(r.Text, "PATH=") {
				t.Fatalf("the environment is %+v", r)
			}
			for _, secret := range []string{"sk-openai-fake", "sk-ant-fake", "pg-fake", "lc-fake"} {
				if strings.Contains(r.Text, secret) {
					t.Errorf("the server has %s", secret)
				}
			}
			for k, v := range env {
				if !strings.Contains(r.Text, k+"="+v) {
					t.Errorf("the server does not have %s", k)
				}
			}
		})
	}
}

func TestMessagesArriveWhole(t *testing.T) {
	t.Parallel()
	const text = "작성 완료 🙂 台 é"
	t.Run("a byte at a time", func(t *testing.T) {
		t.Parallel()
		m, set := played(t, "byteatatime", nil)
		ready(t, m)
		r := call(t.Context(), set, "s_do", `{"text":"`+text+`"}`, nil)
		if r.Text != "you said "+text {
			t.Errorf("the result is %q", r.Text)
		}
	})
	for _, size := range []int{70_000, 1_500_000, 5 << 20, 12 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			m, set := played(t, "plain", nil)
			ready(t, m)
			var kept keeper
			set.Artifacts = &kept
			r := call(t.Context(), set, "s_do", said(fmt.Sprint("long ", size)), nil)
			if r.Failed || len(r.Text) > 10_000 || string(kept.data) != strings.Repeat("é", size/2) {
				t.Errorf("of %d bytes there are %d, and the result is %.300q", size, len(kept.data), r.Text)
			}
		})
	}
	t.Run("many lines", func(t *testing.T) {
		t.Parallel()
		m, set := played(t, "plain", nil)
		ready(t, m)
		r := call(t.Context(), set, "s_do", said("lines"), nil)
		if r.Failed || len(r.Text) > 13_000 || !strings.Contains(r.Text, "200000 lines") {
			t.Errorf("the result has %d bytes and begins %.200q", len(r.Text), r.Text)
		}
	})
	t.Run("more than is taken", func(t *testing.T) {
		t.Parallel()
		m, set := played(t, "plain", nil)
		ready(t, m)
		r := call(t.Context(), set, "s_do", said(fmt.Sprint("long ", mcp.MaxMessage+2)), nil)
		if !r.Failed || !strings.Contains(r.Text, "32 MiB") {
			t.Errorf("the result is %+v", r)
		}
		works(t, set, "s_do", said("hello"), "you said hello")
	})
}

// keeper keeps the last result.
type keeper struct{ data []byte }

func (k *keeper) Put(_ context.Context, _ harness.SessionID, data []byte) (string, error) {
	k.data = data
	return strings.Repeat("0", 64), nil
}

func TestACallThatIsCancelledIsToldToTheServer(t *testing.T) {
	t.Parallel()
	cancelled := filepath.Join(t.TempDir(), "cancelled")
	m, set := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { s.Env["CANCELLED"] = cancelled })
	ready(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := call(ctx, set, "s_do", said("hang"), func(harness.Progress) { cancel() })
	if !r.Failed || !r.Unknown || strings.Contains(r.Text, "did not heed") {
		t.Errorf("the call gave %+v", r)
	}
	eventually(t, "the word to the server", func() bool {
		data, err := os.ReadFile(cancelled) //nolint:gosec // a file of the test
		return err == nil && strings.Contains(string(data), "requestId")
	})
	works(t, set, "s_do", said("hello"), "you said hello")
}

func TestACallThatTakesTooLongEnds(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { s.Timeout = 200 * time.Millisecond })
	ready(t, m)
	// The server does not even read any more.
	r := call(t.Context(), set, "s_do", said("hang all"), nil)
	if !r.Failed || !r.Unknown || !strings.Contains(r.Text, "timed out after 200ms") || strings.Contains(r.Text, "did not heed") {
		t.Errorf("the call gave %+v", r)
	}
	big := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	if r := call(t.Context(), set, "s_do", big, nil); !r.Failed || strings.Contains(r.Text, "did not heed") {
		t.Errorf("a call that cannot be written gave %.300q", r.Text)
	}
}

func TestAServerIsSwitchedAndReconnected(t *testing.T) {
	t.Parallel()
	m, set := played(t, "plain", func(s *mcp.Server, _ *mcp.Options) { s.Off = true })
	if s := one(m); s.State != harness.ServerOff || len(set.Names()) != 0 {
		t.Fatalf("the server is %s with %q", s.State, set.Names())
	}
	if err := m.Switch(t.Context(), "s", true); err != nil {
		t.Fatal(err)
	}
	ready(t, m)
	works(t, set, "s_do", said("hello"), "you said hello")
	if err := m.Reconnect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	ready(t, m)
	works(t, set, "s_do", said("hello"), "you said hello")
	held, _ := set.Lookup("s_do")
	if err := m.Switch(t.Context(), "s", false); err != nil {
		t.Fatal(err)
	}
	if s := one(m); s.State != harness.ServerOff || len(s.Tools) != 0 || len(set.Names()) != 0 {
		t.Errorf("the server is %s with %q", s.State, set.Names())
	}
	if _, err := held.Run(t.Context(), tool.Call{Input: json.RawMessage(`{}`)}); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("a tool of a server that is off gave %v", err)
	}
	if err := m.Switch(t.Context(), "other", true); err == nil {
		t.Error("a server that is not there was switched on")
	}
}

func TestAWaiterThatGivesUpLeavesTheConnectingAlone(t *testing.T) {
	t.Parallel()
	m := unhurried(t, mcp.Options{Servers: []mcp.Server{scripted(t, "s", "plain")}})
	t.Cleanup(func() { closed(t, m) })
	set := &tool.Set{}
	m.Attach(set)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.Start(ctx)
	_ = m.Ready(ctx)
	if err := m.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready(t, m)
	works(t, set, "s_do", said("hello"), "you said hello")
}
