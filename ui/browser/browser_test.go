package browser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			t.Parallel()
			s := open(t, sample(t), w, h).on("f6").golden("facts")
			s.keys("e").types(", but not in Norway").golden("edit-fact")
			s.keys("esc", "h").golden("history")
			s.keys("esc").on("f5").keys("v").golden("read")
			s.keys("esc", "d").golden("forgot")
			s.keys("/").types("vat").golden("filtered")
			s.keys("esc", "2").golden("notes").keys("e").golden("edit-note")
			s.keys("esc", "4").golden("trash")
			s.keys("1", "c").golden("categories").keys("down", "enter").golden("narrowed")
			open(t, empty(), w, h).golden("empty").keys("n").golden("new-fact")
		})
	}
}

func TestTabs(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24)
	s.shows("[1 Facts 6]", "2 Notes 1", "4 Trash 1")
	s.keys("2").shows("[2 Notes 1]", "Billing glossary")
	s.keys("tab").shows("[3 Inbox 0]", "Nothing is proposed.")
	s.keys("tab").shows("[4 Trash 1]", "Old plan")
	s.keys("tab").shows("[1 Facts 6]")
	s.keys("shift+tab").shows("[4 Trash 1]")
	if s.keys("esc"); s.last != (Back{}) {
		t.Errorf("esc gives %#v", s.last)
	}
}

func TestDetailTellsWhereAFactComesFrom(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).on("f6")
	s.shows("by the model, asked", "billing", `"VAT ␛[2Jedge cases", message 14 (enter: go there)`, `"outside the EU we never ask for a VAT id"`, "v2 now", "in 2 answers", "#billing #eu")
	s.keys("enter")
	if s.last != (Open{Session: "vat", Message: 14}) {
		t.Errorf("enter gives %#v", s.last)
	}
	s.on("f2").shows("deleted for good")
	s.keys("enter").shows("The chat it comes from was deleted for good.")
	s.on("f3").shows("chat deleted, message 3 (in the trash)")
	s.on("f4").shows("typed by you", "pinned")
	s.keys("enter").shows("It comes from no message.")
	s.on("f1").shows("stale", "an import")
}

func TestForgetAndUndo(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6")
	s.send(keyMsg("d"))
	s.lacks("> f6", "  f6").settle()
	s.shows(`Forgot f6. u brings it back (kept 30 days): "VAT id is optional`, "4 Trash 2")
	if m.fact(t, "f6").State != harness.StateTrashed {
		t.Error("the store still has it")
	}
	s.on("f4").keys("d", "u", "u").selectedIs("f6").shows("4 Trash 1", `f6 is back: "VAT id is optional for non-EU customers"`)
	if m.fact(t, "f6").State != harness.StateActive || !m.fact(t, "f4").Pinned {
		t.Error("undo did not bring both back as they were")
	}
	s.keys("u").shows("There is nothing to undo.")
}

func TestUndoPressedBeforeTheStoreForgotStillUndoes(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6")
	s.send(keyMsg("d"))
	s.send(keyMsg("u"))
	slices.Reverse(s.cmds)
	s.settle()
	if s.selectedIs("f6"); m.fact(t, "f6").State != harness.StateActive {
		t.Error("it stayed forgotten")
	}
}

func TestForgettingThatFailsPutsItBack(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6")
	m.fail = errors.New("the disk is full")
	s.keys("d").selectedIs("f6").shows("the disk is full")
	s.keys("u").shows("There is nothing to undo.")
}

func TestRestoreFromTheTrash(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("4")
	s.keys("e").shows("It is in the trash: u brings it back.")
	s.keys("u").shows("The trash is empty", `n2 is back: "Old plan"`)
	s.keys("2").shows("Old plan").selectedIs("n2")
}

func TestPinAndOff(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("p").shows("f6 goes into every request.")
	if s.selectedIs("f6"); !m.fact(t, "f6").Pinned {
		t.Error("not pinned")
	}
	s.keys("o").shows("f6 is kept and not recalled.")
	if m.fact(t, "f6").State != harness.StateOff {
		t.Error("not off")
	}
	if s.keys("o"); m.fact(t, "f6").State != harness.StateActive {
		t.Error("not on")
	}
}

func TestHistoryShowsAndRestoresARevision(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("h").shows("History of f6", "2 revisions", "> v2", "text changed")
	s.keys("enter").shows("This is how it is now.")
	s.keys("down").shows("VAT id is always optional").keys("enter")
	s.shows("f6 is as it was in v1 again, now v3.").selectedIs("f6")
	if got := m.fact(t, "f6").Text; got != "VAT id is always optional" {
		t.Errorf("stored %q", got)
	}
}

func TestFilterIsKeptByEnterAndClearedByEsc(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("/").types("BILLING vat").shows("f6", "f1").lacks("f4 ")
	s.keys("enter").shows("2 of 6").keys("down").selectedIs("f1")
	s.keys("2").shows("Nothing matches").keys("/", "esc").shows("Billing glossary")
}

