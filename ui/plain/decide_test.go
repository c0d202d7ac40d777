package plain_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

// asking is a world whose engine asks a person about the tool "touch", and in
// which the tool "ask" asks one for an answer. ran counts the calls of touch.
type asking struct {
	*uitest.World
	ran atomic.Int32
}

// offering offers a rule for the session with each approval, and none for
// always.
type offering struct{ policy.Rules }

func (o offering) Judge(ctx context.Context, c tool.Call, t tool.Tool, call harness.ToolCall) policy.Verdict {
	v := o.Rules.Judge(ctx, c, t, call)
	v.Session, v.Always = "touch(a)", ""
	return v
}

func (a *asking) engine(t *testing.T) *run.Local {
	t.Helper()
	set := new(tool.Set)
	for _, one := range []tool.Tool{
		{
			Name: "touch", Description: "touches", Permission: tool.Ask, Schema: json.RawMessage(`{"type":"object"}`),
			Propose: func(context.Context, tool.Call) (harness.Proposal, error) {
				return harness.Proposal{Kind: harness.ProposalCommand, Body: "touch\x1b[2J a"}, nil
			},
			Run: func(context.Context, tool.Call) (string, error) {
				a.ran.Add(1)
				return "touched", nil
			},
		},
		{
			Name: "ask", Description: "asks", Permission: tool.Ask, Schema: json.RawMessage(`{"type":"object"}`),
			Propose: func(context.Context, tool.Call) (harness.Proposal, error) {
				return harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which colour?", Choices: []string{"red", "blue"}}, nil
			},
			Run: func(context.Context, tool.Call) (string, error) { return "nobody answered", nil },
		},
		{
			Name: "hang", Description: "hangs", Permission: tool.Allow, Schema: json.RawMessage(`{"type":"object"}`),
			Run: func(ctx context.Context, _ tool.Call) (string, error) {
				a.ran.Add(1)
				if a.ran.Load() > 1 {
					return "at once", nil
				}
				<-ctx.Done()
				return "", ctx.Err()
			},
		},
	} {
		if err := set.Add(one); err != nil {
			t.Fatal(err)
		}
	}
	e := run.NewLocal(run.Options{
		Journal: a.Store.Journal(), Transcript: a.Store.Transcript(), Engine: mem.Engine, Now: time.Now, Grants: a.Store.Grants(),
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: a.Model, Info: model.Info{ID: "test/parrot", Local: true}, Tools: set, Now: time.Now,
				Policy: offering{policy.Rules{Interactive: true}}, Compose: (&memory.Composer{}).Compose,
			}, nil
		},
	})
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return e
}

// open starts a chat on the session "talk" with an engine of its own.
func (a *asking) open(t *testing.T) *talk {
	t.Helper()
	return start(t, a.deps(t))
}

func (a *asking) deps(t *testing.T) plain.Deps {
	t.Helper()
	d := deps(a.Deps("talk", false))
	d.Chat.Engine = a.engine(t)
	return d
}

func ask(t *testing.T, test func(t *testing.T, a *asking)) {
	t.Helper()
	in(t, func(t *testing.T, w *uitest.World) { test(t, &asking{World: w}) })
}

// A call is asked about with all that it would do, and what a number means is
// what happens.
func TestACallIsANumberedQuestion(t *testing.T) {
	for _, c := range []struct {
		name  string
		typed []string
		ran   int32
		shows string
	}{
		{"once", []string{"1"}, 1, "touch approved by "},
		{"session", []string{"2"}, 1, "with the rule touch(a) (session)"},
		{"not offered", []string{"3", "1"}, 1, "there is no rule to offer"},
		{"refused", []string{"4", "not today"}, 0, ": not today"},
		{"refused without a reason", []string{"4", ""}, 0, "touch declined by "},
		{"empty", []string{""}, 0, "left for later"},
		{"no choice", []string{"9", "1"}, 1, "there is no choice 9 here"},
		{"later", []string{"5"}, 0, "left for later"},
		{"quit", []string{"/quit"}, 0, "left for later"},
		{"stop", []string{"/stop"}, 0, "- stopped"},
		{"commands", []string{"/permissions", "/new", "1"}, 1, "/new comes after the decision"},
		{"words", []string{"yes", "y", "5"}, 0, "kept as a message, not as an answer (2): y"},
		{"words as reason", []string{"use b instead", "6"}, 0, ": use b instead"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask(t, func(t *testing.T, a *asking) {
				a.Model.Then(uitest.Calls("touch", `{}`), uitest.Says("all ", "done"))
				k := a.open(t).say("go").wait(3 * time.Second)
				k.shows("- a decision is waiting:\ntouch wants to run:\n    touch␛[2J a\n", "  2  for this session: touch(a)\n", "May it run? Type a number.")
				for _, line := range c.typed {
					k.say(line).wait(2 * time.Second)
				}
				k.wait(3 * time.Second).shows(c.shows)
				if got := a.ran.Load(); got != c.ran {
					t.Errorf("it ran %d times, not %d:\n%s", got, c.ran, k.out)
				}
				if answered := strings.Contains(k.out.String(), "cairn: all done"); answered != (c.shows != "left for later" && c.name != "words" && c.name != "stop") {
					t.Errorf("answered is %t:\n%s", answered, k.out)
				}
			})
		})
	}
}

