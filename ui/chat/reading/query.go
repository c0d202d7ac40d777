// Package reading finds words and links in what was said. The one thing to know:
// what is counted is the text as it was written, and what is painted the lines as
// they are drawn; a line that was broken in the middle of what is looked for is
// found all the same.
package reading

import (
	"regexp"
	"strings"
	"unicode"
)

// maxQuery bounds what is looked for, in characters.
const maxQuery = 200

// Query is what a person looks for. The zero value finds nothing.
type Query struct {
	text  string // its words with one space between them, of small letters unless exact
	exact bool
	drawn *regexp.Regexp
}

// NewQuery makes a query of words as they were typed. They are found next to each
// other and in this order; capital letters are told from small ones if there are
// any among them.
func NewQuery(words string) Query {
	text := strings.Join(strings.Fields(words), " ")
	if runes := []rune(text); len(runes) > maxQuery {
		text = strings.TrimSpace(string(runes[:maxQuery]))
	}
	if text == "" {
		return Query{}
	}
	q := Query{text: text, exact: strings.ContainsFunc(text, unicode.IsUpper)}
	var b strings.Builder
	if !q.exact {
		q.text = strings.ToLower(text)
		b.WriteString("(?i)")
	}
	spaced := true
	for _, c := range text {
		if c == ' ' {
			b.WriteString(`\s+`)
			spaced = true
			continue
		}
		if !spaced { // a line may be broken anywhere
			b.WriteString(`(?:\n *)?`)
		}
		b.WriteString(regexp.QuoteMeta(string(c)))
		spaced = false
	}
	drawn, err := regexp.Compile(b.String())
	if err != nil { // no text that a terminal can type
		return Query{}
	}
	q.drawn = drawn
	return q
}

// On reports whether there is something to look for.
func (q Query) On() bool { return q.text != "" }

// Text is what is looked for, as it is shown.
func (q Query) Text() string { return q.text }

// Count is how often a text says it. Any white space between words counts as one
// space.
func (q Query) Count(text string) int {
	if q.text == "" || len(text) < len(q.text)/2 {
		return 0
	}
	if !q.exact {
		text = strings.ToLower(text)
	}
	if strings.Contains(q.text, " ") {
		text = strings.Join(strings.Fields(text), " ")
	}
	return strings.Count(text, q.text)
}

// Prose is [Query.Count] for Markdown: marks that are not drawn do not stand in the
// way.
func (q Query) Prose(text string) int {
	if !strings.Contains(q.text, "`") {
		text = strings.ReplaceAll(text, "`", "")
	}
	if !strings.Contains(q.text, "*") {
		text = strings.ReplaceAll(text, "**", "")
	}
	return q.Count(text)
}

// Span is a place in drawn lines at which what is looked for stands: from byte From
// of line Line to byte To of line End, counted without the sequences that paint.
type Span struct{ Line, From, End, To int }

// Spans are the places in drawn lines, from line first on.
func (q Query) Spans(lines []string, first int) []Span {
	if q.drawn == nil || first >= len(lines) {
		return nil
	}
	var b strings.Builder
	starts := make([]int, 0, len(lines)-first)
	for _, l := range lines[first:] {
		starts = append(starts, b.Len())
		b.WriteString(bare(l))
		b.WriteByte('\n')
	}
	text := b.String()
	var out []Span
	line := 0
	for _, at := range q.drawn.FindAllStringIndex(text, -1) {
		for line+1 < len(starts) && starts[line+1] <= at[0] {
			line++
		}
		end := line
		for end+1 < len(starts) && starts[end+1] < at[1] {
			end++
		}
		out = append(out, Span{first + line, at[0] - starts[line], first + end, at[1] - starts[end]})
	}
	return out
}
