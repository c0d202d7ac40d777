package plain_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

// types types lines one after the other and looks for what each brings, behind
// what was written before.
func (k *talk) types(steps ...string) *talk {
	k.t.Helper()
	for i := 0; i < len(steps); i += 2 {
		before := len(k.out.String())
		k.say(steps[i]).wait(time.Second)
		if got := k.out.String()[before:]; !strings.Contains(got, steps[i+1]) {
			k.t.Fatalf("%q brings no %q but:\n%s", steps[i], steps[i+1], got)
		}
	}
	return k
}

// Each command that the help of the screen knows is answered here too, if only
// by why it means nothing.
func TestEveryCommandIsAnswered(t *testing.T) {
	for _, s := range chat.Slashes() {
		if s.Name == "quit" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
				k := start(t, deps(w.Deps("talk", false)))
				before := len(k.out.String())
				k.say("/" + s.Name).wait(time.Second)
				answer := strings.TrimPrefix(k.out.String()[before:], "> /"+s.Name+"\n")
				if strings.TrimSpace(answer) == "" || strings.Contains(answer, "is no command") {
					t.Errorf("it is answered with %q", answer)
				}
			})
		})
	}
}

func TestSessionsAreANumberedList(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		at := time.Now()
		w.Tell("talk", "Our talk", at, "hello", "hi")
		w.Tell("tea", "About \x1b[2Jtea", at.Add(-time.Hour), "which tea?", "green **tea**")
		w.Tell("ships", "Ships", at.Add(-2*time.Hour), "a ship", "aye")
		k := start(t, deps(w.Deps("talk", false)))
		k.types(
			"/sessions", "  2   \"About ␛[2Jtea\", tea, 2 messages",
			"2 show", "cairn: green tea\n",
			"2 rename Green tea", "renamed to Green tea",
			"2 pin", "pinned",
			"2 tag drinks #hot", "its tags are now: #drinks #hot",
			"9", "type one from 1 to 3",
			"2 eat", `"eat" is nothing that can be done here`,
			"1 delete", "it is open here: open another chat first",
			"2 delete", "deleted \"Green tea\"; undo brings it back",
			"undo", "\"Green tea\" is back",
			"find ship", "1 session with \"ship\"",
			"1 delete", "deleted \"Ships\"",
			"trash", "1 deleted session",
			"1", "\"Ships\" is back",
			"?", "a number and a word does more",
			"", "back in the chat",
			"/sessions tea", "1 session with \"tea\"",
			"1", "session tea, \"Green tea\"",
			"/sessions", "open here",
			"/rename Teas", "renamed to Teas",
		)
		s, err := w.Store.Sessions().Get(t.Context(), "tea")
		if err != nil || !s.Pinned || strings.Join(s.Tags, " ") != "drinks hot" || s.Title != "Teas" {
			t.Errorf("the session is %+v, %v", s, err)
		}
	})
}

