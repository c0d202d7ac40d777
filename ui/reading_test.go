package ui_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// clip is what was sent last for the clipboard.
func clip(t *testing.T, d *uitest.Driver) string {
	t.Helper()
	all := d.Written()
	for i := len(all) - 1; i >= 0; i-- {
		if _, rest, ok := strings.Cut(all[i], "\x1b]52;c;"); ok {
			text, err := base64.StdEncoding.DecodeString(strings.TrimRight(rest, "\x07\x1b\\"))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	return ""
}

// longTalk is a conversation of so many numbered messages of several lines.
func longTalk(w *uitest.World, n int) {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("message number %d\n\nits second paragraph\n\nand its last", i+1)
	}
	w.Tell("talk", "Our talk", time.Now(), texts...)
}

func TestAMessageIsSelectedAndCopiedAsItWasWritten(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		d := w.Open("q3", 80, 24)
		d.Press("tab").Shows("→ cairn", "message 4").Press("y").Shows("copied the answer", "sent to the terminal")
		if got := clip(t, d); !strings.HasPrefix(got, "Both callers are listed in the table:\n\n| case | today |") {
			t.Errorf("copied %q", got)
		}
		d.Press("k").Shows("message 2", "1 code block").Press("1").Shows("copied code block 1")
		if got, want := clip(t, d), "if r.VAT == \"\" {\n    return nil, ErrBadRow\n}\n"; got != want {
			t.Errorf("copied %q, not %q", got, want)
		}
		d.Press("2").Shows("the message has 1 code block").Press("k").Shows("→ you", "message 1").Press("y").Shows("copied your message")
		d.Press("1").Shows("no code block is in this message")
		d.Press("Y").Shows("copied the whole chat")
		if got := clip(t, d); !strings.HasPrefix(got, "you:\n\nWhy does the importer") || !strings.Contains(got, "\n\ncairn:\n\nThe parser treats") {
			t.Errorf("copied %q", got)
		}
		d.Press("esc").Shows("> write a message").Hides("→ you")
	})
}

func TestCodeBlocksAreNumberedThroughAMessageAlsoBehindACall(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		at := time.Now()
		question := harness.UserText("show me")
		answer := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{
			{Kind: harness.PartText, Text: "First:\n\n```\none\n```\n\nNow I look."},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "look", Input: []byte(`{}`)}},
			{Kind: harness.PartText, Text: "```\ntwo\n```\n"},
		}}
		w.Import(harness.Session{ID: "codes", Title: "Codes", TitleBy: harness.TitleByUser, Created: at, Updated: at}, []harness.Record{
			{Kind: harness.RecordMessage, Message: &question, At: at}, {Kind: harness.RecordMessage, Message: &answer, At: at},
		})
		d := w.Open("codes", 80, 24).Shows("[1]", "[2]")
		d.Press("tab", "1")
		if got := clip(t, d); got != "one\n" {
			t.Errorf("block 1 is %q", got)
		}
		d.Press("2").Shows("copied code block 2")
		if got := clip(t, d); got != "two\n" {
			t.Errorf("block 2 is %q", got)
		}
		d.Press("3").Shows("the message has 2 code blocks").Press("esc").Type("/copy 2").Press("enter").Shows("copied code block 2")
	})
}

func TestTheTextOfASelectedMessageDoesNotMove(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		longTalk(w, 30)
		d := w.Open("talk", 80, 24)
		before := d.Lines()
		d.Press("tab")
		for y, l := range d.Lines()[2:19] {
			if was := before[y+2]; l != was && l != "→ "+was {
				t.Errorf("row %d was %q and is %q", y+2, was, l)
			}
		}
	})
}

func TestSelectingGoesFromMessageToMessageAndFromPromptToPrompt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		longTalk(w, 300)
		d := w.Open("talk", 80, 24)
		d.Press("tab").Shows("message 300").Press("k", "k", "k").Shows("· message 297", "message number 297").Press("j").Shows("message 298")
		d.Press("{").Shows("message 297").Press("{", "{").Shows("message 293").Press("}").Shows("message 295")
		d.Press("g").Wait(0).Shows("· message 1", "message number 1").Press("k").Shows("· message 1")
		d.Press("pgdown").Hides("message number 1\n").Press("G").Shows("message 300").Press("j").Shows("message 300")
		d.Press("up", "down", "esc").Hides("→", "End to follow")
		d.Press("ctrl+up").Shows("message number 299", "End to follow").Press("ctrl+up").Shows("message number 297")
		d.Press("ctrl+down", "ctrl+down").Hides("End to follow")
	})
}

