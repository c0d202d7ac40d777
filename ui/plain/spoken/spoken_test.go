package spoken_test

import (
	"strings"
	"testing"
	"unicode"

	"cairn/ui/plain/spoken"
)

func TestLooksAreSaidInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, markdown, want string }{
		{"text", "hello, two \nlines\n", "hello, two \nlines\n"},
		{"heading", "## The *plan*\n\ntext", "heading 2: The plan\n\ntext"},
		{"no heading", "#hash and ####### seven", "#hash and ####### seven"},
		{"code", "see:\n```go\nx := 1\n\ty **not bold**\n```\nafter", "see:\ncode, go:\nx := 1\n    y **not bold**\nend of code\nafter"},
		{"code of no language", "~~~\n``` inside\n~~~\n", "code:\n``` inside\nend of code\n"},
		{"code that was cut", "```sh\nls", "code, sh:\nls\nend of code"},
		{"code that was cut before its end", "```sh\nls\n", "code, sh:\nls\nend of code"},
		{"table", "| Name | Age |\n|:--|--:|\n| **Ada** | 36 |\n| A\\|B | |\nend", "table, columns Name, Age:\nrow 1:\n  Name: Ada\n  Age: 36\nrow 2:\n  Name: A|B\n  Age: \nend of table\nend"},
		{"table at the end", "| a |\n|---|\n| 1 | 2 |", "table, columns a:\nrow 1:\n  a: 1\n  column 2: 2\nend of table"},
		{"no table", "| a |\nb", "| a |\nb"},
		{"a lone head", "| a |\n", "| a |"},
		{"link", "see [the *docs*](https://e.org/a_(b) \"Docs\") now", "see the docs (https://e.org/a_(b), Docs) now"},
		{"link that is its name", "[https://e.org](https://e.org)", "https://e.org"},
		{"address", "<https://e.org> a < b > c <div>", "https://e.org a < b > c <div>"},
		{"image", "![a cat](cat.png)! [x] [y", "image: a cat (cat.png)! [x] [y"},
		{"stress", "**bold** *it* __b__ _i_ ***both*** 2*3*4 snake_case_name * a * **open", "bold it b i both 2*3*4 snake_case_name * a * **open"},
		{"code in a line", "`a*b*c [x](y)` ``a`b`` `open", "`a*b*c [x](y)` ``a`b`` `open"},
		{"list", "* one\n  + two\n- [ ] three\n- [x] four\n-five\n1. six", "- one\n  - two\n- to do: three\n- done: four\n-five\n1. six"},
		{"quote", "> said\n>> # twice", "quote: said\nquote: quote: heading 1: twice"},
		{"escaped stress in stress", `**find** *\*.md* finds`, "find *.md finds"},
		{"escapes", `\*not\* a\b \`, `*not* a\b \`},
		{"hostile", "a\x1b[2Jb\u202ec\x9b\rd\r\ne\tf", "a␛[2Jb⟨U+202E⟩c⟨x9B⟩␍d\ne    f"},
		{"no spaces", "会議は毎週火曜日です。👩‍👩‍👧 e\u0301", "会議は毎週火曜日です。👩‍👩‍👧 e\u0301"},
		{"a rule", "a\n\n---\n***\n", "a\n\n---\n***\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := spoken.Text(c.markdown); got != c.want {
				t.Errorf("said is\n%q\nnot\n%q", got, c.want)
			}
			same(t, c.markdown)
		})
	}
}

// same cuts a text at each byte, and at all bytes at once.
func same(t *testing.T, markdown string) {
	t.Helper()
	whole := spoken.Text(markdown)
	for at := range len(markdown) + 1 {
		var s spoken.Stream
		if got := s.Add(markdown[:at]) + s.Add(markdown[at:]) + s.End(); got != whole {
			t.Fatalf("%q cut at %d is said as\n%q\nnot\n%q", markdown, at, got, whole)
		}
	}
	var s spoken.Stream
	got := ""
	for i := range len(markdown) {
		got += s.Add(markdown[i : i+1])
	}
	if got += s.End(); got != whole {
		t.Fatalf("%q byte by byte is said as\n%q\nnot\n%q", markdown, got, whole)
	}
}

func TestTextLeavesInWholeWords(t *testing.T) {
	t.Parallel()
	var s spoken.Stream
	for _, step := range []struct{ piece, leaves string }{
		{"Hel", ""},
		{"lo wor", "Hello "},
		{"ld, see [the ", "world, see "},
		{"docs](https://e.org) th", "the docs (https://e.org) "},
		{"ere\n", "there\n"},
		{"```go\nx :", "code, go:\n"},
		{"= 1\n```\n", "x := 1\nend of code\n"},
		{"会議は", "会議"},
	} {
		if got := s.Add(step.piece); got != step.leaves {
			t.Errorf("after %q leaves %q, not %q", step.piece, got, step.leaves)
		}
	}
}

func FuzzCutsChangeNothing(f *testing.F) {
	f.Add("# a **b\n| c |\n|-|\n```\nd [e](f", 7)
	f.Add("- [x", 2)
	f.Add("*a*b* `c``", 3)
	f.Add("a\r\n\x1b\u202e\t会議", 4)
	f.Fuzz(func(t *testing.T, markdown string, at int) {
		whole := spoken.Text(markdown)
		if i := strings.IndexFunc(whole, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r >= 0x202a && r <= 0x202e }); i >= 0 {
			t.Fatalf("%q drives a terminal", whole)
		}
		at = max(0, min(at, len(markdown)))
		var s spoken.Stream
		if got := s.Add(markdown[:at]) + s.Add(markdown[at:]) + s.End(); got != whole {
			t.Fatalf("%q cut at %d is said as\n%q\nnot\n%q", markdown, at, got, whole)
		}
	})
}
