package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/chat/attach"
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// hostileTexts are what a terminal would obey, or show as something else than it is:
// every control character of both sets, sequences of each kind, whole, cut off and
// in eight bits, and what turns the direction of text.
func hostileTexts() map[string]string {
	texts := map[string]string{
		"clear": "\x1b[2J", "move": "\x1b[10A\x1b[1;1H", "report": "\x1b[6n\x1b[c\x1b[>q\x1b[?u", "colours": "\x1b[31;7mred", "modes": "\x1b[?1049l\x1b[?25l\x1b[?1000h",
		"scroll": "\x1b[1;2r\x1b[5S", "reset": "\x1bc", "soft reset": "\x1b[!p", "charset": "\x1b(0\x0e", "keypad": "\x1b=\x1b>", "save": "\x1b7\x1b8", "index": "\x1bD\x1bM\x1bE",
		"title": "\x1b]0;mine\x07", "title st": "\x1b]2;mine\x1b\\", "clipboard": "\x1b]52;c;aGk=\x07", "link": "\x1b]8;;http://example.com\x1b\\x\x1b]8;;\x1b\\", "palette": "\x1b]4;1;?\x07",
		"notice": "\x1b]9;boo\x07\x1b]777;notify;a;b\x07", "image": "\x1b]1337;File=inline=1:aGk=\x07", "dcs": "\x1bPq#0;2;0;0;0\x1b\\", "dcs query": "\x1bP+q4d73\x1b\\", "apc": "\x1b_Gi=1,a=q;aGk=\x1b\\",
		"pm": "\x1b^secret\x1b\\", "sos": "\x1bXsecret\x1b\\", "osc open": "\x1b]0;never ends", "dcs open": "\x1bPnever ends", "csi open": "\x1b[12;", "escape last": "\x1b", "escape twice": "\x1b\x1b[2J",
		"csi wide": "\u009b2J", "osc wide": "\u009d0;mine\u009c", "dcs wide": "\u0090q\u009c", "apc wide": "\u009fG\u009c", "raw csi": "\x9b2J", "raw osc": "\x9d0;mine\x9c", "raw half": "\xe2\x9b", "overlong": "\xc0\x9b2J",
		"bidi": "\u202egnp.exe\u202c", "isolates": "\u2066a\u2067b\u2068c\u2069", "marks": "\u200e\u200f\u061c", "embeds": "\u202aa\u202bb\u202dc", "separators": "a\u2028b\u2029c", "tags": "\U000e0041\U000e0042\U000e007f",
		"tabs": "\t\x0b\x0c", "paste": "\x1b[201~/quit\r\x1b[200~", "sync": "\x1b[?2026h", "tmux": "\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\", "combining": "a" + strings.Repeat("\u0301", 60), "zero": "\u200b\ufeff\u2060\u00ad",
		"markdown": "`\x1b[2J` **\x1b]0;x\x07** [l\x1b[1m](http://example.com/\x1b[2J)", "fence": "\n```sh\n\x1b[2J\u202e\n```\n", "table": "\n\n|a\x1b[2J|b|\n|---|---|\n|\x1b]0;x\x07|\u202ec|\n\n", "entity": "&#27;[2J &#x9b;2J &#x202e;",
	}
	var low, high strings.Builder
	for c := rune(0); c < 0x20; c++ {
		if c != '\n' {
			low.WriteRune(c)
		}
	}
	low.WriteByte(0x7f)
	for c := rune(0x80); c < 0xa0; c++ {
		high.WriteRune(c)
	}
	texts["c0"], texts["c1"] = low.String(), high.String()
	return texts
}

// obeyed returns what of the bytes written to a terminal is neither text that is
// seen nor one of the few sequences that the painter draws with; "" if there is
// nothing else.
func obeyed(written string) string {
	for len(written) > 0 {
		r, n := utf8.DecodeRuneInString(written)
		switch {
		case r == 0x1b:
			m := drawing(written)
			if m == 0 {
				return "sequence " + fmt.Sprintf("%.24q", written)
			}
			n = m
		case r == '\r' || r == '\n' || r == '\b' || r == '\t':
		case r == utf8.RuneError && n == 1:
			return "byte " + fmt.Sprintf("%.4q", written)
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0x2028, r == 0x2029, r >= 0xe0000 && r < 0xe0080:
			return fmt.Sprintf("character %U", r)
		}
		written = written[n:]
	}
	return ""
}

