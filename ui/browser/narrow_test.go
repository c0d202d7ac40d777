package browser

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// rows are the ids of the list in front, in their order.
func (s *screen) rows() string {
	var ids []string
	l := s.lists[s.tab]
	for _, i := range l.rows {
		ids = append(ids, l.entries[i].id())
	}
	return strings.Join(ids, " ")
}

func TestListsAreSorted(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 120, 40)
	for _, c := range []struct{ says, rows string }{
		{"newest first", "f6 f5 f4 f3 f2 f1"},
		{"most used first", "f6 f3 f4 f5 f2 f1"},
		{"by category", "f3 f6 f1 f2 f5 f4"},
		{"last changed first", "f3 f4 f6 f5 f2 f1"},
	} {
		s.keys("s").shows("Sorted: " + c.says + ".")
		if got := s.rows(); got != c.rows {
			t.Errorf("%s: %s, want %s", c.says, got, c.rows)
		}
	}
	s.keys("2", "s", "s").shows("Sorted: by title.")
}

func TestSortingKeepsTheSelection(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).on("f5")
	s.keys("s").selectedIs("f5").keys("s").selectedIs("f5")
}

func TestACategoryIsChosenFromThoseThereAre(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("c").shows("Categories", "> all categories", "6", "billing", "3", "people")
	s.keys("down", "enter").shows("category billing", "3 of 6", "1 Facts 3/6", "2 Notes 1", "4 Trash 0/1")
	if got := s.rows(); got != "f3 f6 f1" {
		t.Errorf("shows %s", got)
	}
	s.keys("/").types("vat").keys("enter").shows("category billing", "search: vat", "2 of 6")
	s.keys("2").lacks("category billing").keys("c").shows("Notes have no category.")
	s.keys("1", "c").shows("> billing").keys("home", "enter").shows("2 of 6").lacks("category billing")
	s.keys("x").shows("1 Facts 6").keys("x").shows("Everything is shown.")
}

func TestATagIsChosenWithTheOthersStillThere(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("t").shows("Tags", "#billing", "#x␛]0;t␇", "#go")
	s.keys("down", "enter").shows("#billing", "1 of 6", "2 Notes 1/1").selectedIs("f6")
	s.keys("2").shows("Billing glossary")
	s.keys("1", "t", "esc").shows("1 of 6")
}

func TestAFilterThatLeavesNothingSaysHowToSeeAll(t *testing.T) {
	t.Parallel()
	open(t, sample(t), 80, 24).keys("c", "down", "enter", "4").shows("Nothing here: category billing. x shows all.")
}

func TestManyTagsScroll(t *testing.T) {
	t.Parallel()
	m := empty()
	for i := range 60 {
		if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: fmt.Sprint("fact ", i), Tags: []string{fmt.Sprintf("tag%02d", i)}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, m, 40, 10).keys("t", "end").shows("> #tag59").lacks("all, with")
	s.keys("pgup").shows("> #tag52").keys("enter").shows("fact 52", "#tag52")
}

func TestWhatIsNewIsShownWhateverTheFilter(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("c", "down", "enter", "n").types("Berlin").keys("ctrl+s")
	s.shows("Saved f7.", "> f7   Berlin").lacks("category billing")
}

// shown takes what opening the screen returned.
func (s *screen) shown(m Model, cmd tea.Cmd) {
	s.Helper()
	s.Model = m
	s.cmds = append(s.cmds, cmd)
	s.settle()
}

func TestOnlySomeAreShownUntilAllAreWanted(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24)
	s.shown(s.Only("here", []string{"f1", "f5", "n1", "n2", "f99"}, "used in an answer", ""))
	if s.selectedIs("f1"); s.rows() != "f1 f5" {
		t.Errorf("shows %s", s.rows())
	}
	s.shows("used in an answer", "2 of 6", "best match first", "[1 Facts 2/6]", "2 Notes 1/1", "4 Trash 1/1")
	s.keys("x").shows("1 Facts 6", "last changed first").selectedIs("f1")
}

func TestOnlyNotesOpensTheNotes(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24)
	s.shown(s.Only("here", []string{"n1"}, "used in an answer", "Here it is."))
	s.shows("Here it is.", "[2 Notes 1/1]", "Billing glossary")
	s.shown(s.OpenFacts("here"))
	s.shows("[1 Facts 6]").keys("e").types("x")
	s.shown(s.Only("here", []string{"n1"}, "used in an answer", ""))
	s.shows("Save or leave this first.")
	s.keys("esc")
	s.shown(s.OpenNotes("here"))
	s.shows("[2 Notes 1]")
}