// What is typed while a question appears, or pasted, decides nothing and is not
// lost.
func TestTypingDoesNotApprove(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`), uitest.Says("fine"))
		k := a.open(t).say("go").wait(200 * time.Millisecond).shows("May it run?")
		k.say("1").wait(500*time.Millisecond).say("y", "1").wait(time.Second) // as it appears
		k.say("y", "1").wait(time.Second)                                     // a paste
		if got := a.ran.Load(); got != 0 {
			t.Fatalf("it ran:\n%s", k.out)
		}
		k.shows("kept as a message, not as an answer (5): 1").say("1").wait(time.Second).shows("cairn: fine")
		if got := a.ran.Load(); got != 1 {
			t.Errorf("it ran %d times:\n%s", got, k.out)
		}
		k.wait(5 * time.Second).shows("\ncairn: echo y")
	})
}

// A command is never sent as a message, also if it comes while the question
// appears.
func TestCommandsAreNotKeptAsMessages(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`))
		k := a.open(t).say("go").wait(200*time.Millisecond).shows("May it run?").say("/runs", "/quit").wait(time.Second)
		k.shows("waits for approval, touch", "left for later")
		<-k.done
		if draft, err := a.Store.Drafts().Load(t.Context(), "talk"); err != nil || len(draft.Queue) != 0 {
			t.Errorf("kept: %+v, %v", draft, err)
		}
	})
}

// An answer that comes through a pipe before anything was asked is none, and the
// end of the input leaves the question for later.
func TestAPipeDoesNotApprove(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`))
		d := a.deps(t)
		k := &talk{t: t, out: new(page)}
		d.In, d.Out = strings.NewReader("go\n1\n1\ny\n"), k.out
		if _, err := plain.Run(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		k.shows("left for later")
		if got := a.ran.Load(); got != 0 {
			t.Errorf("it ran:\n%s", k.out)
		}
		if draft, err := a.Store.Drafts().Load(t.Context(), "talk"); err != nil || len(draft.Queue) != 3 {
			t.Errorf("the lines are lost: %+v, %v", draft, err)
		}
	})
}

// A question survives a crash, and is shown again when the session is opened.
func TestAWaitingCallIsShownWhenTheSessionIsOpened(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`), uitest.Says("fine"))
		a.open(t).say("go").wait(3 * time.Second)
		a.Crash()
		k := a.open(t).wait(time.Second)
		k.shows("You: go", "touch wants to run:\n    touch␛[2J a\n").say("1").wait(3 * time.Second).shows("cairn: fine")
		if got := a.ran.Load(); got != 1 {
			t.Errorf("it ran %d times:\n%s", got, k.out)
		}
	})
}

// A message waits behind a decision that was left for later; /continue brings
// it back, and /stop ends the run.
func TestMessagesWaitBehindADecision(t *testing.T) {
	for _, end := range []string{"/continue", "/stop"} {
		t.Run(end, func(t *testing.T) {
			ask(t, func(t *testing.T, a *asking) {
				a.Model.Then(uitest.Calls("touch", `{}`))
				k := a.open(t).say("go").wait(3 * time.Second).say("5").wait(time.Second)
				k.say("next").shows("queued (1): a decision is waiting").say("/runs").shows("waits for approval, touch: touch␛[2J a")
				k.say(end).wait(time.Second)
				if end == "/continue" {
					k.shows("  6  refuse, with the message that waits as the reason: next")
				}
				if end == "/continue" {
					k.say("1").wait(3 * time.Second).shows("cairn: echo go")
				} else {
					k.shows("stopped")
				}
				k.wait(3 * time.Second).shows("cairn: echo next")
			})
		})
	}
}

