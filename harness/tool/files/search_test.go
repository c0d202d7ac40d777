//go:build unix

package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// project makes a directory with sources, links and things to leave out.
func project(t *testing.T) (ws, outside string) {
	t.Helper()
	ws, outside = tree(t)
	for name, text := range map[string]string{
		".gitignore":            "# comment\n*.log\n!keep.log\n/build/\nnode_modules\ndoc/*.html\nout*put\n**/deep/skip\nq?z\n[ab].tmp\n{x}.txt\ntrail \nesc\\ \n\\#hash\n",
		"main.go":               "package main\n\nfunc main() {\n\tRun()\n}\n",
		"cmd/run.go":            "package cmd\n\n// Run runs.\nfunc Run() {}\n",
		"cmd/run_test.go":       "package cmd\n\nfunc TestRun() { Run() }\n",
		"cmd/.gitignore":        "!debug.log\n*_gen.go\n/local\n",
		"cmd/x_gen.go":          "func Run() // generated\n",
		"cmd/debug.log":         "Run\n",
		"cmd/local/a.go":        "Run\n",
		"cmd/sub/local/a.go":    "package local\n",
		"trace.log":             "Run\n",
		"keep.log":              "kept\n",
		"build/o.go":            "Run\n",
		"src/build/o.go":        "package build\n",
		"node_modules/m/i.js":   "Run\n",
		"node_modules/keep.log": "Run\n",
		"doc/a.html":            "Run\n",
		"doc/deep/a.html":       "text\n",
		"doc/deep/skip/b.md":    "Run\n",
		"quz":                   "Run\n",
		"a.tmp":                 "Run\n",
		"c.tmp":                 "c\n",
		"{x}.txt":               "Run\n",
		"x.txt":                 "x\n",
		"trail":                 "Run\n",
		"esc ":                  "Run\n",
		"#hash":                 "Run\n",
		".git/config":           "Run\n",
		"sub/.git":              "gitdir: Run\n",
		"bin.dat":               "Run\x00Run\n",
		"odd\tname.go":          "package odd // Run\n",
		".cairn-X.tmp":          "Run\n",
	} {
		put(t, ws, name, text)
	}
	for link, to := range map[string]string{"link.go": "main.go", "outlink.go": filepath.Join(outside, "x"), "secretlink.go": ".env", "linkdir": "cmd"} {
		if err := os.Symlink(to, filepath.Join(ws, link)); err != nil {
			t.Fatal(err)
		}
	}
	return ws, outside
}

