package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// The file of a theme may be anybody's: it is shown as text.
func TestAThemeIsShownAsText(t *testing.T) {
	t.Parallel()
	w, s, out, errs := world1(t)
	s.OutTTY = true
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.toml"), "", 0o600)
	write(t, filepath.Join(dir, "themes", "odd.toml"), "base = \"dark\" # \x1b]0;x\x07\n", 0o600)
	for _, command := range []string{"show", "check"} {
		Main(t.Context(), s, []string{"--config", filepath.Join(dir, "config.toml"), "themes", command, "odd"}, w.wire())
	}
	write(t, filepath.Join(dir, "themes", "long.toml"), "base = \"dark\"\n"+strings.Repeat("# long\n", maxTheme/7), 0o600)
	code := Main(t.Context(), s, []string{"--config", filepath.Join(dir, "config.toml"), "themes", "check", "long"}, w.wire())
	if code != ExitUsage || !strings.Contains(errs.String(), "is larger than 64 KiB") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if said := out.String() + errs.String(); strings.ContainsAny(said, "\x1b\x07") || !strings.Contains(said, "base = ") {
		t.Errorf("said %q", said)
	}
}
