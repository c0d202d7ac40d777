package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// What a run of somebody else says cannot drive the terminal of a worker, whichever
// way its log is written.
func TestTheLogOfAWorkerDrivesNoTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\u009b31m\u202e\r\nlevel=ERROR"
	for _, objects := range []bool{false, true} {
		var b bytes.Buffer
		slog.New(logHandler(&b, objects, slog.LevelInfo)).Info("run refused", slog.String("run", hostile), slog.String("reason", "it lacks "+hostile))
		if got := b.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\x07\r\u009b\u202e") || !strings.Contains(got, "it lacks") {
			t.Errorf("it says %q", got)
		}
	}
}