func TestFactsAreANumberedList(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		k := start(t, deps(w.Deps("talk", true)))
		k.types(
			"/remember I like tea", "remembered f1",
			"/remember I live by the sea", "remembered f2",
			"/facts tea", "1 fact with \"tea\"",
			"1", "f1: I like tea\n- version 1",
			"1 edit I like green tea", "f1 is changed",
			"1 history", "      was: I like tea\n      is:  I like green tea\n",
			"1", "this is how it is now",
			"2", "f1 is as it was in version 1 again",
			"1 edit", "type what it is to say instead",
			`one \`, "",
			"two", "f1 is changed",
			"1 pin", "goes into every request",
			"1 off", "is kept and not recalled",
			"1 tag hot", "has the tags #hot",
			"1 forget", "forgot f1; undo brings it back",
			"undo", "f1 is there",
			"1 forget", "forgot f",
			"trash", "1 forgotten fact",
			"1 restore", "is there",
			"words that mean nothing", "/send sends what you typed",
			"", "back in the chat",
			"/send", "cairn: echo words that mean nothing",
			"/memory", "2 facts; /facts lists them",
			"/facts", "2 facts",
			"find nowhere", "0 facts with \"nowhere\"",
		)
		f, err := w.Store.Facts().Get(t.Context(), "f1")
		if err != nil || f.Text != "one \ntwo" || !f.Pinned || f.State != harness.StateOff {
			t.Errorf("the fact is %+v, %v", f, err)
		}
	})
}

func TestNotesAreEditedInTheEditor(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		if _, err := w.Store.Notes().Save(t.Context(), harness.Note{Title: "Deploys", Body: "# How\non *Mondays*", By: harness.ByYou, State: harness.StateActive}, ""); err != nil {
			t.Fatal(err)
		}
		d := deps(w.Deps("talk", true))
		d.Editor = func(_ context.Context, text, name string) (string, error) {
			return strings.Replace(text, "Mondays", "Thursdays", 1) + "\n", nil
		}
		start(t, d).types(
			"/notes", "  1   n1: Deploys",
			"1", "n1, Deploys: heading 1: How\non Mondays\n",
			"1 edit", "n1 is changed",
			"1 history", "was: on *Mondays*",
			"", "1 note",
		)
		if n, err := w.Store.Notes().Get(t.Context(), "n1"); err != nil || n.Body != "# How\non *Thursdays*" {
			t.Errorf("the note is %+v, %v", n, err)
		}
	})
}

func TestModelsAreANumberedList(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		asked := ""
		d := deps(w.Deps("talk", true))
		d.Models = func(context.Context) ([]plain.Model, error) {
			return []plain.Model{{Name: "test/owl", About: "window 8k tokens", Usable: true}, {Name: "test/hawk", About: "no key"}}, nil
		}
		k := start(t, d).types(
			"/model", "  1   test/owl, window 8k tokens",
			"1", "the model is now test/owl",
			"/model", "1 model with a key or none needed",
			"all", "  2   test/hawk, no key",
			"2", "the key of test/hawk is missing",
			"", "back in the chat",
		)
		k.say("/quit")
		<-k.done
		d = deps(w.Deps("talk", true))
		d.Models = func(context.Context) ([]plain.Model, error) { return []plain.Model{{Name: "test/hawk"}}, nil }
		d.AddKey = func(_ context.Context, model string) error { asked = model; return nil }
		start(t, d).types("/model", "0 models", "find hawk", "  1   test/hawk", "1", "the model is now test/hawk")
		if asked != "test/hawk" {
			t.Errorf("a key was asked for %q", asked)
		}
	})
}

func TestMessagesAreFoundAndReadAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "a **green** tea", "and more", "that is all")
		w.Tell("old", "Old", time.Now().Add(-time.Hour), "tea in a pot", "aye")
		start(t, deps(w.Deps("talk", false))).types(
			"/find TEA", "1 of 4 messages in this chat with \"TEA\"",
			"1", "- message 2:\ncairn: a green tea\n",
			"", "back in the chat",
			"/find nothing of it", "0 of 4 messages",
			"/find", "write words after it",
			"/search tea pot", "Old, message 1: ",
			"1", "You: tea in a pot",
			"1 open", "session old, \"Old\"",
			"/read", "cairn: aye",
			"/read 1", "You: tea in a pot",
			"/read 9", "message 9 is not on this branch",
		)
	})
}

func TestTheQueueIsShownAndChanged(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 200), " ")...))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second).types(
			"one", "queued (1)", "two", "queued (2)", "three", "queued (3)",
			"/queue", "  2   two",
			"/queue drop 1", "taken out of the queue: one",
			"/queue edit 1 zwei", "message 1 of the queue says now: zwei",
			"/queue first 2", "sent next: three",
			"/queue drop 9", "messages that wait: 2",
		)
		k.say("/stop").wait(3*time.Second).shows("cairn: echo three", "cairn: echo zwei")
		if text := k.out.String(); strings.Contains(text, "echo one") || strings.Index(text, "echo three") > strings.Index(text, "echo zwei") {
			t.Errorf("the order is not that of the queue:\n%s", text)
		}
	})
}

func TestACopyGoesToAFile(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi\n\n```go\nx := \"\x1b\"\n```\n")
		d, dir := deps(w.Deps("talk", false)), t.TempDir()
		d.Chat.Dir = dir
		start(t, d).types(
			"/copy 1 to x.go", "to "+filepath.Join(dir, "x.go"),
			"/copy to x.go", "exists already and is left as it is",
			"/copy to no/such/file", "no/such/file",
			"/copy", "/copy to FILE writes the answer to a file",
		)
		if data, err := os.ReadFile(filepath.Join(dir, "x.go")); err != nil || string(data) != "x := \"\x1b\"\n" {
			t.Errorf("the file holds %q, %v", data, err)
		}
	})
}

