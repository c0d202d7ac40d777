package catalogue

import (
	"slices"
	"strings"
)

// SuggestProvider returns the known provider whose id is nearest to a misspelt
// one, empty if none is near.
func (c *Catalogue) SuggestProvider(misspelt string) string {
	var ids []string
	for _, p := range c.Providers() {
		ids = append(ids, p.ID)
	}
	return Nearest(misspelt, ids)
}

// SuggestModel returns the known model "provider/model" whose name is nearest
// to that of an unknown one of the same provider, empty if none is near.
func (c *Catalogue) SuggestModel(id string) string {
	provider, _, _ := strings.Cut(id, "/")
	p, _ := c.Provider(provider)
	var ids []string
	for _, m := range p.Models {
		ids = append(ids, m.ID)
	}
	return Nearest(id, ids)
}

// Nearest returns the candidate with the fewest changed, missing, additional
// or swapped letters, the first of equals; empty if more than a third of the
// name would have to change.
func Nearest(name string, candidates []string) string {
	best, least := "", max(2, len([]rune(name))/3)+1
	for _, c := range candidates {
		if d := distance([]rune(strings.ToLower(name)), []rune(strings.ToLower(c)), least); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of edits between a and b with swaps of neighbours
// (optimal string alignment); results of at least limit are not exact.
func distance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j, y := range b {
			cost := 1
			if x == y {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		if slices.Min(next) >= limit {
			return limit
		}
		before, row = row, next
	}
	return row[len(b)]
}
