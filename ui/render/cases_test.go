package render

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"cairn/themes"
)

// shown is the text of lines without styles.
func shown(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) }

// squeezed is what is shown without blanks and line ends.
func squeezed(lines []string) string { return squeeze(shown(lines)) }

func TestTextWithoutSpacesIsWrappedWhole(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	for _, text := range []string{strings.Repeat("漢", 120), strings.TrimSpace(strings.Repeat("模板 vault 之後，", 30)), strings.Repeat("x", 500)} {
		lines := m.Message(text, 40)
		checkLines(t, lines, 40)
		if got := squeezed(lines); got != squeeze(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestWideTablesLoseNothing(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	prose := strings.TrimSpace(strings.Repeat("word ", 40))
	url := "https://example.com/" + strings.Repeat("path/", 20)
	text := "| Name | Text | Link |\n|---|---|---|\n| one | " + prose + " | " + url + " |\n| two | b | c | surplus |\n"
	for _, width := range []int{20, 30, 80, 120, 400} {
		lines := m.Message(text, width)
		checkLines(t, lines, width)
		got := squeezed(lines)
		if strings.HasPrefix(shown(lines), "|") { // with columns, each read from top to bottom
			var columns [3]string
			for _, l := range lines {
				for c, cell := range strings.SplitN(strings.Trim(ansi.Strip(l), "|"), "|", 3) {
					columns[c] += strings.Trim(squeeze(cell), "-")
				}
			}
			got = strings.Join(columns[:], "\n")
		}
		for _, want := range []string{"Name", squeeze(prose), url, "surplus", "one", "two"} {
			if !strings.Contains(got, want) {
				t.Errorf("width %d: %q is missing in\n%s", width, want, shown(lines))
			}
		}
		if n := strings.Count(got, "word"); n != 40 {
			t.Errorf("width %d: %d of 40 words:\n%s", width, n, shown(lines))
		}
	}
}

func TestCodeInAnOpenFenceIsShownUnchangedAndStaysWhenItCloses(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	s := NewStream(m)
	s.Append("run:\n```sh\ngo --x __name__ $1")
	if got, want := shown(s.Lines(30)), "run:\n\nsh                         [1]\ngo --x __name__ $1"; got != want {
		t.Fatalf("open: got\n%s\nwant\n%s", got, want)
	}
	s.Append("\n``")
	s.Lines(30)
	s.Append("`")
	if got, want := shown(s.Lines(30)), "run:\n\nsh                         [1]\ngo --x __name__ $1"; got != want {
		t.Fatalf("at the closing fence: got\n%s\nwant\n%s", got, want)
	}
	s.Append("\ndone")
	if got, want := shown(s.Lines(30)), "run:\n\nsh                         [1]\ngo --x __name__ $1\n\ndone"; got != want {
		t.Fatalf("closed: got\n%s\nwant\n%s", got, want)
	}
}

func TestNothingInAngleBracketsVanishes(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	text := "Use Map<string>, cp <src> <dst>, List<T>, a <!-- b --> c.\n\n<details>\n<summary>More</summary>\n\ninner\n\n</details>\n\nA span `&amp;` and `\\*` and `<T>`; an entity &lt;b&gt;."
	want := "Use Map<string>, cp <src> <dst>, List<T>, a <!-- b --> c.\n\n<details>\n<summary>More</summary>\n\ninner\n\n</details>\n\nA span &amp; and \\* and <T>; an entity <b>."
	if got := shown(m.Message(text, 100)); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEveryPartOfALinkIsShown(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "plain", themes.Options{})
	for _, c := range []struct{ in, want string }{
		{"[text](https://a.example/x)", "text (https://a.example/x)"},
		{"[a & b](../x%zz \"title\")", "a & b (../x%zz)"},
		{"https://a.example/x_y", "https://a.example/x_y"},
		{"<https://a.example>", "https://a.example"},
		{"[https://a.example](https://b.example)", "https://a.example (https://b.example)"},
		{"![alt](i.png) ![](j.png)", "alt (i.png) j.png"},
		{"[x]\n\n[x]: javascript:alert(1)", "x (javascript:alert(1))\n\n[x]: javascript:alert(1)"},
		{"mail a@b.example", "mail a@b.example"},
	} {
		if got := shown(m.Message(c.in, 80)); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.in, got, c.want)
		}
	}
}

func TestAWordLongerThanTheWindowIsManyRows(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	for _, width := range []int{40, 80, 120} {
		lines := m.Message("a\n\n"+strings.Repeat("x", 500)+"\n\nend", width)
		checkLines(t, lines, width)
		if want := 4 + (500+width-1)/width; len(lines) != want || lines[len(lines)-1] != "end" {
			t.Errorf("width %d: %d rows ending in %q, want %d", width, len(lines), lines[len(lines)-1], want)
		}
	}
}

func TestADefinitionThatComesLateCompletesEarlierLinks(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "plain", themes.Options{})
	s := NewStream(m)
	s.Append("See [one] and [Two][2].\n\nmore text\n\n")
	if got := shown(s.Lines(60)); !strings.HasPrefix(got, "See [one] and [Two][2].") {
		t.Fatalf("before: %q", got)
	}
	s.Append("[one]: https://a.example\n[2]: https://b.example\n\nend\n\nend")
	want := "See one (https://a.example) and Two (https://b.example)."
	if got := shown(s.Lines(60)); !strings.HasPrefix(got, want) {
		t.Fatalf("after: %q, want %q first", got, want)
	}
}

