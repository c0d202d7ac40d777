package cli

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxSuggested bounds what is suggested, in cells: a title of a page's length
// is no help.
const maxSuggested = 40

// nearest returns the candidate that differs from word by the fewest
// insertions, deletions, replacements and swaps of neighbours, if they are few
// enough for a slip: at most a third of its characters.
func nearest(word string, candidates []string) (string, bool) {
	typed := []rune(strings.ToLower(word))
	best, least := "", -1
	for _, c := range candidates {
		meant := []rune(strings.ToLower(c))
		limit := len(meant) / 3
		if len(typed)-len(meant) > limit || len(meant)-len(typed) > limit || ansi.StringWidth(c) > maxSuggested {
			continue
		}
		d := distance(typed, meant)
		if d <= limit && (least < 0 || d < least) {
			best, least = c, d
		}
	}
	return best, least >= 0
}

// distance is the number of single-character edits between a and b, where two
// swapped neighbours count as one.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// suggest is the end of a sentence about an unknown name: the nearest one, or
// all of them if they are few, or nothing.
func suggest(word, prefix string, candidates []string) string {
	if best, ok := nearest(word, candidates); ok {
		return "; did you mean " + prefix + best + "?"
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates))
	return "; there is " + prefix + strings.Join(sorted, ", "+prefix)
}
