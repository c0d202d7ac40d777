package markdown

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Ending is the ending of the files that are written.
const Ending = ".md"

// maxName bounds a file's name in bytes, so that an id and an ending still fit
// what file systems take.
const maxName = 160

// reserved are names that Windows keeps for devices.
var reserved = regexp.MustCompile(`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$`)

// Name is a title as the name of a file without its ending: one line, in any
// script, without what file systems or links of Obsidian give a meaning to. It is
// otherwise if nothing is left of the title.
func Name(title, otherwise string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(title) {
		switch {
		case strings.ContainsRune(`/\:*?"<>|#^[]`, r), unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == utf8.RuneError, unicode.Is(unicode.C, r) && r != '\u200d' && r != '\u200c':
		default:
			b.WriteRune(r)
		}
	}
	name := trimmed(strings.Join(strings.Fields(b.String()), " "))
	for len(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = trimmed(name[:len(name)-size])
	}
	switch {
	case strings.IndexFunc(name, unicode.IsPrint) < 0:
		return otherwise
	case reserved.MatchString(name):
		return name + " " + otherwise
	}
	return name
}

// trimmed is a name without the ends that hide a file, make an option of it, or
// that Windows takes off.
func trimmed(name string) string {
	return strings.TrimRight(strings.TrimLeft(name, ".- "), ". ")
}

// NameKey is what two names have in common that some file systems take for one.
func NameKey(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }
