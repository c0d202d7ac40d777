package plain_test

import (
	"context"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/attach"
	files "cairn/ui/chat/attach"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

// served is a chat with MCP servers.
func served(w *uitest.World) (plain.Deps, *uitest.Servers) {
	s := w.Servers("\x1b[2J")
	d := deps(w.Deps("talk", true))
	d.Chat.Servers = s
	d.Chat.Files = files.Remote{Servers: s}.With(files.Files{
		Bytes: attach.Bytes,
		Look:  func(context.Context, string) (files.Seen, error) { return files.Seen{}, fs.ErrNotExist },
		Read:  func(context.Context, string) (harness.Part, error) { return harness.Part{}, fs.ErrNotExist },
	})
	d.Prompted = true
	return d, s
}

func TestAServerIsAnsweredLineByLine(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, s := served(w)
		k := start(t, d)
		min := 18.0
		ask := func() {
			s.Ask(harness.ServerQuestion{Server: "everything", Text: "Who\x1b[2J are you?", Done: make(chan struct{}), Fields: []harness.ServerField{
				{Name: "name", Title: "Your name", Kind: harness.FieldText, Required: true},
				{Name: "age", Kind: harness.FieldInteger, Min: &min},
				{Name: "sure", Kind: harness.FieldYesNo, Required: true},
				{Name: "pets", Kind: harness.FieldChoices, Choices: []harness.FieldChoiceOf{{Value: "cat"}, {Value: "dog"}}},
			}})
		}
		ask()
		k.wait(time.Second).shows("the MCP server everything asks you:", "Who␛[2J are you?", "1  fill it in", "2  decline")
		k.say("1").wait(time.Second).shows("Your name (required)").say("").wait(time.Second).shows("This is required.")
		k.say("Ada").wait(time.Second).say("7").wait(time.Second).shows("It must be at least 18.").say("36").wait(time.Second)
		k.say("yes").wait(time.Second).say("3").wait(time.Second).shows("Type a number from 1 to 2.").say("1 2").wait(time.Second).shows("answered: everything")
		want := harness.ServerAnswer{Action: harness.AnswerAccept, Values: map[string]any{"name": "Ada", "age": 36.0, "sure": true, "pets": []string{"cat", "dog"}}}
		if got := s.Answers(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("answered %+v", got)
		}
		ask()
		k.wait(time.Second).say("").wait(time.Second).shows("left unanswered")
		ask()
		k.wait(time.Second).say("1").wait(time.Second).say("/decline").wait(time.Second).shows("declined")
		if got := s.Answers(); len(got) != 3 || got[1].Action != harness.AnswerCancel || got[2].Action != harness.AnswerDecline {
			t.Errorf("answered %+v", got)
		}
	})
}

func TestAQuestionThatNobodyWaitsForIsLeft(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, s := served(w)
		k := start(t, d)
		done := make(chan struct{})
		s.Ask(harness.ServerQuestion{Server: "everything", Text: "Still there?", Done: done})
		k.wait(time.Second).shows("Still there?")
		close(done)
		k.wait(time.Second).shows("does not wait for an answer any more").say("hello").wait(time.Second).shows("cairn: echo hello")
		if got := s.Answers(); len(got) != 0 {
			t.Errorf("answered %+v", got)
		}
	})
}

func TestPromptsAndServersAreForThePlainChatToo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, s := served(w)
		k := start(t, d)
		k.say("/mcp").wait(time.Second).shows("broken: failed, http", "everything: ready, stdio, 2 tools, 2 prompts, 2 resources")
		k.say("2").wait(time.Second).shows("tool everything_echo", "prompt /everything:weather", "resource @everything:demo://notes/1.md")
		k.say("1 reconnect").wait(time.Second).shows("refuses the connection still").say("").wait(time.Second)
		k.say("/everything:wether").wait(time.Second).shows("the nearest is /everything:weather")
		k.say("/everything:weather").wait(time.Second).shows("city (required)").say("Paris").wait(2 * time.Second)
		k.shows("with it: prompt everything:weather").say("read @everything:demo://notes/1.md").wait(2 * time.Second).shows("with it: text everything:demo://notes/1.md")
		if got := strings.Join(s.Did(), "; "); !strings.Contains(got, "prompt everything weather map[city:Paris]") {
			t.Errorf("the server was asked for %q", got)
		}
		if strings.Contains(k.out.String(), "\x1b") {
			t.Errorf("a server drives the terminal: %q", k.out.String())
		}
	})
}

func TestHowFarAToolIsTakesFewLines(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var steps []harness.Progress
		for i := range 40 {
			steps = append(steps, harness.Progress{Done: float64(i), Total: 40})
		}
		w.Steps("slow", steps...)
		w.Model.Then(uitest.Calls("slow", `{"q":"x"}`), uitest.Says("good"))
		d, _ := served(w)
		k := start(t, d)
		k.say("go").wait(time.Minute).shows("tool slow: 50% - 20 of 40", "good")
		if n := strings.Count(k.out.String(), "- tool slow: "); n > 8 {
			t.Errorf("%d lines about it:\n%s", n, k.out.String())
		}
	})
}