// A question of the model takes a number, or words.
func TestAQuestionTakesANumberOrWords(t *testing.T) {
	for typed, want := range map[string]string{
		"2": "blue", "green, perhaps": "green, perhaps", "7": "7", "3": "failed: permission denied by the person",
	} {
		t.Run(typed, func(t *testing.T) {
			ask(t, func(t *testing.T, a *asking) {
				a.Model.Then(uitest.Calls("ask", `{}`), uitest.Says("thanks"))
				k := a.open(t).say("go").wait(3 * time.Second)
				k.shows("the model asks:\n    Which colour?\n  choice 1: red\n  choice 2: blue\n", "  3  give no answer")
				k.say(typed).wait(3*time.Second).shows("cairn: thanks", "tool ask: "+want)
			})
		})
	}
}

// A call that nobody saw end is decided before anything else, and runs again
// only if a person says so.
func TestAnUncertainCallIsANumberedQuestion(t *testing.T) {
	for _, c := range []struct {
		typed []string
		shows string
		ran   int32
	}{
		{[]string{"1"}, "tool hang: at once", 2},
		{[]string{"2", "it was done"}, "tool hang: it was done", 1},
		{[]string{"3"}, "stopped", 1},
		{[]string{""}, "left for later", 1},
	} {
		t.Run(c.shows, func(t *testing.T) {
			ask(t, func(t *testing.T, a *asking) {
				a.Model.Then(uitest.Calls("hang", `{}`), uitest.Says("fine"))
				a.open(t).say("go").wait(3 * time.Second)
				a.Crash()
				k := a.open(t).wait(time.Second)
				k.shows("hang began, and nobody saw it end", "What became of it?")
				for _, line := range c.typed {
					k.say(line).wait(time.Second)
				}
				k.wait(3 * time.Second).shows(c.shows)
				if got := a.ran.Load(); got != c.ran {
					t.Errorf("it ran %d times, not %d:\n%s", got, c.ran, k.out)
				}
			})
		})
	}
}

// /permissions lists the rules, and says when there are none.
func TestPermissionsAreListed(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		d := a.deps(t)
		start(t, d).say("/permissions").shows("there are no rules; what needs consent is asked")
		d = a.deps(t)
		d.Rules = []string{"deny run_command(rm), from --deny\x1b"}
		start(t, d).say("/permissions").shows("  deny run_command(rm), from --deny␛\n")
	})
}

// Of a chat that keeps nothing no promise is made that it would be there later.
func TestAnEphemeralChatPromisesNothing(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`))
		d := a.deps(t)
		d.Chat.Ephemeral, d.Grants = true, a.Store.Grants()
		k := start(t, d)
		k.say("go").wait(time.Second).shows("May it run?").say("2").wait(time.Second).say("/permissions")
		k.shows("allow touch(a), for this session", "those of this session end with this chat")
		a.Model.Then(uitest.Calls("ask", `{}`))
		k.say("", "again").wait(time.Second).shows("Which colour?")
		if err := k.in.Close(); err != nil {
			t.Fatal(err)
		}
		<-k.done
		k.shows("it ends with this chat, of which nothing is kept")
		if strings.Contains(k.out.String(), "it waits with the session") {
			t.Errorf("it promises too much:\n%s", k.out)
		}
	})
}

// A conversation that is opened again tells of its calls as they were told.
func TestThePastTellsOfCallsAndResults(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{"on":"a\u001b"}`))
		k := start(t, a.deps(t))
		k.say("go").wait(time.Second).shows("May it run?").say("1").wait(time.Second).shows("- tool touch: touched").say("/quit")
		<-k.done
		start(t, a.deps(t)).shows("You: go", `- tool touch {"on":"a`, "- tool touch: touched")
	})
}

// A rule that goes with an approval lets the run go on at once, though something
// else waits; that is asked then.
func TestWhatStillWaitsIsAskedAfterARuleWasGiven(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.CallsAll([2]string{"touch", `{}`}, [2]string{"ask", `{}`}))
		k := a.open(t).say("go").wait(time.Second).shows("1 of 2", "May it run?").say("2").wait(time.Second)
		k.shows("touched", "Which colour?").say("2").wait(time.Second)
		if n := a.ran.Load(); n != 1 {
			t.Errorf("touch ran %d times", n)
		}
		k.shows("ask answered")
	})
}
