package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

func env(t *testing.T, width, height int) Env {
	t.Helper()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	return Env{Theme: theme, Width: width, Height: height, Awake: true, Now: time.Unix(0, 0).UTC()}
}

func pending(p harness.Proposal) harness.Pending {
	return harness.Pending{Call: harness.ToolCall{ID: "c1", Name: "shell", Input: []byte(`{"command":"x"}`)}, Proposal: &p, Digest: "d1"}
}

func dialog(p harness.Proposal) Dialog { return New(pending(p), 1, 1, time.Time{}) }

func unsure() Dialog {
	p := pending(harness.Proposal{Kind: harness.ProposalCommand, Body: "make deploy"})
	p.Uncertain = true
	return New(p, 1, 1, time.Unix(60, 0))
}

// text is what a drawing says, row by row, without styles.
func text(d Drawn) string { return ansi.Strip(strings.Join(d.Lines, "\n")) }

const oneHunk = "--- a/row.go\n+++ b/row.go\n@@ -84,4 +84,4 @@ func parseRow\n func parseRow() {\n-\tif r.VAT == \"\" {\n-\t\treturn nil\n+\tif r.VAT == \"\" && eu {\n+\t\tflag()\n }\n"

func TestWhatIsPreselectedDoesNoHarm(t *testing.T) {
	t.Parallel()
	e := env(t, 80, 24)
	for name, d := range map[string]Dialog{
		"command": dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: "x", Session: "s", Always: "a"}),
		"edit":    dialog(harness.Proposal{Kind: harness.ProposalEdit, Diff: oneHunk}),
		"choices": dialog(harness.Proposal{Kind: harness.ProposalQuestion, Choices: []string{"yes", "no"}}),
		"unsure":  unsure(),
	} {
		if _, out := d.Do(Choose, e); out.Decision != nil {
			t.Errorf("%s: enter alone decided %+v", name, out.Decision)
		}
	}
}

func TestOneKeyHasOneMeaningInEachDialog(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Dialog{
		"command": dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: strings.Repeat("x\n", 99), Session: "s", Always: "a"}),
		"edit":    dialog(harness.Proposal{Kind: harness.ProposalEdit, Diff: oneHunk, Session: "s", Always: "a"}),
		"choices": dialog(harness.Proposal{Kind: harness.ProposalQuestion, Choices: []string{"yes", "no"}}),
		"unsure":  unsure(),
	} {
		for _, width := range []int{40, 120} {
			e := env(t, width, 20)
			e.Draft = true
			seen := map[string]string{}
			for _, b := range d.Bindings(e) {
				if b.Off != "" {
					continue
				}
				if b.Help == "" || b.Group == "" {
					t.Errorf("%s lacks help or group", b.Action)
				}
				for _, k := range b.Keys {
					if was, ok := seen[k]; ok {
						t.Errorf("%s at %d: %s means both %s and %s", name, width, k, was, b.Action)
					}
					seen[k] = b.Action
				}
			}
		}
	}
}

func TestNoKeyButLaterAndReadingWorksAsleep(t *testing.T) {
	t.Parallel()
	e := env(t, 80, 12)
	e.Awake = false
	d := dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: strings.Repeat("x\n", 99), Session: "s", Always: "a"})
	for _, b := range d.Bindings(e) {
		if b.Off == "" && b.Action != Later && !reads(b.Action) {
			t.Errorf("%s works asleep", b.Action)
		}
	}
}

// The end of a long text, where the harm may be, is one key away; where text is
// written, the same keys move in its line.
func TestBothEndsOfALongTextAreAKeyAway(t *testing.T) {
	t.Parallel()
	e := env(t, 80, 14)
	long := harness.Proposal{Kind: harness.ProposalCommand, Body: "first\n" + strings.Repeat("x\n", 9000) + "rm -rf last", Session: "s", Always: "a"}
	for _, d := range []Dialog{dialog(long), func() Dialog { w, _ := dialog(long).Do(Whole, e); return w }()} {
		d, _ = d.Do(Bottom, e)
		if !strings.Contains(text(d.View(e)), "rm -rf last") {
			t.Errorf("the end is not to be seen:\n%s", text(d.View(e)))
		}
		d, _ = d.Do(Top, e)
		if !strings.Contains(text(d.View(e)), "first") {
			t.Errorf("the beginning is not to be seen:\n%s", text(d.View(e)))
		}
	}
	why := func(d Dialog, e Env) string { return d.off(Bottom, e) }
	draft := e
	draft.Draft = true
	whole, _ := dialog(long).Do(Whole, draft)
	writes, _ := dialog(long).Do(Refuse, e)
	if why(dialog(long), e) != "" || why(whole, draft) != "" || why(dialog(long), draft) != offText || why(writes, e) != offText {
		t.Error("the key for the end works at the wrong time")
	}
}

