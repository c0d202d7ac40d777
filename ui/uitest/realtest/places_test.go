//go:build linux

package realtest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAPlaceThatHoldsNothingIsNamedInOneLine starts the program where it cannot
// keep anything: it says so, names the place and the way out, and ends.
func TestAPlaceThatHoldsNothingIsNamedInOneLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// prepare returns the home and the place to be named.
		prepare func(t *testing.T, h home) (env, place string)
	}{
		"no home": {func(*testing.T, home) (string, string) { return "", "HOME" }},
		"read-only home": {func(t *testing.T, h home) (string, string) {
			dir := filepath.Join(h.dir, "ro")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, "size=1m"); err != nil {
				t.Skip("no read-only file system without the right to mount one:", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(dir, 0); err != nil {
					t.Error(err)
				}
			})
			return "HOME=" + dir, dir
		}},
		"directory without the right to write": {func(t *testing.T, h home) (string, string) {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			dir := filepath.Join(h.dir, "data")
			if err := os.Mkdir(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			return "CAIRN_DIR=" + dir, dir
		}},
		"a file as directory": {func(t *testing.T, h home) (string, string) {
			file := filepath.Join(h.dir, "file")
			if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			return "CAIRN_DIR=" + file, file
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			env, place := c.prepare(t, h)
			for _, args := range [][]string{{"-q", "-p", "hello"}, {"facts", "add", "x"}, {"db", "check"}, {"db", "backup"}, nil} {
				cmd := h.command(args...)
				cmd.Env = append(cmd.Env[1:], env)
				var errs strings.Builder
				cmd.Stderr = &errs
				err := cmd.Run()
				said := errs.String()
				if code := cmd.ProcessState.ExitCode(); err == nil || code < 1 || code > 3 || strings.Contains(said, "panic") {
					t.Errorf("%v: exit code %d, %v: %s", args, code, err, said)
				}
				if args != nil && !strings.HasPrefix(strings.Join(args, " "), "db") && (strings.Count(said, "\n") != 1 || !strings.Contains(said, place) || !strings.Contains(said, "--dir")) {
					t.Errorf("%v: %s", args, said)
				}
			}
		})
	}
}
