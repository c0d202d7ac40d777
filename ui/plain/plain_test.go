package plain_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/chat"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

// page is what was written, safe to read while more comes.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// talk is one plain chat under test.
type talk struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *page
	exit plain.Exit
	err  error
	done chan struct{}
	stop context.CancelFunc
}

func deps(d ui.Deps) plain.Deps {
	return plain.Deps{
		Chat: chat.Deps{
			Engine: d.Engine, Transcript: d.Transcript, Sessions: d.Sessions, Owners: d.Owners, Drafts: d.Drafts,
			Prompts: d.Prompts, Facts: d.Facts, Notes: d.Notes, Config: d.Config, Words: ui.Words,
			Holder: d.Holder, Dir: d.Dir, Now: d.Now, Log: d.Log,
		},
		Open: chat.Open{Session: d.Session, New: d.Fresh}, NewSession: d.NewSession, Watcher: d.Watcher,
		Extra: plain.Extra{Sessions: d.Sessions, Search: d.Search},
	}
}

func start(t *testing.T, d plain.Deps) *talk {
	t.Helper()
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	k := &talk{t: t, in: w, out: new(page), done: make(chan struct{}), stop: stop}
	d.In, d.Out = r, k.out
	go func() {
		defer close(k.done)
		k.exit, k.err = plain.Run(ctx, d)
	}()
	t.Cleanup(func() {
		k.stop()
		_ = w.Close()
		<-k.done
	})
	synctest.Wait()
	return k
}

func (k *talk) say(lines ...string) *talk {
	k.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(k.in, l+"\n"); err != nil {
			k.t.Fatal(err)
		}
		synctest.Wait()
	}
	return k
}

func (k *talk) wait(d time.Duration) *talk {
	time.Sleep(d)
	synctest.Wait()
	return k
}

func (k *talk) shows(want ...string) *talk {
	k.t.Helper()
	for _, w := range want {
		if !strings.Contains(k.out.String(), w) {
			k.t.Fatalf("the output lacks %q:\n%s", w, k.out.String())
		}
	}
	return k
}

func in(t *testing.T, test func(t *testing.T, w *uitest.World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, uitest.NewWorld(t)) })
}

