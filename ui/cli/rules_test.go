package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/harness/policy"
)

// A chat that is resumed from elsewhere heeds the ask and deny rules of the
// directory in which its tools run, besides those of the files and flags of this
// start.
func TestAChatHeedsTheProjectItRunsIn(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	there := t.TempDir()
	for dir, text := range map[string]string{
		there: "model = \"anthropic/other\"\n[permissions]\nask = [\"write_file\"]\ndeny = [\"run_command(rm)\"]\n",
		s.Dir: "[permissions]\ndeny = [\"fetch_url\"]\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, ".cairn"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, ".cairn", "config.toml"), text, 0o600)
	}
	user := harness.UserText("hello")
	_, _, err := w.store.Sessions().Import(context.Background(), harness.Session{ID: "one", Dir: there},
		[]harness.Record{{Kind: harness.RecordMessage, Message: &user, At: w.now()}})
	if err != nil {
		t.Fatal(err)
	}
	s.InTTY, s.OutTTY = true, true
	wire := w.wire()
	wire.Tools = nil
	if code := Main(context.Background(), s, []string{"-r", "one", "--allow", "run_command(go test)", "--yolo"}, wire); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	c := w.chats[0].Setup
	want := []RuleLine{
		{"deny", "fetch_url", filepath.Join(s.Dir, ".cairn", "config.toml"), true},
		{"deny", "run_command(rm)", filepath.Join(there, ".cairn", "config.toml"), true},
		{"ask", "write_file", filepath.Join(there, ".cairn", "config.toml"), true},
		{"allow", "run_command(go test)", "--allow", false},
	}
	if diff := cmp.Diff(want, c.Config.Permissions.Lines); diff != "" {
		t.Errorf("the rules (-want +got):\n%s", diff)
	}
	p := c.Config.Permissions
	if len(p.Deny) != 2 || len(p.Ask) != 1 || len(p.Allow) != 1 || p.Mode != policy.ModeAll || p.ModeFrom != "--yolo" || !c.Interactive {
		t.Errorf("%+v, interactive %t", p, c.Interactive)
	}
	if c.Config.Model == "anthropic/other" {
		t.Error("more than the rules of that project counts")
	}
}

// A start that only prints has nobody to ask.
func TestPrintingHasNobodyToAsk(t *testing.T) {
	t.Parallel()
	w, s, _, errs := world1(t)
	wire := w.wire()
	made := wire.NewEngine
	var interactive []bool
	wire.NewEngine = func(ctx context.Context, st Store, setup Setup) (harness.Engine, error) {
		interactive = append(interactive, setup.Interactive)
		return made(ctx, st, setup)
	}
	if code := Main(context.Background(), s, []string{"-p", "text x"}, wire); code != ExitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if len(interactive) != 1 || interactive[0] {
		t.Errorf("interactive is %v", interactive)
	}
}
