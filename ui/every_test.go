package ui_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui"
	"cairn/ui/chat"
	"cairn/ui/chat/attach"
	"cairn/ui/overlay"
	"cairn/ui/render"
	"cairn/ui/screen"
	"cairn/ui/uitest"
	looks "cairn/ui/uitest/stored"
)

// The scripts that texts of all kinds are written in, in the tests of all screens.
const (
	scripts = "模板 👩‍👩‍👧‍👦 🇩🇪 مرحبا שלום e\u0301a\u0308 क्षत्रिय"
	short   = "議事 👩‍👩‍👧‍👦 مرحبا e\u0301"
)

// sight is a screen or an overlay, and what opens it from a chat that is just open.
type sight struct {
	name string
	open func(w *uitest.World, d *uitest.Driver)
	with func(*ui.Deps)
}

// everyScreen are the screens and overlays.
func everyScreen() []sight {
	press := func(name string, keys ...string) sight {
		return sight{name: name, open: func(_ *uitest.World, d *uitest.Driver) {
			for _, k := range keys {
				d.Press(k).Wait(time.Second)
			}
		}}
	}
	command := func(name, text string, keys ...string) sight {
		return sight{name: name, open: func(_ *uitest.World, d *uitest.Driver) {
			d.Type(text).Press("enter").Wait(2 * time.Second)
			for _, k := range keys {
				d.Press(k).Wait(time.Second)
			}
		}}
	}
	asks := func(name, tool string, keys ...string) sight {
		return sight{name: name, open: func(w *uitest.World, d *uitest.Driver) {
			w.Model.Then(uitest.Calls(tool, `{"command":"x"}`))
			d.Type("do it " + short).Press("enter").Wait(5 * time.Second)
			for _, k := range keys {
				d.Press(k).Wait(time.Second)
			}
		}}
	}
	typed := func(name, text string) sight {
		return sight{name: name, open: func(_ *uitest.World, d *uitest.Driver) { d.Paste(text).Wait(time.Second) }}
	}
	return append([]sight{
		press("chat"), press("chat-top", "home"), press("details", "ctrl+o", "ctrl+t"), press("leader-every", "ctrl+x"), press("side", "ctrl+x", "b"),
		{name: "stream", open: func(w *uitest.World, d *uitest.Driver) {
			w.Model.Then(uitest.Says("one ", "two **three** "+scripts, "\n```go\nx := 1 // "+short+"\n", "y := 2\n```\n", "- "+scripts+"\n", "- b\n\n", "| a | "+short+" |\n|---|---|\n", "| 1 | 2 |\n", "\nend of it"))
			d.Type("tell me").Press("enter").Wait(450 * time.Millisecond)
		}},
		{name: "waiting", open: func(w *uitest.World, d *uitest.Driver) {
			queued(w, d, "then "+scripts, "and "+short, "last")
		}},
		{name: "waiting-open", open: func(w *uitest.World, d *uitest.Driver) {
			queued(w, d, "then "+scripts, "and "+short, "last")
			d.Type("draft").Press("alt+up", "up")
		}},
		{name: "steering", open: func(w *uitest.World, d *uitest.Driver) {
			queued(w, d, "then "+scripts)
			d.Type("/steer first " + scripts).Press("enter").Type("/steer and " + short).Press("enter").Wait(time.Second)
		}},
		typed("draft", "two\nlines "+scripts), typed("draft-folded", strings.Repeat("line "+short+"\n", 40)),
		{name: "completion", open: func(_ *uitest.World, d *uitest.Driver) { d.Type("/re") }},
		{name: "files-listed", open: func(_ *uitest.World, d *uitest.Driver) { d.Type("see @").Wait(time.Second) }},
		command("attachments", "/attach "+short+".txt"),
		press("prompts-all", "ctrl+r"), press("selecting", "tab", "k"), press("selected-links", "tab", "o"),
		{name: "finding", open: func(_ *uitest.World, d *uitest.Driver) {
			d.Press("tab", "/").Type("模板").Press("enter").Wait(time.Second)
		}},
		command("timed", "/time"),
		asks("approval", "shell"), asks("approval-rule", "shell", "e"), asks("approval-reason", "shell", "n"), asks("approval-edit", "edit_file"), asks("question", "ask_user"),
		press("sessions", "ctrl+s"), press("sessions-actions", "ctrl+s", "down", "tab"), press("sessions-preview", "ctrl+s", "down", "right"), press("sessions-rename", "ctrl+s", "ctrl+r"),
		command("facts", "/facts"), command("fact-form", "/facts", "e"), command("fact-history", "/facts", "h"), command("fact-read", "/facts", "v"),
		command("notes", "/notes"), command("note-form", "/notes", "e"), command("inbox", "/inbox"), command("trash", "/facts", "d", "4"),
		press("runs", "ctrl+x", "r"), press("branches", "ctrl+x", "g"), press("help", "f1"), command("permissions", "/permissions"), command("permission-new", "/permissions", "a"),
		command("usage", "/usage"), command("usage-sessions", "/usage", "tab", "tab"), command("context", "/context"), command("result", "/result"), command("keys", "/keys test"),
		press("palette", "ctrl+p"), press("models", "ctrl+l"),
		{name: "key-asked", open: func(_ *uitest.World, d *uitest.Driver) {
			d.Press("ctrl+l").Wait(time.Second).Type("locked").Press("enter").Wait(time.Second).Paste("sk-secret-0123456789")
		}},
		command("themes", "/theme"),
		{name: "marked", open: func(_ *uitest.World, d *uitest.Driver) {
			d.Send(tea.MouseMsg{X: 2, Y: 3, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			d.Send(tea.MouseMsg{X: 9, Y: 6, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion})
		}},
		{name: "welcome", open: func(_ *uitest.World, d *uitest.Driver) { d.Wait(time.Second) }, with: func(d *ui.Deps) {
			d.Session.ID, d.Fresh = "fresh", true
			d.Welcome = &overlay.WelcomeConfig{
				Keys: func(context.Context) ([]overlay.WelcomeKey, error) { return nil, nil },
				Servers: func(context.Context) ([]overlay.WelcomeServer, error) {
					return []overlay.WelcomeServer{{Name: "ollama", Address: "http://127.0.0.1:11434", Models: 3}}, nil
				},
				Model: func(context.Context) (string, string, error) { return "test/parrot", "it is " + short, nil },
			}
		}},
		{name: "new-chat", open: func(*uitest.World, *uitest.Driver) {}, with: func(d *ui.Deps) { d.Session.ID, d.Fresh = "fresh", true }},
	}, append(serverSights(), pictures()...)...)
}

// babel is a world with something in all scripts on every screen, and a window in it.
func babel(t *testing.T, w *uitest.World) ui.Deps {
	t.Helper()
	at := time.Now()
	w.Tell("two", "Second "+scripts, at, "hello", "hello *two*\n\n| a | 其他国家 |\n|---|---|\n| عربي | e\u0301 |\n")
	call := func(id, name, input string) harness.Part {
		return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: name, Input: []byte(input)}}
	}
	messages := []harness.Message{
		harness.UserText("Compare https://example.org/row_(a)?q=漢字: " + scripts),
		{Role: harness.RoleAssistant, Model: "test/parrot", Used: []string{"f1"}, Usage: &harness.Usage{Input: 300, Output: 80}, Parts: []harness.Part{
			{Kind: harness.PartThinking, Text: "I think of " + scripts},
			{Kind: harness.PartText, Text: "I look for **" + scripts + "** first.\n\n```go\nfunc row() {} // " + scripts + "\n```"},
			call("k1", "search_模板", `{"query":"`+scripts+`"}`), call("k2", "read_file", `{"path":"dir/`+short+`.go"}`),
		}},
		{Role: harness.RoleTool, Parts: []harness.Part{
			{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "k1", Name: "search_模板", Text: "found " + scripts + "\n" + strings.Repeat("漢", 300)}},
			{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "k2", Name: "read_file", Text: "no file " + short, Failed: true}},
		}},
		harness.AssistantText("Both are listed:\n\n| case " + short + " | today |\n|---|---|\n| EU, blank | dropped |\n| 其他国家 | " + scripts + " |\n\nSee [" + short + "](https://example.org/模板).\n\n" + strings.Repeat("漢字かな交じり文", 20)),
	}
	records := make([]harness.Record, len(messages))
	for i := range messages {
		records[i] = harness.Record{Kind: harness.RecordMessage, Message: &messages[i], At: at.Add(time.Duration(i) * 2300 * time.Millisecond), Run: "r1"}
	}
	w.Import(harness.Session{
		ID: "babel", Title: "Q3 " + scripts, TitleBy: harness.TitleByUser, Tags: []string{"議事"}, Created: at, Updated: at,
		Usage: harness.Usage{Input: 300, Output: 80, Cost: .42, CostKnown: true},
	}, records)
	for _, text := range []string{"Lives in Porto, " + scripts, "喜欢 table tests"} {
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: text, Category: "議事", By: harness.ByYou, State: harness.StateActive, Session: "babel"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Store.Notes().Save(t.Context(), harness.Note{Title: "Note " + scripts, Body: "Body\n\n" + strings.Repeat(scripts+" ", 9), By: harness.ByModel, State: harness.StateActive, Session: "babel"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Store.Inbox().Put(t.Context(), harness.Suggestion{Kind: harness.SuggestAdd, Text: "Idea " + scripts, Why: "why " + short, By: harness.ByDistilled}, ""); err != nil {
		t.Fatal(err)
	}
	w.Asking("shell", harness.Proposal{Kind: harness.ProposalCommand, Body: goTest + "\nsecond line " + scripts, Why: "why " + short, About: []string{"in " + short}})
	w.Asking("edit_file", harness.Proposal{Kind: harness.ProposalEdit, Subject: "/home/ada/" + short + ".go", Diff: rowDiff + "+    // " + scripts + "\n", Added: 4, Removed: 2})
	w.Asking("ask_user", harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which of " + scripts + "?", Choices: []string{"one " + scripts, "two"}})
	w.Rules["shell"] = [2]string{"shell(=" + goTest + ")", "shell(go test)"}
	return furnished(t, w)
}

// furnished are the parts of a window with all that a screen can show.
func furnished(t *testing.T, w *uitest.World) ui.Deps {
	t.Helper()
	d := w.Deps("babel", false)
	withModels(w, &d)
	d.Inbox, d.Ledger, d.Grants = w.Store.Inbox(), w.Store.Ledger(), w.Store.Grants()
	if err := d.Ledger.Book(t.Context(), "babel", "test/parrot", harness.Usage{Input: 1_200, Output: 34, Cost: .5, CostKnown: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Grants.Save(t.Context(), harness.Grant{Session: "babel", Rule: "run_command(=echo " + short + ")", By: "ada"}); err != nil {
		t.Fatal(err)
	}
	d.Rules = []overlay.Rule{{Effect: "deny", Text: "run_command(rm " + short + ")", From: "--deny"}}
	d.CheckRule = func(string) error { return nil }
	d.Dir, d.User = "/home/ada/"+short, "ada"
	d.Files = attach.Files{
		Look: func(_ context.Context, path string) (attach.Seen, error) {
			if !strings.HasSuffix(path, ".txt") {
				return attach.Seen{}, fs.ErrNotExist
			}
			return attach.Seen{File: harness.File{Name: path, MediaType: "text/plain"}, Text: true}, nil
		},
		Read: func(context.Context, string) (harness.Part, error) { return harness.Part{}, fs.ErrNotExist },
		List: func(context.Context, string, bool) ([]string, bool, error) {
			return []string{short + ".go", "模板/", "row.go"}, false, nil
		},
	}
	d.Picture = func(context.Context, harness.SessionID) (overlay.Picture, error) {
		return overlay.Picture{Model: "test/" + short, Window: 1000, From: "configured", Trigger: 600, System: 90, Yours: 120, Note: 45, Answers: 200, Reply: 250, In: 4}, nil
	}
	d.Tools = func() []chat.ToolLine { return nil }
	d.ThemeName = "auto"
	d.Themes = func(context.Context) []overlay.ThemeChoice {
		return []overlay.ThemeChoice{
			{Name: "auto", Make: func(dark bool) *themes.Theme { return uitest.Theme(t, dark) }},
			{Name: "sunset", File: "/home/ada/" + short + ".toml", Wrong: "line 4: unknown key"},
		}
	}
	return d
}

// visit opens one in a window of a size.
func visit(t *testing.T, w *uitest.World, p sight, width, height int) *uitest.Driver {
	t.Helper()
	deps := babel(t, w)
	if p.with != nil {
		p.with(&deps)
	}
	d := w.Start(deps, width, height).Wait(time.Second)
	p.open(w, d)
	return d
}

// TestEveryScreenInEveryScript looks at every screen and overlay at every size. Each
// row is as wide as a terminal makes it, none is lost, and the cursor is inside.
func TestEveryScreenInEveryScript(t *testing.T) {
	t.Parallel()
	for _, p := range everyScreen() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range looks.Sizes() {
				in(t, func(t *testing.T, w *uitest.World) {
					d := visit(t, w, p, s[0], s[1])
					looks.Compare(t, *update, "every/"+p.name, s[0], s[1], d.Screen())
					g := behindGlass(t, d, s[0], s[1])
					lines := strings.Split(ansi.Strip(d.Model().View()), "\n")
					// The line of keys may be one of two.
					if len(lines) != s[1] || strings.TrimSpace(lines[0]) == "" || strings.TrimSpace(strings.Join(lines[len(lines)-2:], "")) == "" {
						t.Errorf("%v: %d lines, the first is %q, the last %q", s, len(lines), lines[0], lines[len(lines)-1])
					}
					for y, l := range lines {
						if got, want := g.row(y), strings.TrimRight(l, " "); got != want {
							t.Errorf("%v: a terminal shows row %d as\n%s\nnot\n%s", s, y, got, want)
						}
						if w := render.Width(l); w > s[0] {
							t.Errorf("%v: row %d is %d wide", s, y, w)
						}
					}
					if x, y, on := d.Model().(screen.Cursorer).Cursor(); on && (x < 0 || y < 0 || x >= s[0] || y >= s[1]) {
						t.Errorf("%v: the cursor is at %d,%d", s, x, y)
					}
				})
			}
		})
	}
}

// row is what the terminal shows in a row.
func (g *glass) row(y int) string {
	var b strings.Builder
	for x := 0; x < g.size[0]; {
		c := g.term.CellAt(x, y)
		if c == nil || c.Content == "" {
			b.WriteByte(' ')
			x++
			continue
		}
		b.WriteString(c.Content)
		x += max(c.Width, 1)
	}
	return strings.TrimRight(b.String(), " ")
}
