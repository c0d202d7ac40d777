package overlay

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/themes"
	"cairn/ui/render"
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

func unfinished(tb testing.TB) Choice {
	tb.Helper()
	return NewChoice(ChoiceConfig{
		Title: "unfinished answer", Text: "cairn ended while this answer was being written, 2 minutes ago. What it had written is kept whatever you choose.",
		Items: []Item{
			{ID: "continue", Key: "c", Title: "go on", Detail: "the half answer becomes a message and the model goes on from there"},
			{ID: "retry", Key: "r", Title: "ask again", Detail: "the half answer stays in the history, out of the context"},
			{ID: "drop", Key: "d", Title: "leave it", Detail: "nothing is asked of the model"},
			{ID: "take", Key: "t", Title: "take over", Detail: "", Off: "pid 4411 is writing"},
		},
		Closing: "decide later", Theme: theme(tb),
	})
}

func models(tb testing.TB) Choice {
	tb.Helper()
	c := ChoiceConfig{Title: "model", Filter: true, Theme: theme(tb), Selected: "m7"}
	for i := range 40 {
		c.Items = append(c.Items, Item{ID: fmt.Sprintf("m%d", i), Title: fmt.Sprintf("provider/model-%d", i), Detail: "200,000 tokens"})
	}
	return NewChoice(c)
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

func press(c Choice, names ...string) (Choice, Intent) {
	var intent Intent
	for _, n := range names {
		c, _, intent = c.Update(key(n))
	}
	return c, intent
}

func golden(t *testing.T, name, view string, w, h int) {
	t.Helper()
	file := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, w, h))
	lines := strings.Split(ansi.Strip(view), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update and look at the difference.\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

func TestGoldenOverlays(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}} {
		w, h := size[0], size[1]
		ws := tea.WindowSizeMsg{Width: w, Height: h}
		hp, _, _ := help(t).Update(ws)
		golden(t, "help", hp.View(w, h), w, h)
		hp, _ = pressHelp(hp, "c", "o", "p", "y")
		golden(t, "help-filtered", hp.View(w, h), w, h)
		c, _, _ := unfinished(t).Update(ws)
		golden(t, "choice", c.View(w, h), w, h)
		m, _, _ := models(t).Update(ws)
		golden(t, "list", m.View(w, h), w, h)
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

func TestChoiceByKeyByEnterAndNotWhatIsOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys []string
		want Intent
	}{
		{[]string{"enter"}, Chosen{"continue"}},
		{[]string{"down", "enter"}, Chosen{"retry"}},
		{[]string{"d"}, Chosen{"drop"}},
		{[]string{"t"}, nil},
		{[]string{"end", "enter"}, nil},
		{[]string{"up", "enter"}, Chosen{"continue"}},
		{[]string{"x"}, nil},
		{[]string{"esc"}, Closed{}},
	} {
		m, got := press(unfinished(t), c.keys...)
		if got != c.want {
			t.Errorf("%v gives %#v, want %#v", c.keys, got, c.want)
		}
		if c.want == nil && c.keys[0] != "x" && !strings.Contains(m.View(80, 24), "Not now: pid 4411 is writing.") {
			t.Errorf("%v does not say why", c.keys)
		}
	}
}

func TestAPasteNeverChooses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"c", "\r", "d\n"} {
		if _, _, intent := unfinished(t).Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}); intent != nil {
			t.Errorf("pasting %q gives %#v", text, intent)
		}
	}
}

func TestALongListIsNarrowedByTyping(t *testing.T) {
	t.Parallel()
	m, _, _ := models(t).Update(tea.WindowSizeMsg{Width: 60, Height: 12})
	if !strings.Contains(m.View(60, 12), "> provider/model-7 ") {
		t.Errorf("the selected item is not on screen:\n%s", ansi.Strip(m.View(60, 12)))
	}
	if _, got := press(m, "3", "9", "enter"); got != (Chosen{"m39"}) {
		t.Errorf("39 enter gives %#v", got)
	}
	if _, got := press(m, "zz", "enter"); got != nil {
		t.Errorf("enter on nothing gives %#v", got)
	}
	if _, got := press(m, "end", "pgup", "home", "pgdown", "enter"); got == nil {
		t.Error("moving about chooses nothing")
	}
}

func TestPlaceCoversOnlyTheBox(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ view, want string }{
		{"abcdefgh\nabcdefgh", "abXX  gh\nabYYYYgh"},
		{"界界界界\n界界界界", "界XX  界\n界YYYY界"},
		{"a界界界b\na界界界b", "a XX   b\na YYYY b"},
		{"a\n", "a XX  \n  YYYY"},
	} {
		if got := ansi.Strip(Place(c.view, "XX\nYYYYYY", 2, 0, 4)); got != c.want {
			t.Errorf("over %q: %q, want %q", c.view, got, c.want)
		}
	}
	red := "\x1b[31mabcdefgh\x1b[0m"
	if got := Place(red, "XX", 2, 0, 2); !strings.HasSuffix(got, "\x1b[31mefgh\x1b[0m") {
		t.Errorf("the colour behind the box is lost: %q", got)
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
		c := NewChoice(ChoiceConfig{
			Title: text, Text: text, Filter: rapid.Bool().Draw(rt, "filter"), Theme: theme(t),
			Items: []Item{{ID: "1", Title: text, Detail: text, Key: "a"}, {ID: "2", Title: "b", Off: text}, {ID: "3", Title: "界界界"}},
		})
		c, _, _ = c.Update(size)
		c, _ = press(c, rapid.SampledFrom([]string{"down", "end", "界", "enter", "pgdown"}).Draw(rt, "key"))
		holds(rt, c.View(w, h), w, h)
		holds(rt, c.View(h, w), h, w)
		hp := NewHelp(HelpConfig{Title: text, Notes: []string{text}, Bindings: append(keys(), render.Binding{Keys: []string{text}, Help: text, Group: text, Off: text}), Theme: theme(t)})
		hp, _, _ = hp.Update(size)
		hp, _ = pressHelp(hp, rapid.SampledFrom([]string{"pgdown", "end", "界", "p", bad}).Draw(rt, "help key"))
		holds(rt, hp.View(w, h), w, h)
		holds(rt, hp.View(h, w), h, w)
		for _, cursor := range []func() (int, int, bool){c.Cursor, hp.Cursor} {
			if x, y, on := cursor(); on && (x < 0 || x >= w || y < 0 || y >= h) {
				rt.Fatalf("cursor %d,%d in %dx%d", x, y, w, h)
			}
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
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}} {
		w, h := size[0], size[1]
		hp := NewHelp(HelpConfig{Title: "chat", Bindings: keys(), Notes: []string{strings.Repeat("note ", 40)}, Theme: plain})
		views := []string{hp.View(w, h), unfinished(t).SetTheme(plain).View(w, h), models(t).SetTheme(plain).View(w, h)}
		for _, v := range views {
			if i := strings.IndexFunc(v, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }); i >= 0 {
				t.Errorf("there is %q in\n%s", v[i:i+3], v)
			}
		}
	}
}
