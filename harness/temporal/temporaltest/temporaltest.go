// Package temporaltest starts real Temporal servers for tests. The one thing to
// know: a server has a file of its own in a temporary directory, so that it can be
// killed and started again with all that it had stored.
package temporaltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"cairn/harness"
)

// ErrNone means that there is no server program on this machine.
var ErrNone = errors.New("no temporal program on PATH or in the cache (go install github.com/temporalio/cli/cmd/temporal@v1.5.1)")

// readyWithin is how long a server may take to answer on a busy machine.
const readyWithin = time.Minute

// Find returns the path of the server program: temporal on PATH, or
// cairn-ci/temporal in the user's cache; [ErrNone] if there is neither.
func Find() (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return path, nil
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find temporal: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	path, err := exec.LookPath(filepath.Join(cache, "cairn-ci", "temporal"))
	if err != nil {
		return "", ErrNone
	}
	return path, nil
}

// Server is a server on this machine that only it can reach.
type Server struct {
	// Address is where it listens, HOST:PORT. It stays the same over a restart.
	Address string

	program, dir string
	mu           sync.Mutex
	cmd, watcher *exec.Cmd
	// gone closes when the process has ended.
	gone chan struct{}
}

// Launch starts a server that keeps what it stores in dir, and returns when it
// answers. Close ends it.
func Launch(ctx context.Context, dir string) (*Server, error) {
	program, err := Find()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{Address: address, program: program, dir: dir}
	return s, s.Restart(ctx)
}

// freeAddress returns an address on which nobody listens now.
func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("temporal: a free port: %w", err)
	}
	defer l.Close() //nolint:errcheck // it was never used
	return l.Addr().String(), nil
}

// URL is the address of its default namespace for cairn, with a task queue of
// its own: workers of other tests take none of its runs.
func (s *Server) URL() string {
	return "temporal://" + s.Address + "/default?queue=test-" + harness.NewID()
}

// Restart starts the server again after [Server.Kill], and returns when it
// answers.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.gone:
			return fmt.Errorf("temporal: the server ended at once; its words are in %s", s.words())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("temporal: the server does not answer: %w", err), s.Kill())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *Server) words() string { return filepath.Join(s.dir, "server.log") }

func (s *Server) start() error {
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return fmt.Errorf("temporal: %w", err)
	}
	out, err := os.OpenFile(s.words(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("temporal: %w", err)
	}
	defer out.Close() //nolint:errcheck // the process has its own
	cmd := exec.Command(s.program, "server", "start-dev", "--headless", "--ip", host, "--port", port,
		"--db-filename", filepath.Join(s.dir, "temporal.db"), "--log-level", "error",
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
		"--dynamic-config-value", "system.forceSearchAttributesCacheRefreshOnRead=true")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("temporal: %w", err)
	}
	watcher, err := watch(cmd.Process.Pid)
	if err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		cmd.Wait() //nolint:errcheck // it is killed
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd, s.watcher, s.gone = cmd, watcher, gone
	return nil
}

// watch starts a process that ends the one with the id when this one has ended,
// however that ends: its standard input closes with it.
func watch(pid int) (*exec.Cmd, error) {
	cmd := exec.Command("sh", "-c", `trap "" INT TERM HUP; read -r _; kill -9 "$0"`, strconv.Itoa(pid))
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("temporal: %w", err)
	}
	return cmd, nil
}

// ready reports whether the default namespace can be used.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: s.Address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: client.DefaultNamespace})
	return err
}

// Kill ends the server as kill -9 does, and returns when it is gone.
func (s *Server) Kill() error {
	s.mu.Lock()
	cmd, watcher, gone := s.cmd, s.watcher, s.gone
	s.watcher = nil
	s.mu.Unlock()
	if watcher != nil {
		watcher.Process.Kill() //nolint:errcheck // it has ended if that fails
		watcher.Wait()         //nolint:errcheck // as above
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("temporal: kill %s: %w", strconv.Itoa(cmd.Process.Pid), err)
	}
	<-gone
	return nil
}

var _ io.Closer = (*Server)(nil)

// Close implements [io.Closer]. What it stored stays in its directory.
func (s *Server) Close() error { return s.Kill() }

// Own returns a server of the test alone, which may kill it. Without the program
// the test is skipped, or fails if CAIRN_TEST_REQUIRE names temporal.
func Own(tb testing.TB) *Server {
	tb.Helper()
	need(tb)
	s, err := Launch(tb.Context(), tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// shared is the server of the tests that run now.
type shared struct {
	mu     sync.Mutex
	users  int
	dir    string
	server *Server
}

// running is that of this process.
var running shared

// Start returns the server that the tests of this process share; it ends with
// the last of them. They must not kill it: that is what [Own] is for. Without
// the program the test is skipped, or fails if CAIRN_TEST_REQUIRE names temporal.
func Start(tb testing.TB) *Server {
	tb.Helper()
	need(tb)
	s, err := running.enter()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := running.leave(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func need(tb testing.TB) {
	tb.Helper()
	_, err := Find()
	switch {
	case err == nil:
	case strings.Contains(","+os.Getenv("CAIRN_TEST_REQUIRE")+",", ",temporal,"):
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}

func (r *shared) enter() (*Server, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == nil {
		dir, err := os.MkdirTemp("", "cairn-temporal-")
		if err != nil {
			return nil, fmt.Errorf("temporal: %w", err)
		}
		// Not the context of a test: the others go on with it.
		s, err := Launch(context.Background(), dir)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		r.server, r.dir = s, dir
	}
	r.users++
	return r.server, nil
}

func (r *shared) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.users--; r.users > 0 {
		return nil
	}
	err := errors.Join(r.server.Close(), os.RemoveAll(r.dir))
	r.server = nil
	return err
}
