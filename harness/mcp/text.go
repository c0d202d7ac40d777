package mcp

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/harness/tool"
)

// How much of a server's words is taken, in characters.
const (
	maxLine  = 200
	maxWords = 8_000
)

// words are text of a server, bounded, with what cannot be seen made visible: neither
// a terminal nor a model is to get what a person does not see.
func words(s string, limit int) string {
	clipped := tool.Clip(strings.ToValidUTF8(s, "\uFFFD"), limit)
	var b strings.Builder
	for _, r := range clipped {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	if len(clipped) < len(s) && utf8.RuneCountInString(s) > limit {
		b.WriteString("…")
	}
	return b.String()
}

// line is one line of a server's words.
func line(s string) string {
	if len(s) > 8*maxLine {
		s = s[:8*maxLine]
	}
	return words(strings.Join(strings.Fields(s), " "), maxLine)
}

// hidden reports whether a character does something instead of being seen: controls,
// marks of direction, and what is drawn as nothing. What joins emoji and letters stays.
func hidden(r rune) bool {
	switch {
	case r == '\u200d' || r == '\u200c' || r == '\ufe0f' || r == '\u00ad':
		return false
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFE00 && r <= 0xFE0E:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// target says how a server is reached, without what may be a secret.
func target(s Server) string {
	if s.URL != "" {
		return address(s.URL)
	}
	parts := []string{s.Command}
	for i, arg := range s.Args {
		shown, _, _, secret := SecretArg(s.Args, i, secretive)
		switch {
		case strings.Contains(arg, "://"):
			arg = address(arg)
		case secret:
			arg = shown
		case tokenLike(arg):
			arg = "…"
		}
		if arg == "" || strings.ContainsFunc(arg, unicode.IsSpace) {
			arg = "'" + arg + "'"
		}
		parts = append(parts, arg)
	}
	return line(strings.Join(parts, " "))
}

// address is a URL without its user, its query and what in its path may be a key.
func address(raw string) string {
	at, err := url.Parse(raw)
	if err != nil || at.Host == "" {
		return "…"
	}
	segments := strings.Split(at.EscapedPath(), "/")
	for i, s := range segments {
		if tokenLike(s) {
			segments[i] = "…"
		}
	}
	text := at.Scheme + "://" + at.Host + strings.Join(segments, "/")
	if at.RawQuery != "" {
		text += "?…"
	}
	return line(text)
}

// secretive reports whether what has such a name may be a secret.
func secretive(name string) bool {
	return regexp.MustCompile(`(?i)(key|token|secret|passw|credential|auth|bearer|cookie)`).MatchString(name)
}

// tokenLike reports whether a text looks like a key rather than like a word.
func tokenLike(s string) bool {
	if len(s) < 20 || strings.ContainsAny(s, "/\\ .@") {
		return false
	}
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, unicode.IsLetter)
}

// secrets finds what a server was given in confidence in the texts that come of it.
func secrets(s Server) *tool.Redactor {
	all := map[string]string{}
	for name, value := range s.Headers {
		all["header "+name] = value
		if _, token, ok := strings.Cut(value, " "); ok {
			all["header "+name+" value"] = token
		}
	}
	for name, value := range s.Env {
		if secretive(name) || tokenLike(value) {
			all[name] = value
		}
		maps.Copy(all, tool.SecretsOf([]string{name + "=" + value}, nil))
	}
	if s.OAuth.Secret != "" {
		all["client secret of OAuth"] = s.OAuth.Secret
	}
	for i := range s.Args {
		_, name, values, _ := SecretArg(s.Args, i, secretive)
		for n, value := range values {
			all[fmt.Sprintf("argument %s %d", name, n)] = value
		}
	}
	if at, err := url.Parse(s.URL); err == nil && s.URL != "" {
		for name, values := range at.Query() {
			for _, value := range values {
				all["url "+name] = value
			}
		}
		for _, segment := range strings.Split(at.Path, "/") {
			if tokenLike(segment) {
				all["url"] = segment
			}
		}
	}
	return tool.NewRedactor(all)
}
