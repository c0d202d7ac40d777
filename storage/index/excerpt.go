package index

import (
	"strings"
	"unicode/utf8"
)

// Excerpt returns at most limit characters of text around its first match of
// the query, on one line, with "…" where something was cut.
func (q Query) Excerpt(text string, limit int) string {
	line := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	runes := []rune(line)
	start := max(0, q.firstMatch(runes)-limit/4)
	end := min(len(runes), start+limit-2)
	start = max(0, min(start, end-(limit-2)))
	cut := strings.TrimSpace(string(runes[start:end]))
	if start > 0 {
		cut = "…" + cut
	}
	if end < len(runes) {
		cut += "…"
	}
	return cut
}

// firstMatch returns the index of the rune near which a term of the query
// occurs, 0 if none does.
func (q Query) firstMatch(runes []rune) int {
	const window = 64
	for start := 0; start < len(runes); start += window {
		end := min(len(runes), start+2*window)
		folded := Fold(string(runes[start:end]))
		best := -1
		for _, t := range q.terms {
			at := strings.Index(folded, t.form)
			if at < 0 {
				at = strings.Index(folded, t.stem)
			}
			if at >= 0 && (best < 0 || at < best) {
				best = at
			}
		}
		if best >= 0 {
			return start + utf8.RuneCountInString(folded[:best])
		}
	}
	return 0
}
