package chat_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/overlay"
	"cairn/ui/uitest"
)

// results stores a chat with results of tools: a short one, and a large one of
// which only the ends are in the conversation.
func results(w *uitest.World) {
	at := time.Now()
	call := func(id, name, input string) harness.Part {
		return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: name, Input: []byte(input)}}
	}
	result := func(r harness.ToolResult) harness.Message {
		return harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &r}}}
	}
	messages := []harness.Message{
		harness.UserText("Read it."),
		{Role: harness.RoleAssistant, Parts: []harness.Part{call("k1", "read_file", `{"path":"row.go"}`)}},
		result(harness.ToolResult{CallID: "k1", Name: "read_file", Text: "package importer\n\nfunc parseRow() {\x1b[2J\n}\n"}),
		{Role: harness.RoleAssistant, Parts: []harness.Part{call("k2", "fetch_url", `{"url":"https://example.org/all.json"}`)}},
		result(harness.ToolResult{
			CallID: "k2", Name: "fetch_url", Artifact: "5a1e",
			Text: "(The result was too long: 5000000 characters in one line. This is its beginning and end; the whole is stored.)\n{\"all\"",
		}),
		harness.AssistantText("Both are read."),
	}
	records := make([]harness.Record, len(messages))
	for i := range messages {
		records[i] = harness.Record{Kind: harness.RecordMessage, Message: &messages[i], At: at, Run: "r1"}
	}
	w.Import(harness.Session{ID: "talk", Title: "Rows", TitleBy: harness.TitleByUser, Created: at, Updated: at}, records)
}

// kept has the whole of the large result.
func kept(d ui.Deps) ui.Deps {
	d.Artifact = func(_ context.Context, id harness.SessionID, sum string) ([]byte, error) {
		if id != "talk" || sum != "5a1e" {
			return nil, fmt.Errorf("artifact %s of %s: %w", sum, id, harness.ErrNotFound)
		}
		return []byte(`{"all":"` + strings.Repeat("\x1b]0;x\a0123456789", 5<<20/16) + `the end"}`), nil
	}
	return d
}

func TestResultsAreOpenedWhole(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		results(w)
		d := w.Start(kept(w.Deps("talk", false)), 80, 24)
		d.Shows("5,000,000 characters", "only its ends are in the conversation · ctrl+x v opens all of it", "Both are read.").Type("draft").Press("ctrl+x", "v").Wait(0)
		d.Shows("fetch_url  https://example.org/all.json", "one line · 0%", `{"all":"␛]0;x␇0123456789`, "esc close", "/ search").Hides("Both are read.", "draft")
		d.Press("/").Type("THE END").Press("enter").Shows("is not in it").Press("/").Type("the end").Press("enter").Shows("the end\"}", "· end")
		d.Press("f1").Shows("Help", "next match").Press("esc").Shows("the end").Resize(40, 10).Shows("the end\"}").Resize(80, 24)
		d.Press("y").Shows("what is on screen: all of it is too large for a clipboard").Press("q").Shows("Both are read.", "> draft")
		d.Press("ctrl+u").Type("/result 2").Press("enter").Shows("read_file  \"row.go\"", "func parseRow() {␛[2J", "line 1 of 4 · all").Press("y").Shows("copied all of it")
		if n := len(d.Written()); n != 2 {
			t.Errorf("%d things were given to the terminal", n)
		}
		d.Paste("/").Press("esc").Type("/result 3").Press("enter").Shows("there is no such result of a tool here; /result opens the last one")
		d.Type("/result x").Press("enter").Shows("/result 2 opens the result before")
	})
}

func TestTheResultOnScreenIsTheOneThatIsOpened(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		results(w)
		d := w.Open("talk", 80, 10)
		d.Press("home", "ctrl+x", "v").Shows("read_file  \"row.go\"").Press("esc")
		d.Press("end", "ctrl+x", "v").Shows("fetch_url", "this is the beginning of it")
	})
}

func TestOnlyTheBeginningIsShownOfAResultThatIsGone(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		results(w)
		deps := w.Deps("talk", false)
		deps.Artifact = func(context.Context, harness.SessionID, string) ([]byte, error) {
			return nil, errors.New("the disk is on fire")
		}
		d := w.Start(deps, 120, 24)
		d.Type("/output").Press("enter").Wait(0).Shows("The result was too long", "this is the beginning of it: ", "the disk is on fire")
	})
}

// A result with one endless line, which another program stored, is shown by
// the rows that are drawn.
func TestAnEndlessLineIsBoundedInTheConversation(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tool("dump", strings.Repeat("{\"a\":1},", 1_400))
		w.Model.Then(uitest.Calls("dump", "{}"), uitest.Says("Done."))
		d := w.Open("talk", 80, 24)
		d.Type("dump it").Press("enter").Wait(2*time.Second).Shows("11.2 kB", "Done.")
		d.Press("ctrl+o").Wait(0).Press("home").Shows(`    {"a":1},{"a":1}`)
		d.Press("ctrl+x", "v").Shows("dump", "one line")
	})
}

func TestTheContextIsShownOverTheChat(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		three(w)
		deps := w.Deps("talk", false)
		failed := error(nil)
		deps.Picture = func(context.Context, harness.SessionID) (overlay.Picture, error) {
			return overlay.Picture{Model: "test/parrot", Window: 1000, From: "learned", System: 100, Yours: 20, Answers: 30, In: 6}, failed
		}
		d := w.Start(deps, 80, 24)
		d.Type("hi").Press("enter").Wait(time.Second).Type("/pin 3").Press("enter").Wait(0).Type("/context").Press("enter").Wait(0)
		d.Shows("Context · test/parrot", "150 of 1,000 tokens, 15%", "y yours", "learned from a refusal", "message 3: two", "sent       300 tokens", "$0.01 in this session")
		d.Press("f1").Shows("Help").Press("esc").Shows("Context · test/parrot").Resize(40, 10).Shows("Context").Resize(120, 40).Press("esc").Hides("Context ·").Shows("echo hi")
		failed = errors.New("the bucket is gone")
		d.Type("/tokens").Press("enter").Wait(0).Shows("The bucket is gone").Hides("Context ·")
	})
}
