package proposal_test

import (
	"strings"
	"testing"

	"cairn/harness"
	"cairn/ui/plain/proposal"
)

func pending(name string, p harness.Proposal) harness.Pending {
	return harness.Pending{Call: harness.ToolCall{ID: "c1", Name: name, Input: []byte(`{"a":1}`)}, Proposal: &p}
}

// The end of a long command is as readable as its beginning, and nothing in it
// drives the terminal or hides.
func TestNothingIsHidden(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000) + "; touch P"
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"long":            {long, []string{"    " + long}},
		"carriage return": {"rm -rf /\recho hello", []string{"    rm -rf /␍echo hello"}},
		"before newline":  {"a\r\nb", []string{"    a␍", "    b"}},
		"escape":          {"echo \x1b[2Ka", []string{"    echo ␛[2Ka"}},
		"bidi":            {"echo \u202egnp", []string{"    echo ⟨U+202E⟩gnp"}},
		"many lines":      {"a\n\n\nb", []string{"    a", "    ", "    ", "    b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := proposal.Lines(pending("run_command", harness.Proposal{Kind: harness.ProposalCommand, Body: c.body}))
			want := append([]string{"run_command wants to run:"}, c.want...)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%q, not %q", got, want)
			}
		})
	}
}

// Every kind says in its first line what is wanted.
func TestEachKindHasItsHeadline(t *testing.T) {
	t.Parallel()
	edit := harness.Proposal{Kind: harness.ProposalEdit, Subject: "/src/a\nb.go", Diff: "-old\n+new\n", Added: 1, Removed: 1}
	uncertain := pending("deploy", harness.Proposal{Kind: harness.ProposalCommand, Body: "make deploy"})
	uncertain.Uncertain = true
	why := pending("run_command", harness.Proposal{
		Kind: harness.ProposalCommand, Body: "ls", About: []string{"in /src"}, Why: "to see\x1b",
	})
	why.Reason, why.Rule = "not allowed yet", "run_command(ls)"
	own := pending("odd", harness.Proposal{Kind: harness.ProposalCall})
	changed := pending("write_file", edit)
	changed.Changed = true
	for name, c := range map[string]struct {
		p    harness.Pending
		want string
	}{
		"edit":      {pending("write_file", edit), "write_file wants to change /src/a␊b.go (+1 -1):\n    -old\n    +new"},
		"fetch":     {pending("fetch_url", harness.Proposal{Kind: harness.ProposalFetch, Subject: "https://e.org/"}), "fetch_url wants to read https://e.org/"},
		"call":      {pending("odd\x07", harness.Proposal{Kind: harness.ProposalCall, Subject: "odd\x07", Body: "{}"}), "odd␇ wants to be called with:\n    {}"},
		"old":       {harness.Pending{Call: harness.ToolCall{Name: "odd", Input: []byte(`{"a":1}`)}}, "odd wants to be called with:\n    {\"a\":1}"},
		"uncertain": {uncertain, "deploy began, and nobody saw it end; whether it took effect is unknown:\n    make deploy"},
		"question": {
			pending("ask_user", harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which?", Choices: []string{"red", "blue"}}),
			"the model asks:\n    Which?\n  choice 1: red\n  choice 2: blue",
		},
		"changed": {changed, "write_file wants to change /src/a␊b.go (+1 -1):\n    -old\n    +new\n  it changed after it was approved, so nothing was done: this is how it is now"},
		"own":     {own, "odd wants to be called with:"},
		"reasons": {why, "run_command wants to run:\n    ls\n  in /src\n  the model's reason: to see␛\n  asked because: not allowed yet (rule: run_command(ls))"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(proposal.Lines(c.p), "\n"); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

// One line is one line, whatever is in it, and it is whole.
func TestBriefIsOneWholeLine(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]harness.Pending{
		"ls␊rm -rf /":    pending("run_command", harness.Proposal{Kind: harness.ProposalCommand, Body: "ls\nrm -rf /"}),
		"/src/a.go":      pending("write_file", harness.Proposal{Kind: harness.ProposalEdit, Subject: "/src/a.go", Diff: "+x"}),
		`{"a":1}`:        {Call: harness.ToolCall{Name: "odd", Input: []byte(`{"a":1}`)}},
		"https://e.org/": pending("fetch_url", harness.Proposal{Kind: harness.ProposalFetch, Subject: "https://e.org/"}),
	} {
		if got := proposal.Brief(p); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Whatever comes from outside is readable, and no control character is left.
func FuzzLinesAreHarmless(f *testing.F) {
	f.Add("ls\x1b[2J", "/a\r\nb", "\u202eyes\x9b", "why\x00")
	f.Fuzz(func(t *testing.T, body, subject, diff, why string) {
		for _, kind := range []harness.ProposalKind{harness.ProposalCommand, harness.ProposalEdit, harness.ProposalFetch, harness.ProposalQuestion, "?"} {
			p := pending(subject, harness.Proposal{
				Kind: kind, Body: body, Subject: subject, Diff: diff, Why: why, About: []string{body}, Choices: []string{diff},
			})
			p.Reason, p.Rule = body, diff
			for _, line := range append(proposal.Lines(p), proposal.Brief(p)) {
				if bad := strings.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e }); bad >= 0 {
					t.Errorf("%q drives a terminal", line)
				}
			}
		}
	})
}
