package recall

import (
	"fmt"
	"strings"
	"unicode"

	"cairn/harness"
	"cairn/harness/tool"
)

const (
	// maxLine bounds one remembered line, maxExcerpt a note's title and what
	// is shown of its body, in characters.
	maxLine    = 1_000
	maxExcerpt = 200
)

// FactLine writes a fact as one line of data: [fact/f12] (category) text.
func FactLine(f harness.Fact) string {
	category := f.Category
	if category == "" {
		category = harness.DefaultCategory
	}
	return tool.Clip(fmt.Sprintf("[fact/%s] (%s) %s", Inert(f.ID), Inert(category), Inert(f.Text)), maxLine)
}

// NoteLine writes a note's title and the first 200 characters of its body as
// one line of data: [note/n3] title — body.
func NoteLine(n harness.Note) string {
	line := fmt.Sprintf("[note/%s] %s", Inert(n.ID), tool.Clip(Inert(n.Title), maxExcerpt))
	if body := tool.Clip(Inert(n.Body), maxExcerpt); body != "" {
		line += " — " + body
	}
	return line
}

// Inert makes remembered text one line that cannot close a fence around it or
// begin a line of its own: white space becomes one space, control and
// direction characters go, angle brackets become marks that look like them.
func Inert(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			continue
		case r == '<', r == '＜', r == '﹤':
			r = '‹'
		case r == '>', r == '＞', r == '﹥':
			r = '›'
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
