package render

import (
	"strings"
	"testing"

	"cairn/themes"
)

// growing are texts of at least n bytes whose blocks end often, seldom or never.
func growing(n int) map[string]string {
	fill := func(head, s string) string { return head + strings.Repeat(s, n/len(s)+1) }
	return map[string]string{
		"mixed":     answer(n),
		"paragraph": fill("", "word *emphasis* and `code` in one line "),
		"no spaces": fill("", "漢字かな交じり文と👩‍👩‍👧‍👦絵文字🇩🇪"),
		"lines":     fill("", "a line of one paragraph, with *emphasis*\n"),
		"list":      fill("", "- an item of one long list with `code`\n"),
		"table":     fill("| a | b |\n|---|---|\n", "| cell | another `cell` |\n"),
		"fence":     fill("```go\n", "x := f(y, \"z\") // comment\n"),
		"one line":  fill("```\n", "{\"a\": [1, 2, 3]},"),
		"quote":     fill("", "> quoted text in one block\n"),
		"newlines":  fill("", "\n"),
	}
}

// effort streams a text in pieces of four characters, drawing after every twentieth,
// and returns how many bytes were parsed and drawn for it.
func effort(m *Markdown, text string) int {
	m.Forget()
	m.work = 0
	s := NewStream(m)
	at, pieces := 0, 0
	for n := range text {
		if pieces++; pieces%4 != 0 {
			continue
		}
		s.Append(text[at:n])
		at = n
		if pieces%80 == 0 {
			s.Lines(100)
		}
	}
	s.Append(text[at:])
	s.Lines(100)
	return m.work
}

// What a piece of text costs must not grow with the answer before it.
func TestTwiceTheTextIsTwiceTheWork(t *testing.T) {
	t.Parallel()
	const n = 100 << 10
	half, whole := growing(n), growing(2*n)
	for name, text := range half {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := testMarkdown(t, "dark", themes.Options{})
			one, two := effort(m, text), effort(m, whole[name])
			if one < len(text) {
				t.Fatalf("%d bytes of work for %d bytes of text", one, len(text))
			}
			if two > one*5/2 {
				t.Errorf("%d bytes of work for %d bytes of text, %d for twice as many: %.1f times", one, len(text), two, float64(two)/float64(one))
			}
		})
	}
}