// drawing is the length of a sequence that moves, colours, erases, inserts or marks
// a frame; 0 for all others.
func drawing(s string) int {
	if strings.HasPrefix(s, "\x1bM") {
		return 2
	}
	for _, mode := range []string{"\x1b[?2026h", "\x1b[?2026l", "\x1b[?25h", "\x1b[?25l", "\x1b[?7h", "\x1b[?7l"} {
		if strings.HasPrefix(s, mode) {
			return len(mode)
		}
	}
	body, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 0
	}
	end := strings.IndexFunc(body, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if end < 0 || !strings.ContainsRune("ABCDEFGHIJKLMPSTXZ@`abdemr", rune(body[end])) {
		return 0
	}
	return len("\x1b[") + end + 1
}

func TestTheListOfWhatIsDrawnWithHoldsNothingElse(t *testing.T) {
	t.Parallel()
	if bad := obeyed("\x1b[?2026h\x1b[m\x1b[1;2H\x1b[38;2;1;2;3mtext 模板\r\n\x1b[K\x1b[?2026l"); bad != "" {
		t.Errorf("drawing is taken for %s", bad)
	}
	for name, text := range hostileTexts() {
		switch name {
		case "colours", "scroll", "move", "tabs", "combining", "zero", "entity": // a terminal obeys them as it does our own, or not at all
			continue
		}
		if obeyed(text+"\x1b") == "" {
			t.Errorf("%s passes", name)
		}
	}
}

// besieged is a world in which all that comes from outside holds a text.
func besieged(t *testing.T, w *uitest.World, bad string) ui.Deps {
	t.Helper()
	at := time.Now()
	text := "Qa" + bad + "Zb"
	asJSON := func(key string) []byte {
		b, err := json.Marshal(map[string]string{key: text})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	call := harness.ToolCall{ID: "k1", Name: "tool" + bad, Input: asJSON("query")}
	todos, err := json.Marshal(map[string]any{"todos": []map[string]string{{"text": "step " + text, "status": "in_progress"}}})
	if err != nil {
		t.Fatal(err)
	}
	messages := []harness.Message{
		harness.UserText("user " + text),
		{Role: harness.RoleAssistant, Model: "test/parrot" + bad, Parts: []harness.Part{
			{Kind: harness.PartThinking, Text: "thought " + text},
			{Kind: harness.PartText, Text: "model " + text},
			{Kind: harness.PartCall, Call: &call},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "k2", Name: "write_todos", Input: todos}},
		}},
		{Role: harness.RoleTool, Parts: []harness.Part{{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "k1", Name: call.Name, Text: "result " + text, Failed: true}}}},
		harness.AssistantText("last " + text),
	}
	messages[3].Used = []string{"f1", "f" + bad}
	records := make([]harness.Record, len(messages))
	for i := range messages {
		records[i] = harness.Record{Kind: harness.RecordMessage, Message: &messages[i], At: at, Run: "r1"}
	}
	w.Import(harness.Session{ID: "bad", Title: "title " + text, TitleBy: harness.TitleByUser, Tags: []string{"tag"}, Dir: "/src/" + bad, Created: at, Updated: at}, records)
	ctx := t.Context()
	_, _, ferr := w.Store.Facts().Save(ctx, harness.Fact{Text: "fact " + text, Category: "kind" + bad, By: harness.ByModel, State: harness.StateActive, Session: "bad"}, "")
	_, nerr := w.Store.Notes().Save(ctx, harness.Note{Title: "note " + text, Body: "body " + text, By: harness.ByModel, State: harness.StateActive, Session: "bad"}, "")
	_, _, ierr := w.Store.Inbox().Put(ctx, harness.Suggestion{Kind: harness.SuggestAdd, Text: "idea " + text, Why: "why " + text, By: harness.ByDistilled}, "")
	for _, err := range []error{ferr, nerr, ierr} {
		if err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatal(err)
		}
	}
	d := w.Deps("bad", false)
	d.Inbox = w.Store.Inbox()
	d.Dir, d.User = "/src/"+bad, "ada"+bad
	d.Files = attach.Files{
		Look: func(_ context.Context, path string) (attach.Seen, error) {
			if path == "missing" || path == "fi" {
				return attach.Seen{}, fs.ErrNotExist
			}
			return attach.Seen{File: harness.File{Name: "file " + text, MediaType: "text/plain"}, Text: true}, nil
		},
		Read: func(context.Context, string) (harness.Part, error) { return harness.Part{}, errors.New("no " + text) },
		List: func(context.Context, string, bool) ([]string, bool, error) {
			return []string{"file" + bad + ".go", "dir" + bad + "/"}, false, nil
		},
	}
	d.Notices = []string{"notice " + text}
	d.Notify = ui.NotifyUse{How: ui.NotifyOSC777}
	offering(t, &d, bad)
	serving(&d, bad)
	return d
}

