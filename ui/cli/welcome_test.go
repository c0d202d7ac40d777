package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/storage/mem"
)

// opened starts the program at a terminal in a home and returns what the chat was
// opened with, and what was written.
func opened(t *testing.T, home string, store bool, env map[string]string, args ...string) (ChatSetup, string) {
	t.Helper()
	w := &scriptWorld{clock: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), tty: true}
	w.store = mem.New(w.now)
	wire := w.wire()
	wire.StoreExists = func(string) bool { return store }
	var got ChatSetup
	chat := wire.Chat
	wire.Chat = func(ctx context.Context, c ChatSetup) (ChatExit, error) {
		got = c
		return chat(ctx, c)
	}
	wire.Plain = wire.Chat
	var out, errs bytes.Buffer
	s := Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, InTTY: true, OutTTY: true, ErrTTY: true, Dir: home, Now: w.now,
		Getenv: func(name string) string {
			if name == "HOME" {
				return home
			}
			return env[name]
		},
	}
	if code := Main(t.Context(), s, args, wire); code != ExitDone {
		t.Fatalf("cairn %q: exit %d: %s", args, code, errs.String())
	}
	return got, out.String()
}

func TestOnlyTheVeryFirstStartWelcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		store  bool
		config bool
		env    map[string]string
		args   []string
		want   bool
	}{
		{name: "the first start", want: true},
		{name: "looks only", args: []string{"--theme", "dark", "--no-mouse"}, want: true},
		{name: "a store", store: true},
		{name: "a configuration", config: true},
		{name: "switched off", env: map[string]string{"CAIRN_WELCOME": "0"}},
		{name: "a prompt", args: []string{"hello"}},
		{name: "a session", args: []string{"-s", "work"}},
		{name: "a model", args: []string{"-m", "openai/gpt-test"}},
		{name: "nothing kept", args: []string{"--ephemeral"}},
		{name: "a directory", args: []string{"--dir", "/nowhere/else"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if c.config {
				dir := filepath.Join(home, ".config", "cairn")
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("mouse = false\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := opened(t, home, c.store, c.env, c.args...)
			if (got.Welcome != nil) != c.want {
				t.Errorf("it welcomes: %v", !c.want)
			}
		})
	}
}

func TestTheWelcomeKnowsKeysServersAndPlaces(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got, _ := opened(t, home, false, map[string]string{"ANTHROPIC_API_KEY": "sk-secret"})
	w := got.Welcome
	keys, err := w.Keys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].Provider != "anthropic" || keys[0].From != "ANTHROPIC_API_KEY" {
		t.Errorf("keys %v, %v", keys, err)
	}
	servers, err := w.Servers(t.Context())
	if err != nil || len(servers) != 1 || servers[0].Name != "ollama" || servers[0].Models != 1 {
		t.Errorf("servers %v, %v", servers, err)
	}
	name, why, err := w.Model(t.Context())
	if err != nil || name != "anthropic/claude-test" || why == "" {
		t.Errorf("model %q, %q, %v", name, why, err)
	}
	if len(w.Places) != 3 || w.Places[0].Path != filepath.Join("~", ".local", "share", "cairn") {
		t.Errorf("places %v", w.Places)
	}
}

func TestTheLinearChatWelcomesInThreeLines(t *testing.T) {
	t.Parallel()
	got, said := opened(t, t.TempDir(), false, map[string]string{"ANTHROPIC_API_KEY": "sk-secret"}, "--plain")
	if len(got.Notices) != 3 || strings.Contains(said, "sk-secret") {
		t.Fatalf("notices %q, said %q", got.Notices, said)
	}
	for i, want := range []string{"The model that answers is anthropic/claude-test", "a key for anthropic in ANTHROPIC_API_KEY", "kept in ~"} {
		if !strings.Contains(got.Notices[i], want) {
			t.Errorf("line %d is %q", i+1, got.Notices[i])
		}
	}
}
