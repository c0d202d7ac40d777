package picker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

var sizes = stored.Sizes()

func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	for _, size := range sizes {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			t.Parallel()
			s := open(t, sample(), w, h)
			s.golden("list")
			s.keys("down", "ctrl+d").golden("deleted")
			s.keys("ctrl+u", "ctrl+r", "!").golden("rename")
			s.keys("esc", "i", "m", "p").golden("filtered")
			open(t, &store{}, w, h).golden("empty")
			f := sample()
			f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: "a blank VAT id is fine\noutside the EU"}, {Session: "gone", Message: 2, Excerpt: "because VAT"}}
			open(t, f, w, h, func(c *Config) { c.Search = f }).keys("v", "a", "t", "down").golden("messages")
			open(t, f, w, h, func(c *Config) { c.Search = f }).types("importer #bil").marked("found")
			open(t, odd(), w, h).keys("down").golden("odd")
			open(t, sample(), w, h).keys("right").golden("preview")
		})
	}
}

func TestKeysMoveAndOpen(t *testing.T) {
	t.Parallel()
	s := open(t, sample(), 80, 24)
	s.selectedIs("q3")
	s.keys("down", "down").selectedIs("rewrite")
	s.keys("ctrl+p").selectedIs("vat")
	s.keys("end").selectedIs("hostile")
	s.keys("down").selectedIs("hostile")
	s.keys("home", "up").selectedIs("q3")
	s.keys("pgdown").selectedIs("hostile")
	s.keys("pgup", "down", "enter")
	if s.last != (Open{Session: "vat"}) {
		t.Errorf("enter gave %#v", s.last)
	}
	for key, want := range map[string]Intent{"esc": Back{}, "ctrl+n": NewChat{}} {
		if got := open(t, sample(), 80, 24).keys(key).last; got != want {
			t.Errorf("%s gave %#v, want %#v", key, got, want)
		}
	}
}

func TestStatesAreWords(t *testing.T) {
	t.Parallel()
	s := open(t, sample(), 80, 24)
	for title, state := range map[string]string{
		"Q3 invoice importer": "running here", "Importer rewrite, A": "fork", "Draft reply to auditor": "unsent draft",
		"Nightly import failure": "interrupted", "Trip ideas": "open in pid 4411",
	} {
		found := false
		for line := range strings.SplitSeq(s.view(), "\n") {
			found = found || strings.Contains(line, title) && strings.Contains(line, state)
		}
		if !found {
			t.Errorf("no row says %q of %q:\n%s", state, title, s.view())
		}
	}
	s.Model = s.Present("q3", false)
	s.shows("open here")
	behind := sample()
	i := behind.find("trip")
	behind.sessions[i].Owner, behind.sessions[i].OpenStatus = &harness.Holder{PID: 7}, harness.RunRunning
	b := open(t, behind, 80, 24)
	if got := b.state(behind.sessions[i]); got != "running here" {
		t.Errorf("a chat behind the screen is %q", got)
	}
	b.keys("t", "r", "i", "p", "ctrl+d").shows("Its answer is still being written in this window.")
	waits := sample()
	for i := range waits.sessions {
		if waits.sessions[i].ID == "nightly" {
			waits.sessions[i].OpenStatus = harness.RunAwaiting
		}
	}
	open(t, waits, 80, 24).shows("waits for you")
}

func TestFilterFindsAllWordsFolded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		want  []harness.SessionID
	}{
		{"importer BILLING", []harness.SessionID{"q3", "rewrite"}},
		{"#go", []harness.SessionID{"q3"}},
		{"nightly", []harness.SessionID{"nightly"}},
		{"議事", []harness.SessionID{"wide"}},
		{"nothing at all", nil},
	} {
		s := open(t, sample(), 80, 24)
		for _, r := range c.query {
			s.keys(string(r))
		}
		var got []harness.SessionID
		for n := range s.list.rows {
			got = append(got, s.list.keyAt(n).session)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q finds %v, want %v", c.query, got, c.want)
		}
	}
}

func TestTheSelectionFollowsTheSessionWhenTheListChanges(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "down")
	s.selectedIs("rewrite")
	f.sessions = append(f.sessions, harness.Session{ID: "new", Title: "New", Updated: now.Add(time.Minute)})
	s.send(Changed{})
	s.settle()
	s.selectedIs("rewrite")
	s.shows("New")
	f.sessions = slices.Delete(f.sessions, f.find("rewrite"), f.find("rewrite")+1)
	s.send(Changed{})
	s.settle()
	s.selectedIs("draft")
}

func TestChangesAreReadOneAtATimeAndNotInTheBackground(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24)
	before := f.lists
	for range 10 {
		s.send(Changed{})
	}
	s.settle()
	if got := f.lists - before; got != 2 {
		t.Errorf("ten changes during a reading took %d readings, want 2", got)
	}
	s.keys("esc")
	before = f.lists
	s.send(Changed{})
	s.settle()
	if f.lists != before {
		t.Error("a change was read while the screen was not in front")
	}
}

