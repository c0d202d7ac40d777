// Package index turns text into search terms and ranks texts against a query.
// It is pure: it stores nothing and knows nothing of sessions. The one thing
// to know: a query and a text meet only in their terms, so whatever should be
// found alike (case, accents, width, part of a CJK run) must become the same
// term here.
package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns text as search compares it: compatibility-composed, case folded
// and without diacritics.
func Fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	folded := cases.Fold().String(norm.NFKD.String(text))
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && !voiced(r) {
			return -1
		}
		return r
	}, folded))
}

// voiced marks are spelling in Japanese, not decoration.
func voiced(r rune) bool { return r == '\u3099' || r == '\u309a' }

func ascii(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Terms returns the search terms of text in their order, repeated as often as
// they occur. Words are those of Unicode; scripts written without spaces give
// each character and each pair of neighbours.
func Terms(text string) []string {
	var terms []string
	var run []rune
	flush := func() {
		for i, r := range run {
			terms = append(terms, string(r))
			if i > 0 {
				terms = append(terms, string(run[i-1:i+1]))
			}
		}
		run = run[:0]
	}
	for it := words.FromString(strings.ReplaceAll(Fold(text), "’", "'")); it.Next(); {
		word := it.Value()
		if spaceless(word) {
			run = append(run, []rune(word)...)
			continue
		}
		flush()
		if strings.ContainsFunc(word, isWordRune) {
			terms = append(terms, word)
		}
	}
	flush()
	return terms
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// spaceless reports whether a word is of a script that puts no spaces between
// words, or of Hangul, whose words carry particles.
func spaceless(word string) bool {
	for _, r := range word {
		if r < utf8.RuneSelf {
			return false
		}
		if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && r != 'ー' {
			return false
		}
	}
	return word != ""
}
