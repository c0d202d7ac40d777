package policy

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cairn/harness/tool"
)

// marker writes down how it was called and does nothing else.
const marker = `#!/bin/sh
s=${0##*/}
for a; do s="$s$SEP$a"; done
printf '%s\000' "$s" >>"$MARKS"
`

// bench is a directory in which command lines find marker programs only.
type bench struct {
	dir, marks string
}

func newBench(t *testing.T, names ...string) bench {
	t.Helper()
	b := bench{dir: t.TempDir()}
	b.marks = filepath.Join(b.dir, "marks")
	for _, dir := range []string{"bin", "home", "work"} {
		if err := os.Mkdir(filepath.Join(b.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(b.dir, "bin", name), []byte(marker), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// run runs a line and returns the calls that the markers saw, sorted; nil if
// the shell did not take the line at all.
func (b bench) run(t *testing.T, shell, line string) []string {
	t.Helper()
	if err := os.WriteFile(b.marks, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), shell, "-c", "--", line)
	cmd.Dir = filepath.Join(b.dir, "work")
	cmd.Env = []string{"PATH=" + filepath.Join(b.dir, "bin"), "HOME=" + filepath.Join(b.dir, "home"), "MARKS=" + b.marks, "SEP=\x01", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	refused := strings.Contains(strings.ToLower(string(out)), "syntax error")
	if len(out) > 0 && !refused {
		t.Errorf("%q: %s says %q", line, shell, out)
	}
	seen, err := os.ReadFile(b.marks)
	if err != nil {
		t.Fatal(err)
	}
	if refused && len(seen) == 0 {
		return nil // one shell is stricter than the others
	}
	calls := strings.Split(strings.TrimSuffix(string(seen), "\x00"), "\x00")
	slices.Sort(calls)
	return calls
}

// expected is what the policy takes a line for, as the markers write it.
func expected(l line) []string {
	calls := make([]string, len(l.cmds))
	for i, c := range l.cmds {
		words := make([]string, len(c.words))
		for n, w := range c.words {
			words[n] = w.text
		}
		calls[i] = strings.Join(words, "\x01")
	}
	slices.Sort(calls)
	return calls
}

// expands reports whether a shell puts something else in place of a word, or
// may not run all of the commands.
func expands(l line) bool {
	for _, c := range l.cmds {
		for _, w := range c.words {
			if !w.plain() {
				return true
			}
		}
	}
	return slices.Contains(l.ops, "||")
}

// quoted makes lines that are mostly allowed, of words in all kinds of quotes.
func quoted(r *rand.Rand) string {
	names := []string{"ls", "'ls'", "l\\s", "\"cat\"", "c''at", "cat", "git status", "git 'status'", "g\\it \"status\"", "git \\\n status", "l\\\ns"}
	args := []string{
		"a", "-x", "'a b'", "\"a b\"", "''", "\"\"", "\\;", "\\ ", "\\'", "'\\'", "\"\\\\\"", "\"\\\"\"", "\"\\$X\"", "\\$X", "'$X'", "'`ls`'", "\"\\`ls\\`\"", "\"a\\b\"", "\\a", "\\\\", "'*'", "\\*", "\"*\"", "a=b", "é", "日本語", "'it'\\''s'",
		"\"it's\"", "{}", "{a}", "a{b", "}", "HEAD@{1}", "%", "^", "a#b", "'#'", "#x", "=", "!", "'!'", "\"a\\\nb\"", "c\\\nd", "'e\nf'", "-", "--", "[", "]", "a]", "~x/y", "a~", ":", "a:~", "a=~/x", "@", "+", "'\t'", "\"\t\"", ">/dev/null", "2>&1", "2>/dev/null", "</dev/null", ">>/dev/null", ">&2",
		"$X", "$(ls)", "{a,b}", "*", "> P", "&", "(", "\"", "'", "X=1", "a!b", "`", "$'a'", "|&", "\r",
	}
	between := []string{"; ", ";", " && ", "&&", " | ", "|", "\n", "\n\n ", " ;\n", " # ls\n"}
	var b strings.Builder
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteString(between[r.IntN(len(between))])
		}
		b.WriteString(names[r.IntN(len(names))])
		for range r.IntN(5) {
			b.WriteString([]string{" ", "  ", "\t", " \\\n "}[r.IntN(4)])
			b.WriteString(args[r.IntN(len(args))])
		}
	}
	return b.String()
}

// noise makes lines of single characters that mean something to a shell.
func noise(r *rand.Rand) string {
	chars := []string{"a", "b", " ", " ", " ", "\t", "'", "'", "\"", "\"", "\\", "\n", "#", ";", "&", "|", "{", "}", ",", ".", "[", "]", "~", "!", "=", "<", ">", "(", ")", "$", "`", "-", "+", "@", "%", "^", ":", "?", "*", "1", "é", "\\\n", "ls ", "2>&1", ">/dev/null", "<<"}
	var b strings.Builder
	b.WriteString("ls ")
	for range 1 + r.IntN(14) {
		b.WriteString(chars[r.IntN(len(chars))])
	}
	return b.String()
}

func TestRealShellsRunWhatWasAllowedAndNothingElse(t *testing.T) {
	t.Parallel()
	var shells []string
	for _, name := range []string{"bash", "dash"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		}
	}
	if len(shells) == 0 {
		t.Skip("there is neither bash nor dash")
	}
	b := newBench(t, "ls", "cat", "git", "touch", "rm", "sh", "X", "P", "a", "b")
	r := rand.New(rand.NewPCG(3, 4))
	judging := Rules{Allow: rules(t, "run_command(ls)", "run_command(cat)", "run_command(git status)"), Interactive: true}
	runs := 0
	for i := range 4_000 {
		text := quoted(r)
		if i%2 == 0 {
			text = noise(r)
		}
		if v := judge(t, judging, tool.Call{}, command(text)); v.Permission != tool.Allow {
			continue
		}
		l, why := parseLine(text)
		if why != "" {
			t.Fatalf("%q is allowed although %s", text, why)
		}
		if expands(l) {
			continue // not the words as they stand; see below
		}
		if runs++; runs > 120 {
			break
		}
		for _, shell := range shells {
			if got, want := b.run(t, shell, text), expected(l); got != nil && !slices.Equal(got, want) {
				t.Errorf("%q: %s ran %q, the policy saw %q", text, shell, got, want)
			}
		}
	}
	if runs < 100 {
		t.Errorf("only %d lines were allowed", runs)
	}
	left, err := os.ReadDir(filepath.Join(b.dir, "work"))
	if err != nil || len(left) > 0 {
		t.Errorf("the lines left %v, %v", left, err)
	}
}

func TestRealShellsGlobOnlyAmongArguments(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	b := newBench(t, "ls", "touch")
	for _, name := range []string{"--exec=touch", "ls", "x.go"} {
		if err := os.WriteFile(filepath.Join(b.dir, "work", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := Rules{Allow: rules(t, "run_command(ls)"), Interactive: true}
	for text, want := range map[string][]string{
		"ls *":     {"ls\x01--exec=touch\x01ls\x01x.go"},
		"ls ./*":   {"ls\x01./--exec=touch\x01./ls\x01./x.go"},
		"ls ~":     {"ls\x01" + filepath.Join(b.dir, "home")},
		"ls [x]*":  {"ls\x01x.go"},
		"ls '*' *": {"ls\x01*\x01--exec=touch\x01ls\x01x.go"},
	} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Allow {
			t.Errorf("%q: %+v", text, v)
		}
		if got := b.run(t, shell, text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"*", "l*", "[l]s", "l?"} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Ask {
			t.Errorf("%q: %+v", text, v)
		}
	}
}

// commandNames returns the names of all commands that a text runs, found by
// other means than the policy's: the library's own expansion of words.
func commandNames(t *testing.T, text string, lang syntax.LangVariant) []string {
	t.Helper()
	file, err := parseShell(text, lang)
	if err != nil {
		t.Fatalf("%q is allowed and cannot be read: %v", text, err)
	}
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			fields, err := expand.Fields(&expand.Config{}, n.Args...)
			if err != nil || len(fields) == 0 || len(n.Assigns) > 0 {
				t.Fatalf("%q is allowed with %q, %v", text, fields, err)
			}
			names = append(names, fields[0])
		case *syntax.CmdSubst, *syntax.ParamExp, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.FuncDecl, *syntax.Subshell, *syntax.Block, *syntax.Assign, *syntax.ExtGlob,
			*syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.DeclClause, *syntax.LetClause, *syntax.TimeClause, *syntax.CoprocClause, *syntax.TestClause, *syntax.ArithmCmd:
			t.Fatalf("%q is allowed with a %T", text, n)
		}
		return true
	})
	return names
}

