package render

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cairn/themes"
)

// fragments are the pieces that Markdown's block structure is made of.
var fragments = []string{
	"a", "word ", "\n", "\n", "\n\n", " ", "  ", "    ", "\t", "- ", "* ", "1. ", "2) ", "> ", "#", "# ", "---", "===", "***", "```", "```go", "~~~",
	"|", "a|b", "-|-", "|---|", "[a]", "[a]: /x", "[b][a]", "(/u)", "*", "**", "_", "`", "~~", "<b>", "</b>", "<!--", "-->", "<details>", "<script>",
	"\\", "&amp;", "- [ ] ", "![", "]", "漢", "👩\u200d👩", "\u200d", "\r\n", "\r", "\x1b[2J", "\xe2", "https://a.b", ":", "+", "\"t\"",
}

// TestRandomMarkdownStreamsAsTheWhole draws random documents after random
// pieces.
func TestRandomMarkdownStreamsAsTheWhole(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 60).Draw(t, "parts")
		width := rapid.SampledFrom([]int{1, 7, 20, 80}).Draw(t, "width")
		pieces := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 8).Draw(t, "pieces")
		text := strings.Join(parts, "")
		s := NewStream(m)
		for i, k := 0, 0; i < len(text); k++ {
			n := min(pieces[k%len(pieces)], len(text)-i)
			s.Append(text[i : i+n])
			i += n
			for j, l := range s.Lines(width) {
				if lineWidth(l) > width || checkSGR(l) != nil {
					t.Fatalf("line %d of %q at %d: %q", j, text[:i], width, l)
				}
			}
		}
		s.Finish()
		got := slices.Clone(s.Lines(width))
		m.Forget()
		if want := m.Message(text, width); !slices.Equal(got, want) {
			t.Fatalf("%q at %d:\n%s\n--- whole\n%s", text, width, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		s.Forget()
		if again := s.Lines(width); !slices.Equal(again, got) {
			t.Fatalf("%q at %d rendered again:\n%s\n--- before\n%s", text, width, strings.Join(again, "\n"), strings.Join(got, "\n"))
		}
	})
}
