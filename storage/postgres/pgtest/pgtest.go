// Package pgtest starts a real PostgreSQL server for tests and scripts. The one
// thing to know: the server ends with the process that started it, however that
// ends, because a second process waits for that.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// require is the environment variable that names what tests must not skip.
const require = "CAIRN_TEST_REQUIRE"

// shared is the server of this test process.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

var databases atomic.Int64

// Start returns the server of this test process, which all its tests share. It
// is started at the first call and ends with the process. Without PostgreSQL the
// test is skipped with the reason, or fails if the environment requires it.
func Start(tb testing.TB) *Server {
	tb.Helper()
	shared.once.Do(func() { shared.server, shared.err = Run("") })
	return shared.server.given(tb, shared.err)
}

// Alone returns a server for this test alone, which it may kill, with settings as
// those of [Run]. It is stopped when the test is over.
func Alone(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	s, err := Run("", settings...)
	s.given(tb, err)
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Errorf("stop PostgreSQL: %v", err)
		}
	})
	return s
}

func (s *Server) given(tb testing.TB, err error) *Server {
	tb.Helper()
	if errors.Is(err, ErrMissing) && !slices.Contains(strings.Split(os.Getenv(require), ","), "postgres") {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatalf("start PostgreSQL: %v", err)
	}
	return s
}

// Database makes an empty database and returns its address. It is removed when
// the test is over.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), databases.Add(1))
	url, err := s.Create(tb.Context(), name)
	if err != nil {
		tb.Fatalf("make database %s: %v", name, err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), commandTime)
		defer cancel()
		// A server that the test left dead is removed with all its databases.
		if err := s.Drop(ctx, name); err != nil && s.Running() {
			tb.Errorf("remove database %s: %v", name, err)
		}
	})
	return url
}

// Running reports whether the server was started and not killed since.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}
