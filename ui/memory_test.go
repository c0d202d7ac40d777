package ui_test

import (
	"fmt"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestTheMemoryBrowserOpensAtTheSourceOfAFact(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var texts []string
		for i := range 300 {
			texts = append(texts, fmt.Sprintf("message number %d", i))
		}
		w.Tell("old", "Old talk", time.Now(), texts...)
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{
			Text: "the sky is green", By: harness.ByYou, State: harness.StateActive, Session: "old",
			Source: harness.Source{Session: "old", Message: 42, Quote: "message number 41"},
		}, ""); err != nil {
			t.Fatal(err)
		}
		d := w.Open("talk", 80, 24)
		d.Type("draft").Press("ctrl+x", "f").Shows("the sky is green").Press("esc").Shows("> draft")
		d.Press("ctrl+u").Type("/memory").Press("enter").Press("enter").Wait(time.Second)
		d.Shows("message number 41", "message number 42", "End to follow")
		d.Press("end").Shows("message number 299")
	})
}
