package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
)

// Who gives titles is what the person's own file says, and the model if it says
// nothing.
func TestWhoGivesTitlesIsSettledForAStart(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]TitleMode{
		"":                                  TitleModel,
		"[chat]\n":                          TitleModel,
		"[chat]\ntitle = \"words\"\n":       TitleWords,
		"[chat]\ntitle = \"model\"\n":       TitleModel,
		"chat.title = \"words\"\n[tools]\n": TitleWords,
	} {
		w, s, _, errs := world1(t)
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, file, 0o600)
		wire, got := w.wire(), TitleMode("")
		engine := wire.NewEngine
		wire.NewEngine = func(ctx context.Context, st Store, setup Setup) (harness.Engine, error) {
			got = setup.Config.Title
			return engine(ctx, st, setup)
		}
		if code := Main(t.Context(), s, []string{"--config", path, "-p", "text x"}, wire); code != ExitDone {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if got != want {
			t.Errorf("with %q titles are given by %q, not %q", file, got, want)
		}
	}
}

// A value that means nothing is told in one sentence with the ones that do.
func TestChatValuesThatMeanNothing(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"[chat]\ntitle = \"first\"\n": `config.toml:2: "chat.title" must be "model" or "words", not "first"`,
		"[chat]\ntitle = \"\"\n":      `config.toml:2: "chat.title" must be "model" or "words", not ""`,
		"\n[chat]\ntitle = true\n":    `config.toml:3: "chat.title" must be "model" or "words"`,
		"[chat]\ntitel = \"words\"\n": `unknown key "chat.titel"; did you mean title?`,
		"chat = \"words\"\n":          `config.toml:1: "chat" must be a table, such as [chat]`,
	} {
		w, s, _, errs := world1(t)
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, file, 0o600)
		if code := Main(t.Context(), s, []string{"--config", path, "-p", "text x"}, w.wire()); code != ExitUsage || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit code %d: %s", file, code, errs)
		}
	}
}