func TestGlob(t *testing.T) {
	t.Parallel()
	ws, outside := project(t)
	for name, tc := range map[string]struct {
		in   globIn
		want []string
	}{
		"the directory itself":   {globIn{Pattern: "*.go"}, []string{"link.go", "main.go", `"odd\tname.go"`}},
		"at any depth":           {globIn{Pattern: "**/*.go"}, []string{"cmd/run.go", "cmd/run_test.go", "cmd/sub/local/a.go", "link.go", "main.go", `"odd\tname.go"`, "src/build/o.go"}},
		"below a directory":      {globIn{Pattern: "*.go", Path: "cmd"}, []string{"cmd/run.go", "cmd/run_test.go"}},
		"with a directory":       {globIn{Pattern: "cmd/**/*.go"}, []string{"cmd/run.go", "cmd/run_test.go", "cmd/sub/local/a.go"}},
		"absolute":               {globIn{Pattern: ws + "/cmd/*_test.go"}, []string{"cmd/run_test.go"}},
		"through a link":         {globIn{Pattern: "linkdir/*.go"}, []string{"cmd/run.go", "cmd/run_test.go"}},
		"one of two":             {globIn{Pattern: "{cmd,src}/**/{run,o}.go"}, []string{"cmd/run.go", "src/build/o.go"}},
		"taken back":             {globIn{Pattern: "**/*.log"}, []string{"cmd/debug.log", "keep.log"}},
		"html":                   {globIn{Pattern: "doc/**"}, []string{"doc/deep/a.html"}},
		"odd patterns":           {globIn{Pattern: "*{tmp,txt,hash,uz,trail,esc }"}, []string{"a.txt", "c.tmp", "x.txt", `"ünï cödé \n.txt"`}},
		"an ignored one by name": {globIn{Pattern: "*.js", Path: "node_modules/m"}, []string{"node_modules/m/i.js"}},
		"nothing":                {globIn{Pattern: "*.rs"}, []string{"(no file matches)"}},
		"bounded":                {globIn{Pattern: "**/*.go", Limit: 2}, []string{"cmd/run.go", "cmd/run_test.go", "(5 more match and are left out)"}},
		"secret names":           {globIn{Pattern: "**/{id_rsa,x,config}"}, []string{"id_rsa"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := glob(t.Context(), at(t, ws), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); !strings.Contains(line, ".gitignore)") && !strings.Contains(line, "keys or passwords") {
					got = append(got, line)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	text, err := glob(t.Context(), at(t, ws), globIn{Pattern: "**"})
	if err != nil || !strings.Contains(text, " entries are left out by .gitignore)\n") || !strings.Contains(text, "that may hold keys or passwords") {
		t.Errorf("what is left out is not told: %q, %v", text, err)
	}
	if text, err := glob(t.Context(), at(t, ws, outside), globIn{Pattern: "*", Path: outside}); err != nil || text != filepath.Join(outside, "x")+"\n" {
		t.Errorf("a further root gives %q, %v", text, err)
	}
	for _, in := range []globIn{{Pattern: "["}, {Pattern: "{a"}, {Pattern: ""}, {Pattern: strings.Repeat("*", maxPattern+1)}, {Pattern: strings.Repeat("{a,a}", 30)}, {Pattern: strings.Repeat("{a,", 30) + strings.Repeat("}", 30)}, {Pattern: "*", Limit: -1}, {Pattern: "*", Path: "a.txt"}, {Pattern: "../**"}, {Pattern: "/etc/*"}, {Pattern: "out/*"}, {Pattern: ".ssh/*"}} {
		if text, err := glob(t.Context(), at(t, ws), in); err == nil {
			t.Errorf("%.50v gives %q", in, text)
		}
	}
}

func TestGlobIsBounded(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	for i := range maxPaths + 7 {
		put(t, ws, fmt.Sprintf("%05d", i), "")
	}
	text, err := glob(t.Context(), at(t, ws), globIn{Pattern: "*", Limit: 5_000})
	if err != nil || strings.Count(text, "\n") != maxPaths+1 || !strings.HasSuffix(text, "00999\n(7 more match and are left out)\n") {
		t.Errorf("got %d lines, %v", strings.Count(text, "\n"), err)
	}
	text, err = glob(t.Context(), at(t, ws), globIn{Pattern: "*"})
	if err != nil || strings.Count(text, "\n") != defaultPaths+1 {
		t.Errorf("got %d lines, %v", strings.Count(text, "\n"), err)
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	ws, outside := project(t)
	put(t, ws, "lines", "one\ntwo\nhit a\nthree\nfour\nfive\nhit b\nhit c\nsix\nseven\n")
	put(t, ws, "long", strings.Repeat("é", 200)+"needle"+strings.Repeat("ü", 400)+"\n"+strings.Repeat("x", 1_000)+"\n")
	put(t, ws, "wide", strings.Repeat("w", maxMatched+10)+"needle2\nneedle3\r\n")
	put(t, ws, "latin", "caf\xe9 is mostly good text here\n")
	for name, tc := range map[string]struct {
		in   grepIn
		want string
	}{
		"in all files":       {grepIn{Pattern: `\bRun\(\)`, Glob: "*.go"}, "cmd/run.go:4: func Run() {}\ncmd/run_test.go:3: func TestRun() { Run() }\nmain.go:4: \tRun()\n"},
		"a quoted name":      {grepIn{Pattern: "// Run$"}, "\"odd\\tname.go\":1: package odd // Run\n"},
		"a path in the glob": {grepIn{Pattern: "package", Glob: "cmd/**"}, "cmd/run.go:1: package cmd\ncmd/run_test.go:1: package cmd\ncmd/sub/local/a.go:1: package local\n"},
		"below a directory":  {grepIn{Pattern: "package", Path: "cmd/sub"}, "cmd/sub/local/a.go:1: package local\n"},
		"relative to it":     {grepIn{Pattern: "package", Path: "cmd", Glob: "sub/*/a.go"}, "cmd/sub/local/a.go:1: package local\n"},
		"one file":           {grepIn{Pattern: "hit [ac]", Path: "lines"}, "lines:3: hit a\nlines:8: hit c\n"},
		"one ignored file":   {grepIn{Pattern: "Run", Path: "trace.log"}, "trace.log:1: Run\n"},
		"through a link":     {grepIn{Pattern: "TestRun", Path: "linkdir"}, "cmd/run_test.go:3: func TestRun() { Run() }\n"},
		"without case":       {grepIn{Pattern: "HIT B", Path: "lines", Ignore: true}, "lines:7: hit b\n"},
		"with case":          {grepIn{Pattern: "HIT B", Path: "lines"}, "(no match in 1 file)\n"},
		"lines around":       {grepIn{Pattern: "hit", Path: "lines", Context: 1}, "lines-2- two\nlines:3: hit a\nlines-4- three\n--\nlines-6- five\nlines:7: hit b\nlines:8: hit c\nlines-9- six\n"},
		"lines that touch":   {grepIn{Pattern: "hit [ab]", Path: "lines", Context: 2}, "lines-1- one\nlines-2- two\nlines:3: hit a\nlines-4- three\nlines-5- four\nlines-6- five\nlines:7: hit b\nlines-8- hit c\nlines-9- six\n"},
		"bounded":            {grepIn{Pattern: "hit", Path: "lines", Limit: 1, Context: 1}, "lines-2- two\nlines:3: hit a\nlines-4- three\n(stopped after 1 matching lines; there may be more)\n"},
		"a long line":        {grepIn{Pattern: "needle$|needle[^0-9]", Path: "long"}, "long:1: … " + strings.Repeat("é", 50) + "needle" + strings.Repeat("ü", 244) + " …\n"},
		"the start of one":   {grepIn{Pattern: "^x", Path: "long"}, "long:2: " + strings.Repeat("x", 300) + " …\n"},
		"an endless line":    {grepIn{Pattern: "needle", Path: "wide"}, "wide:2: needle3\n"},
		"bytes that are bad": {grepIn{Pattern: "good", Path: "latin"}, "latin:1: caf\uFFFD is mostly good text here\n"},
		"a binary file":      {grepIn{Pattern: "Run", Path: "bin.dat"}, "(no match in 0 files)\n(binary files that are left out: 1)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := grep(t.Context(), at(t, ws), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ = strings.Cut(text, "(files of") // of what is left out, below
			var got strings.Builder
			for line := range strings.Lines(text) {
				if !strings.Contains(line, ".gitignore)\n") && !strings.Contains(line, "keys or passwords") && (tc.in.Path != "" || !strings.HasPrefix(line, "(binary")) {
					got.WriteString(line)
				}
			}
			if got.String() != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got.String(), tc.want)
			}
		})
	}
	text, err := grep(t.Context(), at(t, ws), grepIn{Pattern: "KEY|SECRET|^k$|Host"})
	if err != nil || strings.Contains(text, ":1:") || !strings.Contains(text, "keys or passwords are left out") || !strings.Contains(text, "by .gitignore") {
		t.Errorf("got %q, %v", text, err)
	}
	if text, err := grep(t.Context(), at(t, ws, outside), grepIn{Pattern: "SECRET", Path: "out/d"}); err != nil || text != filepath.Join(outside, "d/y")+":1: SECRET\n" {
		t.Errorf("a further root gives %q, %v", text, err)
	}
}

func TestGrepRefusesInOneSentence(t *testing.T) {
	t.Parallel()
	ws, _ := project(t)
	set := kit(t, Options{Dir: ws})
	for name, tc := range map[string]struct {
		in   grepIn
		want string
	}{
		"no pattern":   {grepIn{}, "pattern is empty"},
		"bad pattern":  {grepIn{Pattern: "func(", Ignore: true}, `the pattern is no regular expression: missing closing ): at "(?i)func("`},
		"lookahead":    {grepIn{Pattern: "(?=x)"}, "the pattern is no regular expression"},
		"too large":    {grepIn{Pattern: "((a{1000}){1000}){1000}"}, "the pattern is no regular expression"},
		"bad glob":     {grepIn{Pattern: "x", Glob: "[a"}, "is no pattern for paths"},
		"costly glob":  {grepIn{Pattern: "x", Glob: strings.Repeat("{a,a}", 30)}, "ways to choose"},
		"bad limit":    {grepIn{Pattern: "x", Limit: -1}, "must not be negative"},
		"a secret":     {grepIn{Pattern: "x", Path: ".env"}, "may hold keys"},
		"not there":    {grepIn{Pattern: "x", Path: "nope"}, `there is no "nope"`},
		"a named pipe": {grepIn{Pattern: "x", Path: "pipe"}, "not of the kind"},
	} {
		r := call(t, set, "", "grep", tc.in, "")
		if want := strings.Replace(tc.want, "): at", ") at", 1); !r.Failed || !strings.Contains(r.Text, want) || strings.Contains(r.Text, "\n") {
			t.Errorf("%s gives %+v", name, r)
		}
	}
}

func TestSearchesStopWhenToldTo(t *testing.T) {
	t.Parallel()
	ws, _ := project(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	put(t, ws, "many", strings.Repeat("line\n", 5_000))
	for _, in := range []grepIn{{Pattern: "nothing"}, {Pattern: "nothing", Path: "many"}} {
		if text, err := grep(ctx, at(t, ws), in); !errors.Is(err, context.Canceled) {
			t.Errorf("grep gives %q, %v", text, err)
		}
	}
	if text, err := glob(ctx, at(t, ws), globIn{Pattern: "**"}); !errors.Is(err, context.Canceled) {
		t.Errorf("glob gives %q, %v", text, err)
	}
}

func TestSearchesDoNotGoForEver(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	deep := ws
	for range maxDepth + 5 {
		deep = filepath.Join(deep, "d")
	}
	put(t, ws, "top", "x")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, deep, "bottom", "x")
	text, err := glob(t.Context(), at(t, ws), globIn{Pattern: "**"})
	if err != nil || !strings.HasPrefix(text, "top\n") || !strings.Contains(text, "more than one search looks at") {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestIgnoreRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, name string
		dir, want  bool
	}{
		{"*.o", "a.o", false, true},
		{"*.o", "x/a.o", false, true},
		{"/*.o", "x/a.o", false, false},
		{"x/*.o", "x/a.o", false, true},
		{"x/*.o", "y/x/a.o", false, false},
		{"x/*.o", "x/y/a.o", false, false},
		{"x/**/a", "x/a", false, true},
		{"x/**/a", "x/b/c/a", false, true},
		{"x/**", "x", true, false},
		{"x/**", "x/a", false, true},
		{"**/x", "a/b/x", true, true},
		{"x/", "x", true, true},
		{"x/", "x", false, false},
		{"x/", "a/x", true, true},
		{"a\n!a", "a", false, false},
		{"!a\na", "a", false, true},
		{"*\n!*.go", "a.go", false, false},
		{"[ab]c", "bc", false, true},
		{"[!ab]c", "bc", false, false},
		{"a?c", "abc", false, true},
		{"a?c", "a/c", false, false},
		{"a+(b)$.c", "a+(b)$.c", false, true},
		{"{a,b}", "a", false, false},
		{"{a,b}", "{a,b}", false, true},
		{"\\!a", "!a", false, true},
		{"a ", "a", false, true},
		{"a\\ ", "a ", false, true},
		{"a\r\nb\r\n", "b", false, true},
		{mark + "a", "a", false, true},
		{"[", "[", false, false},
		{"/", "a", true, false},
		{"", "a", false, false},
	} {
		if got := ignored(parseIgnore("", tc.text), tc.name, tc.dir); got != tc.want {
			t.Errorf("%q ignores %q: %t", tc.text, tc.name, got)
		}
		if got := ignored(parseIgnore("base", tc.text), "base/"+tc.name, tc.dir); got != tc.want {
			t.Errorf("%q in a directory ignores %q: %t", tc.text, tc.name, got)
		}
		if ignored(parseIgnore("other", tc.text), "base/"+tc.name, tc.dir) {
			t.Errorf("%q in another directory ignores %q", tc.text, tc.name)
		}
	}
}

func FuzzIgnoreRules(f *testing.F) {
	f.Add("*.log\n!keep\n/a/**/b/\n", "a/b.log")
	f.Add("[\\\n{\n**/**\n", "x")
	f.Fuzz(func(t *testing.T, text, name string) {
		rules := parseIgnore("", text)
		if len(rules) > maxRules {
			t.Errorf("%d rules", len(rules))
		}
		if len(rules) == 0 && ignored(rules, name, true) {
			t.Errorf("no rule ignores %q", name)
		}
	})
}
