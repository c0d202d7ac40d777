//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A project is anybody's: what it has in the place of its configuration may
// never end, or never begin.
func TestAProjectsConfigurationIsAnOrdinaryFile(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a named pipe":             func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to a device":       func(path string) error { return os.Symlink("/dev/zero", path) },
		"a directory":              func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to nothing at all": func(path string) error { return os.Symlink("/dev/null", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := home(t, "", "theme = \"dark\"\n", nil)
			path := filepath.Join(s.Dir, ".cairn", "config.toml")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if _, err := loadConfig(s, "", nil, nil); err == nil || !strings.Contains(err.Error(), "no ordinary file") || exitCode(err) != ExitUsage {
				t.Errorf("got %v", err)
			}
		})
	}
}
