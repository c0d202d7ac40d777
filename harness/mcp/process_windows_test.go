package mcp_test

import (
	"os"
	"testing"
)

// over reports whether a process is gone.
func over(pid int) bool {
	_, err := os.FindProcess(pid)
	return err != nil
}

// kill makes a process end.
func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}
