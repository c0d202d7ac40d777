package overlay

import (
	"flag"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func theme(tb testing.TB) *themes.Theme {
	tb.Helper()
	th, err := themes.Load("dark", true, themes.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return th
}

func keys() []render.Binding {
	b := func(group, help string, keys ...string) render.Binding {
		return render.Binding{Action: "x", Keys: keys, Help: help, Group: group}
	}
	out := []render.Binding{
		b("Writing", "send (queue if busy)", "enter"), b("Writing", "newline", "ctrl+j", "alt+enter", "shift+enter"),
		b("Writing", "earlier prompts", "up", "down"), b("Writing", "search prompts", "ctrl+r"),
		b("Writing", "write in $EDITOR", "ctrl+g"), b("Writing", "undo in the box", "ctrl+_"), b("Writing", "never"),
		b("Reading", "page", "pgup", "pgdown"), b("Reading", "top, or follow again", "home", "end"),
		b("Reading", "copy a code block by its number, from the text it was made of", "1", "2"), b("Reading", "open or fold", " "),
		b("Running", "stop and keep the text", "esc esc"), b("Running", "stop now", "ctrl+c"),
		b("Going places", "palette", "ctrl+p"), b("Going places", "sessions", "ctrl+s"), b("Going places", "memory", "ctrl+x f"),
	}
	out[12].Off = "nothing runs"
	return out
}

func help(tb testing.TB) Help {
	tb.Helper()
	return NewHelp(HelpConfig{
		Title: "chat", Bindings: keys(), Theme: theme(tb),
		Notes: []string{"Your terminal: kitty keys yes · OSC 52 yes · truecolor", "Saved in ~/.local/share/cairn"},
	})
}

func key(name string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "f1": tea.KeyF1, "backspace": tea.KeyBackspace,
	}
	if t, ok := named[name]; ok {
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func pressHelp(h Help, names ...string) (Help, Intent) {
	var intent Intent
	for _, n := range names {
		h, _, intent = h.Update(key(n))
	}
	return h, intent
}

func golden(t *testing.T, name, view string, w, h int) {
	t.Helper()
	stored.Compare(t, *update, name, w, h, ansi.Strip(view))
}

func TestGoldenOverlays(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		ws := tea.WindowSizeMsg{Width: w, Height: h}
		hp, _, _ := help(t).Update(ws)
		golden(t, "help", hp.View(w, h), w, h)
		hp, _ = pressHelp(hp, "c", "o", "p", "y")
		golden(t, "help-filtered", hp.View(w, h), w, h)
	}
}

func TestHelpShowsEveryKeyAndWhyOneDoesNothing(t *testing.T) {
	t.Parallel()
	for _, w := range []int{40, 80, 120, 200} {
		v := ansi.Strip(help(t).View(w, 100))
		flat := strings.Join(strings.Fields(v), " ")
		for _, want := range []string{"alt+enter", "WRITING", "GOING PLACES", "ctrl+x f", "pgdn", "space", "Your terminal"} {
			if !strings.Contains(flat, want) {
				t.Errorf("width %d lacks %q:\n%s", w, want, v)
			}
		}
		if w == 40 && !strings.Contains(flat, "stop now (not now: nothing runs)") {
			t.Errorf("no reason for a key that is off:\n%s", v)
		}
		if strings.Contains(v, "never") {
			t.Errorf("an action without a key is shown:\n%s", v)
		}
	}
}

func TestHelpScrollsToItsEndInASmallArea(t *testing.T) {
	t.Parallel()
	h, _, _ := help(t).Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	seen := ""
	for range 20 {
		seen += h.View(40, 10)
		h, _ = pressHelp(h, "pgdown")
	}
	for _, want := range []string{"WRITING", "GOING PLACES", "Saved in"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q never came on screen", want)
		}
	}
	h, _ = pressHelp(h, "home")
	if !strings.Contains(h.View(40, 10), "WRITING") {
		t.Error("home does not go to the start")
	}
}

func TestHelpClosesByItsKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys   []string
		closed bool
	}{{[]string{"esc"}, true}, {[]string{"f1"}, true}, {[]string{"?"}, true}, {[]string{"a", "?"}, false}, {[]string{"down"}, false}} {
		if _, intent := pressHelp(help(t), c.keys...); (intent == Closed{}) != c.closed {
			t.Errorf("%v gives %#v", c.keys, intent)
		}
	}
}

func TestEverySizeHoldsHostileText(t *testing.T) {
	t.Parallel()
	const bad = "a\x1b[2J\u202eb\n\u009bc界👩‍👩‍👧\x1b]0;t\x07"
	long := strings.Repeat(bad, 50)
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		size := tea.WindowSizeMsg{Width: w, Height: h}
		text := rapid.SampledFrom([]string{"", bad, long}).Draw(rt, "text")
		hp := NewHelp(HelpConfig{Title: text, Notes: []string{text}, Bindings: append(keys(), render.Binding{Keys: []string{text}, Help: text, Group: text, Off: text}), Theme: theme(t)})
		hp, _, _ = hp.Update(size)
		hp, _ = pressHelp(hp, rapid.SampledFrom([]string{"pgdown", "end", "界", "p", bad}).Draw(rt, "help key"))
		holds(rt, hp.View(w, h), w, h)
		holds(rt, hp.View(h, w), h, w)
		if x, y, on := hp.Cursor(); on && (x < 0 || x >= w || y < 0 || y >= h) {
			rt.Fatalf("cursor %d,%d in %dx%d", x, y, w, h)
		}
	})
}

func holds(t *rapid.T, view string, w, h int) {
	t.Helper()
	if h <= 0 {
		if view != "" {
			t.Fatalf("%q in no rows", view)
		}
		return
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines in %d rows", len(lines), h)
	}
	for _, l := range lines {
		if render.Width(l) > max(w, 0) {
			t.Fatalf("%d cells in %d columns: %q", render.Width(l), w, l)
		}
		for _, bad := range []string{"\u202e", "\u009b", "\r", "\x07", "\x1b[2J", "\x1b]"} {
			if strings.Contains(l, bad) {
				t.Fatalf("%q reached the screen in %q", bad, l)
			}
		}
	}
}

func TestThePlainThemeIsASCII(t *testing.T) {
	t.Parallel()
	plain, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		hp := NewHelp(HelpConfig{Title: "chat", Bindings: keys(), Notes: []string{strings.Repeat("note ", 40)}, Theme: plain})
		v := hp.View(w, h)
		if i := strings.IndexFunc(v, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }); i >= 0 {
			t.Errorf("there is %q in\n%s", v[i:i+3], v)
		}
	}
}

// must is the theme for a random test.
func must(tb rapid.TB) *themes.Theme {
	th, err := themes.Load("dark", true, themes.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return th
}