func TestTheSelectionStaysAtItsMessageWhileAnAnswerStreams(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		longTalk(w, 30)
		lines := make([]string, 40) // each another one: what moves is to be seen
		for i := range lines {
			lines[i] = fmt.Sprintf("line of text %d\n\n", i+1)
		}
		w.Model.Then(uitest.Says(lines...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(1500 * time.Millisecond)
		d.Press("tab").Shows("→ cairn · writing")
		before := strings.Join(d.Lines()[:19], "\n")
		d.Wait(2 * time.Second)
		if got := strings.Join(d.Lines()[:19], "\n"); got != before {
			t.Errorf("what is read moved:\n%s\nfrom\n%s", got, before)
		}
		d.Shows("new lines").Wait(20 * time.Second).Shows("message 32").Press("y").Shows("copied the answer")
		if got := clip(t, d); strings.Count(got, "line of text") != 40 {
			t.Errorf("copied %q", got)
		}
		d.Press("k").Shows("→ you", "message 31")
	})
}

func TestFindCountsShowsAndGoesBack(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		texts := make([]string, 2000)
		for i := range texts {
			texts[i] = fmt.Sprintf("message number %d", i+1)
			if i%400 == 100 {
				texts[i] += " with a Needle in it, and a needle more"
			}
		}
		w.Tell("talk", "Our talk", time.Now(), texts...)
		d := w.Open("talk", 80, 24)
		d.Press("pgup")
		before := strings.Join(d.Lines()[:20], "\n")
		d.Type("/find needle").Press("enter").Wait(0).Shows(`find "needle" · 10 of 10`, "message number 1701 with")
		d.Press("N").Shows("9 of 10", "message number 1701").Press("N").Shows("8 of 10", "message number 1301")
		d.Press("n", "n").Shows("10 of 10").Press("n").Shows("1 of 10", "went on at the first", "message number 101 ").Press("N").Shows("10 of 10", "went on at the last")
		d.Press("esc").Shows("> write a message")
		if got := strings.Join(d.Lines()[:20], "\n"); got != before {
			t.Errorf("it went back to\n%s\nnot\n%s", got, before)
		}
		d.Press("tab", "/").Type("Needle").Press("enter").Wait(0).Shows(`find "Needle"`, "5 of 5").Press("y").Shows("copied")
		d.Press("/").Type("nowhere at all").Press("enter").Wait(0).Shows("not found").Press("esc").Shows("→").Press("esc").Shows("> write")
		d.Press("ctrl+x", "S").Shows("find: ").Press("esc").Shows("> write")
		d.Type("/find").Press("enter").Shows("find: ").Press("enter").Wait(0).Shows(`find "nowhere at all"`)
	})
}

func TestWhatIsFoundIsMarkedAlsoWhereALineIsBrokenAndWhereItWasFolded(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		d := w.Open("q3", 40, 20)
		d.Type("/find func parserow").Press("enter").Wait(0).Shows("1 of 1", "func parseRow() {").Press("esc").Hides("func parseRow")
		d.Type("/find as a parse error. Two").Press("enter").Wait(0).Shows("1 of 1")
		if v := d.Model().View(); strings.Count(v, "parse error.")+strings.Count(v, "Two") < 2 || !strings.Contains(v, "\x1b[") {
			t.Errorf("not marked:\n%q", v)
		}
	})
}

func TestOneMessageIsFoldedAndUnfolded(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		d := w.Open("q3", 80, 40)
		d.Hides("func parseRow").Press("tab", "k", " ").Shows("func parseRow", "I should look there").Resize(60, 40).Shows("func parseRow")
		d.Press(" ").Hides("func parseRow").Press("j", " ").Shows("nothing of this message folds")
		d.Press("ctrl+o").Shows("func parseRow").Press("k", " ").Hides("func parseRow").Press("ctrl+o", "ctrl+o").Shows("func parseRow")
	})
}