func TestRunsAreANumberedList(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Tell("other", "Other", time.Now(), "hello", "hi")
		a.Model.Then(uitest.Calls("touch", `{}`), uitest.Says("all done"))
		first := a.open(t).say("go").wait(3 * time.Second).say("5").wait(time.Second).shows("left for later")
		first.say("/quit")
		<-first.done
		d := a.deps(t)
		d.Open.Session.ID, d.Open.New = "other", false
		k := start(t, d).types(
			"/runs", "waits for approval, touch",
			"1", "touch wants to run:\n    touch␛[2J a\n",
			"1 dance", "is nothing that can be done here",
			"1 approve", "May it run?",
		)
		k.wait(2*time.Second).types("1", "cairn: all done", "/runs all", "completed")
		if a.ran.Load() != 1 {
			t.Errorf("it ran %d times", a.ran.Load())
		}
	})
}

func TestARunIsDroppedFromElsewhere(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Tell("other", "Other", time.Now(), "hello", "hi")
		a.Model.Then(uitest.Calls("touch", `{}`))
		first := a.open(t).say("go").wait(3 * time.Second).say("5").wait(time.Second).shows("left for later")
		first.say("/quit")
		<-first.done
		d := a.deps(t)
		d.Open.Session.ID, d.Open.New = "other", false
		start(t, d).types("/runs", "waits for approval", "1 drop", "dropped; what it said stays", "", "back in the chat", "/runs", "no run is unfinished")
		if a.ran.Load() != 0 {
			t.Error("it ran")
		}
	})
}

func TestAPermissionIsTakenBack(t *testing.T) {
	ask(t, func(t *testing.T, a *asking) {
		a.Model.Then(uitest.Calls("touch", `{}`), uitest.Says("done"), uitest.Calls("touch", `{}`))
		d := a.deps(t)
		d.Grants = a.Store.Grants()
		k := start(t, d).say("go").wait(2 * time.Second).say("2").wait(2 * time.Second)
		k.types("/permissions", "allow touch(a), for this session", "1 revoke", "taken back: allow touch(a)")
		k.say("again").wait(3 * time.Second)
		if n := strings.Count(k.out.String(), "May it run?"); n != 2 {
			t.Errorf("it was asked %d times:\n%s", n, k.out)
		}
	})
}

// The help lists no command that only says that it is for the screen.
func TestTheHelpListsWhatCanBeDoneHere(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		k := start(t, deps(w.Deps("talk", false)))
		k.say("/help").wait(time.Second)
		for _, line := range strings.Split(k.out.String(), "\n") {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), ":")
			if name, _, _ = strings.Cut(name, " "); !strings.HasPrefix(name, "/") || name == "/quit" || name == "/new" {
				continue
			}
			k.say(name).wait(time.Second)
			if strings.Contains(k.out.String(), name+" is for the screen") {
				t.Errorf("%s does nothing here", name)
			}
			k.say("").wait(time.Second) // out of a list
		}
	})
}
