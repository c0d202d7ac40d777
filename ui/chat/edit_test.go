package chat_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/uitest"
)

// TestAnEditOutlivesItsWindow ends the window in which a message is edited, and
// sends what was written in the next one.
func TestAnEditOutlivesItsWindow(t *testing.T) {
	for name, next := range map[string]func(w *uitest.World, d *uitest.Driver) *uitest.Driver{
		"killed": func(w *uitest.World, d *uitest.Driver) *uitest.Driver {
			d.Stop()
			w.Crash()
			return w.Open("talk", 80, 24)
		},
		"taken over": func(w *uitest.World, d *uitest.Driver) *uitest.Driver {
			other := w.Open("talk", 80, 24)
			other.Press("ctrl+x", "w")
			d.Wait(time.Second).Shows("read-only")
			return other.Wait(time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				three(w)
				d := w.Open("talk", 80, 24)
				d.Type("/edit 2").Press("enter").Wait(0).Type("!").Wait(2 * time.Second).Shows("editing message 3")
				d = next(w, d).Shows("> two!", "editing message 3 · enter sends it on a new branch · esc leaves it")
				d.Press("enter").Wait(time.Second).Shows("echo two!").Hides("answer two", "editing")
				said(t, w, "talk", "one | answer one | two! | echo two!")
				if got, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || got.Text != "" || got.Edits != nil {
					t.Errorf("kept: %+v (%v)", got, err)
				}
			})
		})
	}
}

func TestAnEditThatIsLeftIsNoEditInTheNextWindow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("mine").Press("ctrl+x", "E").Wait(2 * time.Second).Press("esc").Shows("> mine").Wait(2 * time.Second)
		d.Stop()
		w.Crash()
		w.Open("talk", 80, 24).Shows("> mine", "your draft is back").Hides("editing", "replace")
	})
}

// TestAnEditOfAMessageThatIsGoneIsAPlainDraft takes the edited message off the
// branch before the draft is found again.
func TestAnEditOfAMessageThatIsGoneIsAPlainDraft(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/undo").Press("enter").Wait(0).Shows("took back message 5").Press("ctrl+u").Wait(2 * time.Second)
		d.Stop()
		w.Crash()
		draft := harness.Draft{Text: "drei", Edits: &harness.Origin{Record: 5}}
		if err := w.Store.Drafts().Save(t.Context(), "talk", harness.Holder{}, draft); err != nil {
			t.Fatal(err)
		}
		d = w.Open("talk", 80, 24)
		d.Shows("> drei", "your draft is back; message 5, which it was to replace, is not on this branch", "any more: it is a new message now").Hides("editing")
		d.Wait(2 * time.Second)
		if got, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || got.Text != "drei" || got.Edits != nil {
			t.Errorf("kept: %+v (%v)", got, err)
		}
		d.Press("enter").Wait(time.Second)
		said(t, w, "talk", "one | answer one | two | answer two | drei | echo drei")
	})
}

// TestAnEditOfAMessageFromBeforeTheForkComesBack edits what the parent said.
func TestAnEditOfAMessageFromBeforeTheForkComesBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		if _, err := w.Store.Sessions().Fork(t.Context(), "talk", harness.Origin{Record: 4}, harness.Session{ID: "other"}); err != nil {
			t.Fatal(err)
		}
		d := w.Open("other", 80, 24)
		d.Type("/edit").Press("enter").Wait(0).Type("!").Wait(2 * time.Second).Shows("editing message 3 from before the fork")
		d.Stop()
		w.Crash()
		d = w.Open("other", 80, 24)
		d.Shows("> two!", "editing message 3 from before the fork · enter sends it in a new fork").Press("enter").Wait(time.Second)
		d.Shows("echo two!")
		said(t, w, "other", "one | answer one | two | answer two")
	})
}

func TestAnotherTextKeepsTheFilesOfAMessage(t *testing.T) {
	t.Parallel()
	file := &harness.File{Name: "a.md"}
	msg := harness.UserText("what does it say?")
	msg.Parts = append(msg.Parts, harness.Part{Kind: harness.PartText, Text: "the file", File: file}, harness.Part{Kind: harness.PartFile, File: file})
	got := chat.Replaced(msg, "who wrote it?")
	if len(got.Parts) != 3 || got.Text() != "who wrote it?" || got.Parts[1].Text != "the file" || got.Parts[2].File != file || msg.Text() != "what does it say?" {
		t.Errorf("it is %+v, and was %+v", got, msg)
	}
}
