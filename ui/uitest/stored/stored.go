// Package stored compares screens with those that are stored.
//
// The one thing to know: a file holds one screen, in all sizes at which it is
// looked at, each below a line that names the size.
package stored

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Sizes are those at which every screen is looked at: columns and rows.
func Sizes() [][2]int { return [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} }

// mark begins the line that names the size of what follows.
const mark = "== "

// writing is held by who writes a file anew, as screens of several sizes may be at once.
var writing sync.Mutex //nolint:gochecknoglobals // files are shared by all tests of a process

// Compare fails unless a screen of a size is the one that is stored below testdata
// under its name, or writes it there. Spaces at the ends of lines do not count.
func Compare(tb testing.TB, update bool, name string, width, height int, screen string) {
	tb.Helper()
	lines := strings.Split(screen, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name+".txt")
	size := fmt.Sprintf("%dx%d", width, height)
	if update {
		if err := write(path, size, got); err != nil {
			tb.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if want := split(string(stored))[size]; got != want {
		tb.Errorf("%s in %s differs; run with -update and look at the difference.\ngot:\n%s\nwant:\n%s", path, size, got, want)
	}
}

// split takes a file apart by sizes.
func split(stored string) map[string]string {
	all := map[string]string{}
	size := ""
	for l := range strings.Lines(stored) {
		if name, ok := strings.CutPrefix(l, mark); ok {
			size = strings.TrimSpace(name)
			continue
		}
		all[size] += l
	}
	return all
}

// write puts a screen in the place of that of the same size in a file.
func write(path, size, screen string) error {
	writing.Lock()
	defer writing.Unlock()
	stored, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("read the stored screen %s: %w", path, err)
	}
	all := split(string(stored))
	all[size] = screen
	var b strings.Builder
	for _, s := range Sizes() {
		name := fmt.Sprintf("%dx%d", s[0], s[1])
		if text, ok := all[name]; ok {
			b.WriteString(mark + name + "\n" + text)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(b.String()), fs.FileMode(0o644)); err != nil {
		return fmt.Errorf("write the screen %s: %w", path, err)
	}
	return nil
}
