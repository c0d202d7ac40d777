package widget

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold brings a text into the form in which a filter compares: lower case, no
// diacritics, compatibility forms such as full-width letters made plain.
func Fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		// By way of the upper case what only differs in a special lower case,
		// such as the final sigma, becomes one.
		b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
	}
	return b.String()
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Words are the folded words of a query. A text matches when its folded form
// has all of them; see [Has].
func Words(query string) []string { return strings.Fields(Fold(query)) }

// Has reports whether a folded text holds every word.
func Has(folded string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(folded, w) {
			return false
		}
	}
	return true
}
