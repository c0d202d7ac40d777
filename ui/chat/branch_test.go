package chat_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func in(t *testing.T, f func(t *testing.T, w *uitest.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, uitest.NewWorld(t)) })
}

// three stores a chat of three turns.
func three(w *uitest.World) {
	w.Tell("talk", "Stones", time.Now(), "one", "answer one", "two", "answer two", "three", "answer three")
}

// branch is the branch of a session in words.
func branch(t *testing.T, w *uitest.World, id harness.SessionID) string {
	t.Helper()
	records, err := w.Store.Transcript().Tail(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range records {
		if r.Message != nil {
			said = append(said, r.Message.Text())
		}
	}
	return strings.Join(said, " | ")
}

// records is how many records a session's log has.
func records(t *testing.T, w *uitest.World, id harness.SessionID) int {
	t.Helper()
	s, err := w.Store.Sessions().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s.Records
}

func said(t *testing.T, w *uitest.World, id harness.SessionID, want string) {
	t.Helper()
	if got := branch(t, w, id); got != want {
		t.Errorf("the branch of %s is %q, not %q", id, got, want)
	}
}

func TestWhatWasTakenBackCanBeBroughtBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/undo").Press("enter").Wait(0).Shows("took back message 5 and 1 message after it · /redo or ctrl+x U brings it back", "> three", "answer two").Hides("answer three")
		said(t, w, "talk", "one | answer one | two | answer two")
		d.Press("ctrl+x", "z").Wait(0).Shows("took back message 3", "> two", "answer one").Hides("answer two")
		d.Press("ctrl+x", "z").Wait(0).Shows("took back message 1", "> one").Hides("answer one")
		said(t, w, "talk", "")
		d.Press("ctrl+x", "z").Wait(0).Shows("there is nothing to take back", "> one")
		d.Press("ctrl+x", "U").Wait(0).Shows("brought back 2 messages", "answer one", "> write a message").Hides("answer two")
		d.Type("mine").Press("ctrl+x", "U").Wait(0).Press("ctrl+x", "U").Wait(0).Shows("answer two", "answer three", "> mine")
		d.Press("ctrl+x", "U").Wait(0).Shows("there is nothing to bring back")
		said(t, w, "talk", "one | answer one | two | answer two | three | answer three")
		if n := records(t, w, "talk"); n != 6 {
			t.Errorf("the log has %d records", n)
		}
		d.Press("ctrl+x", "z").Wait(0).Shows("took back message 5", "> mine").Hides("answer three")
	})
}

func TestTakingBackNamesTheKeyThatBringsBack(t *testing.T) {
	for want, keys := range map[string][]string{
		"· /redo or ctrl+y brings it back": {"ctrl+y"},
		"· /redo brings it back":           {},
	} {
		in(t, func(t *testing.T, w *uitest.World) {
			three(w)
			deps := w.Deps("talk", false)
			deps.Keys = map[string][]string{"chat.bring-back": keys}
			w.Start(deps, 80, 24).Type("/undo").Press("enter").Wait(0).Shows(want)
		})
	}
}

func TestMovesMayBeTypedBehindWhatWasTakenBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		const whole = "one | answer one | two | answer two | three | answer three"
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/undo").Press("enter").Wait(0).Shows("> three")
		d.Type("/redo").Press("enter").Wait(0).Shows("brought back 2 messages", "> write a message")
		said(t, w, "talk", whole)
		for _, text := range []string{"three", "two", "one"} {
			d.Type("/undo").Press("enter").Wait(0).Shows("> " + text).Hides(text + "/undo")
		}
		d.Type(" /undo").Press("enter").Wait(0).Shows("there is nothing to take back", "> one")
		said(t, w, "talk", "")
		d.Type("/redo").Press("enter").Wait(0).Type("/redo").Press("enter").Wait(0).Type("/redo").Press("enter").Wait(0)
		said(t, w, "talk", whole)
		d.Type("/undo").Press("enter").Wait(0).Type(" or four/redo").Press("enter").Wait(time.Second)
		said(t, w, "talk", "one | answer one | two | answer two | three or four/redo | echo three or four/redo")
	})
}