// readAll scrolls from the first line to the last and returns all that was
// seen of the text, and fails where the dialog does not say how much is hidden.
func readAll(t *testing.T, d Dialog, e Env) string {
	t.Helper()
	var seen []string
	for range 500 {
		l := d.layout(e)
		all := append(append([]string(nil), l.pinned...), l.lines...)
		if shown := text(d.View(e)); l.scrolls && l.top+l.room < l.total {
			if want := fmt.Sprintf("%d more line", l.total-l.top-l.room); !strings.Contains(shown, want) {
				t.Fatalf("the dialog hides %s and does not say it:\n%s", want, shown)
			}
		}
		if !l.scrolls {
			return ansi.Strip(strings.Join(all, "\n"))
		}
		for i := len(seen); i < l.top+l.room; i++ {
			seen = append(seen, ansi.Strip(l.lines[i]))
		}
		if l.top+l.room == l.total {
			return ansi.Strip(strings.Join(append(append([]string(nil), l.pinned...), seen...), "\n"))
		}
		d, _ = d.Do(PageDown, e)
	}
	t.Fatal("the end of the text is never reached")
	return ""
}

func TestTheWholeTextCanBeRead(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	for i := range 40 {
		fmt.Fprintf(&script, "step-%02d\n", i)
	}
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"long":   {strings.Repeat("a", 3000) + "; touch P", []string{"; touch P"}},
		"blanks": {"git status" + strings.Repeat(" ", 3000) + "; touch P", []string{"git status", "; touch P"}},
		"script": {script.String(), []string{"step-00␊", "step-20␊", "step-39"}},
		"return": {"rm -rf x\recho harmless", []string{"rm -rf x␍echo harmless"}},
		"crlf":   {"one\r\ntwo", []string{"one␍␊", "two"}},
		"bidi":   {"echo \u202egpj.exe\x1b[2J", []string{"⟨U+202E⟩", "␛[2J"}},
		"lines":  {strings.Repeat("\n", 100) + "touch P", []string{"touch P"}},
	} {
		for _, size := range [][2]int{{40, 5}, {60, 14}, {80, 17}, {120, 30}} {
			e := env(t, size[0], size[1])
			d := dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: c.body, Session: "shell(=x)", Always: "shell(x)"})
			got := readAll(t, d, e)
			flat := strings.ReplaceAll(strings.ReplaceAll(got, "\n   ", ""), "\n", "")
			for _, w := range c.want {
				if !strings.Contains(flat, w) {
					t.Errorf("%s at %v: %q cannot be read in\n%s", name, size, w, got)
				}
			}
			if n := strings.Count(c.body, "a"); name == "long" && strings.Count(flat, "a") < n {
				t.Errorf("%v: characters are missing", size)
			}
			whole, _ := d.Do(Whole, e)
			if got := strings.ReplaceAll(strings.ReplaceAll(readAll(t, whole, e), "\n   ", ""), "\n", ""); !strings.Contains(got, c.want[len(c.want)-1]) {
				t.Errorf("%s at %v: the end cannot be read on the whole screen", name, size)
			}
		}
	}
}

func TestNoDrawingIsLargerThanItsRoom(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]Dialog{
		"command": dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: strings.Repeat("漢字 text ", 300), Session: "s", Always: strings.Repeat("long ", 99)}),
		"edit":    dialog(harness.Proposal{Kind: harness.ProposalEdit, Subject: strings.Repeat("/dir", 99), Diff: oneHunk, Why: strings.Repeat("because ", 99)}),
		"choices": dialog(harness.Proposal{Kind: harness.ProposalQuestion, Body: "which?", Choices: []string{"yes", strings.Repeat("no ", 99)}}),
		"unsure":  unsure(),
	} {
		for _, action := range []string{"", Whole, Side, Refuse, EditRule, Result, Down} {
			for _, size := range [][2]int{{20, 3}, {40, 5}, {60, 14}, {100, 9}, {120, 30}} {
				e := env(t, size[0], size[1])
				shown, _ := d.Do(action, e)
				got := shown.View(e)
				if len(got.Lines) > size[1] {
					t.Errorf("%s %s has %d lines in %v", name, action, len(got.Lines), size)
				}
				for _, l := range got.Lines {
					if render.Width(l) > size[0] || strings.ContainsAny(ansi.Strip(l), "\x1b\r\n\t") {
						t.Errorf("%s %s in %v has the line %q", name, action, size, l)
					}
				}
			}
		}
	}
}

