package widget

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold brings a text into the form in which a filter compares: case folded, no
// diacritics, compatibility forms such as full-width letters made plain.
func Fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	folded := cases.Fold().String(norm.NFKD.String(s))
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r != '\u3099' && r != '\u309a' { // these two are spelling in Japanese
			return -1
		}
		return r
	}, folded))
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