func TestAMessageIsEditedAndResentOnABranchOfItsOwn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("a draft").Press("ctrl+x", "E").Wait(0).Shows("> three", "editing message 5 · enter sends it on a new branch · esc leaves it")
		d.Press("esc").Shows("> a draft").Hides("editing")
		d.Press("ctrl+u").Type("/edit 2").Press("enter").Wait(0).Shows("> two", "editing message 3")
		d.Type(", please").Press("enter").Wait(50*time.Millisecond).Shows("two, please", "esc esc stop").Hides("answer two", "answer three", "editing")
		d.Wait(time.Second).Shows("echo two, please", "> write a message")
		said(t, w, "talk", "one | answer one | two, please | echo two, please")
		d.Type("and on").Press("enter").Wait(time.Second).Shows("echo and on")
		asked := w.Model.Asked()
		if last := asked[len(asked)-1].Messages; len(last) != 5 {
			t.Errorf("the model was told %d messages", len(last))
		}
		if n := records(t, w, "talk"); n != 10 {
			t.Errorf("the log has %d records", n)
		}
		d.Type("/edit 7").Press("enter").Wait(0).Shows("only 3 messages of yours on this branch")
		d.Type("/edit x").Press("enter").Wait(0).Shows("/edit 2 is about the message before your last one")
	})
}

func TestAnEditThatCannotBeSentIsGoneBackTo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		deps := w.Deps("talk", false)
		deps.Engine = uitest.Refusing{Engine: deps.Engine}
		d := w.Start(deps, 80, 24)
		d.Type("/edit 3").Press("enter").Wait(0).Type("!").Press("enter").Wait(0)
		d.Shows("> one!", "editing message 1", "not saved", "answer three")
		said(t, w, "talk", "one | answer one | two | answer two | three | answer three")
		d.Wait(2 * time.Second)
		if kept, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || kept.Text != "one!" {
			t.Errorf("the draft is %+v (%v)", kept, err)
		}
		d.Press("esc").Shows("> write a message").Hides("editing")
		d.Type("/retry").Press("enter").Wait(0).Shows("answer three", "> write a message")
		said(t, w, "talk", "one | answer one | two | answer two | three | answer three")
	})
}

// TestACrashWhileAnEditIsSentLosesNothing ends the program between the move of
// the head and the start of the run.
func TestACrashWhileAnEditIsSentLosesNothing(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		deps := w.Deps("talk", false)
		hung := make(chan struct{})
		deps.Engine = hanging{deps.Engine, hung}
		d := w.Start(deps, 80, 24)
		d.Type("/edit 2").Press("enter").Wait(0).Type("?").Press("enter")
		<-hung
		d.Stop()
		w.Crash()
		d = w.Open("talk", 80, 24)
		d.Shows("answer one", "> two?", "your draft is back").Hides("answer two")
		d.Press("ctrl+x", "U").Wait(0).Shows("answer two", "> two?")
		d.Press("ctrl+x", "U").Wait(0).Shows("answer three", "> two?")
	})
}

// hanging is an engine that never starts anything.
type hanging struct {
	harness.Engine
	hung chan struct{}
}

func (h hanging) Start(ctx context.Context, _ harness.StartRequest) (harness.RunHandle, error) {
	close(h.hung)
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnyMessageIsAnsweredAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/retry").Press("enter").Wait(time.Second).Shows("echo three").Hides("answer three")
		d.Type("/retry 3").Press("enter").Wait(time.Second).Shows("echo one").Hides("echo three")
		said(t, w, "talk", "one | echo one")
		d.Type("/tree").Press("enter").Wait(0).Shows("Branches · Stones", "3 branches", "> ●     9  00:00   one", "├─ one", "├─ three")
	})
}

func TestNothingMovesWhileAnAnswerIsUnderWay(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		w.Model.Then(uitest.Sleeps(time.Hour))
		d.Type("four").Press("enter").Wait(time.Second)
		for _, c := range []string{"/undo", "/redo", "/edit", "/retry"} {
			d.Type(c).Press("enter").Wait(0).Shows("an answer is under way; stop it first")
		}
		d.Type("/fork").Press("enter").Wait(0).Shows("an answer is unfinished; /fork 2 forks before it")
		d.Press("ctrl+x", "g").Wait(0).Shows("> ●     7  00:00   four")
		for _, k := range []string{"e", "r"} {
			d.Press(k).Shows("an answer is under way; stop it first", "Branches")
		}
		d.Press("f").Wait(0).Shows("an answer is unfinished there; fork after a message above it", "Branches")
		d.Press("esc").Hides("Branches")
		d.Press("ctrl+c").Wait(time.Second).Shows("stopped")
		said(t, w, "talk", "one | answer one | two | answer two | three | answer three | four")
		d.Type("/undo").Press("enter").Wait(0).Shows("> four")
	})
}

