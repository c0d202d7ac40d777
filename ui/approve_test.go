package ui_test

import (
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// command is what the tests' shell tool shows of a call.
func command(text string) harness.Proposal {
	return harness.Proposal{
		Kind: harness.ProposalCommand, Body: text, About: []string{"in ~/src/ledger", "timeout 60 s"},
		Why: "check that the new case fails first",
	}
}

const goTest = "go test ./importer/... -run TestBlankVAT"

// shell gives the world a shell that asks, and a model that wants to use it
// and then says a word.
func shell(w *uitest.World, text string) *uitest.Ran {
	ran := w.Asking("shell", command(text))
	w.Rules["shell"] = [2]string{"shell(=" + goTest + ")", "shell(go test)"}
	w.Model.Then(uitest.Calls("shell", `{"command":"x"}`), uitest.Says("All ", "done."))
	return ran
}

// wanted opens a window in which the shell has been waited for long enough.
func wanted(w *uitest.World, width, height int) *uitest.Driver {
	d := w.Open("talk", width, height)
	return d.Type("run the tests").Press("enter").Wait(2 * time.Second)
}

func TestApprovingOnceRunsTheCall(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		ran := shell(w, goTest)
		d := wanted(w, 80, 24)
		d.Shows("approval needed", "shell wants to run", goTest, "in ~/src/ledger", "check that the new case", "> n  refuse")
		if got := ran.Calls(); len(got) != 0 {
			t.Fatalf("it ran before it was approved: %q", got)
		}
		d.Type("y").Wait(time.Second).Shows("All done.", "approved by user at pts/101 (chat)").Hides("approval needed")
		if got := ran.Calls(); len(got) != 1 {
			t.Errorf("it ran %d times", len(got))
		}
	})
}

func TestTypingNeverApproves(t *testing.T) {
	for _, split := range []int{2, 5, 8} {
		in(t, func(t *testing.T, w *uitest.World) {
			ran := shell(w, goTest)
			d := w.Open("talk", 80, 24)
			d.Type("run the tests").Press("enter")
			text := "yes, a 1 p"
			d.Type(text[:split]).Wait(uitest.Pause / 2).Hides("approval needed")
			d.Wait(uitest.Pause).Shows("approval needed", "keys wake up 0.6 s after you stop typing")
			for _, r := range text[split:] {
				d.Type(string(r)).Wait(time.Second / 15)
			}
			d.Press("enter").Wait(time.Second/15).Shows("approval needed", "> "+text)
			d.Paste("y\n").Shows("> "+text+"y", "approval needed")
			d.Wait(5 * time.Second).Shows("approval needed", text+"y")
			if got := ran.Calls(); len(got) != 0 {
				t.Errorf("typing approved %q", got)
			}
			draft, err := w.Store.Drafts().Load(t.Context(), "talk")
			if err != nil || !strings.HasPrefix(draft.Text, text+"y") {
				t.Errorf("the draft is %q, %v", draft.Text, err)
			}
		})
	}
}
