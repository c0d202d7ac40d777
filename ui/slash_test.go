package ui_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestSlashCommands(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		shows       []string
	}{
		{"unknown", "/sesions", []string{"/sesions is no command; the nearest is /sessions", "> /sesions"}},
		{"rename", "/rename  The  VAT  talk", []string{"renamed to The VAT talk", " The VAT talk ·"}},
		{"rename without a title", "/rename", []string{"> /rename Our talk", "enter gives it"}},
		{"model", "/model", []string{"the model is test/parrot"}},
		{"another model", "/model test/owl", []string{"the model is now test/owl", "· owl", "model changed from test/parrot to test/owl"}},
		{"unknown model", "/model tset/owl", []string{"nearest is test", "> /model tset/owl"}},
		{"runs", "/runs", []string{"No runs yet."}},
		{"permissions", "/permissions", []string{"Permissions", "grants are not kept here"}},
		{"takeover", "/takeover", []string{"owns the session already"}},
		{"doctor", "/doctor", []string{"cairn doctor"}},
		{"help", "/help", []string{"Help"}},
		{"sessions", "/sessions", []string{"Sessions"}},
		{"new", "/new", []string{"New chat"}},
		{"copy of a block that is not there", "/copy 3", []string{"the last answer has 1 code block"}},
		{"completion", "/remem", []string{"/remember TEXT save a fact"}},
		{"completion", "/model test", []string{"/model [PROVIDER/NAME] choose a model"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Tell("talk", "Our talk", time.Now(), "hello", "hello\n\n```\ncode\n```\n")
				d := w.Open("talk", 80, 24)
				d.Type(c.typed)
				if c.name != "completion" {
					d.Press("enter").Wait(time.Second)
				}
				d.Shows(c.shows...)
			})
		})
	}
}

func TestWhatIsNoCommandSaysHowItIsSent(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		for _, size := range [][2]int{{80, 24}, {40, 10}} {
			d := w.Open("talk", size[0], size[1])
			d.Type("/etc/hosts").Shows("no command begins so; a space").Press("ctrl+u").Type("//etc").Hides("no command").Press("ctrl+u").Type("/cop").Shows("/copy")
		}
	})
}

func TestASlashIsSentLiterally(t *testing.T) {
	for typed, sent := range map[string]string{"//etc is a folder": "/etc is a folder", " /etc too": "/etc too", "a /quit in the middle": "a /quit in the middle"} {
		t.Run(typed, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				d := w.Open("talk", 80, 24)
				d.Type(typed).Press("enter").Wait(time.Second)
				if got := asked(w); len(got) != 1 || got[0] != sent {
					t.Errorf("sent %q", got)
				}
			})
		})
	}
}

func TestRetryAnswersTheLastMessageAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Model.Then(uitest.Says("a bad answer"), uitest.Says("a good answer"))
		d := w.Open("talk", 80, 24)
		d.Type("question").Press("enter").Wait(time.Second).Shows("a bad answer")
		d.Type("/retry").Press("enter").Wait(time.Second).Shows("question", "a good answer").Hides("a bad answer")
		if n := strings.Count(d.Screen(), "question"); n > 2 { // the title, and the message once
			t.Errorf("the message is shown %d times:\n%s", n-1, d.Screen())
		}
	})
}

func TestRememberedFactsCanBeForgottenAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("/remember I like table tests").Press("enter").Wait(0).Shows("remembered f1", "ctrl+_ forgets")
		if f, err := w.Store.Facts().Get(t.Context(), "f1"); err != nil || f.Text != "I like table tests" || f.By != harness.ByYou {
			t.Fatalf("the fact is %+v, %v", f, err)
		}
		d.Press("ctrl+_").Wait(0).Shows("forgot f1 again")
		if f, err := w.Store.Facts().Get(t.Context(), "f1"); err != nil || f.State != harness.StateTrashed {
			t.Errorf("the fact is %+v, %v", f, err)
		}
	})
}

func TestCopyGivesTheSourceToTheTerminal(t *testing.T) {
	answer := "Use `Map<string>`:\n\n```go\nif a < b {\n\treturn\n}\n```\n\nDone &amp; dusted."
	for typed, want := range map[string]string{"/copy": answer, "/copy 1": "if a < b {\n\treturn\n}\n"} {
		t.Run(typed, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Tell("talk", "Our talk", time.Now(), "hello", answer)
				d := w.Open("talk", 80, 24)
				d.Shows("Map<string>").Type(typed).Press("enter").Shows("copied")
				if got, want := d.Written(), "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(want))+"\x07"; len(got) != 1 || got[0] != want {
					t.Errorf("wrote %q, not %q", got, want)
				}
			})
		})
	}
}

func TestAnswersSayWhatTheyUsed(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		msg := harness.AssistantText("As you like it.")
		msg.Used = []string{"f1", "f2", "n7"}
		user := harness.UserText("how?")
		w.Import(harness.Session{ID: "talk", Title: "Our talk"}, []harness.Record{
			{Kind: harness.RecordMessage, Message: &user, At: time.Now()},
			{Kind: harness.RecordMessage, Message: &msg, At: time.Now()},
		})
		w.Open("talk", 80, 24).Shows("cairn · 00:00 · used 2 facts, 1 note")
	})
}
