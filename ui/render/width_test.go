package render

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		w        int
		want     []string
	}{
		{"nothing", "", 5, []string{""}},
		{"fits", "a b", 5, []string{"a b"}},
		{"at a space", "one two three", 8, []string{"one two", "three"}},
		{"space at the edge is dropped", "12345 x", 5, []string{"12345", "x"}},
		{"long word starts its own line", "ab abcdefgh", 5, []string{"ab", "abcde", "fgh"}},
		{"indentation stays", "    x yy", 6, []string{"    x", "yy"}},
		{"newlines stay", "a\n\nb\n", 5, []string{"a", "", "b", ""}},
		{"wide characters", "漢字漢字", 5, []string{"漢字", "漢字"}},
		{"no closing mark at the start", "漢字漢。字", 6, []string{"漢字", "漢。字"}},
		{"no opening mark at the end", "漢字「漢字」", 6, []string{"漢字", "「漢", "字」"}},
		{"latin and han", "模板 vault 之後", 8, []string{"模板", "vault 之", "後"}},
		{"style goes on", "\x1b[1mone two\x1b[0m x", 3, []string{"\x1b[1mone\x1b[0m", "\x1b[1mtwo\x1b[0m", "x"}},
		{"style ends with the word", "\x1b[1mone\x1b[0m two", 3, []string{"\x1b[1mone\x1b[0m", "two"}},
		{"style inside a long word", "ab\x1b[4mcdef\x1b[0mg", 3, []string{"ab\x1b[4mc\x1b[0m", "\x1b[4mdef\x1b[0m", "g"}},
		{"emoji are not cut", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, []string{"👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"}},
		{"too wide for the line", "漢a", 1, []string{"?", "a"}},
		{"tabs go to stops", "a\tb", 9, []string{"a   b"}},
		{"no width", "ab", -3, []string{"a", "b"}},
		{"what is no style loses its escape", "a\x1b[2Jb", 9, []string{"a[2Jb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Wrap(c.in, c.w); !slices.Equal(got, c.want) {
				t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
			}
		})
	}
}

func TestHardWrapKeepsEverySpace(t *testing.T) {
	t.Parallel()
	got := HardWrap("  a  b   \n\tx", 4)
	if want := []string{"  a ", " b  ", " ", "    ", "x"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestTruncateEndsStylesAndShowsTheCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		w    int
		tail string
		want string
	}{
		{"abc", 3, "…", "abc"},
		{"abcd", 3, "…", "ab…"},
		{"漢字漢", 5, "…", "漢字…"},
		{"漢字漢", 4, "…", "漢…"},
		{"\x1b[1mabcd\x1b[0m", 3, "…", "\x1b[1mab\x1b[0m…"},
		{"abcd", 2, "...", ".."},
		{"abcd", 0, "…", ""},
		{"abcd", -1, "…", ""},
	} {
		if got := Truncate(c.in, c.w, c.tail); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestFitGivesTheRightPartItsRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left, right string
		w           int
		want        string
	}{
		{"title", "saved", 12, "title  saved"},
		{"title", "saved", 11, "title saved"},
		{"title", "saved", 10, "tit… saved"},
		{"title", "saved", 6, " saved"},
		{"title", "saved", 5, "saved"},
		{"title", "saved", 3, "sa…"},
		{"title", "", 7, "title  "},
		{"title", "", 3, "ti…"},
		{"title", "saved", 0, ""},
	} {
		if got := Fit(c.left, c.right, c.w); got != c.want {
			t.Errorf("Fit(%q, %q, %d) = %q, want %q", c.left, c.right, c.w, got, c.want)
		}
	}
}

func TestColumnsAreAsTallAsTheTallest(t *testing.T) {
	t.Parallel()
	got := Columns("|", []int{3, 2}, []string{"a", "漢字"}, []string{"bbb"})
	if want := []string{"a  |b…", "漢…|  "}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// FuzzWrap checks that no line is too wide and that nothing but blanks is lost
// or doubled.
func FuzzWrap(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text, 20)
	}
	f.Add("a \u0301b", 1)
	f.Fuzz(func(t *testing.T, s string, w int) {
		if w < 2 || w > 300 || len(s) > 1<<12 {
			return
		}
		s = Safe(s)
		for _, wrap := range []func(string, int) []string{Wrap, HardWrap} {
			lines := wrap(s, w)
			for _, l := range lines {
				if lineWidth(l) > w || ansi.StringWidth(l) > w {
					t.Fatalf("%d (%d) cells in %d: %q", lineWidth(l), ansi.StringWidth(l), w, l)
				}
			}
			if got, want := squeeze(strings.Join(lines, "")), squeeze(s); got != want && !strings.Contains(got, "?") {
				t.Fatalf("width %d: %q became %q", w, want, got)
			}
		}
	})
}