// siege goes where all of it is shown, step by step.
func siege(w *uitest.World, bad string) []func(g *glass) {
	text := "Qa" + bad + "Zb"
	say := func(text string) func(g *glass) {
		return func(g *glass) { g.Type(text).Press("enter").Wait(time.Second) }
	}
	press := func(keys ...string) func(g *glass) { return func(g *glass) { g.Press(keys...).Wait(time.Second) } }
	answered := func(text string, answers ...uitest.Answer) func(g *glass) {
		return func(g *glass) {
			w.Model.Then(answers...)
			g.Wait(10 * time.Second).Type(text).Press("enter")
			for range 12 {
				g.Wait(uitest.Pause / 2)
				g.show()
			}
		}
	}
	w.Tool("lookup", "found "+text)
	w.Asking("ask_user", harness.Proposal{Kind: harness.ProposalQuestion, Body: "question " + text, Choices: []string{"one " + text, "two"}})
	w.Asking("shell", harness.Proposal{Kind: harness.ProposalCommand, Body: "command " + text, Subject: "to " + text, Why: "why " + text, About: []string{"about " + text}})
	w.Rules["shell"] = [2]string{"shell(=x" + bad + ")", "shell(y" + bad + ")"}
	clear := func(g *glass) { g.Wait(3 * time.Second).Press("ctrl+c").Wait(3 * time.Second) }
	return []func(g *glass){
		press("ctrl+o", "ctrl+t"), press("pgup"), press("end"),
		say("/result"), press("esc"), say("/context"), press("esc"), say("/usage"), press("tab", "tab"), press("esc"),
		press("ctrl+s"), press("down", "tab"), press("esc"), press("esc"),
		say("/facts"), press("h"), press("esc"), press("e"), press("esc"), press("esc"), say("/notes"), press("e"), press("esc"), press("esc"), say("/inbox"), press("e"), press("esc"), press("esc"),
		press("ctrl+x", "g"), press("esc"), press("ctrl+x", "r"), press("esc"), press("ctrl+p"), press("esc"),
		func(g *glass) { g.Type("@fi").Wait(time.Second) }, press("tab"), clear, say("/attach other"), say("send"), clear, say("/attach missing"), clear,
		func(g *glass) { g.Paste("pasted " + text) }, clear, func(g *glass) { g.Paste(strings.Repeat(text+"\n", 40)) }, press("ctrl+x", "u"), clear,
		press("ctrl+r"), func(g *glass) { g.Paste(text) }, press("esc"), clear,
		answered("stream", uitest.Thinks("hmm "+text, "says "+text)),
		answered("in pieces", uitest.Says(strings.Split("says "+text, "")...)),
		answered("fail", uitest.Fails("half "+text, "broke "+text)), clear,
		answered("call", uitest.Calls("lookup", `{"q":"x"}`), uitest.Says("done")),
		answered("nobody", uitest.Calls("no"+bad, `{"q":"x"}`), uitest.Says("done")),
		answered("wait", uitest.Sleeps(time.Second)), func(g *glass) { g.Paste("queued " + text) }, press("enter"), press("alt+up"), press("esc"), func(g *glass) { g.Wait(time.Minute) }, clear,
		func(g *glass) { g.Send(screen.FocusMsg{In: false}) },
		answered("ask", uitest.Calls("shell", `{"command":"x"}`), uitest.Says("done")), func(g *glass) { g.Wait(2 * time.Second) }, press("n", "enter"),
		answered("question", uitest.Calls("ask_user", `{"question":"x"}`), uitest.Says("done")), func(g *glass) { g.Wait(2 * time.Second) }, press("1", "enter"), func(g *glass) { g.Wait(time.Minute) },
		func(g *glass) { g.Send(screen.AbilitiesMsg{Answered: true, Name: text}) }, press("f1"), press("esc"),
		say("/keys test"), func(g *glass) { g.Send(screen.HeardMsg{Bytes: []byte(text)}).Paste(text) }, press("esc", "esc"),
		func(g *glass) { g.Paste("/" + text) }, press("enter"), clear, say("/model test/x"), say("/rename again"),
		func(g *glass) { g.resize(40, 10) }, press("ctrl+s"), press("esc"), func(g *glass) { g.resize(120, 40) },
	}
}