func TestAConversationIsWrittenOnceAndInOrder(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		k := start(t, deps(w.Deps("talk", true)))
		k.say("hello").wait(time.Second).say(`two \`, "lines").wait(time.Second)
		if err := k.in.Close(); err != nil {
			t.Fatal(err)
		}
		<-k.done
		const want = `cairn, session talk, new chat, model parrot. /help lists the commands.
> hello
cairn: echo hello

> two 
lines
cairn: echo two 
lines

`
		if got := k.out.String(); got != want {
			t.Errorf("the output is\n%s\nnot\n%s", got, want)
		}
		if k.err != nil || !k.exit.Saved || k.exit.Session != "talk" {
			t.Errorf("exit %+v, %v", k.exit, k.err)
		}
	})
}

func TestTextIsWrittenAsItComes(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says("one ", "two\x1b(2J ", "th", "ree"))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(uitest.Pause).shows("cairn: one")
		k.wait(uitest.Pause).shows("cairn: one two␛(2J")
		k.wait(time.Second).shows("cairn: one two␛(2J three\n")
	})
}

func TestLinesWaitTheirTurnAndStopStops(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second).say("after").shows("queued (1)").say("/stop").wait(2*time.Second).shows("stopped", "interrupted", "cairn: echo after")
	})
}

func TestAnUnfinishedRunIsANumberedQuestion(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter("half an answer "+strings.Repeat("word ", 100), " ")...))
		first := start(t, deps(w.Deps("talk", true)))
		first.say("go").wait(3 * time.Second)
		w.Crash()
		k := start(t, deps(w.Deps("talk", false)))
		k.shows("You: go", "an answer is unfinished", "cairn (interrupted): half an answer", "  1  continue", "  3  drop")
		w.Model.Then(uitest.Says("the rest of it"))
		k.say("1").wait(time.Second).shows("cairn: the rest of it")
		if n := strings.Count(k.out.String(), "half an answer"); n != 1 {
			t.Errorf("the half answer is written %d times:\n%s", n, k.out)
		}
	})
}

func TestCommandsInPlain(t *testing.T) {
	for _, c := range []struct{ typed, shows string }{
		{"/help", "/remember TEXT"},
		{"/help", "/continue"},
		{"/sesions", "the nearest is /sessions"},
		{"/rename New name", "renamed to New name"},
		{"/remember I like tests", "remembered f1"},
		{"/facts", "0 facts"},
		{"/notes", "0 notes"},
		{"/forget nothing of it", "nothing remembered says"},
		{"/forget", "write words of the fact after it"},
		{"/context", "no request was sent in this chat yet"},
		{"/model", "the model is test/parrot"},
		{"/model test/owl", "the model is now test/owl"},
		{"/model x/y", "nearest is test"},
		{"/copy 1", "\nx := 1\n"},
		{"/copy 2", "code blocks in the last answer: 1"},
		{"/runs", "no run is unfinished"},
		{"/new", "session new-1, new chat"},
		{"/stop", "nothing is under way"},
		{"/tools", "the model has no tools here"},
		{"/todos", "nothing was planned in this conversation yet"},
		{"/redraw", "nothing is drawn here"},
		{"/doctor", "cairn doctor"},
		{"/retry", "cairn: echo hello"},
		{" /literal", "cairn: echo /literal"},
		{" /stop", "cairn: echo /stop"},
		{"/settings", "cairn config set KEY VALUE"},
	} {
		t.Run(c.typed, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Tell("talk", "Our talk", time.Now(), "hello", "hi\n\n```go\nx := 1\n```\n")
				start(t, deps(w.Deps("talk", false))).shows(`"Our talk"`, "You: hello", "cairn: hi").say(c.typed).wait(time.Second).shows(c.shows)
			})
		})
	}
}

// A command is never sent to the model, also while an answer is under way: what
// only shows something is carried out at once, all else in its turn.
func TestCommandsTypedWhileAnAnswerIsUnderWay(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second).say("/help").shows("/remember TEXT").say("first", "/new", "second", " /third")
		k.shows("queued (1)", "comes after the answer: /new").say("/stop").wait(3 * time.Second)
		k.shows("cairn: echo first", "session new-1, new chat", "cairn: echo second", "cairn: echo /third")
		text := k.out.String()
		if a, b := strings.Index(text, "echo first"), strings.Index(text, "session new-1"); a > b {
			t.Errorf("the new chat came before the message in front of it:\n%s", text)
		}
		if strings.Contains(text, "echo /new") || strings.Contains(text, "echo /help") {
			t.Errorf("a command was sent to the model:\n%s", text)
		}
		for _, id := range []harness.SessionID{"talk", "new-1"} {
			if draft, err := w.Store.Drafts().Load(t.Context(), id); err != nil || len(draft.Queue) != 0 {
				t.Errorf("kept in %s: %+v, %v", id, draft, err)
			}
		}
	})
}

func TestMessagesBehindACommandAreKept(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second).say("first", "/retry", "second", "/quit").wait(time.Second)
		<-k.done
		draft, err := w.Store.Drafts().Load(t.Context(), "talk")
		if err != nil || strings.Join(draft.Queue, "|") != "first|second" {
			t.Errorf("kept: %+v, %v", draft, err)
		}
	})
}

func TestASessionGoesFromOneToAnother(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		a := start(t, deps(w.Deps("talk", false)))
		b := start(t, deps(w.Deps("talk", false)))
		b.shows("read-only").say("mine").shows("nothing was sent").say("/takeover").wait(time.Second).shows("owns the session now")
		a.shows("took this session over")
		b.say("mine").wait(time.Second).shows("cairn: echo mine")
	})
}

func TestAMessageThatCannotBeStoredIsKept(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := deps(w.Deps("talk", true))
		d.Chat.Engine = uitest.Refusing{Engine: d.Chat.Engine}
		k := start(t, d)
		k.say("precious").shows("disk is full", "the message is kept").say("/quit")
		<-k.done
		if k.exit.Saved {
			t.Error("it is said to be saved")
		}
		draft, err := w.Store.Drafts().Load(t.Context(), "talk")
		if err != nil || len(draft.Queue) != 1 || draft.Queue[0] != "precious" {
			t.Errorf("the draft is %+v, %v", draft, err)
		}
	})
}

// full is a pipe whose reader has gone.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAnOutputThatIsGoneEndsTheChat(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := deps(w.Deps("talk", true))
		d.In, d.Out = strings.NewReader("hello\n"), full{}
		if _, err := plain.Run(t.Context(), d); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the error is %v", err)
		}
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err == nil {
			t.Errorf("a message was sent into the void: %+v", s)
		}
	})
}

func TestInterruptPausesTheRun(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		k := start(t, deps(w.Deps("talk", true)))
		k.say("go").wait(time.Second)
		k.stop()
		<-k.done
		k.shows("paused")
		runs, err := w.Engine.List(t.Context(), harness.RunFilter{Unfinished: true})
		if err != nil || len(runs) != 1 || runs[0].Status != harness.RunPaused {
			t.Errorf("runs %+v, %v", runs, err)
		}
	})
}

func TestWhatWaitsIsOnDiskAndSentOnce(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		draft := func() harness.Draft {
			t.Helper()
			d, err := w.Store.Drafts().Load(t.Context(), "talk")
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 100), " ")...))
		first := start(t, deps(w.Deps("talk", true)))
		first.say("go").wait(time.Second).say("second", "third")
		if got := draft().Queue; len(got) != 2 || got[0] != "second" {
			t.Fatalf("while the answer runs the queue on disk is %q", got)
		}
		w.Crash()
		k := start(t, deps(w.Deps("talk", false)))
		k.shows("these messages were not sent yet:\nsecond\nthird\n").say("1", "3").wait(5 * time.Second).shows("\nsecond\n\ncairn: echo third")
		if got := draft(); len(got.Queue) != 0 || got.Text != "" {
			t.Errorf("what was sent is kept: %+v", got)
		}
		k.say("/quit")
		<-k.done
		again := start(t, deps(w.Deps("talk", false)))
		if strings.Contains(again.out.String(), "not sent") {
			t.Errorf("it is offered again:\n%s", again.out)
		}
	})
}

func TestADraftIsKeptUntilItIsSent(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		d := deps(w.Deps("talk", false))
		if err := w.Store.Drafts().Save(t.Context(), "talk", d.Chat.Holder, harness.Draft{Text: "half a thought"}); err != nil {
			t.Fatal(err)
		}
		k := start(t, d)
		k.shows("your unsent draft is:\nhalf a thought").say("2", "other").wait(time.Second).shows("cairn: echo other").say("/quit")
		<-k.done
		k = start(t, deps(w.Deps("talk", false)))
		k.shows("half a thought").say("1").wait(time.Second).shows("cairn: echo half a thought").say("/quit")
		<-k.done
		if got := start(t, deps(w.Deps("talk", false))).out.String(); strings.Contains(got, "unsent") {
			t.Errorf("the draft that was sent is offered again:\n%s", got)
		}
	})
}