func TestRenameInPlace(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "ctrl+r", "!", "enter")
	if got := f.sessions[f.find("vat")]; got.Title != "VAT edge cases!" || got.TitleBy != harness.TitleByUser {
		t.Errorf("stored %q by %q", got.Title, got.TitleBy)
	}
	s.shows("VAT edge cases!")
	s.keys("ctrl+r", "?", "esc").lacks("VAT edge cases!?")
	f.fail = harness.ErrLocked
	s.keys("ctrl+r", "?", "enter").shows("the store is in use", "VAT edge cases!?")
	if s.keys("enter"); f.sessions[f.find("vat")].Title != "VAT edge cases!?" {
		t.Error("the second try did not save")
	}
	s.keys("ctrl+r", "ctrl+u", "enter").shows("A title needs")
}

func TestARenameOfASessionDeletedElsewhereSaysSo(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "ctrl+r", "x")
	f.sessions = slices.Delete(f.sessions, f.find("vat"), f.find("vat")+1)
	s.send(Changed{})
	s.settle()
	const kept = `The session was deleted elsewhere; you typed "VAT edge casesx"`
	s.shows(kept)
	if s.entry.id != "" {
		t.Error("the rename is still open")
	}
	s.keys("y", "z", "down").shows(kept).keys("ctrl+r").lacks("you typed")
}

func TestPinMovesTheRowAndTheSelection(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "down", "ctrl+b")
	s.selectedIs("rewrite")
	if !f.sessions[f.find("rewrite")].Pinned || s.list.at > 1 {
		t.Errorf("pinned %v, row %d", f.sessions[f.find("rewrite")].Pinned, s.list.at)
	}
}

func TestAReadingThatFailedCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	f := sample()
	f.fail = harness.ErrLocked
	s := open(t, f, 80, 24)
	s.shows("the store is in use", "Enter tries again")
	s.keys("enter").shows("Q3 invoice importer")
	if s.last != nil {
		t.Errorf("enter gave %#v", s.last)
	}
}

func TestMessagesAreSearchedForTheWordsTypedLast(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: "blank VAT id"}}
	s := open(t, f, 80, 24, func(c *Config) { c.Search = f })
	for _, r := range "vat id" {
		s.send(keyMsg(string(r)))
	}
	s.settle()
	if want := []string{"vat id"}; !slices.Equal(f.searches, want) {
		t.Errorf("searched %q, want %q", f.searches, want)
	}
	s.shows("IN MESSAGES", "Trip ideas > blank VAT id")
	s.keys("end", "enter")
	if s.last != (Open{Session: "trip", Message: 4}) {
		t.Errorf("enter gave %#v", s.last)
	}
	s = open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys("v", "backspace")
	s.lacks("IN MESSAGES")
}

func TestStaleAnswersAreDropped(t *testing.T) {
	t.Parallel()
	s := open(t, sample(), 120, 40)
	had := len(s.list.items)
	s.send(listed{n: s.loading.n - 1})
	s.send(previewed{n: s.preview.n - 1, records: []harness.Record{{}}})
	s.send(searched{n: s.found.n - 1, hits: []harness.Hit{{Session: "q3"}}})
	if len(s.list.items) != had || len(s.list.hits) != 0 || len(s.preview.records) == 1 {
		t.Error("a stale answer was taken")
	}
}

func TestPasteGoesIntoTheFilterWhole(t *testing.T) {
	t.Parallel()
	s := open(t, sample(), 80, 24)
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("vat\nedge"), Paste: true})
	s.settle()
	s.selectedIs("vat")
}

func TestKeysOfTheConfigurationReplaceOurs(t *testing.T) {
	t.Parallel()
	s := open(t, sample(), 80, 24, func(c *Config) { c.Keys = map[string][]string{"picker.new": {"ctrl+]"}} })
	if s.keys("ctrl+n"); s.last != nil {
		t.Errorf("ctrl+n gave %#v", s.last)
	}
	if s.keys("ctrl+]"); s.last != (NewChat{}) {
		t.Errorf("ctrl+] gave %#v", s.last)
	}
}

