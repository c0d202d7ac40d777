package cli

import (
	"slices"
	"strings"
)

// nearest returns the candidate that differs from word by the fewest
// insertions, deletions, replacements and swaps of neighbours, if they are few
// enough for a slip: at most a third of the longer one's length, and 1 always.
func nearest(word string, candidates []string) (string, bool) {
	word = strings.ToLower(word)
	best, least := "", -1
	for _, c := range candidates {
		d := distance([]rune(word), []rune(strings.ToLower(c)))
		if limit := max(len(word), len(c)) / 3; d > max(1, limit) {
			continue
		}
		if least < 0 || d < least {
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
