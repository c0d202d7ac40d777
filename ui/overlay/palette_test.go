package overlay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/themes"

	"cairn/ui/uitest/stored"
)

// driven drives an overlay and carries out its commands at once.
type driven[T value[T]] struct {
	tb     testing.TB
	v      T
	w, h   int
	intent Intent
}

func (s *driven[T]) send(msg tea.Msg) *driven[T] {
	var cmd tea.Cmd
	s.v, cmd, s.intent = s.v.Update(msg)
	return s.run(cmd)
}

func (s *driven[T]) run(cmd tea.Cmd) *driven[T] {
	if cmd == nil {
		return s
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	default:
		s.send(msg)
	}
	return s
}

func (s *driven[T]) keys(names ...string) *driven[T] {
	special := map[string]tea.KeyType{
		"tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "ctrl+n": tea.KeyCtrlN, "ctrl+p": tea.KeyCtrlP, "ctrl+r": tea.KeyCtrlR,
		"ctrl+u": tea.KeyCtrlU, "ctrl+end": tea.KeyCtrlEnd, "ctrl+home": tea.KeyCtrlHome, "enter": tea.KeyEnter,
	}
	for _, n := range names {
		if t, ok := special[n]; ok {
			s.send(tea.KeyMsg{Type: t})
			continue
		}
		s.send(key(n))
	}
	return s
}

func (s *driven[T]) types(text string) *driven[T] {
	for _, r := range text {
		s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	return s
}

func (s *driven[T]) paste(text string) *driven[T] {
	return s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
}

func (s *driven[T]) view() string { return ansi.Strip(s.v.View(s.w, s.h)) }

func (s *driven[T]) shows(want ...string) *driven[T] {
	s.tb.Helper()
	for _, w := range want {
		if v := s.view(); !strings.Contains(v, w) {
			s.tb.Fatalf("it lacks %q:\n%s", w, v)
		}
	}
	return s
}

func (s *driven[T]) hides(unwanted ...string) *driven[T] {
	s.tb.Helper()
	for _, w := range unwanted {
		if v := s.view(); strings.Contains(v, w) {
			s.tb.Fatalf("it shows %q:\n%s", w, v)
		}
	}
	return s
}

// chosen is the row under the cursor.
func (s *driven[T]) chosen(want string) *driven[T] {
	s.tb.Helper()
	for _, l := range strings.Split(s.view(), "\n")[2:] {
		if strings.HasPrefix(l, " > ") && strings.Contains(l, want) {
			return s
		}
	}
	s.tb.Fatalf("the row %q is not chosen:\n%s", want, s.view())
	return s
}

func paletteGroups() []PaletteGroup {
	it := func(id, name, right, words string) PaletteItem {
		return PaletteItem{ID: id, Name: name, Right: right, Words: words, Do: Act{Action: id}}
	}
	off := it("chat.takeover", "take this session over from another window", "/takeover  ^X t", "reader")
	off.Off = "this window owns the session"
	return []PaletteGroup{
		{Name: "commands", Items: []PaletteItem{
			it("chat.new", "start a new chat; this one is kept", "/new  ^N", "clear"),
			it("chat.memory", "open the memory browser", "/memory  ^X f", "facts notes"),
			{ID: "slash.remember", Name: "save a fact", Right: "/remember TEXT", Words: "remember memory", Do: Command{Text: "/remember ", Fill: true}},
			{ID: "slash.inbox", Name: "decide what was suggested to be remembered", Right: "/inbox", Do: Command{Text: "/inbox"}},
			off,
			it("chat.page-up", "page up", "pgup", "Reading"),
			it("edit.word-left", "word left", "alt+b", "Editing"),
			it("chat.zeichen", "日本語の会話を開く 🏔️", "^X j", "cjk"),
		}},
		{Name: "sessions", Load: func(context.Context) ([]PaletteItem, error) {
			return []PaletteItem{
				{ID: "session.q3", Name: "Q3 invoice importer", Right: "2h", Do: Open{Session: "q3"}},
				{ID: "session.m", Name: "What the memory keeps", Right: "3d", Do: Open{Session: "m"}},
			}, nil
		}},
		{Name: "models", Load: func(context.Context) ([]PaletteItem, error) {
			return nil, errors.New("the catalogue is away")
		}},
		{Name: "settings", Items: []PaletteItem{
			it("chat.details", "turn the details on", "^O", "tools usage"),
			{ID: "slash.memory-off", Name: "turn memory off in this chat", Right: "/memory off", Do: Command{Text: "/memory off"}},
		}},
	}
}

func paletteOver(tb testing.TB, w, h int, change ...func(*PaletteConfig)) *driven[Palette] {
	tb.Helper()
	c := PaletteConfig{Title: "chat", Groups: paletteGroups(), Theme: theme(tb)}
	for _, f := range change {
		f(&c)
	}
	p, cmd := NewPalette(context.Background(), c).Open()
	s := &driven[Palette]{tb: tb, v: p, w: w, h: h}
	return s.send(tea.WindowSizeMsg{Width: w, Height: h}).run(cmd)
}

func TestGoldenPalette(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		s := paletteOver(t, w, h)
		golden(t, "palette", s.v.View(w, h), w, h)
		golden(t, "palette-filtered", s.types("mem").v.View(w, h), w, h)
		golden(t, "palette-none", s.types("qqq").v.View(w, h), w, h)
		golden(t, "palette-off", paletteOver(t, w, h).types("takeover").keys("enter").v.View(w, h), w, h)
	}
}

