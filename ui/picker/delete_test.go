package picker

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/storage/mem"
)

func TestDeleteLeavesAtOnceAndUndoBringsBack(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down")
	s.send(keyMsg("ctrl+d"))
	s.lacks("VAT edge cases   ")
	s.selectedIs("rewrite")
	s.settle()
	if f.find("vat") >= 0 {
		t.Fatal("the store still has the session")
	}
	s.shows(`Deleted. ^_ brings it back (kept 30 days): "VAT edge cases"`)
	s.keys("ctrl+d").shows(`: "Importer rewrite, A"`)
	s.keys("ctrl+u", "ctrl+_")
	s.selectedIs("vat")
	if f.find("vat") < 0 || f.find("rewrite") < 0 {
		t.Error("undo did not bring both back")
	}
	s.shows(`"VAT edge cases" is back.`)
}

func TestTypingEndsTheOfferOfCtrlUButNotUndo(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "ctrl+d", "x", "ctrl+u")
	if got := s.filter.Text(); got != "" {
		t.Errorf("ctrl+u left %q in the filter", got)
	}
	if f.find("vat") >= 0 {
		t.Error("ctrl+u undid after typing")
	}
	if s.keys("ctrl+_"); f.find("vat") < 0 {
		t.Error("ctrl+_ did not undo")
	}
}

func TestNoOfferStaysWhenTheSessionWasBroughtBackElsewhere(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "down", "ctrl+d", "up", "ctrl+d").shows(`brings it back (kept 30 days): "VAT edge cases"`)
	if err := f.Restore(t.Context(), "rewrite"); err != nil {
		t.Fatal(err)
	}
	s.send(Changed{})
	s.settle()
	s.shows(`brings it back (kept 30 days): "VAT edge cases"`, "Importer rewrite, A")
	if err := f.Restore(t.Context(), "vat"); err != nil {
		t.Fatal(err)
	}
	s.send(Changed{})
	s.settle()
	s.lacks("brings it back")
	if s.keys("ctrl+_").shows("Nothing was deleted here."); len(f.sessions) != 8 {
		t.Errorf("there are %d sessions", len(f.sessions))
	}
}

func TestADeletionThatFailsComesBackWithTheReason(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down")
	f.fail = errors.New("saving waits for backup, pid 4411")
	s.keys("ctrl+d")
	s.selectedIs("vat")
	s.shows("saving waits for backup, pid 4411")
	if len(s.gone) != 0 {
		t.Error("undo is offered for what was not deleted")
	}
}

func TestAnOpenSessionIsNotDeleted(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("ctrl+d")
	s.shows("It is open here, so open another chat first")
	s.keys("t", "r", "i", "p", "ctrl+d")
	s.shows("It is open in pid 4411")
	if f.find("q3") < 0 || f.find("trip") < 0 {
		t.Error("an open session was deleted")
	}
}

func TestTheFactsOfADeletedChatCanBeForgottenWithItAndComeBack(t *testing.T) {
	t.Parallel()
	facts := mem.New(func() time.Time { return now }).Facts()
	for _, f := range []harness.Fact{{Text: "one", Session: "vat"}, {Text: "two", Source: harness.Source{Session: "vat", Message: 2}}, {Text: "three", Session: "q3"}} {
		if _, _, err := facts.Save(t.Context(), f, ""); err != nil {
			t.Fatal(err)
		}
	}
	state := func(id string) harness.FactState {
		f, err := facts.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return f.State
	}
	f := sample()
	s := open(t, f, 80, 24, func(c *Config) { c.Facts = facts }).keys("down", "ctrl+d")
	s.shows("^_ brings it back, ^F also forgets the 2 facts from it")
	s.keys("ctrl+f").shows("2 facts forgotten with it; ^_ brings all back")
	if state("f1") != harness.StateTrashed || state("f2") != harness.StateTrashed || state("f3") != harness.StateActive {
		t.Errorf("states are %s, %s, %s", state("f1"), state("f2"), state("f3"))
	}
	s.keys("down", "ctrl+u").selectedIs("vat")
	if f.find("vat") < 0 || state("f1") != harness.StateActive || state("f2") != harness.StateActive {
		t.Errorf("undo left %s, %s", state("f1"), state("f2"))
	}
	s.keys("x", "left", "ctrl+f")
	if got := s.filter.Cursor(); got != 1 {
		t.Errorf("without the offer ctrl+f left the cursor at %d", got)
	}
}

func TestUndoPressedBeforeTheStoreDeletedStillUndoes(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down")
	s.send(keyMsg("ctrl+d"))
	s.send(keyMsg("ctrl+u"))
	slices.Reverse(s.cmds)
	s.settle()
	if f.find("vat") < 0 {
		t.Error("the session stayed deleted")
	}
	s.selectedIs("vat")
}

func TestTheTrashListsDeletedSessionsAndEnterBringsThemBack(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "ctrl+d", "ctrl+a")
	s.shows("Deleted sessions", "VAT edge cases", "enter bring back")
	s.lacks("Importer rewrite", "TODAY")
	s.keys("ctrl+r").shows("It is deleted; bring it back first.")
	s.keys("enter").shows("The trash is empty", `"VAT edge cases" is back.`)
	if s.last != nil || f.find("vat") < 0 {
		t.Errorf("enter gives %#v", s.last)
	}
	s.keys("esc").shows("Importer rewrite", "VAT edge cases").selectedIs("q3")
	if s.last != nil {
		t.Errorf("esc in the trash gives %#v", s.last)
	}
	s.keys("ctrl+a", "ctrl+d").shows("No session is selected.")
}

func TestAReadingOfTheOtherListIsDropped(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24)
	s.send(Changed{})
	s.send(keyMsg("ctrl+a"))
	s.settle()
	s.shows("The trash is empty")
	s.send(Changed{})
	s.send(keyMsg("ctrl+a"))
	s.settle()
	s.shows("Q3 invoice importer")
	s.keys("ctrl+a", "esc", "esc")
	var cmd tea.Cmd
	s.Model, cmd = s.Open("q3", false)
	s.cmds = append(s.cmds, cmd)
	s.settle()
	s.shows("Q3 invoice importer")
}

func TestTagsInPlace(t *testing.T) {
	t.Parallel()
	f := sample()
	s := open(t, f, 80, 24).keys("down", "ctrl+g").shows("> tags: #billing", "save the tags")
	s.keys(" eu,BILLING  go", "enter")
	if got := f.sessions[f.find("vat")].Tags; !slices.Equal(got, []string{"billing", "eu", "go"}) {
		t.Errorf("stored %q", got)
	}
	s.keys("ctrl+g", "ctrl+u", "enter")
	if got := f.sessions[f.find("vat")].Tags; len(got) != 0 {
		t.Errorf("stored %q", got)
	}
}

func TestWhatIsBroughtBackIsFoundInItsMessagesAgain(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hits = []harness.Hit{{Session: "vat", Message: 3, Excerpt: "a vat number"}}
	s := open(t, f, 80, 24, func(c *Config) { c.Search = f }).keys("v", "a", "t").shows("IN MESSAGES", "a vat number")
	s.selectedIs("vat")
	found := s.view()
	s.keys("ctrl+d").lacks("a vat number")
	s.keys("ctrl+u").shows(`"VAT edge cases" is back.`, "IN MESSAGES", "a vat number")
	list, _, _ := strings.Cut(s.view(), "is back.")
	if first, _, _ := strings.Cut(found, " last "); !strings.HasPrefix(list, first) {
		t.Errorf("it was\n%s\nand is\n%s", first, list)
	}
}