func TestReadingALongNoteScrolls(t *testing.T) {
	t.Parallel()
	m := empty()
	if _, err := m.notes.Save(t.Context(), harness.Note{Title: "Long", Body: strings.Repeat("line\n", 500) + "the end"}, ""); err != nil {
		t.Fatal(err)
	}
	s := open(t, m, 40, 10).keys("2", "v").shows("Long").keys("end").shows("the end")
	s.keys("home").shows("Long").keys("pgdown", "pgdown").lacks("the end")
	s.keys("left").shows("[Notes 1]")
	s.keys("vjj").shows("3-10 of ")
	s.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
	s.shows("6-13 of ")
	s.Model = s.SetTheme(&themes.Theme{})
	s.shows("6-13 of ").keys("k").shows("5-12 of ")
	s.send(tea.WindowSizeMsg{Width: 40, Height: 4})
	s.send(tea.WindowSizeMsg{Width: 40, Height: 10})
	s.shows("5-12 of ")
}

func TestAReadingThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	m := empty()
	m.fail = harness.ErrLocked
	open(t, m, 80, 24).shows("the store is in use")
}

func TestAMemoryThatIsOffSaysSo(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24)
	s.c.Facts = nil
	s.reopen().shows("This memory is off.")
	s.keys("2").shows("Billing glossary")
}

func TestChangesKeepTheSelectionAndAreReadOneAtATime(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f5")
	if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: "new"}, ""); err != nil {
		t.Fatal(err)
	}
	n := s.loading.n
	for range 5 {
		s.send(Changed{})
	}
	s.settle()
	s.selectedIs("f5").shows("[1 Facts 7]")
	if s.loading.n != n+2 {
		t.Errorf("five changes took %d readings, want 2", s.loading.n-n)
	}
	s.send(listed{n: s.loading.n - 1})
	s.shows("[1 Facts 7]")
	s.keys("esc")
	n = s.loading.n
	if s.send(Changed{}); s.loading.n != n {
		t.Error("a change was read while the screen was not in front")
	}
}

func TestKeysOfTheConfigurationReplaceOurs(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6")
	s.c.Keys = map[string][]string{"browser.forget": {"x"}, "browser.pin": {}}
	s.keys("d", "p")
	if f := m.fact(t, "f6"); f.State != harness.StateActive || f.Pinned {
		t.Error("an old key still works")
	}
	if s.keys("x"); m.fact(t, "f6").State != harness.StateTrashed {
		t.Error("the new key does not work")
	}
}

func TestEverySizeHoldsEveryState(t *testing.T) {
	t.Parallel()
	states := [][]string{
		{"3"},
		{"3", "v"},
		{"3", "A"},
		{"3", "end", "v"},
		{"3", "e", "界"},
		{"3", "end", "a"},
		{"3", "end", "d"},
		{"3", "down", "down", "r"},
		{"3", "/", "v"},
		{},
		{"end"},
		{"e", "界", "👩‍👩‍👧", "\x1b"},
		{"e", "tab", "x"},
		{"h"},
		{"h", "down"},
		{"v"},
		{"v", "end"},
		{"d"},
		{"/", "\u202e"},
		{"/", "v", "enter"},
		{"2", "e", "tab", "tab", "界"},
		{"2", "n", "ctrl+s"},
		{"4"},
		{"e", "x", "esc"},
		{"enter"},
		{"c"},
		{"t", "end"},
		{"c", "down", "enter"},
		{"t", "down", "enter", "/", "v"},
		{"s", "s", "m", "down", "m"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		s := open(t, suggested(t), w, h).on(rapid.SampledFrom([]string{"f2", "f5", "f6"}).Draw(rt, "on"))
		s.keys(rapid.SampledFrom(states).Draw(rt, "keys")...)
		check(rt, s.View(w, h), w, h)
		if x, y, on := s.Cursor(); on && (x < 0 || x >= w || y < 0 || y >= h) {
			rt.Fatalf("cursor %d,%d in %dx%d", x, y, w, h)
		}
		w2, h2 := rapid.IntRange(0, 130).Draw(rt, "other width"), rapid.IntRange(0, 45).Draw(rt, "other height")
		check(rt, s.View(w2, h2), w2, h2)
	})
}

func check(t *rapid.T, view string, w, h int) {
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

func TestTheCaretStandsInTheFieldThatIsTypedIn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {20, 5}, {30, 3}} {
		for _, keys := range [][]string{{"e", "§"}, {"e", "tab", "§"}, {"/", "§"}, {"2", "e", "tab", "tab", "§"}} {
			s := open(t, sample(t), size[0], size[1]).keys(keys...)
			x, y, on := s.Cursor()
			lines := strings.Split(s.view(), "\n")
			if !on || y >= len(lines) {
				t.Errorf("%v %v: cursor %d,%d %v", size, keys, x, y, on)
				continue
			}
			if cells := []rune(lines[y]); x == 0 || x > len(cells) || cells[x-1] != '§' {
				t.Errorf("%v %v: no § before cursor %d,%d:\n%s", size, keys, x, y, s.view())
			}
		}
	}
}

