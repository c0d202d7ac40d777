package plain_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/attach"
	"cairn/harness/model/offline"
	files "cairn/ui/chat/attach"
	"cairn/ui/plain"
	"cairn/ui/uitest"
)

// beside are the parts of a plain chat in a directory with two files.
func beside(t *testing.T, w *uitest.World) (plain.Deps, string) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"notes.md": "buy milk\n", "a b.md": "spaced\n", "empty.md": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		long := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	f := attach.Files{Dir: dir}
	d := deps(w.Deps("talk", false))
	d.Chat.Files = files.Files{
		Look: func(ctx context.Context, path string) (files.Seen, error) {
			s, err := f.Look(ctx, path)
			return files.Seen(s), err
		},
		Read: f.Read, List: f.List,
	}
	return d, dir
}

// parts are those of the last message of the person.
func parts(t *testing.T, w *uitest.World) []harness.Part {
	t.Helper()
	records, err := w.Store.Transcript().Tail(t.Context(), "talk", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var last []harness.Part
	for _, r := range records {
		if r.Message != nil && r.Message.Role == harness.RoleUser {
			last = r.Message.Parts
		}
	}
	return last
}

func TestFilesGoWithAMessage(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, _ := beside(t, w)
		k := start(t, d)
		k.say("what is in @notes.md?").wait(time.Second).shows("- with it: text notes.md 9 B", "cairn: echo what is in @notes.md?")
		if got := parts(t, w); len(got) != 2 || !strings.Contains(got[1].Text, "buy milk") {
			t.Errorf("sent %+v", got)
		}
		k.say("/attach nothing.md").shows("there is no file nothing.md").say("/attach").shows("write the path after it")
		k.say("/attach a b.md", "/attach notes.md").shows("goes with the next message: text a b.md 7 B; /detach takes it back")
		k.say("/detach nothing").shows("nothing is not attached").say("/detach notes.md").shows(`goes with the next message: @"a b.md"`)
		k.say("read it").wait(time.Second).shows("- with it: text a b.md 7 B", `cairn: echo read it @"a b.md"`)
		k.say("/detach").shows("no file is attached").say("me@example.org and @nobody").wait(time.Second).shows("cairn: echo me@example.org and @nobody")
		if got := parts(t, w); len(got) != 1 {
			t.Errorf("sent %+v", got)
		}
		k.say("/quit")
		<-k.done
		start(t, deps(w.Deps("talk", false))).shows("You: what is in @notes.md?\n- with it: text notes.md 9 B")
	})
}

func TestARefusedFileAsksWhatBecomesOfTheMessage(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, dir := beside(t, w)
		k := start(t, d)
		k.say("see @empty.md").shows("not sent: empty.md is empty", "kept as your draft", "  1  try again", "  2  send it without files")
		if draft, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || draft.Text != "see @empty.md" {
			t.Errorf("the draft is %+v, %v", draft, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "empty.md"), []byte("full"), 0o600); err != nil {
			t.Fatal(err)
		}
		k.say("1").wait(time.Second).shows("- with it: text empty.md 4 B", "cairn: echo see @empty.md")
		if draft, err := w.Store.Drafts().Load(t.Context(), "talk"); err != nil || draft.Text != "" {
			t.Errorf("the draft is %+v, %v", draft, err)
		}
		d.Chat.Files.Look = func(context.Context, string) (files.Seen, error) { return files.Seen{}, errors.New("is too large") }
		k.say("/quit")
		<-k.done
		k = start(t, d)
		k.say("and @empty.md").shows("not sent: empty.md: is too large").say("2").wait(time.Second).shows("cairn: echo and @empty.md")
		k.say("and @notes.md", "other").wait(time.Second).shows("cairn: echo other").say("/quit")
		<-k.done
		start(t, d).shows("your unsent draft is:\nand @notes.md")
	})
}

func TestWhatIsAttachedSurvivesACrash(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, dir := beside(t, w)
		w.Tell("talk", "Our talk", time.Now(), "hello", "hi")
		start(t, d).say("/attach notes.md", "/attach a b.md").wait(time.Second)
		w.Crash()
		if err := os.Remove(filepath.Join(dir, "notes.md")); err != nil {
			t.Fatal(err)
		}
		again := deps(w.Deps("talk", false))
		again.Chat.Files = d.Chat.Files
		k := start(t, again)
		k.shows("your unsent draft is:\n@notes.md @\"a b.md\"\n- @notes.md is no file now").say("1").wait(time.Second).shows("with it: text a b.md")
	})
}

func TestAnEditedMessageTakesItsFilesAnew(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, _ := beside(t, w)
		k := start(t, d)
		k.say("see @notes.md").wait(time.Second).say("/edit 1 see @a b.md or @notes.md").wait(time.Second)
		if got := parts(t, w); len(got) != 2 || got[1].File == nil || got[1].File.Name != "notes.md" {
			t.Errorf("sent %+v", got)
		}
		k.say("/retry").wait(time.Second)
		if got := parts(t, w); len(got) != 2 {
			t.Errorf("asked again with %+v", got)
		}
		k.say("/edit 1 see @empty.md").wait(time.Second).shows("not sent: empty.md is empty").say("2").wait(time.Second).shows("cairn: echo see @empty.md")
	})
}

func TestWhileAnAnswerIsUnderWayFilesWaitTheirTurn(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, _ := beside(t, w)
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("word ", 50), " ")...))
		k := start(t, d)
		k.say("go").wait(time.Second).say("then @notes.md", "/attach a b.md", "last").wait(10 * time.Second)
		k.shows("cairn: echo then @notes.md", "goes with the next message: text a b.md", `cairn: echo last @"a b.md"`)
	})
}

// The built-in model is told of files as every other one is.
func TestAFileReachesTheBuiltInModel(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d, _ := beside(t, w)
		builtIn := offline.New()
		w.Model.Then(builtIn.Stream, builtIn.Stream)
		k := start(t, d)
		k.say("/attach notes.md", "look at this").wait(time.Minute).shows("- with it: text notes.md 9 B", "cairn: ")
		asked := w.Model.Asked()
		if len(asked) == 0 {
			t.Fatal("nothing was asked")
		}
		text := ""
		for _, p := range asked[0].Messages[0].Parts {
			text += p.Text
		}
		if !strings.Contains(text, "look at this @notes.md") || !strings.Contains(text, "notes.md:\n```") || !strings.Contains(text, "buy milk") {
			t.Errorf("the model was asked %q", text)
		}
	})
}
