package browser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

func TestEditInPlaceSavesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("e").types("!")
	s.shows("Edit fact f6", "not saved", "was text")
	s.keys("tab", "tab").types(" #VAT,eu").keys("ctrl+s")
	f := m.fact(t, "f6")
	if f.Text != "VAT id is optional for non-EU customers!" || f.Category != "billing" || !slices.Equal(f.Tags, []string{"billing", "eu", "VAT"}) || f.Revision != 3 {
		t.Errorf("stored %+v", f)
	}
	s.shows("Saved f6 as v3.").selectedIs("f6")
	s.keys("e", "ctrl+s").shows("Nothing was changed.")
	if m.fact(t, "f6").Revision != 3 {
		t.Error("saving nothing made a revision")
	}
}

func TestEscKeepsADraftThatEBringsBack(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("e").types(" kept").keys("esc")
	s.shows("Not saved. e brings your text back.", "1 unsaved draft", "draft")
	s.on("f4").keys("e", "esc", "esc").reopen()
	s.on("f6").keys("e").shows("Your unsaved text is back", "customers kept")
	s.keys("ctrl+r").lacks("customers kept")
	s.keys("esc").lacks("unsaved draft")
	s.keys("n").types("something new").keys("esc").shows("n brings your text back")
	s.keys("n").shows("something new").keys("ctrl+s").shows("Saved f7.").lacks("unsaved draft")
	if got := m.fact(t, "f7"); got.Text != "something new" || got.By != harness.ByYou || got.Category != harness.DefaultCategory {
		t.Errorf("stored %+v", got)
	}
}

func TestASaveThatFailsLosesNothingAndSavesOnceLater(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).keys("n").types("one more")
	m.fail = fmt.Errorf("save: %w: saving waits for backup, pid 4411", harness.ErrLocked)
	s.keys("ctrl+s").shows("saving waits for backup, pid 4411", "one more", "not saved")
	s.keys("ctrl+s").shows("Saved f7.")
	s.keys("n").keys("ctrl+s").shows("A fact needs some text.")
}

func TestADuplicateShowsTheFactThatIsThere(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("/").types("ledger").keys("enter", "n").types("prefers TABLE-driven  tests.").keys("ctrl+s")
	s.shows("f4 says this already", "[1 Facts 6]").selectedIs("f4")
	s.keys("n").shows("prefers TABLE-driven")
}

func TestAnEditOfWhatChangedElsewhereAsksOnce(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("e").types(" mine")
	theirs, law := "theirs", "law"
	m.edit(t, "f6", harness.FactEdit{Text: &theirs, Category: &law})
	s.keys("ctrl+s").shows(`Changed elsewhere; ^S again saves yours over it: "theirs"`, "customers mine", "was text     theirs", "category law")
	s.keys("ctrl+s").shows("Saved f6 as v4.")
	if got := m.fact(t, "f6"); got.Text != "VAT id is optional for non-EU customers mine" || got.Category != law {
		t.Errorf("stored %+v", got)
	}
}

func TestADraftOfWhatChangedMeanwhileSaysSo(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("e").types(" mine").keys("esc")
	law := "law"
	m.edit(t, "f6", harness.FactEdit{Category: &law})
	s.send(Changed{})
	s.settle()
	s.keys("e").shows("f6 was changed meanwhile, now v3", "customers mine", "category law").keys("ctrl+s").shows("Saved f6 as v4.")
	if got := m.fact(t, "f6"); !strings.HasSuffix(got.Text, " mine") || got.Category != law {
		t.Errorf("stored %+v", got)
	}
}

func TestAnEditOfWhatWasForgottenElsewhereBringsItBack(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("e").types(" mine")
	if err := m.facts.Forget(t.Context(), "f6"); err != nil {
		t.Fatal(err)
	}
	s.send(Changed{})
	s.settle()
	s.shows("customers mine").keys("ctrl+s").shows("f6 was forgotten elsewhere", "customers mine")
	s.keys("ctrl+s").shows("Saved f6")
	if f := m.fact(t, "f6"); f.State != harness.StateActive || !strings.HasSuffix(f.Text, "mine") {
		t.Errorf("stored %+v", f)
	}
}

func TestAnEditOfWhatIsGoneBecomesNew(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).on("f6").keys("e").types(" mine")
	s.c.Facts = empty().facts
	s.keys("ctrl+s").shows("f6 was deleted elsewhere. ^S again saves this as a new fact.", "customers mine")
	s.keys("ctrl+s").shows("Saved f1.")
}

func TestNotesHaveATitleAndABodyOfManyLines(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).keys("2", "n").types("Plan").keys("enter").types("work").keys("enter").types("one").keys("enter").types("two").keys("ctrl+s")
	s.shows("Saved n3.").selectedIs("n3")
	n, err := m.notes.Get(t.Context(), "n3")
	if err != nil || n.Title != "Plan" || n.Body != "one\ntwo" || !slices.Equal(n.Tags, []string{"work"}) || n.Session != "here" {
		t.Errorf("stored %+v, %v", n, err)
	}
	s.keys("e").shows("Edit note n3", "one", "two")
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x\ny"), Paste: true})
	if got := s.form.boxes[noteTitle].field.Text(); got != "Planx y" {
		t.Errorf("a paste of two lines made the title %q", got)
	}
}

func TestTheEditorGetsAndGivesTheLongText(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("2", "e", "ctrl+g")
	edit, ok := s.last.(Edit)
	if !ok || !strings.HasPrefix(edit.Text, "# Terms") || edit.Name != "n1.md" {
		t.Fatalf("ctrl+g gives %#v", s.last)
	}
	s.send(edit.Done("new body\n", nil))
	s.shows("new body", "not saved").lacks("credit note")
	s.keys("ctrl+_").shows("credit note")
	s.send(edit.Done("", errors.New("vi: exit status 1")))
	s.shows("vi: exit status 1", "credit note")
	s.keys("esc")
	s.send(edit.Done("late", nil))
	s.shows("was not taken")
}