// An address is a link or not by what stands before it, whatever was shown of
// the same line before.
func TestAnAddressBehindAnOpenBracketIsNoLink(t *testing.T) {
	t.Parallel()
	text := " 1. https://a.b    1. [2J---(/u)a|b**\nhttps://a.b"
	whole := testMarkdown(t, "dark", themes.Options{}).Message(text, 80)
	s := NewStream(testMarkdown(t, "dark", themes.Options{}))
	for i := range len(text) {
		s.Append(text[i : i+1])
		s.Lines(80)
	}
	s.Finish()
	if got := s.Lines(80); !slices.Equal(got, whole) {
		t.Errorf("streamed\n%q\nand as a whole\n%q", got, whole)
	}
}

// What is a link definition so far may turn out to be none.
func TestADefinitionThatIsNoneInTheEndMakesNoLinks(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	for _, text := range []string{"a[a]\n\n[a]: /x word a", "a[a]\n\n> [a]: /x word a", "a[a]\n\n[a]: /x\n\"t\" word"} {
		for size := 1; size < len(text); size++ {
			s := NewStream(m)
			for piece := range slices.Chunk([]byte(text), size) {
				s.Append(string(piece))
				s.Lines(20)
			}
			s.Finish()
			got := slices.Clone(s.Lines(20))
			m.Forget()
			if want := m.Message(text, 20); !slices.Equal(got, want) {
				t.Errorf("%q in pieces of %d becomes\n%s\nand as a whole\n%s", text, size, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func TestEqualTextsWithOtherDefinitionsAreOtherLinks(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "plain", themes.Options{})
	for _, url := range []string{"https://a.example", "https://b.example"} {
		got := shown(m.Message("# [x]\n\nsee [x]\n\n|[x]|\n|---|\n\n[x]: "+url, 60))
		if n := strings.Count(got, url); n != 4 {
			t.Errorf("%s is shown %d times, want 4:\n%s", url, n, got)
		}
	}
}

func TestATaskAndTheSameTextElsewhereDiffer(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "plain", themes.Options{})
	if got, want := shown(m.Message("[ ] a\n\n- [ ] a\n", 60)), "[ ] a\n\n[ ] a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlainThemeHasNoSequencesAndNoColorNoColours(t *testing.T) {
	t.Parallel()
	plain := testMarkdown(t, "plain", themes.Options{})
	bare := testMarkdown(t, "dark", themes.Options{Profile: themes.NoColor})
	sgr := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	for name, text := range corpus(t) {
		for _, l := range plain.Message(text, 60) {
			if strings.Contains(l, "\x1b") {
				t.Fatalf("%s: a sequence in the plain theme: %q", name, l)
			}
		}
		for _, l := range bare.Message(text, 60) {
			for _, styles := range sgr.FindAllStringSubmatch(l, -1) {
				for n := range strings.SplitSeq(styles[1], ";") {
					if len(n) > 1 && n != "22" && n != "23" && n != "24" && n != "27" && n != "29" { // of one digit are the styles
						t.Fatalf("%s: a colour without colours: %q", name, l)
					}
				}
			}
		}
	}
}

func TestEveryThemeAndProfileDrawsTheSameText(t *testing.T) {
	t.Parallel()
	text := corpus(t)["sample"]
	want := shown(testMarkdown(t, "dark", themes.Options{}).Message(text, 80))
	for _, name := range themes.Names() {
		for _, p := range []themes.Profile{themes.TrueColor, themes.ANSI256, themes.ANSI16} {
			lines := testMarkdown(t, name, themes.Options{Profile: p}).Message(text, 80)
			checkLines(t, lines, 80)
			if got := shown(lines); name != themes.Plain && got != want {
				t.Errorf("%s with profile %d differs:\n%s", name, p, got)
			}
		}
	}
}

func TestCodeBlocksAreTheSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []Code
	}{
		{"none", "text `code`", nil},
		{"fence", "a\n```go main.go\nx\t:= 1\n```\n", []Code{{"go", "main.go", "x\t:= 1\n"}}},
		{"open", "~~~\na\n\nb", []Code{{"", "", "a\n\nb\n"}}},
		{"empty", "```\n```", []Code{{}}},
		{"in a list", "- x\n\n  ```sh\n  ls\n    -l\n  ```\n> ```\n> q\n> ```\n", []Code{{"sh", "", "ls\n  -l\n"}, {"", "", "q\n"}}},
		{"indented", "a\n\n    b &amp;\n\n    c\n", []Code{{"", "", "b &amp;\n\nc\n"}}},
		{"windows", "```\r\na\r\nb\r\n```\r\n", []Code{{"", "", "a\nb\n"}}},
		{"controls stay in the source", "```\n\x1b[1mx\x00\u202e\n```", []Code{{"", "", "\x1b[1mx\x00\u202e\n"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := CodeBlocks(c.in); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestCodeMarksNumberTheBlocks compares the numbers drawn with the blocks that
// are copied by them.
func TestCodeMarksNumberTheBlocks(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	for name, text := range corpus(t) {
		drawn := 0
		for _, l := range m.Message(text, 60) {
			l = ansi.Strip(l)
			if i := strings.LastIndex(l, "["); i >= 0 && strings.HasSuffix(l, "]") && lineWidth(l) == 60 && strings.Trim(l[i:], "[]0123456789") == "" {
				drawn++
			}
		}
		if got := len(CodeBlocks(text)); got != drawn {
			t.Errorf("%s: %d blocks to copy, %d drawn", name, got, drawn)
		}
	}
}

func TestAStreamThatIsSetToAnotherTextStartsOver(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	s := NewStream(m)
	s.Set("one **two**")
	s.Lines(40)
	s.Set("one **two** three")
	s.Set("other")
	s.Finish()
	if got := shown(s.Lines(40)); got != "other" || s.Text() != "other" {
		t.Fatalf("got %q of %q", got, s.Text())
	}
	s.Append(" more")
	if got := shown(s.Lines(40)); got != "other more" {
		t.Fatalf("after finishing: %q", got)
	}
}

func TestWarmMayRunBesideRendering(t *testing.T) {
	t.Parallel()
	warm := make(chan struct{})
	go func() {
		defer close(warm)
		Warm()
	}()
	text := "```go\nfunc f() {}\n```\n\n```python\nx = 1\n```\n"
	got := shown(testMarkdown(t, "dark", themes.Options{}).Message(text, 40))
	<-warm
	if want := shown(testMarkdown(t, "dark", themes.Options{}).Message(text, 40)); got != want || !strings.Contains(got, "func f() {}") {
		t.Errorf("while warming %q, after it %q", got, want)
	}
}