func TestADiffHasSignsAndNumbers(t *testing.T) {
	t.Parallel()
	d := dialog(harness.Proposal{Kind: harness.ProposalEdit, Subject: "row.go", Diff: oneHunk, Added: 2, Removed: 2})
	e := env(t, 120, 30)
	shown := text(d.View(e))
	for _, want := range []string{
		"wants to change row.go (+2 -2)", "   84  func parseRow() {", " - 85      if r.VAT == \"\" {", " + 85      if r.VAT == \"\" && eu {", " + 86          flag()", "   87  }",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the diff lacks %q:\n%s", want, shown)
		}
	}
	d, _ = d.Do(Side, e)
	if shown := text(d.View(e)); !strings.Contains(shown, "return nil") || !strings.Contains(strings.Split(shown, "return nil")[1], "flag()") {
		t.Errorf("the sides are not beside each other:\n%s", shown)
	}
}

func TestNoLineOfADiffIsHidden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ diff, want string }{
		"not a diff":       {"touch P", "touch P"},
		"before a hunk":    {"rename from x\n" + oneHunk, "rename from x"},
		"a line of dashes": {"--- a\n+++ b\n@@ -1 +1 @@\n--- x\n+++ y\n", "-- x"},
		"no newline":       {"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "No newline at end of file"},
		"a return":         {"@@ -1 +1 @@\n-a\n+a\r\n", "a␍"},
		"wrong numbers":    {"@@ -x +y @@\n-a\n", "@@ -x +y @@"},
	} {
		d := dialog(harness.Proposal{Kind: harness.ProposalEdit, Subject: "f", Diff: c.diff})
		if shown := text(d.View(env(t, 80, 30))); !strings.Contains(shown, c.want) {
			t.Errorf("%s: %q is not shown:\n%s", name, c.want, shown)
		}
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	command := harness.Proposal{Kind: harness.ProposalCommand, Body: "go test", Session: "shell(=go test)", Always: "shell(go test)"}
	question := harness.Proposal{Kind: harness.ProposalQuestion, Body: "which?", Choices: []string{"red", "blue"}}
	for name, c := range map[string]struct {
		d     Dialog
		steps []string // actions, or "=text" that is typed
		want  harness.Decision
	}{
		"once":           {dialog(command), []string{Once}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeOnce}},
		"session":        {dialog(command), []string{Session}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeSession, Rule: "shell(=go test)"}},
		"always":         {dialog(command), []string{Always}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "shell(go test)"}},
		"highlighted":    {dialog(command), []string{Up, Choose}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "shell(go test)"}},
		"edited rule":    {dialog(command), []string{EditRule, "= ./...", Choose, Choose}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "shell(go test) ./..."}},
		"edited session": {dialog(command), []string{Up, Up, EditRule, "=!", Choose, Session}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeSession, Rule: "shell(=go test)!"}},
		"rule given up":  {dialog(command), []string{EditRule, "=x", Later, Always}, harness.Decision{How: harness.DecideApprove, Scope: harness.ScopeAlways, Rule: "shell(go test)"}},
		"refused":        {dialog(command), []string{Refuse, Choose}, harness.Decision{How: harness.DecideDecline}},
		"with a reason":  {dialog(command), []string{Choose, "=use make", Choose}, harness.Decision{How: harness.DecideDecline, Text: "use make"}},
		"free answer":    {dialog(question), []string{"=green", Choose}, harness.Decision{How: harness.DecideAnswer, Text: "green"}},
		"by number":      {dialog(question), []string{"=2", Choose}, harness.Decision{How: harness.DecideAnswer, Text: "blue"}},
		"number in text": {dialog(question), []string{"=2 of them", Choose}, harness.Decision{How: harness.DecideAnswer, Text: "2 of them"}},
		"by arrows":      {dialog(question), []string{Up, Up, Choose}, harness.Decision{How: harness.DecideAnswer, Text: "red"}},
		"not answered":   {dialog(question), []string{Down, Choose, Choose}, harness.Decision{How: harness.DecideDecline}},
		"result":         {unsure(), []string{Result, "=it is up", Choose}, harness.Decision{How: harness.DecideResult, Text: "it is up"}},
		"again":          {unsure(), []string{Again}, harness.Decision{How: harness.DecideRetry}},
		"abort":          {unsure(), []string{Abort}, harness.Decision{How: harness.DecideAbort}},
	} {
		e := env(t, 80, 24)
		var out Outcome
		for i, s := range c.steps {
			if out.Decision != nil {
				t.Errorf("%s: decided before step %d", name, i)
			}
			if typed, ok := strings.CutPrefix(s, "="); ok {
				for _, r := range typed {
					if c.d, ok = c.d.Type(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}, e); !ok {
						t.Fatalf("%s: %q was not taken", name, r)
					}
				}
				continue
			}
			c.d, out = c.d.Do(s, e)
		}
		c.want.Call, c.want.Digest = "c1", "d1"
		if out.Decision == nil || *out.Decision != c.want {
			t.Errorf("%s decided %+v, want %+v", name, out.Decision, c.want)
		}
	}
}