func TestALongPasteIsFoldedWithACount(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), strings.TrimSuffix(strings.Repeat("a line of a log\n", 100), "\n"), "I see.")
		d := w.Open("talk", 80, 40)
		d.Shows("80 lines more", "ctrl+o shows them").Press("tab", "k", " ").Hides("80 lines more").Press(" ").Shows("80 lines more")
		d.Press("/").Shows("find: ").Resize(82, 40).Press("esc", "esc").Shows("> write", "ctrl+o shows them")
	})
}

func TestTimesAreShownOnRequest(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		timed(w)
		d := w.Open("timed", 80, 24)
		d.Hides("took").Type("/time").Press("enter").Shows("2000-01-01 00:00:", "took 4.2 s · 312 tokens", "3 hits · 1.5 s")
		d.Press("tab", "t").Hides("took", "1.5 s")
	})
}

// timed is a conversation whose parts were stored at different times.
func timed(w *uitest.World) {
	at := time.Now()
	call := harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "k1", Name: "search", Input: []byte(`{"query":"x"}`)}}
	messages := []harness.Message{
		harness.UserText("Look for it."),
		{Role: harness.RoleAssistant, Parts: []harness.Part{call}, Usage: &harness.Usage{Input: 10, Output: 20}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "k1", Name: "search", Text: "3 hits"}}}},
		{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartText, Text: "Here it is."}}, Usage: &harness.Usage{Input: 10, Output: 312}},
	}
	var records []harness.Record
	for i, after := range []time.Duration{0, 900 * time.Millisecond, 1500 * time.Millisecond, 4200 * time.Millisecond} {
		at = at.Add(after)
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &messages[i], At: at, Run: "r1"})
	}
	w.Import(harness.Session{ID: "timed", Title: "Timed", TitleBy: harness.TitleByUser, Created: at, Updated: at}, records)
}

func TestASelectedMessageIsEditedAnsweredForkedRememberedAndPinned(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "first question", "first answer", "second question", "second answer")
		d := w.Open("talk", 80, 24)
		d.Press("tab", "e").Shows("only a message of yours is edited").Press("p").Shows("pinned message 4")
		d.Press("k", "k", "k", "e").Shows("> first question", "editing message 1").Press("esc").Shows("> write")
		d.Press("tab", "g", "j", "m").Shows("> /remember first answer", "make a fact of it").Press("enter").Wait(0).Shows("remembered f1")
		if f, err := w.Store.Facts().Get(t.Context(), "f1"); err != nil || f.Source.Message != 2 || f.Source.Quote != "first answer" {
			t.Errorf("remembered %+v, %v", f.Source, err)
		}
		d.Press("tab", "g", "j", "f").Wait(0).Shows("this is a fork", "first answer").Hides("second question")
		d.Press("ctrl+s").Type("Our").Press("down", "enter").Wait(0).Shows("second answer")
		d.Press("tab", "g", "j", "r").Wait(time.Second).Shows("echo first question").Hides("second question")
	})
}

func TestWhatWritesIsOffInAReadOnlyWindow(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "first question", "first answer")
		w.Open("talk", 80, 24)
		d := w.Open("talk", 80, 24)
		d.Press("tab", "r").Shows("this window is read-only").Press("k", "e").Shows("this window is read-only").Press("p").Shows("this window is read-only")
		d.Press("y").Shows("copied your message").Press("/").Type("answer").Press("enter").Wait(0).Shows("1 of 1")
	})
}

func TestLinksAreListedCopiedAndOpenedOnlyAsTheyAre(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "where?", "See [the docs](https://example.org/a_(b)?q=1), https://example.net. Not file:///etc/passwd nor javascript:alert(1), but mailto:ada@example.org")
		deps := w.Deps("talk", false)
		d := w.Start(deps, 80, 24)
		d.Press("tab").Shows("3 links").Press("o").Shows("1  https://example.org/a_(b)?q=1", "2  https://example.net", "3  mailto:ada@example.org").Hides("passwd  ")
		d.Press("2").Shows("copied: sent to the terminal's clipboard")
		if got := clip(t, d); got != "https://example.net" {
			t.Errorf("copied %q", got)
		}
		d.Press("up", "o").Shows("copied: sent to the terminal's clipboard") // no display is before the person
		if got := clip(t, d); got != "https://example.org/a_(b)?q=1" {
			t.Errorf("copied %q", got)
		}
		d.Press("f1").Shows("Help").Press("esc").Press("esc").Shows("→ cairn")
	})
}

