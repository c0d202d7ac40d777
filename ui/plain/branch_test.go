package plain_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// three stores a chat of three turns.
func three(w *uitest.World) {
	w.Tell("talk", "Stones", time.Now(), "one", "answer one", "two", "answer two", "three", "answer three")
}

// branch fails unless the branch of the session says what is wanted.
func branch(t *testing.T, w *uitest.World, want string) {
	t.Helper()
	records, err := w.Store.Transcript().Tail(t.Context(), "talk", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range records {
		said = append(said, r.Message.Text())
	}
	if got := strings.Join(said, " | "); got != want {
		t.Errorf("the branch is %q, not %q", got, want)
	}
}

func TestBranchesInWords(t *testing.T) {
	const whole = "one | answer one | two | answer two | three | answer three"
	for _, c := range []struct {
		name, typed, shows, branch string
	}{
		{"undo", "/undo", "took back message 5 and 1 message after it; /redo brings it back. It said:\nthree\n- the conversation ends with message 4 now: cairn: answer two", "one | answer one | two | answer two"},
		{"undo of all", "/undo\n/undo\n/undo\n/undo", "the conversation is empty now\n> /undo\n- there is nothing to take back", ""},
		{"redo", "/undo\n/undo\n/redo", "brought back 2 messages\n- the conversation ends with message 4 now", "one | answer one | two | answer two"},
		{"nothing to redo", "/redo", "there is nothing to bring back", whole},
		{"edit asks", "/edit 2\ntwo!", "- message 3 says:\ntwo\n- type what it is to say instead; an empty line leaves it\n> two!\ncairn: echo two!", "one | answer one | two! | echo two!"},
		{"edit is left", "/edit\n\n", "type what it is to say instead", whole},
		{"a command leaves the edit", "/edit\n/model", "the model is test/parrot", whole},
		{"edit at once", "/edit three, said better", "cairn: echo three, said better", "one | answer one | two | answer two | three, said better | echo three, said better"},
		{"edit one at once", "/edit 3 uno", "cairn: echo uno", "uno | echo uno"},
		{"too far", "/edit 9", "only 3 messages of yours on this branch", whole},
		{"retry", "/retry 2", "cairn: echo two", "one | answer one | two | echo two"},
		{"not a number", "/retry x", "/retry 2 is about the message before your last one", whole},
		{"tree", "/edit 2 zwei\n/retry\n/tree", "branches of this session:\n  1  from message 3, \"two\", to message 5, \"three\"\n  2  message 7: \"zwei\"\n  3  message 9: \"zwei\"\n- the conversation ends with message 10 now: cairn: echo zwei", "one | answer one | zwei | echo zwei"},
		{"tree with a number", "/edit 2 zwei\n/tree 1", "the conversation ends with message 6 now: cairn: answer three", whole},
		{"tree with a wrong number", "/tree 2", "/tree takes a number from 1 to 1", whole},
		{"fork", "/fork 2\nmine", "forked from Stones at message 4\n- session talk stays as it is; open it again with: cairn -s talk\n> mine\ncairn: echo mine", whole},
		{"edit before the fork", "/fork\n/edit 2 zwei", "cairn: echo zwei", whole},
		{"undo before the fork", "/fork\n/undo", "this is where the fork begins", whole},
		{"back from the fork", "/fork\n/new", "session new-1", whole},
		{"export", "/export", "exporting is off in this chat", whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				three(w)
				k := start(t, deps(w.Deps("talk", false)))
				for line := range strings.SplitSeq(c.typed, "\n") {
					k.say(line).wait(time.Second)
				}
				k.shows(c.shows)
				branch(t, w, c.branch)
			})
		})
	}
}

func TestForksAmongTheBranchesInWords(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		if _, err := w.Store.Sessions().Fork(t.Context(), "talk", harness.Origin{Record: 2}, harness.Session{ID: "other"}); err != nil {
			t.Fatal(err)
		}
		k := start(t, deps(w.Deps("talk", false)))
		k.say("/tree").shows("  1  a fork, session other: \"Stones (fork)\"\n  2  from message 1, \"one\", to message 5, \"three\"")
		k.say("/tree 1").shows("cairn, session other, \"Stones (fork)\"", "cairn -s talk")
	})
}

func TestAnEditInPlainThatCannotBeSentIsKept(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Deps("talk", false)
		d.Engine = uitest.Refusing{Engine: d.Engine}
		k := start(t, deps(d))
		k.say("/edit 2 zwei").shows("nothing was changed; your text is kept as a draft")
		branch(t, w, "one | answer one | two | answer two | three | answer three")
		if kept, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || kept.Text != "zwei" {
			t.Errorf("the draft is %+v (%v)", kept, err)
		}
	})
}

// TestAReaderInPlainMovesNothing has another program own the session.
func TestAReaderInPlainMovesNothing(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		start(t, deps(w.Deps("talk", false)))
		k := start(t, deps(w.Deps("talk", false)))
		for i, c := range []string{"/undo", "/redo", "/edit 2 zwei", "/retry"} {
			k.say(c)
			if n := strings.Count(k.out.String(), "read-only: /takeover takes the session over\n"); n != i+1 {
				t.Fatalf("after %s it was said %d times:\n%s", c, n, k.out)
			}
		}
		branch(t, w, "one | answer one | two | answer two | three | answer three")
	})
}

