package widget

import (
	"math/rand/v2"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// pressed presses keys by their names in a field.
func pressed(f Field, keys ...string) Field {
	for _, k := range keys {
		f, _ = f.Key(named(k))
	}
	return f
}

// named is a key by its name.
func named(name string) tea.KeyMsg {
	for t := tea.KeyType(-120); t < 128; t++ {
		for _, alt := range []bool{false, true} {
			if k := (tea.KeyMsg{Type: t, Alt: alt}); t != tea.KeyRunes && k.String() == name {
				return k
			}
		}
	}
	if len(name) > 4 && name[:4] == "alt+" {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name[4:]), Alt: true}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func TestAFieldHasTheRestOfReadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		keys []string
		want string
	}{
		{"one two", []string{"ctrl+w", "left", "end", "ctrl+w", "x", " ", "ctrl+y"}, "x one "},
		{"one two", []string{"ctrl+w", "left", "end", "ctrl+w", "x", " ", "ctrl+y", "alt+y"}, "x two"},
		{"one two", []string{"ctrl+w", "left", "end", "ctrl+w", "x", " ", "ctrl+y", "alt+y", "alt+y"}, "x one "},
		{"one two", []string{"ctrl+w", "left", "end", "ctrl+w", "x", " ", "ctrl+y", "alt+y", "ctrl+_"}, "x "},
		{"one", []string{"alt+y"}, "one"},
		{"one", []string{"ctrl+u", "ctrl+_", "alt+_"}, ""},
		{"one", []string{"ctrl+u", "ctrl+_", "x", "alt+_"}, "onex"},
		{"one two", []string{"home", "alt+u", "alt+c"}, "ONE Two"},
		{"ÉTÉ", []string{"home", "alt+l"}, "été"},
		{"one two", []string{"alt+t"}, "two one"},
		{"one, two three", []string{"home", "alt+f", "alt+t"}, "two, one three"},
		{"one", []string{"alt+t"}, "one"},
	} {
		if got := pressed(Line(c.text), c.keys...).Text(); got != c.want {
			t.Errorf("%q after %q is %q, not %q", c.text, c.keys, got, c.want)
		}
	}
}

// TestTheCursorOfAFieldIsNeverInsideACharacter presses keys at random.
func TestTheCursorOfAFieldIsNeverInsideACharacter(t *testing.T) {
	t.Parallel()
	const seed = 5
	r := rand.New(rand.NewPCG(seed, seed))
	keys := []string{
		"a", " ", "\u0301", "\U0001F1E9", "\U0001F1EA", "👩", "\u200d", "👧", "ß", "會", "left", "right", "alt+b", "alt+f", "backspace", "delete", "ctrl+w",
		"alt+backspace", "alt+d", "ctrl+u", "ctrl+k", "ctrl+y", "alt+y", "ctrl+_", "alt+_", "alt+u", "alt+l", "alt+c", "alt+t", "home", "end",
	}
	f := Line("")
	for i := range 20_000 {
		k := keys[r.IntN(len(keys))]
		f = pressed(f, k)
		at := 0
		for at < f.at {
			at += clusterLen(f.text[at:])
		}
		if at != f.at {
			t.Fatalf("step %d: after %q the cursor is at byte %d of %q, inside a character", i, k, f.at, f.text)
		}
		if len(f.text) > 300 {
			f = Line("")
		}
	}
}