func TestAPasteOrADraftEndsTheSelection(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "first question", "first answer")
		d := w.Open("talk", 80, 24)
		d.Press("tab").Paste("what I have copied").Shows("> what I have copied").Press("ctrl+u")
		d.Press("tab", "/").Paste("first").Press("enter").Wait(0).Shows("2 of 2").Type("z").Shows("no key of the selection")
		d.Press("enter").Shows("> write")
		if strings.Contains(d.Screen(), "find") {
			t.Errorf("still looking:\n%s", d.Screen())
		}
		d.Type("hello").Shows("> hello")
	})
}

// TestGoldenReading looks at each way of reading at every size.
func TestGoldenReading(t *testing.T) {
	for _, c := range []struct {
		name string
		show func(d *uitest.Driver)
	}{
		{"select", func(d *uitest.Driver) { d.Press("tab", "k", "k") }},
		{"select-fold", func(d *uitest.Driver) { d.Press("tab", "k", " ") }},
		{"select-links", func(d *uitest.Driver) { d.Press("tab", "{", "{", "o") }},
		{"find", func(d *uitest.Driver) { d.Press("tab", "/").Type("row").Press("enter").Wait(0).Press("N") }},
		{"find-typing", func(d *uitest.Driver) { d.Press("tab", "/").Type("漢字 e\u0301 👩‍👩‍👧 مرحبا") }},
		{"times", func(d *uitest.Driver) { d.Type("/time").Press("enter").Press("tab", "k", "k") }},
	} {
		for _, s := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}} {
			name := fmt.Sprintf("%s-%dx%d", c.name, s[0], s[1])
			t.Run(name, func(t *testing.T) {
				in(t, func(t *testing.T, w *uitest.World) {
					manyScripts(w)
					d := w.Open("many", s[0], s[1])
					c.show(d)
					golden(t, name, strings.Join(d.Lines(), "\n")+"\n")
				})
			})
		}
	}
}

// manyScripts is a conversation in several scripts, with links, a tool and a paste.
func manyScripts(w *uitest.World) {
	at := time.Now()
	call := harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "k1", Name: "search", Input: []byte(`{"query":"row"}`)}}
	messages := []harness.Message{
		harness.UserText("Compare https://example.org/row_(a)?q=漢字 with mailto:ada@example.org, مرحبا."),
		{Role: harness.RoleAssistant, Parts: []harness.Part{
			{Kind: harness.PartText, Text: "I look for the **row** first. 👩‍👩‍👧 🇩🇪 e\u0301\n"}, call,
		}, Usage: &harness.Usage{Input: 10, Output: 20}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "k1", Name: "search", Text: "row.go:1\nrow_test.go:2"}}}},
		{Role: harness.RoleAssistant, Parts: []harness.Part{
			{Kind: harness.PartText, Text: "Each row has a name:\n\n```go\nfunc row() {}\n```\n\nand 模板之後模板之後模板之後模板之後模板之後 in a row."},
		}, Usage: &harness.Usage{Input: 10, Output: 312}},
		harness.UserText(strings.TrimSuffix(strings.Repeat("a row of a log\n", 50), "\n")),
		harness.AssistantText("That is a long one."),
	}
	var records []harness.Record
	for i := range messages {
		at = at.Add(2300 * time.Millisecond)
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &messages[i], At: at, Run: harness.RunID(fmt.Sprint("r", i/4))})
	}
	w.Import(harness.Session{ID: "many", Title: "Many scripts", TitleBy: harness.TitleByUser, Created: at, Updated: at}, records)
}

// numbered is a text of words of which each is there once in all messages.
func numbered(message, words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "m%03dw%03d ", message, i)
	}
	return strings.TrimSpace(b.String())
}