// TestAnInterruptedAnswerIsDroppedWhereItWasGiven takes back, and edits, a
// message whose answer broke off.
func TestAnInterruptedAnswerIsDroppedWhereItWasGiven(t *testing.T) {
	for _, edit := range []bool{false, true} {
		in(t, func(t *testing.T, w *uitest.World) {
			three(w)
			d := w.Open("talk", 80, 24)
			w.Model.Then(uitest.Fails("the first half", "the line is dead"))
			d.Type("four").Press("enter").Wait(time.Second).Shows("the answer failed", "the first half")
			if edit {
				d.Type("/edit").Press("enter").Wait(0).Shows("> four", "editing message 7").Type("!").Press("enter").Wait(time.Second)
				d.Shows("echo four!").Hides("the first half", "failed")
				said(t, w, "talk", "one | answer one | two | answer two | three | answer three | four! | echo four!")
			} else {
				d.Type("/redo").Press("enter").Wait(0).Shows("an answer is unfinished: nothing follows it")
				d.Type("/undo").Press("enter").Wait(0).Shows("took back message 7 · /redo or ctrl+x U brings it back · the unfinished answer", "is dropped, and kept in the log", "> four").Hides("the first half", "the answer failed")
				d.Press("ctrl+x", "U").Wait(0).Shows("the first half", "> write a message")
				said(t, w, "talk", "one | answer one | two | answer two | three | answer three | four | the first half")
			}
			runs, err := w.Engine.List(t.Context(), harness.RunFilter{Session: "talk", Unfinished: true})
			if err != nil || len(runs) > 0 {
				t.Errorf("unfinished are %v (%v)", runs, err)
			}
		})
	}
}

// TestWhatIsSentWhileTheHeadMovesFollowsIt types on at once.
func TestWhatIsSentWhileTheHeadMovesFollowsIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		deps := w.Deps("talk", false)
		slow := make(chan struct{})
		deps.Transcript = slowly{deps.Transcript, slow}
		d := w.Start(deps, 80, 24)
		d.Type("/undo").Press("enter").Type("another").Press("enter").Shows("queued 1")
		d.Type("/undo").Press("enter").Shows("the branches are being changed already")
		close(slow)
		d.Wait(time.Second).Shows("echo another").Hides("three")
		said(t, w, "talk", "one | answer one | two | answer two | another | echo another")
	})
}

// slowly is a transcript whose head moves once it may.
type slowly struct {
	harness.Transcript
	may chan struct{}
}

func (s slowly) MoveHead(ctx context.Context, l harness.Lease, seq int) error {
	<-s.may
	return s.Transcript.MoveHead(ctx, l, seq)
}

func TestTheBranchesAreChosenInTheTree(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/edit 2").Press("enter").Wait(0).Type("!").Press("enter").Wait(time.Second)
		d.Type("a draft").Press("ctrl+x", "g").Wait(0).Shows("> ●     7  00:00   two!", "├─ two", "│  three", "2 branches")
		d.Press("up").Shows(">       5").Press("enter").Wait(0)
		d.Shows("answer three", "> a draft", "this is the branch that ends with message 6").Hides("two!")
		said(t, w, "talk", "one | answer one | two | answer two | three | answer three")
		d.Press("ctrl+x", "g").Wait(0).Press("home", "down", "e").Wait(0).Shows("> two!", "editing message 7").Press("esc").Shows("> a draft")
		d.Press("ctrl+x", "g").Wait(0).Press("home", "down", "r").Wait(time.Second).Shows("echo two!")
		said(t, w, "talk", "one | answer one | two! | echo two!")
		d.Press("ctrl+x", "g").Wait(0).Shows("3 branches").Press("q").Hides("Branches").Shows("> a draft")
		d.Press("ctrl+x", "g").Wait(0).Paste("eq").Press("x").Shows("Branches").Press("f1").Shows("Help · chat", "go there").Press("esc", "ctrl+c").Shows("> a draft")
	})
}

