package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
)

// configured starts the program with a configuration file and variables, and
// returns what it was started with.
func configured(t *testing.T, file string, env map[string]string) (setup Setup, code int, complaint string) {
	t.Helper()
	w, s, _, errs := world1(t)
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, file, 0o600)
	get := s.Getenv
	s.Getenv = func(k string) string {
		if v, ok := env[k]; ok {
			return v
		}
		return get(k)
	}
	wire := w.wire()
	engine := wire.NewEngine
	wire.NewEngine = func(ctx context.Context, st Store, got Setup) (harness.Engine, error) {
		setup = got
		return engine(ctx, st, got)
	}
	code = Main(t.Context(), s, []string{"--config", path, "-p", "text x"}, wire)
	return setup, code, errs.String()
}

// Limits and the models that stand in are settled in the usual order.
func TestLimitsAreSettledForAStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		env      map[string]string
		want     harness.SpendingLimits
		fallback []string
	}{
		"default": {},
		"file": {
			file: "fallback = [\"openai/gpt-5\", \"gemini\"]\n[spending]\nsession = 5.0\nday = 10\n",
			want: harness.SpendingLimits{Session: 5, Day: 10}, fallback: []string{"openai/gpt-5", "gemini"},
		},
		"one of them":  {file: "[spending]\nday = 0.25\n", want: harness.SpendingLimits{Day: .25}},
		"zero is none": {file: "[spending]\nday = 0\nsession = 0.0\n"},
		"environment": {
			file: "fallback = [\"openai/gpt-5\"]\n[spending]\nsession = 5.0\nday = 10.0\n",
			env:  map[string]string{"CAIRN_SPENDING_DAY": "$2.50", "CAIRN_SPENDING_SESSION": "0", "CAIRN_FALLBACK": " gemini , openai/gpt-5,"},
			want: harness.SpendingLimits{Day: 2.5}, fallback: []string{"gemini", "openai/gpt-5"},
		},
		"none stands in": {file: "fallback = []\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup, code, complaint := configured(t, c.file, c.env)
			if code != ExitDone {
				t.Fatalf("exit code %d: %s", code, complaint)
			}
			if got := setup.Config; got.Spending != c.want || !slices.Equal(got.Fallback, c.fallback) {
				t.Errorf("limits %+v, fallback %q", got.Spending, got.Fallback)
			}
		})
	}
}

// An amount that limits nothing is told in one sentence, with its line.
func TestLimitsThatMeanNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		env  map[string]string
		want string
	}{
		"negative":     {file: "[spending]\nday = -1\n", want: `config.toml:2: "spending.day" must be an amount in USD such as 5.0, 0 for no limit`},
		"endless":      {file: "[spending]\nsession = inf\n", want: `config.toml:2: "spending.session" must be an amount`},
		"no number":    {file: "\n[spending]\nday = \"ten\"\n", want: `config.toml:3: "spending.day" must be an amount`},
		"key":          {file: "[spending]\ndaily = 3\n", want: `unknown key "spending.daily"`},
		"environment":  {env: map[string]string{"CAIRN_SPENDING_DAY": "ten"}, want: `CAIRN_SPENDING_DAY must be an amount in USD such as 5.0, 0 for no limit, not "ten"`},
		"not a number": {env: map[string]string{"CAIRN_SPENDING_SESSION": "NaN"}, want: `CAIRN_SPENDING_SESSION must be an amount`},
		"one price":    {file: "[models.\"openai/x\"]\ninput_price = 2\n", want: `config.toml:2: "models.openai/x" has one price alone; set input_price and output_price`},
		"empty model":  {file: "fallback = [\"openai/gpt-5\", \" \"]\n", want: `config.toml:1: "fallback" must be a list of models such as ["openai/gpt-5", "gemini"], not " "`},
		"no list":      {file: "fallback = \"gemini\"\n", want: `config.toml:1: "fallback" must be a list of models`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, code, complaint := configured(t, c.file, c.env); code != ExitUsage || !strings.Contains(complaint, c.want) {
				t.Errorf("exit code %d: %s", code, complaint)
			}
		})
	}
}