// What is read stays where it is, whatever comes above and below it, gets another
// width or is unfolded.
func TestTheLineThatIsReadStaysAtTheTop(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = numbered(i+1, 250)
		}
		w.Tell("talk", "Our talk", time.Now(), texts...)
		w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("line of text\n\n", 20), "\n\n")...))
		d := w.Open("talk", 80, 24)
		d.Type("go").Press("enter").Wait(time.Second)
		for range 9 {
			d.Press("pgup")
		}
		top := func() string { return strings.Join(d.Lines()[2:19], "\n") }
		before := top()
		word, _, _ := strings.Cut(d.Lines()[2], " ")
		if !strings.HasPrefix(word, "m") || strings.HasSuffix(word, "w000") || strings.HasSuffix(word, "w010") {
			t.Fatalf("the top is no line within a message: %q", d.Lines()[2])
		}
		d.Wait(20 * time.Second).Shows("new lines")
		if got := top(); got != before {
			t.Fatalf("new text moved it:\n%s\nfrom\n%s", got, before)
		}
		for _, width := range []int{40, 120, 60, 200, 80} {
			d.Resize(width, 24)
			if row := d.Lines()[2]; !strings.Contains(row, word) {
				t.Errorf("at %d columns the top has no %q: %q", width, word, row)
			}
		}
		if got := top(); got != before {
			t.Errorf("going back to the first width moved it:\n%s\nfrom\n%s", got, before)
		}
		d.Press("ctrl+o").Press("ctrl+o")
		if got := top(); got != before {
			t.Errorf("details on and off moved it:\n%s\nfrom\n%s", got, before)
		}
	})
}

// Older messages come in above the first one that is loaded; what is read, which is
// that one, does not move.
func TestWhatIsReadStaysWhileOlderMessagesAreLoadedAboveIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		texts := make([]string, 400)
		for i := range texts {
			texts[i] = numbered(i+1, 12)
		}
		w.Tell("talk", "Our talk", time.Now(), texts...)
		d := w.Open("talk", 80, 24)
		text := func(rows []string) string { return strings.Join(rows, "\n") }
		rows := func() []string { return d.Lines()[2:19] }
		d.Press("pgup")
		for presses := 0; !strings.Contains(text(rows()), "m001w000"); presses++ {
			before := rows()
			now := d.Press("ctrl+pgup")
			after := now.Lines()[2:19]
			moved := strings.Index(text(after)+"\n", text(before[:5])+"\n")
			if moved <= 0 || presses > 400 {
				t.Fatalf("half a page up came to\n%s\nfrom\n%s", text(after), text(before))
			}
			d.Wait(time.Second)
			if text(rows()) != text(after) {
				t.Fatalf("it moved by itself to\n%s\nfrom\n%s", text(rows()), text(after))
			}
		}
	})
}

func TestAVeryLongWordIsSeenToItsEndAtEveryWidth(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long := strings.Repeat("x", 494) + "theEnd"
		w.Tell("talk", "Our talk", time.Now(), "one", "two", "three", "four", long)
		d := w.Open("talk", 80, 24)
		for _, width := range []int{80, 40, 120, 40, 80} {
			d.Resize(width, 24).Shows("theEnd", "> write").Hides("End to follow")
		}
		d.Press("pgup", "end").Shows("theEnd").Press("tab", "y").Shows("copied your message")
		if clip(t, d) != long {
			t.Error("it was not copied whole")
		}
	})
}

func TestALargeCopyOffersAFile(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "one", strings.Repeat("a long answer ", 6_000))
		d := w.Open("talk", 100, 24)
		d.Press("tab", "y").Shows("sent the answer", "to the terminal", "/export writes the chat")
		if len(clip(t, d)) < 80_000 {
			t.Error("it was not sent whole")
		}
	})
}

func TestSelectingBelowLongNewsGoesBackToTheEnd(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		longTalk(w, 6)
		d := w.Open("talk", 60, 12)
		for range 5 {
			d.Type("/model test/owl").Press("enter").Type("/model test/parrot").Press("enter")
		}
		d.Shows("model changed").Hides("message number 6", "End to follow").Press("esc")
		before := d.Screen()
		d.Press("tab").Shows("→").Press("esc").Hides("End to follow")
		if got := d.Screen(); got != before {
			t.Errorf("the screen is\n%s\nand was\n%s", got, before)
		}
	})
}