// squeeze drops what wrapping may drop.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' {
			return -1
		}
		return r
	}, s)
}

func TestSafe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc é 漢", "a\tb\nc é 漢"},
		{"escape", "\x1b[2J", "␛[2J"},
		{"controls", "\x00\b\x0b\x7f", "␀␈␋␡"},
		{"eight-bit controls", "\u009b\u009d", "⟨U+009B⟩⟨U+009D⟩"},
		{"CRLF", "a\r\nb", "a\nb"},
		{"lone CR", "a\rb\r\r\n", "a␍b␍\n"},
		{"bidi", "\u202ea\u2066b\u200f\u061c", "⟨U+202E⟩a⟨U+2066⟩b⟨U+200F⟩⟨U+061C⟩"},
		{"broken UTF-8", "a\xffb\xc3", "a⟨xFF⟩b⟨xC3⟩"},
		{"emoji", "👩‍👩‍👧‍👦❤️🏴󠁧󠁢󠁥󠁮󠁧󠁿1️⃣", "👩‍👩‍👧‍👦❤️🏴󠁧󠁢󠁥󠁮󠁧󠁿1️⃣"},
		{"persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"joiner in latin", "a\u200db\u200cc", "a⟨U+200D⟩b⟨U+200C⟩c"},
		{"zero width", "a\u200bb\ufeff\u00ad", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+00AD⟩"},
		{"smuggled selectors", "a\ufe01\ufe02", "a\ufe01⟨U+FE02⟩"},
		{"tags without a flag", "x\U000e0041", "x⟨U+E0041⟩"},
		{"marks piled up", "a" + strings.Repeat("\u0301", 25), "a" + strings.Repeat("\u0301", 24) + "⟨U+0301⟩"},
		{"endless joining", strings.Repeat("👩\u200d", 13) + "👩", strings.Repeat("👩\u200d", 12) + "👩⟨U+200D⟩👩"},
		{"non-characters", "\ufdd0\uffff", "⟨U+FDD0⟩⟨U+FFFF⟩"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Safe(c.in); got != c.want {
				t.Errorf("Safe(%q) = %q, want %q", c.in, got, c.want)
			}
			if got := Safe(c.want); got != c.want {
				t.Errorf("Safe(%q) = %q: not stable", c.want, got)
			}
		})
	}
	if got := SafeLine("a\nb\tc\x1b"); got != "a␊b c␛" {
		t.Errorf("SafeLine = %q", got)
	}
}

// FuzzSafe checks that nothing that drives a terminal is left and that safe
// text is left alone.
func FuzzSafe(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Safe(s)
		for line := range strings.SplitSeq(got, "\n") {
			if err := checkSGR(strings.ReplaceAll(line, "\t", " ")); err != nil {
				t.Fatalf("Safe(%q): %v", s, err)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Fatalf("an escape is left in %q", got)
		}
		if again := Safe(got); again != got {
			t.Fatalf("Safe is not stable: %q became %q", got, again)
		}
		for _, r := range s {
			if unicode.IsLetter(r) && r < 0x250 && !strings.ContainsRune(got, r) {
				t.Fatalf("%q lost %q", got, r)
			}
		}
	})
}

func TestQuotedTextIsReadAsItIs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"👩\u200d👩\u200d👧\u200d👦 模板 مرحبا e\u0301": "\"👩\u200d👩\u200d👧\u200d👦 模板 مرحبا e\u0301\"",
		`say "hi" \n`:       `"say \"hi\" \\n"`,
		"a\x1b[2J\nb\u202e": `"a␛[2J␊b⟨U+202E⟩"`,
		"":                  `""`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q is quoted as %s, not %s", in, got, want)
		}
	}
}
