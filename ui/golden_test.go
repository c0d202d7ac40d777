package ui_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// sizes are those at which every screen is looked at.
var sizes = [][2]int{{40, 10}, {80, 24}, {120, 40}}

func TestGoldenScreens(t *testing.T) {
	for _, c := range []struct {
		name string
		show func(w *uitest.World, d *uitest.Driver)
	}{
		{"new", func(*uitest.World, *uitest.Driver) {}},
		{"answer", func(_ *uitest.World, d *uitest.Driver) { d.Press("end") }},
		{"details", func(_ *uitest.World, d *uitest.Driver) { d.Press("ctrl+o", "ctrl+t", "home") }},
		{"streaming", func(w *uitest.World, d *uitest.Driver) {
			w.Model.Then(uitest.Says("Credit notes go through the ", "**same** parser", " but from a second caller,\n\n```go\nfunc credit", "() {"))
			d.Type("Show me the credit-note path too.").Press("enter").Wait(450 * time.Millisecond)
			d.Type("then write a test").Press("enter").Type("and list every caller of parseRow").Press("ctrl+j").Type("in this package")
		}},
		{"scrolled", func(w *uitest.World, d *uitest.Driver) {
			w.Model.Then(uitest.Says(strings.SplitAfter(strings.Repeat("a line\n\n", 30), "\n\n")...))
			d.Type("Go on.").Press("enter").Wait(time.Second).Press("pgup").Wait(900 * time.Millisecond)
		}},
		{"interrupted", func(w *uitest.World, d *uitest.Driver) {
			w.Model.Then(uitest.Fails("The first half of", "the line is dead"))
			d.Type("Go on.").Press("enter").Wait(time.Second)
		}},
		{"command", func(_ *uitest.World, d *uitest.Driver) { d.Type("/re") }},
		{"leader", func(_ *uitest.World, d *uitest.Driver) { d.Press("ctrl+x") }},
		{"search", func(w *uitest.World, d *uitest.Driver) {
			d.Type("a first prompt").Press("enter").Wait(time.Second).Press("ctrl+r").Type("first")
		}},
		{"notice", func(_ *uitest.World, d *uitest.Driver) {
			d.Type("/a-command-that-nobody-has-ever-heard-of").Press("enter")
		}},
	} {
		for _, s := range sizes {
			name := fmt.Sprintf("%s-%dx%d", c.name, s[0], s[1])
			t.Run(name, func(t *testing.T) {
				in(t, func(t *testing.T, w *uitest.World) {
					id := harness.SessionID("q3")
					if c.name == "new" {
						id = "fresh"
					}
					invoices(w)
					d := w.Open(id, s[0], s[1])
					c.show(w, d)
					golden(t, name, strings.Join(d.Lines(), "\n")+"\n")
				})
			})
		}
	}
}

func TestGoldenReader(t *testing.T) {
	for _, s := range sizes {
		name := fmt.Sprintf("reader-%dx%d", s[0], s[1])
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				invoices(w)
				w.Open("q3", 80, 24)
				golden(t, name, strings.Join(w.Open("q3", s[0], s[1]).Lines(), "\n")+"\n")
			})
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\nwanted:\n%s", path, got, want)
	}
}

// invoices stores a conversation with code, tools and remembered facts.
func invoices(w *uitest.World) {
	at := time.Now()
	part := func(kind harness.PartKind, text string) harness.Part { return harness.Part{Kind: kind, Text: text} }
	call := func(id, name, input string) harness.Part {
		return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: name, Input: []byte(input)}}
	}
	result := func(id, name, text string) harness.Part {
		return harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id, Name: name, Text: text}}
	}
	messages := []harness.Message{
		harness.UserText("Why does the importer drop rows with a blank VAT id?"),
		{Role: harness.RoleAssistant, Model: "test/parrot", Used: []string{"f12", "f31"}, Usage: &harness.Usage{Input: 300, Output: 80}, Parts: []harness.Part{
			part(harness.PartThinking, "The importer lives in importer/row.go. I should look there."),
			part(harness.PartText, "The parser treats an empty VAT id as a parse error. Two lines matter:\n\n```go\nif r.VAT == \"\" {\n    return nil, ErrBadRow\n}\n```\n\nBlank is legal for non-EU customers, so return the row and mark it instead."),
			call("k1", "search", `{"query":"ErrBadRow"}`), call("k2", "read_file", `{"path":"importer/row.go","limit":20}`),
		}},
		{Role: harness.RoleTool, Parts: []harness.Part{
			result("k1", "search", "3 hits"), result("k2", "read_file", "package importer\n\nfunc parseRow() {\n}\n"),
		}},
		harness.AssistantText("Both callers are listed in the table:\n\n| case | today |\n|---|---|\n| EU, blank | dropped |\n| 其他国家 | dropped |\n"),
	}
	records := make([]harness.Record, len(messages))
	for i := range messages {
		records[i] = harness.Record{Kind: harness.RecordMessage, Message: &messages[i], At: at, Run: "r1"}
	}
	w.Import(harness.Session{
		ID: "q3", Title: "Q3 invoice importer", TitleBy: harness.TitleByUser, Created: at, Updated: at,
		Usage: harness.Usage{Input: 300, Output: 80, Cost: .42, CostKnown: true},
	}, records)
}
