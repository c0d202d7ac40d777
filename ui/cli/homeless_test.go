package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Without a home there is no place for themes: those of the directory that it
// happens to be in are anybody's.
func TestWithoutAHomeThereAreNoThemesOfOnesOwn(t *testing.T) {
	t.Parallel()
	w, s, out, errs := world1(t)
	s.Dir, s.Getenv = t.TempDir(), func(string) string { return "" }
	before, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if code := Main(t.Context(), s, []string{"themes", "new", "mine"}, w.wire()); code != ExitFailed || !strings.Contains(errs.String(), "HOME is not set") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	after, err := os.ReadDir(".")
	if err != nil || len(after) != len(before) {
		t.Errorf("there are %d files now where %d were, %v", len(after), len(before), err)
	}
	a := newApp(s, w.wire())
	if dir := a.themesDir(); dir != "" {
		t.Errorf("themes are read from %s", dir)
	}
}

// The doctor reads the theme as a chat does, and says where there is no place.
func TestTheDoctorTellsOfAThemeThatIsWrong(t *testing.T) {
	t.Parallel()
	w, s, out, _ := world1(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	write(t, path, "theme = \"mine\"\n", 0o600)
	write(t, filepath.Join(dir, "themes", "mine.toml"), "base = \"dark\"\ncolours = 1\n", 0o600)
	if code := Main(t.Context(), s, []string{"--config", path, "doctor"}, w.wire()); code != ExitFailed || !strings.Contains(out.String(), "mine.toml, line 2") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	w, s, out, _ = world1(t)
	s.Getenv = func(string) string { return "" }
	Main(t.Context(), s, []string{"doctor"}, w.wire())
	if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "configuration there is none, because HOME is not set") {
		t.Errorf("without a home it says\n%s", out)
	}
}

// A store that others can read is told of.
func TestTheDoctorTellsWhoCanReadTheStore(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no such mode there")
	}
	for mode, want := range map[os.FileMode]bool{0o700: false, 0o755: true} {
		w, s, out, _ := world1(t)
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		Main(t.Context(), s, []string{"--dir", dir, "doctor"}, w.wire())
		if told := strings.Contains(out.String(), "run: chmod 700 "+dir); told != want {
			t.Errorf("mode %o: told %t\n%s", mode, told, out)
		}
	}
}
