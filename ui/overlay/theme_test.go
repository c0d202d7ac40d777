package overlay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
)

// TestGoldenThemes compares the styled sample of every theme, with every sequence
// written out.
func TestGoldenThemes(t *testing.T) {
	t.Parallel()
	for _, name := range themes.Names() {
		for _, dark := range []bool{true, false} {
			if dark && name == "light" || !dark && name == "dark" {
				continue
			}
			th, err := themes.Load(name, dark, themes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			md := render.NewMarkdown(th).Message("# Title\n\nText with **weight**, *slant*, `code` and [a link](https://example.com).\n\n> quoted\n\n- [x] done\n\n```go\nreturn 42 // why\n```\n", 60)
			got := strings.ReplaceAll(strings.Join(append(Themes{c: ThemesConfig{Theme: th}}.sample(60), md...), "\n"), "\x1b", "\\e") + "\n"
			path := filepath.Join("testdata", fmt.Sprintf("theme-%s-%s.txt", name, map[bool]string{true: "dark", false: "light"}[dark]))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs:\n%s\nwanted:\n%s", path, got, want)
			}
		}
	}
}

// The list fits every size, and the theme at the cursor is always on it.
func TestThemesFitEverySize(t *testing.T) {
	t.Parallel()
	th, err := themes.Load("dark", true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []ThemeChoice
	for i := range 30 {
		all = append(all, ThemeChoice{Name: fmt.Sprintf("theme %d with a very long name 其他国家", i), Wrong: strings.Repeat("a long sentence ", 30)})
	}
	all[0] = ThemeChoice{Name: "first", Make: func(bool) *themes.Theme { return th }, Faint: []string{"colors.muted is hard to read"}}
	for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 2}, {10, 3}, {40, 10}, {63, 12}, {64, 19}, {80, 24}, {200, 60}} {
		l, _ := NewThemes(t.Context(), ThemesConfig{List: func(context.Context) []ThemeChoice { return all }, Current: "first", Theme: th}).Open()
		l, _, _ = l.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		l, _, _ = l.Update(themesRead{all})
		for i := range all {
			view := l.View(size[0], size[1])
			lines := strings.Split(view, "\n")
			if len(lines) != max(size[1], 1) {
				t.Fatalf("%v: %d lines", size, len(lines))
			}
			for _, line := range lines {
				if render.Width(line) > size[0] {
					t.Fatalf("%v: a line of %d cells", size, render.Width(line))
				}
			}
			if size[0] >= 40 && !strings.Contains(view, map[bool]string{true: "first", false: fmt.Sprintf("theme %d", i)}[i == 0]) {
				t.Errorf("%v: the theme %d is not to be seen:\n%s", size, i, view)
			}
			l, _, _ = l.Update(tea.KeyMsg{Type: tea.KeyDown})
		}
	}
}