func TestAnInterruptedAnswerIsDroppedInPlain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		k := start(t, deps(w.Deps("talk", false)))
		w.Model.Then(uitest.Fails("the first half", "the line is dead"))
		k.say("four").wait(time.Second).shows("The line is dead")
		k.say("/redo").shows("an answer is unfinished: nothing follows it").say("/fork").shows("an answer is unfinished; /fork 2 forks before it")
		k.say("/undo").shows("- the unfinished answer is dropped, and kept in the log\n- took back message 7")
		branch(t, w, "one | answer one | two | answer two | three | answer three")
	})
}

func TestExportInPlain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := deps(w.Deps("talk", false))
		d.Chat.Export = func(_ context.Context, id harness.SessionID, to string) (string, error) {
			return "/home/me/" + string(id) + "-" + to, nil
		}
		start(t, d).say("/export it.md").shows("exported to /home/me/talk-it.md")
	})
}

func TestImportInPlain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := deps(w.Deps("talk", false))
		start(t, d).say("/import x.zip").shows("importing is off in this chat")
		d.Chat.Import = func(_ context.Context, from string) (string, error) {
			if from == "bad" {
				return "", errors.New("bad: it ends in the middle; nothing was imported")
			}
			return "imported " + from, nil
		}
		start(t, d).say("/import").shows("name what to import: /import FILE, or a directory")
		start(t, d).say("/import bad").shows("it ends in the middle; nothing was imported")
		start(t, d).say("/import my file.zip").shows("imported my file.zip")
	})
}

// TestAReaderInPlainFollowsTheOwner writes what the owner does meanwhile, once.
func TestAReaderInPlainFollowsTheOwner(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		owner := start(t, deps(w.Deps("talk", false)))
		k := start(t, deps(w.Deps("talk", false)))
		k.shows("the session is open in pid 101 on pts/101 (chat): this one is read-only")
		owner.say("four").wait(time.Second)
		k.shows("You: four\ncairn: echo four\n")
		owner.say("/undo").wait(time.Second)
		k.shows("- the other window went to another place in the conversation\n- the conversation ends with message 6 now: cairn: answer three\n")
		owner.say("/edit 3 uno").wait(time.Second)
		k.shows("You: uno\ncairn: echo uno\n")
		owner.say("/rename Pebbles").wait(time.Second)
		k.shows("- the session is called Pebbles now\n")
		owner.say("/undo").wait(time.Second)
		k.shows("- the conversation is empty now\n")
		for _, once := range []string{"You: four", "You: uno", "called Pebbles"} {
			if n := strings.Count(k.out.String(), once); n != 1 {
				t.Errorf("%q is written %d times:\n%s", once, n, k.out)
			}
		}
	})
}

// TestAModelNamesASessionOfPlainChat has the title asked for beside the chat,
// and given up with it.
func TestAModelNamesASessionOfPlainChat(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := deps(w.Deps("talk", true))
		asked := make(chan harness.SessionID, 10)
		d.Chat.Title = func(ctx context.Context, id harness.SessionID) error {
			asked <- id
			<-ctx.Done()
			return ctx.Err()
		}
		k := start(t, d)
		for range 8 {
			k.say("hello").wait(time.Second)
		}
		k.say("/quit")
		<-k.done
		if n := len(asked); n != 2 {
			t.Errorf("a title was asked for %d times", n)
		}
	})
}

// TestAnEditInPlainIsSentLaterInItsPlace leaves an edit that could not be sent
// to the next program, with its message on the branch and off it.
func TestAnEditInPlainIsSentLaterInItsPlace(t *testing.T) {
	for _, c := range []struct {
		name, first, says, branch string
	}{
		{"on the branch", "/edit 2 zwei", "your unsent draft, to be sent instead of message 3, is:\nzwei\n", "one | answer one | zwei | echo zwei"},
		{
			"off the branch", "/edit 2 zwei\n/undo\n/undo", "zwei\n- message 3, which it was to replace, is not on this branch any more",
			"one | answer one | zwei | echo zwei",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				three(w)
				d := w.Deps("talk", false)
				d.Engine = uitest.Refusing{Engine: d.Engine}
				k := start(t, deps(d))
				for line := range strings.SplitSeq(c.first, "\n") {
					k.say(line).wait(time.Second)
				}
				k.say("/quit")
				<-k.done
				k = start(t, deps(w.Deps("talk", false)))
				k.shows(c.says)
				k.say("1").wait(time.Second).shows("cairn: echo zwei").say("/quit")
				<-k.done
				branch(t, w, c.branch)
				if kept, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || kept.Text != "" || kept.Edits != nil {
					t.Errorf("the draft is %+v (%v)", kept, err)
				}
			})
		})
	}
}

// TestAForkInPlainSaysWhatStandsInItsWay cannot read which runs there are.
func TestAForkInPlainSaysWhatStandsInItsWay(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Deps("talk", false)
		engine := &unlisted{Engine: d.Engine}
		d.Engine = engine
		k := start(t, deps(d))
		engine.fails.Store(true)
		k.say("/fork").shows("The disk is gone")
		if out := k.out.String(); strings.Contains(out, "unfinished") {
			t.Errorf("an answer is said to be unfinished:\n%s", out)
		}
	})
}

// unlisted is an engine whose runs cannot be read.
type unlisted struct {
	harness.Engine
	fails atomic.Bool
}

func (u *unlisted) List(ctx context.Context, f harness.RunFilter) ([]harness.Run, error) {
	if u.fails.Load() {
		return nil, errors.New("the disk is gone")
	}
	return u.Engine.List(ctx, f)
}
