package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Query is a prepared search text, for one goroutine at a time.
type Query struct {
	terms []queryTerm
	// phrases are quoted words that must occur in this order. They are among
	// the terms too.
	phrases [][]string
	// whole is all of the text, as it is compared.
	whole string
	// asks is whether the text is a question: the message that answers it may
	// share no word with it, and stands next to one that does.
	asks bool
	// words are those outside of quotes, all of them: they may name a time.
	words []string
	// known are the words of the texts that were scored.
	known lexicon
}

// queryTerm is one word that the query looks for.
type queryTerm struct {
	// form is the folded word and stem what it is looked up by.
	form, stem string
	// last is whether the word may be still being typed: the text ends in it.
	last bool
	// frame is whether the word may belong to the question and not to what it is
	// about, as in "what kind of" and "how many".
	frame bool
	// quoted is whether the word is part of a phrase.
	quoted bool
}

// NewQuery prepares text. Words in straight or curly double quotes must occur
// in that order and are taken as they are. Other words are looked for by their
// stems, and those that hold no meaning by themselves, such as "the", are left
// out, unless there is nothing else. No character but the quotes means
// anything.
func NewQuery(text string) Query {
	q := Query{known: lexicon{}}
	loose, quoted := unquote(text)
	for _, p := range quoted {
		if words := Terms(p); len(words) > 0 {
			q.phrases = append(q.phrases, words)
		}
	}
	words := Terms(loose)
	q.asks, q.words = asks(loose, words), words
	q.addTerms(words, typing(loose) && !q.asks)
	if len(q.phrases) == 0 {
		q.whole = strings.TrimSpace(Fold(text))
	}
	return q
}

// addTerms adds the words of the phrases and the other words.
func (q *Query) addTerms(words []string, typing bool) {
	seen := map[string]bool{}
	add := func(to []queryTerm, t queryTerm) []queryTerm {
		if t.stem = q.known.word(t.form).stem; seen[t.stem] {
			return to
		}
		seen[t.stem] = true
		return append(to, t)
	}
	for _, p := range q.phrases {
		for _, w := range p {
			q.terms = add(q.terms, queryTerm{form: w, quoted: true})
		}
	}
	var rest []queryTerm
	for i, w := range words {
		t := queryTerm{form: w, last: typing && i == len(words)-1, frame: q.asks && among(w, frames)}
		if q.known.word(w).stop {
			rest = add(rest, t)
		} else {
			q.terms = add(q.terms, t)
		}
	}
	if len(q.terms) == 0 {
		q.terms = rest
	}
}

// unquote separates what stands in double quotes. A quote that is never closed
// is no quote.
func unquote(text string) (loose string, quoted []string) {
	straight := strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "＂", `"`).Replace(text)
	parts := strings.Split(straight, `"`)
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 1 && i < len(parts)-1 {
			quoted = append(quoted, part)
			part = " "
		}
		b.WriteString(part)
		b.WriteByte(' ')
	}
	return strings.TrimSuffix(b.String(), " "), quoted
}

// frames are words that questions are made of.
const frames = " many much kind sort type often ever long time thing things way ways use used like get go make "

// asks reports whether text is a question.
func asks(text string, words []string) bool {
	if asksBack(text) {
		return true
	}
	const openers = " what what's when where which who who's whose why how did does do is are was were can could would should has have had "
	return len(words) > 1 && among(words[0], openers)
}

// typing reports whether the last word of text may be still being typed.
func typing(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// Empty reports whether the query can match nothing because it has no term.
func (q Query) Empty() bool { return len(q.terms) == 0 }
