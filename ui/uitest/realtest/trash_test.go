//go:build unix

package realtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sessionsEnv asks for a store of more sessions.
const sessionsEnv = "CAIRN_TEST_SESSIONS"

// TestEmptyTrashLeavesNoTrace talks in sessions of 200 kB, deletes most of them and
// empties the trash: the file is hardly longer than what is left, and nothing of
// the others is in it.
func TestEmptyTrashLeavesNoTrace(t *testing.T) {
	t.Parallel()
	const size = 200_000
	h := keyed(t, newTalker(t).URL)
	sessions := times(t, sessionsEnv, 10)
	kept := max(sessions/50, 2)
	question := func(i int) string { return fmt.Sprintf("question MARKER-%d- long %d", i, size) }
	remove := []string{"sessions", "rm"}
	for i := range sessions {
		name := fmt.Sprint("s", i)
		h.tells("-q", "-p", "-s", name, question(i))
		if i >= kept {
			remove = append(remove, name)
		}
	}
	h.tells(remove...)
	out := h.tells("db", "compact", "--trash", "--yes")
	if want := fmt.Sprintf("removed for good: %d session", sessions-kept); !strings.Contains(out, want) {
		t.Errorf("%s", out)
	}
	path := strings.TrimSpace(h.tells("db", "path"))
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of %d sessions of %d", len(raw), kept, size)
	if len(raw) > kept*size*3/2 {
		t.Errorf("%d bytes for %d sessions of %d", len(raw), kept, size)
	}
	for i := range sessions {
		if bytes.Contains(raw, fmt.Appendf(nil, "MARKER-%d-", i)) != (i < kept) {
			t.Errorf("session %d of %d", i, sessions)
		}
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(without(left, ".lock", ".queue")) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	h.tells("db", "check")
}

// without drops the names with one of the endings.
func without(names []string, endings ...string) []string {
	var rest []string
	for _, name := range names {
		if !hasEnding(name, endings) {
			rest = append(rest, name)
		}
	}
	return rest
}

func hasEnding(name string, endings []string) bool {
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}
