package overlay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/themes"
	"cairn/ui/overlay"
)

// welcomed is a welcome that has found everything.
func welcomed(t *testing.T, c overlay.WelcomeConfig, width, height int) overlay.Welcome {
	t.Helper()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	c.Theme = theme
	w, cmd := overlay.NewWelcome(t.Context(), c).Open()
	w, _, _ = w.Update(tea.WindowSizeMsg{Width: width, Height: height})
	batch, _ := cmd().(tea.BatchMsg)
	for _, one := range batch {
		w, _, _ = w.Update(one())
	}
	return w
}

func findings() overlay.WelcomeConfig {
	return overlay.WelcomeConfig{
		Keys: func(context.Context) ([]overlay.WelcomeKey, error) {
			return []overlay.WelcomeKey{{Provider: "anthropic", From: "ANTHROPIC_API_KEY"}}, nil
		},
		Servers: func(context.Context) ([]overlay.WelcomeServer, error) {
			return []overlay.WelcomeServer{{Name: "ollama", Address: "http://127.0.0.1:11434", Models: 3}}, nil
		},
		Model: func(context.Context) (string, string, error) {
			return "anthropic/claude-test", "a key for anthropic was found", nil
		},
		Places: []overlay.WelcomePlace{{What: "Kept in", Path: "~/.local/share/cairn", Holds: "conversations, memory, drafts"}},
	}
}

func key(s string) tea.KeyMsg {
	switch s {
	case "enter":
		return tea.KeyMsg{Type: tea.KeyEnter}
	case "esc":
		return tea.KeyMsg{Type: tea.KeyEscape}
	case "tab":
		return tea.KeyMsg{Type: tea.KeyTab}
	case "pgdown":
		return tea.KeyMsg{Type: tea.KeyPgDown}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

func TestTheWelcomeTellsWhatWasFoundAndWhereThingsAre(t *testing.T) {
	t.Parallel()
	shown := ansi.Strip(welcomed(t, findings(), 80, 24).View(80, 24))
	for _, want := range []string{
		"Model     anthropic/claude-test", "a key for anthropic was found", "Keys      anthropic (ANTHROPIC_API_KEY)",
		"Local     ollama at http://127.0.0.1:11434, 3 models", "Kept in   ~/.local/share/cairn: conversations, memory, drafts",
		"Nothing is sent anywhere but to the model", "enter start",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not say %q:\n%s", want, shown)
		}
	}
}

func TestTheWelcomeShowsWhatIsNotKnownYetAsLookedFor(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.NoColor})
	if err != nil {
		t.Fatal(err)
	}
	c := findings()
	c.Theme = theme
	w, _ := overlay.NewWelcome(t.Context(), c).Open()
	if n := strings.Count(ansi.Strip(w.View(80, 24)), "looking"); n != 3 {
		t.Errorf("%d things are looked for, not 3", n)
	}
}

func TestAFailureOfTheWelcomeIsSaidInItsPlace(t *testing.T) {
	t.Parallel()
	c := findings()
	c.Model = func(context.Context) (string, string, error) { return "", "", errors.New("no such provider \x1b[2J") }
	shown := welcomed(t, c, 80, 24).View(80, 24)
	if !strings.Contains(ansi.Strip(shown), "no such provider") || strings.Contains(shown, "\x1b[2J") {
		t.Errorf("shown %q", shown)
	}
}

func TestKeysOfTheWelcome(t *testing.T) {
	t.Parallel()
	w := welcomed(t, findings(), 40, 10)
	for _, c := range []struct {
		key  string
		want overlay.Intent
	}{
		{"enter", overlay.Closed{}},
		{"esc", overlay.Closed{}},
		{"tab", overlay.Command{Text: "/model"}},
		{"h", overlay.Pass{Key: key("h")}},
		{"ж", overlay.Pass{Key: key("ж")}},
		{"pgdown", nil},
	} {
		_, _, got := w.Update(key(c.key))
		if p, ok := c.want.(overlay.Pass); ok {
			if g, ok := got.(overlay.Pass); !ok || g.Key.String() != p.Key.String() {
				t.Errorf("%q asks for %#v", c.key, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%q asks for %#v, not %#v", c.key, got, c.want)
		}
	}
	pasted := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a\nb"), Paste: true}
	if _, _, got := w.Update(pasted); got == nil {
		t.Error("a paste is swallowed")
	}
}

func TestTheWelcomeFitsAndScrolls(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 10}, {20, 5}, {80, 24}, {120, 40}, {200, 60}, {1, 1}, {2, 3}} {
		w := welcomed(t, findings(), size[0], size[1])
		seen := ""
		for range 40 {
			view := w.View(size[0], size[1])
			lines := strings.Split(view, "\n")
			if len(lines) != size[1] {
				t.Fatalf("%v: %d lines", size, len(lines))
			}
			for _, l := range lines {
				if ansi.StringWidth(l) > size[0] {
					t.Fatalf("%v: %q is too wide", size, l)
				}
			}
			seen += ansi.Strip(view)
			w, _, _ = w.Update(tea.KeyMsg{Type: tea.KeyDown})
		}
		if size[0] >= 20 && !strings.Contains(seen, "set-up.") && !strings.Contains(seen, "set-up") {
			t.Errorf("%v: the end cannot be reached", size)
		}
	}
}
