package policy

import (
	"errors"
	"strings"
	"testing"

	"cairn/harness/tool"
)

func TestRulesReadBackAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"run_command":                       "run_command",
		"  run_command ":                    "run_command",
		"run_command(git status)":           "run_command(git status)",
		"run_command ( git status ) ":       "run_command(git status)",
		"run_command(=git status)":          "run_command(=git status)",
		"run_command(f(x) (y))":             "run_command(f(x) (y))",
		"run_command(echo ')')":             "run_command(echo ')')",
		"run_command())":                    "run_command())",
		"files__*":                          "files__*",
		"*":                                 "*",
		"*(example.com)":                    "*(example.com)",
		"write_file(日本/**)":                 "write_file(日本/**)",
		"server.tool/x:y-z(a)":              "server.tool/x:y-z(a)",
		"fetch_url(https://example.com/a?)": "fetch_url(https://example.com/a?)",
	} {
		r, err := ParseRule(text)
		if err != nil || r.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, r, err, want)
			continue
		}
		if again, err := ParseRule(r.String()); err != nil || again != r {
			t.Errorf("%q reads back as %v, %v", r, again, err)
		}
	}
}

func TestWhatIsNoRuleSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "run_command(git status)",
		" ":                                    "run_command(git status)",
		"(git status)":                         "names no tool",
		"run_command(":                         "closing parenthesis",
		"run_command(git status":               "write run_command(git status)",
		"run_command()":                        "run_command alone",
		"run_command( )":                       "run_command alone",
		"run_command(=)":                       "run_command alone",
		"run_command(= )":                      "run_command alone",
		"run_command(git status) x":            "closing parenthesis",
		"run_command)":                         "no tool name",
		"run command":                          "no tool name",
		"git status":                           "no tool name",
		"run_*_x":                              "only at the end",
		"*x":                                   "only at the end",
		"run_command(git\nstatus)":             "U+000A",
		"run_command(git\u00a0status)":         "U+00A0",
		"run_command(\u202egit)":               "U+202E",
		"run_command(\xff)":                    "UTF-8",
		"run_command(\x00)":                    "U+0000",
		"r(" + strings.Repeat("x", 5000) + ")": "shorter",
	} {
		r, err := ParseRule(text)
		if !errors.Is(err, ErrRule) || !strings.Contains(err.Error(), want) || r != (Rule{}) {
			t.Errorf("%.40q: %v, %v; want an error with %q", text, r, err, want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x00\u202e") {
			t.Errorf("%.40q: the error has the characters in it: %q", text, err)
		}
	}
}

func TestNamesOfTools(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, tool string
		want       bool
	}{
		{"run_command", "run_command", true},
		{"run_command", "run_commands", false},
		{"run_command", "Run_command", false},
		{"files__*", "files__read", true},
		{"files__*", "files__", true},
		{"files__*", "file", false},
		{"*", "x", true},
	} {
		if got := rules(t, tc.rule)[0].Names(tc.tool); got != tc.want {
			t.Errorf("%s of %s: %v", tc.rule, tc.tool, got)
		}
	}
	if (Rule{}).Covers(tool.Tool{Name: "x"}, tool.Call{}, "") {
		t.Error("the zero rule covers a call")
	}
}

func TestARuleThatAPersonChangedIsCheckedAgainstTheCall(t *testing.T) {
	t.Parallel()
	failing := tool.Tool{Name: "run_command", Touches: func(tool.Call) ([]tool.Access, error) { return nil, errors.New("no") }}
	for _, tc := range []struct {
		rule string
		tool tool.Tool
		want bool
	}{
		{"run_command(git push)", command("git push origin"), true},
		{"run_command(git pull)", command("git push origin"), false},
		{"run_command", command("git push > x"), true},
		{"run_command", failing, false},
		{"save_memory", tool.Tool{Name: "save_memory"}, true},
		{"save_memory(x)", tool.Tool{Name: "save_memory"}, false},
	} {
		if got := rules(t, tc.rule)[0].Covers(tc.tool, tool.Call{}, ""); got != tc.want {
			t.Errorf("%s: %v", tc.rule, got)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{"run_command(git status)", "x(=a)", "*(a)(b)", "((", "a*)", "x( =  )", "x(\xff)", "x(\u00a0a)", " x ( y ) "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			if !errors.Is(err, ErrRule) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again != r {
			t.Fatalf("%q reads as %q and back as %q, %v", text, r, again, err)
		}
		for _, a := range []tool.Access{{Kind: tool.AccessRun, Command: text}, {Kind: tool.AccessWrite, Path: "/x/" + text, Root: "/x"}, {Kind: tool.AccessFetch, URL: "https://" + text}} {
			r.hits(newPlace("/x", "/h"), a, map[string]finder{})
			covers([]source{newSource(r, "")}, tool.Tool{Name: strings.TrimSuffix(r.tool, "*")}, newPlace("/x", "/h"), []tool.Access{a})
		}
	})
}
