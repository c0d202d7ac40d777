package ui_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestQuestionsAreAnswered(t *testing.T) {
	question := harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which one?", Choices: []string{"red", "blue"}}
	for _, c := range []struct {
		name  string
		steps func(d *uitest.Driver)
		want  string
	}{
		{"in words", func(d *uitest.Driver) { d.Type("yes, a nice green").Press("enter") }, "yes, a nice green"},
		{"after a command", func(d *uitest.Driver) {
			d.Type("/todos").Press("enter").Wait(time.Second).Shows("a question", "type an answer").Type("green").Press("enter")
		}, "green"},
		{"with a path", func(d *uitest.Driver) { d.Type("/srv/data").Press("enter") }, "/srv/data"},
		{"by number", func(d *uitest.Driver) { d.Type("2").Press("enter") }, "blue"},
		{"by arrows", func(d *uitest.Driver) { d.Press("up", "up", "enter") }, "red"},
		{"with the draft", func(d *uitest.Driver) {
			d.Press("esc").Type("neither").Press("ctrl+x", "a").Wait(time.Second).Press("down", "down", "enter")
		}, "neither"},
		{"not", func(d *uitest.Driver) { d.Press("down", "enter").Type("find out").Press("enter") }, "permission denied by the person: find out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Asking("ask_user", question)
				w.Model.Then(uitest.Calls("ask_user", `{"question":"Which one?"}`), uitest.Says("All ", "done."))
				d := wanted(w, 80, 24)
				d.Shows("a question", "Which one?", "1  red", "2  blue", "waits for an answer")
				c.steps(d)
				d.Wait(time.Second).Shows("All done.").Hides("a question")
				asked := w.Model.Asked()
				last := asked[len(asked)-1].Messages
				if got := last[len(last)-1].Parts[0].Result.Text; got != c.want {
					t.Errorf("the model read %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAQuestionIsDeafToWhatWasMeantForTheBox(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Asking("ask_user", harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which one?", Choices: []string{"red"}})
		w.Model.Then(uitest.Calls("ask_user", `{"question":"Which one?"}`), uitest.Says("All ", "done."))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(uitest.Pause).Type("1 more thing").Press("enter").Paste("1\n")
		d.Wait(5*time.Second).Shows("a question", "> 1 more thing1").Hides("All done.")
	})
}