func FuzzAllowedLinesRunAllowedCommands(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		f.Add(hostile(r))
		f.Add(quoted(r))
	}
	allow := rules(f, "run_command(git status)", "run_command(ls)", "run_command(=rm x)", "run_command(make test)")
	allowed := []string{"git", "ls", "rm", "make"}
	f.Fuzz(func(t *testing.T, text string) {
		judging := Rules{Allow: allow, Interactive: true}
		if v := judge(t, judging, tool.Call{}, command(text)); v.Permission == tool.Allow {
			for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX} {
				for _, name := range commandNames(t, text, lang) {
					if !slices.Contains(allowed, name) {
						t.Fatalf("%q is allowed and runs %q", text, name)
					}
				}
			}
		}
		// What a deny rule names is never allowed, and reading ends.
		judging = Rules{Allow: rules(t, "run_command"), Deny: rules(t, "run_command(git)"), Interactive: true}
		if v := judge(t, judging, tool.Call{}, command(text)); v.Permission == tool.Allow {
			for _, name := range knownNames(text) {
				if commandBase(name) == "git" {
					t.Fatalf("%q is allowed and runs git", text)
				}
			}
		}
	})
}

// knownNames returns the names of commands that stand in a text as they are.
func knownNames(text string) []string {
	file, err := parseShell(text, syntax.LangBash)
	if err != nil {
		return nil
	}
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			names = append(names, c.Args[0].Lit())
		}
		return true
	})
	return names
}