// siegeShows are the beginnings of what a siege brings to the screen.
func siegeShows() []string {
	return []string{
		"user", "thought", "model", "result", "last", "title", "fact", "note", "body", "idea", "notice", "file", "pasted", "queued", "hmm", "says", "half", "roke",
		"command", "question", "one", "why", "TO DO", "MEMORY USED", "step", "owl", "lock", "Key of", "oubt", "efused", "sun", "wrong", "faint", "seek",
		"server", "holds", "because", "nobody saw it end", "everything asks you", "Everything", "not offered", "choice", "half way", "everything:weather", "filled in", "deploy", "Runs",
	}
}

// onlyColours reports whether a view holds nothing that acts but colours.
func onlyColours(view string) bool {
	for at := range len(view) {
		switch c := view[at]; {
		case c == 0x1b:
			if n := drawing(view[at:]); n == 0 || view[at+n-1] != 'm' {
				return false
			}
		case c < ' ' && c != '\n' || c == 0x7f:
			return false
		}
	}
	return !strings.ContainsFunc(view, func(r rune) bool {
		return r >= 0x80 && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	})
}

// TestNothingFromOutsideDrivesTheTerminal puts hostile text wherever text comes in,
// and shows it all: what is written holds our own sequences and text, and no more.
func TestNothingFromOutsideDrivesTheTerminal(t *testing.T) {
	t.Parallel()
	for name, bad := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in(t, func(t *testing.T, w *uitest.World) {
				deps := besieged(t, w, bad)
				d := w.Start(deps, 100, 30)
				d.Wait(time.Second).Shows("last", "Qa", "Zb")
				g := behindGlass(t, d, 100, 30)
				seen := g.Screen() + g.walk(beside()) + g.walk(siege(w, bad)) + g.walk(chosen(bad)) + g.walk(besiegedServers(w, deps, bad))
				told := g.Written()
				for _, s := range told {
					body := strings.TrimSuffix(strings.TrimPrefix(s, "\x1b]777;notify;cairn;"), "\x1b\\")
					if why := obeyed(body); why != "" || strings.Contains(body, "\x1b") {
						t.Errorf("a notification holds %s: %q", why, s)
					}
				}
				if len(told) == 0 {
					t.Error("nothing was told to who looks elsewhere")
				}
				seen += afterwards(g, w, deps, bad)
				for _, what := range siegeShows() {
					if !strings.Contains(seen, what) {
						t.Errorf("%q was never seen", what)
					}
				}
			})
		})
	}
}