func TestEverySizeHoldsEveryState(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hits = []harness.Hit{{Session: "hostile", Message: 1, Excerpt: "x\x1b[2Jy\nz"}}
	states := [][]string{
		{},
		{"end"},
		{"down", "ctrl+d"},
		{"down", "ctrl+r", "界", "👩‍👩‍👧", "\x1b"},
		{"x", "\u202e", "界"},
		{"ctrl+d"},
		{"v", "end"},
		{"tab"},
		{"v", "end", "tab", "down"},
		{"right"},
		{"right", "pgup"},
		{"pgup"},
		{"end", "right"},
		{"down", "ctrl+d", "ctrl+a"},
		{"down", "ctrl+d", "ctrl+a", "tab"},
		{"down", "tab", "e", "/"},
		{"v", "end", "tab", "e"},
		{"ctrl+o"},
		{"ctrl+t", "ctrl+t"},
		{"#", "b"},
		{"end", "right", "x"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		g := *f
		g.sessions = slices.Clone(f.sessions)
		s := open(t, &g, w, h, func(c *Config) { c.Search, c.Dir, c.Export = &g, "/a\x1b[2J\u202eb", noExport }).keys(rapid.SampledFrom(states).Draw(rt, "keys")...)
		check(rt, s.View(w, h), w, h)
		if x, y, on := s.Cursor(); on && (x < 0 || x >= w || y < 0 || y >= h) {
			rt.Fatalf("cursor %d,%d in %dx%d", x, y, w, h)
		}
		w2, h2 := rapid.IntRange(0, 130).Draw(rt, "other width"), rapid.IntRange(0, 45).Draw(rt, "other height")
		check(rt, s.View(w2, h2), w2, h2)
	})
}

func TestTheSmallestScreensHoldEveryState(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{}, {"down", "tab", "down"}, {"right", "pgup"}, {"down", "ctrl+r", "界"}, {"v", "end"}, {"end", "ctrl+d", "ctrl+a"}} {
		f := sample()
		f.hits = []harness.Hit{{Session: "hostile", Message: 1, Excerpt: "x\x1b[2Jy v\nz"}}
		s := open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys(keys...)
		for w := range 14 {
			for h := range 14 {
				s.send(tea.WindowSizeMsg{Width: w, Height: h})
				check(t, s.View(w, h), w, h)
			}
		}
	}
}

func check(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, view string, w, h int,
) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if h <= 0 {
		if view != "" {
			t.Fatalf("%q in no rows", view)
		}
		return
	}
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

func TestTheCaretStandsInTheTitleThatIsTyped(t *testing.T) {
	t.Parallel()
	for _, size := range append(sizes, [2]int{120, 15}, [2]int{30, 3}) {
		s := open(t, sample(), size[0], size[1]).keys("down", "ctrl+r", "§")
		x, y, on := s.Cursor()
		lines := strings.Split(s.view(), "\n")
		if !on || y >= len(lines) {
			t.Errorf("%v: cursor %d,%d %v", size, x, y, on)
			continue
		}
		if cells := []rune(lines[y]); x == 0 || x > len(cells) || cells[x-1] != '§' {
			t.Errorf("%v: no § before cursor %d,%d:\n%s", size, x, y, s.view())
		}
		s = open(t, sample(), size[0], size[1]).keys("§")
		x, y, _ = s.Cursor()
		if cells := []rune(strings.Split(s.view(), "\n")[y]); cells[x-1] != '§' {
			t.Errorf("%v: no § before cursor %d,%d of the filter:\n%s", size, x, y, s.view())
		}
	}
}

func TestHitsOfEarlierWordsAreNotClungTo(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hits = []harness.Hit{{Session: "trip", Message: 4, Excerpt: "zebra"}}
	s := open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys("z")
	f.hits = []harness.Hit{{Session: "vat", Message: 2, Excerpt: "zoo"}, {Session: "trip", Message: 4, Excerpt: "zebra zoo"}}
	s.keys("o", "enter")
	if s.last != (Open{Session: "vat", Message: 2}) {
		t.Errorf("enter gives %#v, want the best hit", s.last)
	}
	s = open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys("z", "down")
	f.hits = slices.Insert(f.hits, 0, harness.Hit{Session: "q3", Message: 1, Excerpt: "new"})
	s.send(searched{n: s.found.n, hits: f.hits})
	if s.keys("enter"); s.last != (Open{Session: "trip", Message: 4}) {
		t.Errorf("enter gives %#v, want the hit that was moved to", s.last)
	}
}

func TestHelpIsAskedForAndTheListStays(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("f1")
	if s.last != (Help{}) {
		t.Errorf("f1 gives %#v", s.last)
	}
	lists := f.lists
	s.send(Changed{})
	if s.settle(); f.lists == lists {
		t.Error("changes are no longer read")
	}
}

func TestThePlainThemeIsASCII(t *testing.T) {
	t.Parallel()
	plain, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		f := sample()
		f.sessions = f.sessions[:6]
		s := open(t, f, size[0], size[1], func(c *Config) { c.Theme = plain })
		for _, key := range []string{"down", "ctrl+d", "ctrl+r", "esc", "z"} {
			view := s.keys(key).View(size[0], size[1])
			if i := strings.IndexFunc(view, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }); i >= 0 {
				t.Errorf("after %s there is %q in\n%s", key, view[i:i+3], view)
			}
		}
	}
}
