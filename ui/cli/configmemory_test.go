package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/memory/distill"
)

// What counts for a start is settled in the usual order, and nothing is distilled
// from what is not kept.
func TestDistillingIsSettledForAStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, env string
		flags     []string
		want      distill.Mode
	}{
		"default":     {want: distill.Ask},
		"file":        {file: "[memory]\ndistill = \"auto\"\n", want: distill.Auto},
		"environment": {file: "[memory]\ndistill = \"auto\"\n", env: "OFF", want: distill.Off},
		"flag":        {env: "off", flags: []string{"--distill", "auto"}, want: distill.Auto},
		"ephemeral":   {flags: []string{"--distill", "auto", "--ephemeral"}, want: distill.Off},
		"no memory":   {file: "no_memory = true\n[memory]\ndistill = \"auto\"\n", want: distill.Off},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, _, errs := world1(t)
			path := filepath.Join(t.TempDir(), "config.toml")
			write(t, path, c.file, 0o600)
			get := s.Getenv
			s.Getenv = func(k string) string {
				if k == "CAIRN_DISTILL" {
					return c.env
				}
				return get(k)
			}
			wire, got := w.wire(), distill.Mode("")
			engine := wire.NewEngine
			wire.NewEngine = func(ctx context.Context, st Store, setup Setup) (harness.Engine, error) {
				got = setup.Distill
				return engine(ctx, st, setup)
			}
			args := append([]string{"--config", path, "-p"}, c.flags...)
			if code := Main(t.Context(), s, append(args, "text x"), wire); code != ExitDone {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			if got != c.want {
				t.Errorf("distilling is %q, not %q", got, c.want)
			}
		})
	}
}

// A value that means nothing is told in one sentence with the ones that do.
func TestMemoryValuesThatMeanNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, env, flag, want string }{
		"file":        {file: "[memory]\ndistill = \"always\"\n", want: `config.toml:2: "memory.distill" must be "auto", "ask" or "off", not "always"`},
		"kind":        {file: "\n[memory]\ndistill = true\n", want: `config.toml:3: "memory.distill" must be "auto", "ask" or "off"`},
		"all tokens":  {file: "[memory]\nrecall_tokens = 9000000000000000000\n", want: `config.toml:2: "memory.recall_tokens" must be a whole number of tokens, at most 1,000,000,000`},
		"tokens":      {file: "[memory]\nrecall_tokens = 0\n", want: `config.toml:2: "memory.recall_tokens" must be a whole number of tokens, at least 1`},
		"key":         {file: "[memory]\ndistil = \"ask\"\n", want: `unknown key "memory.distil"; did you mean distill?`},
		"environment": {env: "always", want: `CAIRN_DISTILL must be "auto", "ask" or "off", not "always"`},
		"flag":        {flag: "--distill=yes", want: `--distill must be "auto", "ask" or "off", not "yes"`},
		"empty":       {flag: "--distill=", want: `--distill must be "auto", "ask" or "off", not ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, _, errs := world1(t)
			path := filepath.Join(t.TempDir(), "config.toml")
			write(t, path, c.file, 0o600)
			get := s.Getenv
			s.Getenv = func(k string) string {
				if k == "CAIRN_DISTILL" {
					return c.env
				}
				return get(k)
			}
			args := []string{"--config", path, "-p", "text x"}
			if c.flag != "" {
				args = append(args, c.flag)
			}
			if code := Main(t.Context(), s, args, w.wire()); code != ExitUsage || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), c.want) {
				t.Errorf("exit code %d: %s", code, errs)
			}
		})
	}
}
