package chat_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// TestNoLetterOfAMessageDropsATurnThatIsAskedAbout types what begins like the
// keys of an unfinished answer while a dialog is shown that has other keys.
func TestNoLetterOfAMessageDropsATurnThatIsAskedAbout(t *testing.T) {
	for _, letter := range []string{"d", "c", "r"} {
		for name, awake := range map[string]time.Duration{"awake": 2 * time.Second, "asleep": 400 * time.Millisecond} {
			t.Run(letter+" "+name, func(t *testing.T) {
				in(t, func(t *testing.T, w *uitest.World) {
					ran := w.Asking("shell", harness.Proposal{Kind: harness.ProposalCommand, Body: "go test ./..."})
					w.Model.Then(uitest.Calls("shell", `{"command":"x"}`), uitest.Says("All done."))
					d := w.Open("talk", 80, 24)
					d.Type("run the tests").Press("enter").Wait(awake).Shows("approval needed")
					d.Type(letter).Wait(2*time.Second).Shows("approval needed", "> "+letter).Hides("dropped")
					d.Press("backspace").Wait(time.Second).Type("y").Wait(time.Second).Shows("All done.")
					if n := len(ran.Calls()); n != 1 {
						t.Errorf("it ran %d times", n)
					}
				})
			})
		}
	}
}

// TestALetterThatChoseBeforeTheDialogCameBackDropsNothing brings the dialog
// back in the moment between the letter and its effect.
func TestALetterThatChoseBeforeTheDialogCameBackDropsNothing(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Asking("shell", harness.Proposal{Kind: harness.ProposalCommand, Body: "go test ./..."})
		w.Model.Then(uitest.Calls("shell", `{"command":"x"}`), uitest.Says("All done."))
		d := w.Open("talk", 80, 24)
		d.Type("run the tests").Press("enter").Wait(2 * time.Second).Press("esc").Shows("d drops the turn")
		d.Type("d").Press("ctrl+x", "a").Wait(2*time.Second).Shows("approval needed", "> d").Hides("dropped")
	})
}

// Whoever chooses another model after a failure is told which one a key asks.
func TestAnUnfinishedAnswerSaysWhichModelItGoesOnWith(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Fails("half of it", "the limit is reached"))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(time.Second).Shows("the answer failed").Hides("goes on with")
		d.Type("/model test/owl").Press("enter").Wait(time.Second)
		d.Shows("· it goes on with test/parrot, a", "c continue")
		d.Type("/model test/parrot").Press("enter").Wait(time.Second).Hides("goes on with")
	})
}
