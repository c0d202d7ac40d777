// Package mcptest finds the programs of MCP that tests run against. The one thing to
// know: they are none of this project's, .ci/servers installs them.
package mcptest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
