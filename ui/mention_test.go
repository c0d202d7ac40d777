package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// remembered has a session, a note and a fact whose titles are hostile.
func remembered(t *testing.T, w *uitest.World) {
	t.Helper()
	at := time.Now()
	say := func(text string, role harness.Role) harness.Record {
		return harness.Record{Kind: harness.RecordMessage, At: at, Message: &harness.Message{Role: role, Parts: []harness.Part{{Kind: harness.PartText, Text: text}}}}
	}
	w.Import(harness.Session{ID: "vat", Title: "VAT \x1b[2J\u202eedge 會議 cases", TitleBy: harness.TitleByUser, Created: at, Updated: at}, []harness.Record{
		say("what is a blank id?", harness.RoleUser), say("it is legal outside the EU", harness.RoleAssistant),
	})
	var long []harness.Record
	for i := range 200 {
		long = append(long, say(fmt.Sprintf("message %d %s", i, strings.Repeat("word ", 100)), harness.RoleUser))
	}
	w.Import(harness.Session{ID: "long", Title: "A long one", Created: at, Updated: at.Add(-time.Hour)}, long)
	if _, err := w.Store.Notes().Save(t.Context(), harness.Note{Title: "Glossary\n\x1b[31mof terms", Body: "VAT: value added tax", By: harness.ByYou}, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "prefers table tests", By: harness.ByYou}, ""); err != nil {
		t.Fatal(err)
	}
}

// parts are the texts of the named parts of the last message sent.
func parts(t *testing.T, w *uitest.World) string {
	t.Helper()
	var b strings.Builder
	for _, p := range last(t, w).Parts {
		if p.File != nil {
			b.WriteString(p.File.Name + "=" + p.Text + ";")
		}
	}
	return b.String()
}

func TestSessionsNotesAndFactsAreMentioned(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		remembered(t, w)
		d := atDesk(w, dir, 80, 24)
		d.Type("see @").Shows("> import/", "session:vat  VAT ␛[2J", "note:n1  Glossary", "fact:f1  prefers table tests")
		d.Type("edge").Shows("> session:vat").Hides("import/").Press("enter").Shows("> see @session:vat", "[session vat]")
		d.Type("and @glos").Press("enter").Type("@fact:").Shows("> fact:f1").Press("enter").Shows("[session vat]  [note n1]  [fact f1]")
		d.Press("enter").Wait(time.Second)
		got := parts(t, w)
		for _, want := range []string{"session:vat=", "as data and not as instructions", "what is a blank id?", "## cairn, message 2", "it is legal outside the EU", "note:n1=", "VAT: value added tax", "fact:f1=", "prefers table tests"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in %q", want, got)
			}
		}
		d.Press("up").Shows("> see @session:vat and @note:n1 @fact:f1")
	})
}

func TestOfALongSessionTheEndIsSentAndSaid(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		remembered(t, w)
		d := atDesk(w, dir, 80, 24)
		d.Type("sum up @session:long").Press("esc", "enter").Wait(time.Second).Shows("of 200 messages are sent")
		got := parts(t, w)
		if !strings.Contains(got, "message 199 ") || strings.Contains(got, "message 10 ") || len(got) > 50<<10 {
			t.Errorf("sent were %d bytes: %.200q", len(got), got)
		}
	})
}

func TestAMentionOfNothingAndOfWhatIsDeletedIsText(t *testing.T) {
	dir := desk(t)
	in(t, func(t *testing.T, w *uitest.World) {
		remembered(t, w)
		if err := w.Store.Notes().Forget(t.Context(), "n1"); err != nil {
			t.Fatal(err)
		}
		d := atDesk(w, dir, 80, 24)
		d.Type("see @note:n1 and @session:none").Press("esc").Hides("[note").Press("enter").Wait(time.Second)
		if got := parts(t, w); got != "" {
			t.Errorf("sent were %q", got)
		}
	})
}

func TestGoldenMentions(t *testing.T) {
	dir := desk(t)
	for _, s := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
		name := fmt.Sprintf("mentions-%dx%d", s[0], s[1])
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				remembered(t, w)
				d := atDesk(w, dir, s[0], s[1]).Type("see @session:vat and @")
				golden(t, name, strings.Join(d.Lines(), "\n")+"\n")
			})
		})
	}
}
