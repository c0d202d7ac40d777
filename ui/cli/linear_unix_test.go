//go:build unix

package cli

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// Nobody reading is an error to the linear chat, but its own alone: a command that
// it runs ends at a closed pipe, as in every shell.
func TestCommandsOfTheLinearChatEndAtAClosedPipe(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	wire, said := w.wire(), ""
	wire.Plain = func(ctx context.Context, _ ChatSetup) (ChatExit, error) {
		out, err := exec.CommandContext(ctx, "sh", "-c", "(kill -PIPE $(exec sh -c 'echo $PPID'); echo lives) ; echo over").CombinedOutput()
		said = string(out)
		return ChatExit{}, err
	}
	if code := Main(t.Context(), s, []string{"--plain"}, wire); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if strings.Contains(said, "lives") || !strings.Contains(said, "over") {
		t.Errorf("said %q", said)
	}
}