// TestTheTreeShowsTheMessageThatIsChosen goes to a message of a long branch.
func TestTheTreeShowsTheMessageThatIsChosen(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var texts []string
		for i := range 150 {
			texts = append(texts, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
		}
		w.Tell("talk", "Long", time.Now(), texts...)
		d := w.Open("talk", 80, 24)
		d.Press("ctrl+x", "g").Wait(0).Shows("150 messages of yours", "question 149").Press("home", "down", "down").Shows(">       5", "question 2").Press("enter").Wait(0)
		d.Shows("question 2", "answer 2", "End to follow").Hides("question 149")
	})
}

func TestAReaderMayLookAtTheTreeAndForkButNotMove(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		w.Open("talk", 80, 24)
		d := w.Open("talk", 80, 24).Shows("read-only")
		for _, c := range []string{"/undo", "/edit", "/retry", "/redo"} {
			d.Type(c).Press("enter").Wait(0).Shows("this window is read-only: /takeover takes the session over")
		}
		d.Press("ctrl+x", "g").Wait(0).Press("up", "e").Shows("this window is read-only", "Branches")
		d.Press("enter").Wait(0).Shows("two", "answer two").Hides("Branches")
		d.Press("ctrl+x", "g").Wait(0).Press("up", "f").Wait(0)
		forks, err := w.Store.Sessions().List(t.Context(), harness.SessionFilter{})
		if err != nil || len(forks) != 2 {
			t.Fatalf("there are %d sessions (%v)", len(forks), err)
		}
		i := slices.IndexFunc(forks, func(s harness.Session) bool { return s.Parent != nil })
		if at := *forks[i].Parent; at != (harness.Origin{Session: "talk", Record: 4}) {
			t.Errorf("it was forked at %v", at)
		}
	})
}

// TestAReaderFollowsTheOwnersBranches looks on while another window takes back,
// edits, changes branches and the title.
func TestAReaderFollowsTheOwnersBranches(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		owner := w.Open("talk", 80, 24)
		reader := w.Open("talk", 80, 24).Shows("answer three", "open in pid 101 on pts/101 (chat)")
		pass := func(want ...string) *uitest.Driver { return reader.Wait(1500 * time.Millisecond).Shows(want...) }
		owner.Type("/undo").Press("enter").Wait(0)
		pass("answer two").Hides("three")
		owner.Press("ctrl+x", "U").Wait(0)
		pass("three", "answer three")
		reader.Press("ctrl+x", "g").Wait(0).Shows("3 messages of yours")
		owner.Type("/edit 2").Press("enter").Wait(0).Type("!").Press("enter").Wait(time.Second)
		pass("2 branches", "two!")
		reader.Press("esc").Shows("two!", "echo two!").Hides("answer three")
		owner.Press("ctrl+x", "g").Wait(0).Press("up", "enter").Wait(0)
		pass("answer three").Hides("two!")
		for range 3 {
			owner.Press("ctrl+x", "z").Wait(0)
		}
		pass("Stones").Hides("you", "answer")
		owner.Press("ctrl+u").Type("/rename Pebbles").Press("enter").Wait(0)
		pass("Pebbles")
	})
}

// TestAMessageOnAnotherBranchIsFoundInTheTree opens a chat at a message that is
// not on the branch shown.
func TestAMessageOnAnotherBranchIsFoundInTheTree(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/edit 2").Press("enter").Wait(0).Type("!").Press("enter").Wait(time.Second)
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "said on the other branch", Source: harness.Source{Session: "talk", Message: 4}}, ""); err != nil {
			t.Fatal(err)
		}
		d.Press("ctrl+x", "f").Wait(time.Second).Press("enter").Wait(time.Second).Shows("message 4 is on another branch: /tree shows it")
		d.Press("ctrl+x", "g").Wait(0).Shows(">       3  00:02   ├─ two").Press("enter").Wait(0).Shows("answer two", "answer three")
	})
}

func TestExport(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		d := w.Open("talk", 80, 24)
		d.Type("/export").Press("enter").Wait(0).Shows("exporting is off in this chat")
	})
}
