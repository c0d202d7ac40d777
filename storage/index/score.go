package index

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Score ranks one text for the query without knowing any other: 0 is no match,
// more is better. A word counts whole, less in another of its forms, and least
// as the beginning of a word. A question in a whole sentence finds what shares
// one word of meaning with it; the more is shared, the better. A text without
// the quoted words is no match.
//
// It is for lists short enough to be looked through, such as facts and notes;
// messages are found by [Search].
func (q Query) Score(text string) float64 {
	if q.Empty() {
		return 0
	}
	folded := Fold(text)
	doc := Terms(folded)
	if !q.inOrder(doc) {
		return 0
	}
	counts, stems := map[string]int{}, map[string]int{}
	for _, t := range doc {
		counts[t]++
		stems[q.known.word(t).stem]++
	}
	sum, matched := 0.0, 0
	for _, t := range q.terms {
		weight := t.weight(counts, stems)
		if weight > 0 {
			matched++
		}
		sum += weight
	}
	if matched == 0 {
		return 0
	}
	sum *= float64(matched) / float64(len(q.terms))
	if q.whole != "" && strings.Contains(folded, q.whole) {
		sum *= 1.5
	}
	return sum / (1 + math.Log1p(float64(len(doc)))/8)
}

// weight is what the term is worth in a document of these words.
func (t queryTerm) weight(counts, stems map[string]int) float64 {
	length := float64(utf8.RuneCountInString(t.form))
	if n := counts[t.form]; n > 0 {
		return (length + 1) / 4 * (1 + math.Log(float64(n))/2)
	}
	if n := stems[t.stem]; n > 0 {
		return (length + 1) / 5 * (1 + math.Log(float64(n))/2)
	}
	if length < 2 {
		return 0
	}
	for word := range counts {
		if strings.HasPrefix(word, t.form) {
			return length / 8
		}
	}
	return 0
}

// inOrder reports whether a document of these words holds every phrase.
func (q Query) inOrder(doc []string) bool {
	for _, p := range q.phrases {
		if !contains(doc, p) {
			return false
		}
	}
	return true
}

// contains reports whether part stands somewhere in doc.
func contains(doc, part []string) bool {
	for len(doc) >= len(part) {
		if slices.Equal(doc[:len(part)], part) {
			return true
		}
		doc = doc[1:]
	}
	return false
}