func TestNothingIsGivenWithoutAText(t *testing.T) {
	t.Parallel()
	e := env(t, 80, 24)
	for name, c := range map[string]struct {
		d     Dialog
		steps []string
	}{
		"answer": {dialog(harness.Proposal{Kind: harness.ProposalQuestion, Body: "which?"}), []string{Choose}},
		"result": {unsure(), []string{Result, Choose}},
	} {
		var out Outcome
		for _, s := range c.steps {
			c.d, out = c.d.Do(s, e)
		}
		if out.Decision != nil || c.d.note == "" {
			t.Errorf("%s: decided %+v, said %q", name, out.Decision, c.d.note)
		}
	}
}

// What is no rule is said where it is written, and the one that was offered
// stays.
func TestAFaultyRuleStaysOpen(t *testing.T) {
	t.Parallel()
	e := env(t, 80, 24)
	e.Fault = func(rule string) string {
		if rule == "shell(x" {
			return "Not a rule: it has no end."
		}
		return ""
	}
	d := dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: "x", Always: "shell(x)"})
	d, _ = d.Do(EditRule, e)
	d, _ = d.Type(tea.KeyMsg{Type: tea.KeyBackspace}, e)
	d, _ = d.Do(Choose, e)
	if got := text(d.View(e)); !strings.Contains(got, "Not a rule: it has no end.") || !strings.Contains(got, "the rule to allow always") {
		t.Errorf("it shows\n%s", got)
	}
	back, _ := d.Do(Later, e)
	if got := text(back.View(e)); !strings.Contains(got, "always allow  shell(x)") || strings.Contains(got, "no end") {
		t.Errorf("after esc it shows\n%s", got)
	}
	d, _ = d.Type(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(" y)")}, e)
	d, _ = d.Do(Choose, e)
	if got := text(d.View(e)); !strings.Contains(got, "always allow  shell(x y)") {
		t.Errorf("it shows\n%s", got)
	}
}

func TestARuleThatIsNotOfferedIsNotThere(t *testing.T) {
	t.Parallel()
	d := dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: "x"})
	e := env(t, 80, 24)
	if shown := text(d.View(e)); strings.Contains(shown, "session") || strings.Contains(shown, "always") {
		t.Errorf("a rule is offered:\n%s", shown)
	}
	for _, b := range d.Bindings(e) {
		if (b.Action == Session || b.Action == Always || b.Action == EditRule) && b.Off == "" {
			t.Errorf("%s works", b.Action)
		}
	}
}

func TestNoRuleIsMadeUnseen(t *testing.T) {
	t.Parallel()
	e := env(t, 40, 5)
	d := dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: "go test ./importer/... -run TestBlankVAT", Session: "shell(=s)", Always: "shell(=always)"})
	if shown := text(d.View(e)); strings.Contains(shown, "shell(=always)") {
		t.Fatalf("the rule is on screen already:\n%s", shown)
	}
	d, out := d.Do(Always, e)
	if out.Decision != nil {
		t.Fatalf("a rule was made unseen: %+v", out.Decision)
	}
	if shown := text(d.View(e)); !strings.Contains(shown, "shell(=always)") {
		t.Errorf("the rule is not on screen:\n%s", shown)
	}
	if _, out = d.Do(Session, e); out.Decision != nil && !strings.Contains(text(d.View(e)), "shell(=s)") {
		t.Errorf("the other rule was made unseen: %+v", out.Decision)
	}
	if _, out = d.Do(Always, e); out.Decision == nil || out.Decision.Rule != "shell(=always)" {
		t.Errorf("the second time decided %+v", out.Decision)
	}
}