func TestThePaletteFindsByWordsInNameAndDescription(t *testing.T) {
	t.Parallel()
	s := paletteOver(t, 80, 24)
	s.types("mem").chosen("open the memory browser").shows("also matches: sessions 1 · models 0 · settings 1")
	s.keys("ctrl+u").types("facts brow").chosen("open the memory browser").hides("save a fact")
	s.keys("ctrl+u").types("/inbox").chosen("decide what was suggested")
	s.keys("ctrl+u").types("日本").chosen("日本語の会話")
	s.keys("ctrl+u").types("nwcht").chosen("start a new chat") // letters in their order
	s.keys("ctrl+u").types("pgup").chosen("page up")
}

func TestTabGoesToTheGroupsInWhichSomethingIsFound(t *testing.T) {
	t.Parallel()
	s := paletteOver(t, 80, 24)
	s.types("mem").keys("tab").chosen("What the memory keeps").keys("tab").chosen("turn memory off").keys("tab").chosen("open the memory browser")
	s.keys("shift+tab").chosen("turn memory off").keys("enter")
	if got, ok := s.intent.(Chosen); !ok || got.Do != (Command{Text: "/memory off"}) || got.ID != "slash.memory-off" {
		t.Errorf("chose %#v", s.intent)
	}
	// What is found in another group only is shown there.
	paletteOver(t, 80, 24).types("invoice").chosen("Q3 invoice importer").keys("enter")
}

func TestAnItemThatIsOffSaysWhy(t *testing.T) {
	t.Parallel()
	s := paletteOver(t, 120, 40).types("takeover").chosen("(this window owns the session)")
	if s.keys("enter"); s.intent != nil {
		t.Errorf("it did %#v", s.intent)
	}
	s.shows(" this window owns the session")
}

func TestWhatWasChosenLastIsFirst(t *testing.T) {
	t.Parallel()
	s := paletteOver(t, 80, 24, func(c *PaletteConfig) { c.Recent = []string{"edit.word-left", "slash.inbox", "gone"} })
	s.chosen("word left").keys("ctrl+n").chosen("decide what was suggested").keys("ctrl+p", "ctrl+p").chosen("word left")
	s.types("a").keys("ctrl+u").chosen("word left")
}

func TestAGroupThatCannotBeReadSaysSo(t *testing.T) {
	t.Parallel()
	paletteOver(t, 80, 24, func(c *PaletteConfig) { c.Group = 2 }).shows("the catalogue is away")
}

func TestWhatAnEarlierPaletteAskedForIsDropped(t *testing.T) {
	t.Parallel()
	_, cmd := NewPalette(t.Context(), PaletteConfig{Groups: paletteGroups(), Theme: theme(t)}).Open()
	p, second := NewPalette(t.Context(), PaletteConfig{Groups: paletteGroups(), Theme: theme(t)}).Open()
	s := &driven[Palette]{tb: t, v: p, w: 80, h: 24}
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24}).run(cmd).run(second).keys("tab")
	s.shows("1 of 2")
}

func TestThePaletteHoldsItsSizeWhateverIsInIt(t *testing.T) {
	t.Parallel()
	plain, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"", "a", "\x1b]52;c;aGk=\a evil", "a\r\nb", "\u202egnp", "日本語🏔️👩‍👩‍👧", strings.Repeat("long ", 80), "e\u0301\u0302", "مرحبا"}
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		var items []PaletteItem
		for i := range rapid.IntRange(0, 30).Draw(rt, "items") {
			n := rapid.SampledFrom(names)
			items = append(items, PaletteItem{ID: fmt.Sprint(i), Name: n.Draw(rt, "name"), Right: n.Draw(rt, "right"), Off: n.Draw(rt, "off"), Words: n.Draw(rt, "words"), Do: Closed{}})
		}
		s := paletteOver(t, w, h, func(c *PaletteConfig) {
			c.Groups = append([]PaletteGroup{{Name: "things", Items: items}}, c.Groups...)
			c.Theme = rapid.SampledFrom([]*themes.Theme{theme(t), plain}).Draw(rt, "theme")
		})
		for range 4 {
			holds(rt, s.v.View(w, h), w, h)
			holds(rt, s.v.View(h, w), h, w)
			s.keys(rapid.SampledFrom([]string{"tab", "pgdown", "down", "e", "é", "ctrl+end", "ctrl+u", "界"}).Draw(rt, "key"))
		}
	})
}

func BenchmarkPaletteOverManySessions(b *testing.B) {
	c := PaletteConfig{Theme: theme(b), Groups: []PaletteGroup{{Name: "sessions"}}}
	for i := range 2000 {
		id := harness.SessionID(fmt.Sprint("s", i))
		c.Groups[0].Items = append(c.Groups[0].Items, PaletteItem{ID: string(id), Name: fmt.Sprintf("What we said about %d and 发票", i), Do: Open{Session: id}})
	}
	p := NewPalette(context.Background(), c)
	p, _, _ = p.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for b.Loop() {
		q := p
		for _, r := range "about 1999" {
			q, _, _ = q.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			_ = q.View(120, 40)
		}
	}
}
