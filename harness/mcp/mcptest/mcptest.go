// Package mcptest finds the programs of MCP that tests run against, and ports for them. The one thing to
// know: they are none of this project's, .ci/servers installs them.
package mcptest

import (
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Port returns a port of this machine on which nobody listens, for a program that is
// told where to listen. Unlike one that the system gives, nobody else is given it
// before the program listens, or while that is away to be started again: systems give
// those from above.
func Port(tb testing.TB) string {
	tb.Helper()
	const lowest, highest = 10_000, 30_000
	for range 1000 {
		port := strconv.Itoa(lowest + rand.IntN(highest-lowest))
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		return port
	}
	tb.Fatal("no port is free")
	return ""
}

// Program returns the path of a program from npm, such as "mcp-server-everything":
// where .ci/servers puts it, or on the PATH. Without it the test is skipped, or fails
// if CAIRN_TEST_REQUIRE names mcp.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err == nil {
		path := filepath.Join(cache, "cairn-ci", "mcp", "node_modules", ".bin", name)
		if _, err = os.Stat(path); err == nil {
			return path
		}
	}
	path, lookErr := exec.LookPath(name)
	if lookErr == nil {
		return path
	}
	err = errors.Join(err, lookErr)
	if strings.Contains(","+os.Getenv("CAIRN_TEST_REQUIRE")+",", ",mcp,") {
		tb.Fatalf("%s is required and not there: %v", name, err)
	}
	tb.Skipf("there is no %s; .ci/servers installs it: %v", name, err)
	return ""
}
