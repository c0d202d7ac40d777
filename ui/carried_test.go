package ui_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestTheContextTellsWhatBecameOfWhatItCarried(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		facts := w.Store.Facts()
		for _, text := range []string{"as it was", "before", "to be forgotten"} {
			if _, _, err := facts.Save(t.Context(), harness.Fact{Text: text}, ""); err != nil {
				t.Fatal(err)
			}
		}
		tell(w, "talk", []string{"f1", "f2", "f3", "f9"})
		time.Sleep(time.Minute) // in the clock of the test
		after := "after"
		if _, err := facts.Edit(t.Context(), "f2", harness.FactEdit{Text: &after}); err != nil {
			t.Fatal(err)
		}
		if err := facts.Forget(t.Context(), "f3"); err != nil {
			t.Fatal(err)
		}
		d := w.Open("talk", 80, 24)
		d.Type("/context").Press("enter").Shows("f1  as it was\n", "f2  after (changed since)", "f3  to be forgotten (forgotten since)", "f9  gone since")
		d = w.Open("talk", 40, 10)
		d.Type("/context").Press("enter").Shows("f9  gone since")
	})
}
