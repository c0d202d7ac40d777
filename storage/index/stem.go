package index

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// stemmer reduces words to their English stems and remembers them: the words of
// a language repeat, and a stem costs a hundred times a look-up.
type stemmer map[string]string

// stem returns the stem of a folded term. A term that is not an English word
// (digits, underscores, other scripts) is its own stem.
func (s stemmer) stem(term string) string {
	if len(term) < 3 {
		return term
	}
	if have, ok := s[term]; ok {
		return have
	}
	stem := term
	if englishWord(term) {
		if stem = english.Stem(term, true); stem == "" {
			stem = term
		}
	}
	s[term] = stem
	return stem
}

func englishWord(term string) bool {
	for i := range len(term) {
		if c := term[i]; (c < 'a' || c > 'z') && c != '\'' {
			return false
		}
	}
	return true
}

// stopWords are English words that every text has.
const stopWords = " a about all am an and any are as at be been but by can could did do does for from had has have he her him his how i if in is it its just me my no not of on or our she should so some than that the their them then there these they this those to was we were what when where which who why will with would you your" +
	" i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll we're we've we'll we'd they're they've they'll they'd that's there's what's who's where's when's how's let's" +
	" don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't "

// stopWord reports whether a folded term holds no meaning by itself.
func stopWord(term string) bool { return strings.Contains(stopWords, " "+term+" ") }
