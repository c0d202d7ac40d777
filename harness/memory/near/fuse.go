package near

import (
	"cmp"
	"slices"
	"strings"
)

// rankBase damps how much the first ranks count over the next, as is usual for
// reciprocal ranks.
const rankBase = 60

// wordsFirst is how much more a rank among the words counts: of two that are
// equally good the one with the words comes first.
const wordsFirst = 1.01

// ranked is something in the order that it gets.
type ranked[T any] struct {
	item  T
	score float64
	exact bool
	// word is the place among those found by words, behind all for the others.
	word int
}

// fuse merges what words found with what vectors found, each best first, by the
// reciprocals of the ranks. What has the words of the question as they stand comes
// before all others, in the order of the words.
func fuse[T any](words, vectors []T, key func(T) string, exact func(T) bool) []ranked[T] {
	at := map[string]int{}
	all := make([]ranked[T], 0, len(words)+len(vectors))
	for i, w := range words {
		at[key(w)] = i
		all = append(all, ranked[T]{item: w, score: wordsFirst / float64(rankBase+i+1), exact: exact(w), word: i})
	}
	seen := map[string]bool{}
	for i, v := range vectors {
		k := key(v)
		if seen[k] {
			continue
		}
		seen[k] = true
		score := 1 / float64(rankBase+i+1)
		if n, ok := at[k]; ok {
			all[n].score += score
			continue
		}
		all = append(all, ranked[T]{item: v, score: score, word: len(words) + i})
	}
	slices.SortStableFunc(all, func(a, b ranked[T]) int {
		switch {
		case a.exact && b.exact:
			return cmp.Compare(a.word, b.word)
		case a.exact != b.exact:
			if a.exact {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.word, b.word))
	})
	// Scores, which are shown, follow the order.
	for i := len(all) - 2; i >= 0; i-- {
		all[i].score = max(all[i].score, all[i+1].score)
	}
	return all
}

// phrase returns what tells whether a text has the words of a question as they
// stand. One word alone is no phrase: it says little about what is meant.
func phrase(question string) func(text string) bool {
	want := plain(question)
	if !strings.Contains(want, " ") {
		return func(string) bool { return false }
	}
	return func(text string) bool { return strings.Contains(plain(text), want) }
}

func plain(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.Trim(text, ` "'“”`))), " ")
}
