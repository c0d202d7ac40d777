package picker

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
)

// ids are the sessions in the list, in its order.
func (s *screen) ids() []harness.SessionID {
	var out []harness.SessionID
	for n := range s.list.rows {
		out = append(out, s.list.keyAt(n).session)
	}
	return out
}

// types pastes text into the search box.
func (s *screen) types(text string) *screen {
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	s.settle()
	return s
}

func TestTagsAreTypedByTheirStartAndThenWhole(t *testing.T) {
	t.Parallel()
	f := &store{sessions: []harness.Session{
		{ID: "a", Title: "Alpha", Tags: []string{"bill", "Äpfel"}},
		{ID: "b", Title: "Beta", Tags: []string{"billing"}},
		{ID: "c", Title: "Gamma about #bill"},
		{ID: "d", Title: "Delta", Tags: []string{"go", "billing"}},
	}}
	for text, want := range map[string][]harness.SessionID{
		"#bil":           {"a", "b", "d"},
		"#BILL":          {"a", "b", "d"},
		"#bill ":         {"a"},
		"#billing go":    {"d"},
		"go #billing":    {"d"},
		"#billing #go ":  {"d"},
		"#":              {"a", "b", "d"},
		"#apfel ":        {"a"},
		"＃bill　":         {"a"},
		"alpha #billi":   nil,
		"#illing":        nil,
		"bill":           {"a", "b", "c", "d"},
		"#bill # ":       {"a"},
		"gamma":          {"c"},
		"##billing beta": {"b"},
	} {
		s := open(t, f, 80, 24).types(text)
		if got := s.ids(); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", text, got, want)
		}
		s = open(t, f, 80, 24)
		for _, r := range text {
			s.keys(string(r))
		}
		if got := s.ids(); !slices.Equal(got, want) {
			t.Errorf("%q typed by letters finds %v, want %v", text, got, want)
		}
	}
}

func TestTagsNarrowTheMessagesAndAreNotSearchedFor(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: "zebra"}, {Session: "rewrite", Message: 2, Excerpt: "zebra"}, {Session: "gone", Message: 2, Excerpt: "zebra"}}
	search := func(c *Config) { c.Search = f }
	s := open(t, f, 80, 24, search).types("#billing zebra")
	s.shows("Importer rewrite, A > zebra").lacks("Trip ideas", "gone >")
	if want := []string{"zebra"}; !slices.Equal(f.searches, want) {
		t.Errorf("searched %q, want %q", f.searches, want)
	}
	f.searches = nil
	if open(t, f, 80, 24, search).types("#billing "); f.searches != nil {
		t.Errorf("searched %q for a tag", f.searches)
	}
}

func TestThisDirectoryOrAll(t *testing.T) {
	t.Parallel()
	f := sample()
	for _, id := range []harness.SessionID{"vat", "trip"} {
		f.sessions[f.find(id)].Dir = "/src/importer"
	}
	f.sessions[f.find("draft")].Dir = "/src/importer/sub"
	f.hits = []harness.Hit{{Session: "rewrite", Message: 2, Excerpt: "zebra"}, {Session: "trip", Message: 4, Excerpt: "zebra"}}
	s := open(t, f, 80, 24, func(c *Config) { c.Dir, c.Search = "/src/importer", f })
	s.shows("Sessions of all directories", "8 ·").keys("ctrl+o").shows("Sessions in importer", "2 of 8")
	if got := s.ids(); !slices.Equal(got, []harness.SessionID{"vat", "trip"}) {
		t.Errorf("this directory has %v", got)
	}
	s.types("zebra").shows("Trip ideas > zebra").lacks("Importer rewrite")
	s.keys("ctrl+o").shows("Importer rewrite, A > zebra", "Trip ideas > zebra")
	s.keys("ctrl+o", "esc")
	var cmd tea.Cmd
	s.Model, cmd = s.Open("q3", false)
	s.cmds = append(s.cmds, cmd)
	s.settle()
	s.shows("Sessions in importer", "2 of 8")
	f.sessions = slices.DeleteFunc(f.sessions, func(s harness.Session) bool { return s.Dir == "/src/importer" })
	s.send(Changed{})
	s.settle()
	s.shows("Nothing here is of this directory. ^O shows all.")
	open(t, f, 80, 24).keys("ctrl+o").shows("This start has no directory.")
}

func TestTheOrderIsKeptWhenTheListIsReadAgain(t *testing.T) {
	t.Parallel()
	f := sample()
	for i := range f.sessions {
		f.sessions[i].Created = before(day * [...]time.Duration{3, 1, 9, 2, 8, 7, 6, 5}[i])
	}
	s := open(t, f, 80, 24).keys("down", "ctrl+t").shows("newest first")
	want := []harness.SessionID{"q3", "vat", "draft", "hostile", "wide", "trip", "nightly", "rewrite"}
	if got := s.ids(); !slices.Equal(got, want) {
		t.Errorf("newest first is %v, want %v", got, want)
	}
	s.selectedIs("vat")
	s.send(Changed{})
	s.settle()
	if got := s.ids(); !slices.Equal(got, want) {
		t.Errorf("read again it is %v", got)
	}
	s.keys("ctrl+t").shows("by title", "BY TITLE").selectedIs("vat")
	want = []harness.SessionID{"q3", "hostile", "draft", "rewrite", "nightly", "trip", "vat", "wide"}
	if got := s.ids(); !slices.Equal(got, want) {
		t.Errorf("by title is %v, want %v", got, want)
	}
	s.send(Changed{})
	s.send(keyMsg("ctrl+t"))
	s.settle()
	if got := s.ids(); got[1] != "vat" || got[2] != "rewrite" {
		t.Errorf("last used first is %v", got)
	}
	s.shows("last used first").keys("ctrl+a", "ctrl+t").shows("The trash is in the order of deletion.")
}

func TestFoundWordsStandOutWithoutColour(t *testing.T) {
	t.Parallel()
	f := sample()
	f.sessions = append(f.sessions, harness.Session{ID: "z", Title: "Größe der Rechnung", Tags: []string{"grob"}, Updated: now})
	f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: strings.Repeat("before ", 30) + "Grölend importiert " + strings.Repeat("after ", 30)}}
	bare, err := themes.Load("dark", true, themes.Options{Profile: themes.NoColor})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){"coloured": func(*Config) {}, "bare": func(c *Config) { c.Theme = bare }} {
		s := open(t, f, 80, 24, func(c *Config) { c.Search = f }, change).types("gro").keys("down")
		match := string(s.c.Theme.Paints.Match)
		view := s.View(80, 24)
		for _, found := range []string{match + "Grö" + themes.Reset, match + "gro" + themes.Reset} {
			if strings.Count(view, found) == 0 {
				t.Errorf("%s: no %q in\n%q", name, found, view)
			}
		}
		s.shows("Trip ideas > …before before", "Größe der Rechnung  #grob")
		if !strings.Contains(match, "1;4") {
			t.Errorf("%s: found words are %q: neither bold nor underlined", name, match)
		}
	}
	s := open(t, f, 80, 24, func(c *Config) { c.Search = f }).types("importieren")
	if want := string(s.c.Theme.Paints.Selected+s.c.Theme.Paints.Match) + "importier"; !strings.Contains(s.View(80, 24), want) {
		t.Errorf("another form of the word is not pointed out:\n%q", s.View(80, 24))
	}
}
