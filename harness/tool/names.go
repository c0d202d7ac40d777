package tool

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// likeness is the least share of common characters of a suggestion.
	likeness = 0.85
	// maxSuggestions bounds the suggestions for an unknown name.
	maxSuggestions = 3
)

func validName(name string) bool {
	if name == "" || len(name) > maxNameLength {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// plain takes from a name what models vary: prefixes, case, separators.
func plain(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"functions.", "tools.", "default_api:"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(name)
}

// similar returns the names that a misspelt one may have meant, best first.
func similar(name string, names []string) []string {
	type match struct {
		name  string
		score float64
	}
	want := plain(name)
	if want == "" || len(want) > 4*maxNameLength {
		return nil
	}
	var found []match
	for _, n := range names {
		if score := ratio(want, plain(n)); score >= likeness {
			found = append(found, match{n, score})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	var out []string
	for _, m := range found[:min(len(found), maxSuggestions)] {
		out = append(out, m.name)
	}
	return out
}

// ratio is twice the length of the longest common subsequence by the length of
// both: 1 for equal texts, 0 for texts that share nothing.
func ratio(a, b string) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}