func TestTheHistoryOfANoteShowsTheLinesThatChanged(t *testing.T) {
	t.Parallel()
	m := sample(t)
	body := "# Terms\n\n- *credit note*: takes back an invoice\n- *blank id*: legal everywhere\n"
	if _, err := m.notes.Edit(t.Context(), "n1", harness.NoteEdit{Body: &body}); err != nil {
		t.Fatal(err)
	}
	s := open(t, m, 80, 24).keys("2", "h").shows("body changed", "- - *blank id*: legal outside the EU", "+ - *blank id*: legal everywhere")
	s.keys("down").lacks("what changed").keys("enter").shows("n1 is as it was in v1 again")
}

func TestALongRevisionScrolls(t *testing.T) {
	t.Parallel()
	m := empty()
	if _, err := m.notes.Save(t.Context(), harness.Note{Title: "Long", Body: strings.Repeat("line\n", 100) + "the end"}, ""); err != nil {
		t.Fatal(err)
	}
	s := open(t, m, 40, 10).keys("2", "h").lacks("the end").shows("more lines (pgdn)")
	for range 40 {
		s.keys("pgdown")
	}
	s.shows("the end").keys("pgup").lacks("the end")
}

func TestCtrlCLeavesLikeEsc(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).on("f6").keys("e").types("x").keys("ctrl+c").shows("Not saved.")
	s.keys("h", "ctrl+c", "v", "ctrl+c", "/", "v", "ctrl+c")
	if s.last != nil {
		t.Errorf("an inner ctrl+c gives %#v", s.last)
	}
	if s.keys("ctrl+c"); s.last != (Back{}) {
		t.Errorf("ctrl+c gives %#v", s.last)
	}
}

func BenchmarkTenThousandFacts(b *testing.B) {
	m := empty()
	for i := range 10_000 {
		if _, _, err := m.facts.Save(b.Context(), harness.Fact{Text: fmt.Sprintf("Fact %d about Grüße and invoices", i)}, ""); err != nil {
			b.Fatal(err)
		}
	}
	s := open(b, m, 120, 40)
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			s.View(120, 40)
		}
	})
	b.Run("move", func(b *testing.B) {
		for b.Loop() {
			s.Model, _, _ = s.Update(keyMsg("j"))
		}
	})
	b.Run("sort", func(b *testing.B) {
		n := s.Model
		for b.Loop() {
			n, _, _ = n.Update(keyMsg("s"))
		}
	})
	b.Run("choose", func(b *testing.B) {
		for b.Loop() {
			n, _, _ := s.Update(keyMsg("c"))
			n.View(120, 40)
		}
	})
	b.Run("filter", func(b *testing.B) {
		for b.Loop() {
			n := s.Model
			for _, r := range "/grusse 77" {
				n, _, _ = n.Update(keyMsg(string(r)))
			}
		}
	})
}

func TestHelpIsAskedForButAQuestionMarkCanBeTyped(t *testing.T) {
	t.Parallel()
	if s := open(t, sample(t), 80, 24).keys("?"); s.last != (Help{}) {
		t.Errorf("? gives %#v", s.last)
	}
	s := open(t, sample(t), 80, 24).keys("n", "?", "f1").shows("text     ?")
	if s.last != (Help{}) {
		t.Errorf("f1 gives %#v", s.last)
	}
}

func TestThePlainThemeIsASCII(t *testing.T) {
	t.Parallel()
	plain, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range stored.Sizes() {
		m := empty()
		for _, text := range []string{"one", strings.Repeat("a long fact ", 60)} {
			if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: text, Tags: []string{"t"}}, ""); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, m, size[0], size[1])
		s.Model = s.SetTheme(plain)
		for _, key := range []string{"down", "v", "esc", "e", "x", "ctrl+s", "h", "esc", "d", "4", "2", "n"} {
			view := s.keys(key).View(size[0], size[1])
			if i := strings.IndexFunc(view, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }); i >= 0 {
				t.Errorf("after %s there is %q in\n%s", key, view[i:i+3], view)
			}
		}
	}
}

func TestKeysPressedQuicklyAreAllTaken(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("2n").shows("New note").keys("tab", "ab").shows("tags     ab")
	s.keys("esc", "1/vat").shows("search: vat", "f6", "f1").lacks("f4 ")
	s.keys("esc", "nA new fact").shows("text     A new fact")
	s.keys("esc", "ju?d")
	if s.last != (Help{}) {
		t.Errorf("ju?d gives %#v", s.last)
	}
	s.shows("[1 Facts 6]")
}
