package reading

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// linkText is how an address begins and goes on in a text.
const linkText = `(?i)\b(?:https?://|mailto:)[^\s<>"` + "`" + `|\\^{}]+`

// maxLinks bounds how many links of a message are listed.
const maxLinks = 200

// Links are the addresses that a text names, in its order and each once: of the
// web and of mail, never anything else.
func Links(text string) []string {
	var out []string
	for _, l := range regexp.MustCompile(linkText).FindAllString(text, -1) {
		l = trimmed(l)
		if Openable(l) && !slices.Contains(out, l) {
			if out = append(out, l); len(out) == maxLinks {
				break
			}
		}
	}
	return out
}

// trimmed is an address without what belongs to the sentence around it.
func trimmed(l string) string {
	for {
		short := strings.TrimRight(l, ".,;:!?'*_~…。，、")
		for _, pair := range []string{"()", "[]"} {
			if strings.HasSuffix(short, pair[1:]) && strings.Count(short, pair[:1]) < strings.Count(short, pair[1:]) {
				short = short[:len(short)-1]
			}
		}
		// [words](address) may be followed by anything.
		if i := strings.Index(short, "]("); i > 0 {
			short = short[:i]
		}
		if short == l {
			return l
		}
		l = short
	}
}

// letter reports whether the fields of a mailto address only write: some mail
// programs attach files for a field that asks for it.
func letter(fields url.Values) bool {
	for name := range fields {
		if !slices.Contains([]string{"to", "cc", "bcc", "subject", "body", "in-reply-to"}, strings.ToLower(name)) {
			return false
		}
	}
	return true
}

// Openable reports whether an address may be given to a browser or a mail
// program: http, https or a mailto that attaches nothing, whole, and without characters that are not seen.
func Openable(address string) bool {
	if strings.ContainsFunc(address, func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return strings.Contains(u.Opaque, "@") && letter(u.Query())
	}
	return false
}
