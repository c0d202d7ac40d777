package index

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Query is a prepared search text.
type Query struct {
	terms []string
	whole string
}

// NewQuery prepares text. Words that hold no meaning by themselves, such as
// "the", are left out, unless there is nothing else.
func NewQuery(text string) Query {
	seen := map[string]bool{}
	var terms, rest []string
	for _, t := range Terms(text) {
		switch {
		case seen[t]:
		case stopWord(t):
			rest = append(rest, t)
		default:
			terms = append(terms, t)
		}
		seen[t] = true
	}
	if len(terms) == 0 {
		terms = rest
	}
	return Query{terms: terms, whole: strings.TrimSpace(Fold(text))}
}

// stopWords are English words that every text has.
const stopWords = " a about all am an and any are as at be been but by can could did do does for from had has have he her him his how i if in is it its just me my no not of on or our she should so some than that the their them then there these they this those to was we were what when where which who why will with would you your "

func stopWord(term string) bool { return strings.Contains(stopWords, " "+term+" ") }

// Empty reports whether the query can match nothing because it has no term.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Score ranks document text for the query: 0 is no match, more is better. A
// term counts whole, or less as the beginning of a word. A question in a whole
// sentence finds what shares one word of meaning with it; the more is shared,
// the better.
func (q Query) Score(text string) float64 {
	if q.Empty() {
		return 0
	}
	folded := Fold(text)
	if !q.possible(folded) {
		return 0
	}
	counts := map[string]int{}
	doc := Terms(folded)
	for _, t := range doc {
		counts[t]++
	}
	sum, matched := 0.0, 0
	for _, t := range q.terms {
		weight := termWeight(counts, t)
		if weight > 0 {
			matched++
		}
		sum += weight
	}
	if matched == 0 {
		return 0
	}
	sum *= float64(matched) / float64(len(q.terms))
	if strings.Contains(folded, q.whole) {
		sum *= 1.5
	}
	return sum / (1 + math.Log1p(float64(len(doc)))/8)
}

// possible is a cheap test that spares most texts from being cut into terms.
func (q Query) possible(folded string) bool {
	for _, t := range q.terms {
		if strings.Contains(folded, t) {
			return true
		}
	}
	return false
}

func termWeight(counts map[string]int, term string) float64 {
	if n := counts[term]; n > 0 {
		return float64(utf8.RuneCountInString(term)+1) / 4 * (1 + math.Log(float64(n))/2)
	}
	if utf8.RuneCountInString(term) < 2 {
		return 0
	}
	for word := range counts {
		if strings.HasPrefix(word, term) {
			return float64(utf8.RuneCountInString(term)) / 8
		}
	}
	return 0
}

// Score ranks document text for query. See [Query.Score].
func Score(query, text string) float64 { return NewQuery(query).Score(text) }
