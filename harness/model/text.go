package model

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentence bounds a message taken from outside, in characters.
const maxSentence = 200

// minSecret is the length below which a secret is not looked for in texts: a
// placeholder such as "x" would black out every word.
const minSecret = 6

var (
	titleTag   = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	headingTag = regexp.MustCompile(`(?is)<h1[^>]*>(.*?)</h1>`)
	anyTag     = regexp.MustCompile(`(?s)<[^>]*>`)
)

// Sentence makes text from outside fit for one line on a screen or in a log:
// no control, format or line-breaking characters, runs of white space as one
// space, at most 200 characters, and none of the secrets.
func Sentence(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, "[key]")
		}
	}
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			continue
		}
		if n >= maxSentence-1 {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// looksHTML reports whether an answer is a web page.
func looksHTML(contentType string, body []byte) bool {
	if strings.Contains(strings.ToLower(contentType), "text/html") {
		return true
	}
	return strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 256)])), "<")
}

// pageTitle returns the title of a web page as plain text, empty if it has
// none.
func pageTitle(body []byte) string {
	for _, tag := range []*regexp.Regexp{titleTag, headingTag} {
		if m := tag.FindSubmatch(body); m != nil {
			if t := Sentence(html.UnescapeString(anyTag.ReplaceAllString(string(m[1]), " "))); t != "" {
				// Unescaped entities must not become markup again.
				return strings.NewReplacer("<", "", ">", "").Replace(t)
			}
		}
	}
	return ""
}
