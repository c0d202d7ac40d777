package ui_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/tool/recall"
	"cairn/ui/uitest"
)

// remembering gives the model the memory tools, and the store a fact and a note.
func remembering(t *testing.T, w *uitest.World) {
	t.Helper()
	if err := recall.RegisterMemoryTools(w.Tools, w.Store.Facts(), w.Store.Notes()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "Prefers tea", Category: "taste", Tags: []string{"drink"}}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Notes().Save(t.Context(), harness.Note{Title: "Kettle", Body: "Boils."}, ""); err != nil {
		t.Fatal(err)
	}
}

func fact(t *testing.T, w *uitest.World, id string) harness.Fact {
	t.Helper()
	f, err := w.Store.Facts().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func note(t *testing.T, w *uitest.World, id string) harness.Note {
	t.Helper()
	n, err := w.Store.Notes().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every write of the model is a line, and one key undoes them, last one first.
func TestEveryWriteOfTheModelCanBeUndone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		remembering(t, w)
		w.Model.Then(
			uitest.Calls(recall.SaveTool, `{"content":"Drives a car"}`), uitest.Calls(recall.UpdateTool, `{"id":"f1","text":"Prefers coffee"}`),
			uitest.Calls(recall.UpdateTool, `{"id":"f1","category":"drinks"}`), uitest.Calls(recall.UpdateTool, `{"id":"n1","body":"Leaks."}`),
			uitest.Calls(recall.ForgetTool, `{"id":"f1"}`), uitest.Calls(recall.ForgetTool, `{"id":"n1"}`), uitest.Says("done"),
		)
		d := w.Open("talk", 80, 40)
		d.Type("change it all").Press("enter").Wait(time.Second).Shows(
			"remembered f2: (general) Drives a car · ctrl+_ undoes it", "updated f1 to v2: (taste) Prefers coffee · ctrl+_ undoes it",
			"updated f1 to v3: (drinks) Prefers coffee", "updated n1 to v2: Kettle — Leaks.", "forgot f1: (drinks) Prefers coffee", "forgot n1: Kettle — Leaks.",
		)
		d.Press("ctrl+_").Wait(0).Shows("n1 is remembered again").Press("ctrl+_").Wait(0).Shows("f1 is remembered again")
		if f, n := fact(t, w, "f1"), note(t, w, "n1"); f.State != harness.StateActive || n.State != harness.StateActive {
			t.Errorf("brought back are %+v and %+v", f, n)
		}
		d.Press("ctrl+_").Wait(0).Shows("n1 says again what it said before")
		if n := note(t, w, "n1"); n.Body != "Boils." || n.Title != "Kettle" {
			t.Errorf("the note is %+v", n)
		}
		d.Press("ctrl+_").Wait(0).Shows("f1 says again")
		if f := fact(t, w, "f1"); f.Text != "Prefers coffee" || f.Category != "taste" {
			t.Errorf("after one undo it is %+v", f)
		}
		d.Press("ctrl+_").Wait(0)
		if f := fact(t, w, "f1"); f.Text != "Prefers tea" || f.Category != "taste" || len(f.Tags) != 1 || f.Revision != 5 {
			t.Errorf("after two it is %+v", f)
		}
		d.Press("ctrl+_").Wait(0).Shows("forgot f2 again")
		if f := fact(t, w, "f2"); f.State != harness.StateTrashed {
			t.Errorf("what was saved is %+v", f)
		}
	})
}

func TestUndoLeavesALaterChangeAlone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		remembering(t, w)
		w.Model.Then(uitest.Calls(recall.ForgetTool, `{"id":"f1"}`), uitest.Calls(recall.UpdateTool, `{"id":"n1","body":"Leaks."}`), uitest.Says("done"))
		d := w.Open("talk", 80, 24)
		d.Type("change it").Press("enter").Wait(time.Second).Shows("updated n1 to v2")
		body := "Mended."
		if _, err := w.Store.Notes().Edit(t.Context(), "n1", harness.NoteEdit{Body: &body}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "prefers tea."}, ""); err != nil {
			t.Fatal(err)
		}
		d.Press("ctrl+_").Wait(0).Shows("n1 was changed after that")
		if n := note(t, w, "n1"); n.Body != "Mended." {
			t.Errorf("the note is %+v", n)
		}
		d.Press("ctrl+_").Wait(0).Shows("f1 stays forgotten: f2 says the same")
	})
}

// What cannot be undone now is still there to be undone later.
func TestUndoThatFailsCanBeTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		remembering(t, w)
		w.Model.Then(uitest.Calls(recall.UpdateTool, `{"id":"f1","text":"Prefers coffee"}`), uitest.Says("done"))
		d := w.Open("talk", 80, 24)
		d.Type("change it").Press("enter").Wait(time.Second).Shows("updated f1 to v2")
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "Prefers tea"}, ""); err != nil {
			t.Fatal(err)
		}
		d.Press("ctrl+_").Wait(0).Shows("f2").Hides("says again")
		if err := w.Store.Facts().Forget(t.Context(), "f2"); err != nil {
			t.Fatal(err)
		}
		d.Press("ctrl+_").Wait(0).Shows("f1 says again what it said before")
	})
}
