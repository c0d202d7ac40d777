package browser

import (
	"errors"
	"testing"

	"cairn/harness"
)

func TestEverythingIsUndoneInTurn(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("p").shows("f6 goes into every request. u undoes it.")
	s.keys("o", "e").types("!").keys("ctrl+s").shows("Saved f6 as v5. u undoes it.")
	s.keys("h", "end", "enter").shows("f6 is as it was in v1 again, now v6. u undoes it.")
	s.keys("d", "2", "n").types("A new note").keys("ctrl+s").shows("Saved n3. u undoes it.")
	s.keys("u").shows("n3 is in the trash.", "4 Trash 3").lacks("A new note")
	s.keys("u").shows("f6 is back", "4 Trash 2")
	s.keys("u").shows(`f6 is as it was before: "VAT id is optional for non-EU customers!"`)
	s.keys("u").shows(`f6 is as it was before: "VAT id is optional for non-EU customers"`)
	if s.keys("u"); m.fact(t, "f6").State != harness.StateActive {
		t.Error("it is still off")
	}
	if s.keys("u"); m.fact(t, "f6").Pinned {
		t.Error("it is still pinned")
	}
	s.keys("u").shows("There is nothing to undo.")
	if got := m.fact(t, "f6"); got.Text != "VAT id is optional for non-EU customers" || got.Category != "billing" || len(got.Tags) != 2 {
		t.Errorf("left %+v", got)
	}
}

func TestAnUndoNeverTakesBackWhatSomebodyElseDid(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("p")
	text := "said elsewhere"
	m.edit(t, "f6", harness.FactEdit{Text: &text})
	s.keys("u").shows("Not undone: f6 was changed since. h shows its history.")
	if got := m.fact(t, "f6"); got.Text != text || !got.Pinned {
		t.Errorf("left %+v", got)
	}
}

func TestAnUndoThatFailsCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f6").keys("p")
	m.fail = errors.New("the disk is full")
	s.keys("u").shows("the disk is full")
	if s.keys("u"); m.fact(t, "f6").Pinned {
		t.Error("it is still pinned")
	}
}

func TestAFactWhoseTwinIsActiveStaysInTheTrash(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f4").keys("d")
	if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: "prefers table-driven tests."}, ""); err != nil {
		t.Fatal(err)
	}
	s.keys("u").shows(`f4 stays in the trash: f7 says the same now: "prefers table-driven tests."`, "4 Trash 2").selectedIs("f7")
	s.keys("4").on("f4").keys("u").shows("f4 stays in the trash")
	if m.fact(t, "f4").State != harness.StateTrashed {
		t.Error("there are two")
	}
}

func TestAnEditOfAForgottenFactWithATwinSavesTheNewText(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 80, 24).on("f4").keys("e").types(" in Go")
	if err := m.facts.Forget(t.Context(), "f4"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: "Prefers table-driven tests"}, ""); err != nil {
		t.Fatal(err)
	}
	s.keys("ctrl+s").shows("f4 was forgotten elsewhere").keys("ctrl+s").shows("Saved f4")
	if got := m.fact(t, "f4"); got.Text != "Prefers table-driven tests in Go" || got.State != harness.StateActive {
		t.Errorf("left %+v", got)
	}
	if s.keys("u"); m.fact(t, "f4").State != harness.StateTrashed {
		t.Error("undo left it active")
	}
}

func TestTwoFactsBecomeOneAndTwoAgain(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 120, 40).on("f4").keys("m").shows("f4 is marked: m on the fact to keep", "> f4")
	s.keys("down").shows("+ f4", "f4 is marked").on("f6").keys("m").shows("Merged f4 into f6. u undoes it; f4 is in the trash.", "#billing #eu #go").selectedIs("f6")
	if got := m.fact(t, "f6"); !got.Pinned || len(got.Tags) != 3 || m.fact(t, "f4").State != harness.StateTrashed {
		t.Errorf("left %+v", got)
	}
	s.keys("u").shows("f4 and f6 are two again.")
	if got := m.fact(t, "f6"); got.Pinned || len(got.Tags) != 2 || m.fact(t, "f4").State != harness.StateActive {
		t.Errorf("left %+v", got)
	}
	s.on("f1").keys("m", "m").shows("Nothing is marked now.")
	s.keys("2", "m").shows("Notes are not merged.")
}

func TestAnUndoOfAMergeThatFailsHalfwayCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 120, 40).on("f4").keys("m").on("f6").keys("m")
	m.fail = errors.New("the disk is full")
	s.keys("u").shows("the disk is full").keys("u").shows("f4 and f6 are two again.")
	if m.fact(t, "f6").Pinned || m.fact(t, "f4").State != harness.StateActive {
		t.Error("it is not as it was")
	}
}

func TestAnUndoOfAMergeWithATwinSaysWhoItIs(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 120, 40).on("f4").keys("m").on("f6").keys("m")
	if _, _, err := m.facts.Save(t.Context(), harness.Fact{Text: "prefers table-driven tests"}, ""); err != nil {
		t.Fatal(err)
	}
	s.keys("u").shows("f7 says the same")
	if m.fact(t, "f6").Pinned || m.fact(t, "f4").State != harness.StateTrashed {
		t.Error("it is not as it was")
	}
}

func TestAMergeOfWhatChangedMeanwhileDoesNothing(t *testing.T) {
	t.Parallel()
	m := sample(t)
	s := open(t, m, 120, 40).on("f4").keys("m").on("f6")
	text := "said elsewhere"
	m.edit(t, "f4", harness.FactEdit{Text: &text})
	s.keys("m").shows("Not merged: one of them was changed meanwhile.")
	if m.fact(t, "f4").State != harness.StateActive {
		t.Error("it was forgotten")
	}
	m.fail = errors.New("the disk is full")
	s.on("f4").keys("m").on("f6").keys("m").shows("the disk is full")
	if m.fact(t, "f4").State != harness.StateActive || m.fact(t, "f6").Pinned {
		t.Error("half of it was done")
	}
}

func TestAnEditorThatFailsOrLeavesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).on("f6").keys("E")
	want, ok := s.last.(Edit)
	if !ok || want.Text != "VAT id is optional for non-EU customers" || want.Name != "f6.md" {
		t.Fatalf("E gives %#v", s.last)
	}
	s.send(want.Done("", errors.New("the editor ended with 1")))
	s.shows("nothing was changed: the editor ended with 1", "VAT id is optional for non-EU customers")
	s.send(want.Done(" \n", nil))
	s.shows("The editor left no text, so nothing was changed.", "VAT id is optional for non-EU customers")
	s.send(want.Done(want.Text+"\n", nil))
	s.shows("Nothing was changed in the editor.", "not changed")
	s.send(want.Done("Optional outside the EU\n", nil))
	s.keys("ctrl+s").shows("Saved f6 as v3", "Optional outside the EU")
}

func TestWhoeverLeavesForASourceComesBackToTheSamePlace(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).keys("c", "down", "enter").on("f6").keys("enter")
	if s.last != (Open{Session: "vat", Message: 14}) {
		t.Fatalf("enter gives %#v", s.last)
	}
	s.reopen().selectedIs("f6").shows("category billing").keys("esc")
	s.reopen().lacks("category billing")
}

func TestASourceInTheTrashIsNotOpened(t *testing.T) {
	t.Parallel()
	s := open(t, sample(t), 80, 24).on("f3").keys("enter").shows("The chat it comes from is in the trash.")
	if _, ok := s.last.(Open); ok {
		t.Error("it was opened")
	}
}