// What the dialog says about a restart is true of a chat that is not kept too,
// and is whole.
func TestWhatAStopDoesIsSaid(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 60, 80, 120} {
		for kept, want := range map[bool][2]string{
			true:  {"this request is still here next time.", "also after a restart"},
			false: {"this request is gone with the chat.", "waits until cairn stops"},
		} {
			e := env(t, width, 40)
			e.Ephemeral = !kept
			got := strings.Join(strings.Fields(text(dialog(harness.Proposal{Kind: harness.ProposalCommand, Body: "x"}).View(e))), " ")
			if !strings.Contains(got, want[0]) || !strings.HasSuffix(got, want[1]) && !strings.HasSuffix(got, "decides later") {
				t.Errorf("at %d, kept %v: %s", width, kept, got)
			}
		}
	}
}

func TestATimeOfAnotherDayHasItsDay(t *testing.T) {
	t.Parallel()
	for now, want := range map[time.Time]string{
		time.Unix(3600, 0).UTC():           "asked for at 00:01:00",
		time.Unix(90000, 0).UTC():          "asked for at 00:01:00 on 1 Jan",
		time.Unix(365*24*3600+90, 0).UTC(): "asked for at 00:01:00 on 1 Jan",
	} {
		e := env(t, 100, 24)
		e.Now = now
		if got := text(unsure().View(e)); !strings.Contains(got, want+"\n") {
			t.Errorf("at %s it says\n%s\nwant %q", now, got, want)
		}
	}
}

func TestEachKindSaysWhatItWouldDo(t *testing.T) {
	t.Parallel()
	old := harness.Pending{Call: harness.ToolCall{ID: "c1", Name: "deploy", Input: []byte(`{"to":"prod"}`)}}
	broken := harness.Pending{Call: harness.ToolCall{ID: "c1", Name: "deploy", Malformed: "{to: prod"}}
	ruled := pending(harness.Proposal{Kind: harness.ProposalCommand, Body: "x", About: []string{"in /src"}})
	ruled.Rule, ruled.Reason = "shell(x *)", "it was asked to ask"
	changed := pending(harness.Proposal{Kind: harness.ProposalEdit, Subject: "f", Diff: oneHunk})
	changed.Changed = true
	for name, c := range map[string]struct {
		p    harness.Pending
		want []string
	}{
		"changed":       {changed, []string{"wants to change f", "it changed after you agreed, so nothing was done"}},
		"fetch":         {pending(harness.Proposal{Kind: harness.ProposalFetch, Subject: "https://example.com/?q=\u202ea"}), []string{"shell wants to read", "https://example.com/?q=⟨U+202E⟩a"}},
		"question":      {pending(harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which?", Choices: []string{"a"}}), []string{"the model asks", "Which?", "1  a"}},
		"fetch, more":   {pending(harness.Proposal{Kind: harness.ProposalFetch, Subject: "https://a", Body: "with a cookie"}), []string{"https://a", "with a cookie"}},
		"call":          {pending(harness.Proposal{Kind: harness.ProposalCall, Body: "{\n  \"a\": 1\n}"}), []string{"wants to be called with", "\"a\": 1"}},
		"without one":   {old, []string{"deploy wants to be called with", "\"to\": \"prod\""}},
		"malformed":     {broken, []string{"{to: prod"}},
		"without body":  {pending(harness.Proposal{Kind: harness.ProposalCommand}), []string{"\"command\": \"x\""}},
		"edit, no diff": {pending(harness.Proposal{Kind: harness.ProposalEdit, Subject: "f", Body: "all of it"}), []string{"wants to change f", "all of it"}},
		"asked by":      {ruled, []string{"in /src · it was asked to ask (rule: shell(x *))"}},
	} {
		shown := text(New(c.p, 1, 1, time.Time{}).View(env(t, 100, 30)))
		for _, w := range c.want {
			if !strings.Contains(shown, w) {
				t.Errorf("%s lacks %q:\n%s", name, w, shown)
			}
		}
	}
}

func TestAChoiceThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	d := dialog(harness.Proposal{Kind: harness.ProposalQuestion, Body: strings.Repeat("why ", 40), Choices: []string{strings.Repeat("because ", 9)}})
	e := env(t, 40, 6)
	d, _ = d.Do(Up, e)
	if got := text(d.View(e)); !strings.Contains(got, "> 1 because") || !strings.HasSuffix(strings.TrimRight(got, "\n"), "…") {
		t.Errorf("it shows\n%s", got)
	}
}
