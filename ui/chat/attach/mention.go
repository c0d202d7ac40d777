// Package attach is what the chat knows of files: which ones a text mentions,
// what a paste of paths is, the list that opens behind an @, and what is sent
// with a message.
//
// The one thing to know: the text is the truth. An attachment is a mention in it,
// "@cat.png" or "@\"my cat.png\"", so that drafts, the queue, the history of
// prompts and the editor keep attachments by keeping text. Files are read when
// the message is sent, and what is shown until then is what they were when they
// were looked at.
package attach

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// pathMax bounds a path in a mention or a paste, in bytes.
	pathMax = 4096
	// filesMax bounds the files that go with one message.
	filesMax = 20
)

// Mention is a place in a text that may name a file.
type Mention struct {
	// From and To are the bytes of it, with the @ and the quotes.
	From, To int
	// Path is the path as it was meant, without quotes.
	Path string
}

// Mentions returns the mentions in a text, in order: an @ at the beginning of a
// word with a path behind it, in quotes if it has white space. Whether there is
// such a file is not known here.
func Mentions(text string) []Mention {
	var found []Mention
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '@')
		if n < 0 {
			break
		}
		i += n
		if !Begins(text[:i]) {
			i++
			continue
		}
		m, ok := read(text, i)
		if ok {
			found = append(found, m)
		}
		i = max(m.To, i+1)
	}
	return found
}

// Open returns the mention that the last word of a line is, as far as it is
// typed; To is the end of the line.
func Open(line string) (Mention, bool) {
	for at := strings.LastIndexByte(line, '@'); at >= 0; at = strings.LastIndexByte(line[:at], '@') {
		if !Begins(line[:at]) || len(line)-at > pathMax {
			continue
		}
		typed := line[at+1:]
		if quoted, ok := strings.CutPrefix(typed, `"`); ok {
			p, closed := unquote(quoted)
			return Mention{From: at, To: len(line), Path: p}, closed < 0
		}
		if strings.IndexFunc(typed, unicode.IsSpace) < 0 {
			return Mention{From: at, To: len(line), Path: typed}, true
		}
	}
	return Mention{}, false
}

// Write is the mention of a path. Ok is false for one that no mention can name,
// such as one with a line break.
func Write(p string) (mention string, ok bool) {
	if !nameable(p) {
		return "", false
	}
	if plain := "@" + p; p[0] != '"' {
		if m, ok := read(plain, 0); ok && m.To == len(plain) && m.Path == p {
			return plain, true
		}
	}
	return `@"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`, true
}

// nameable reports whether a mention can name a path.
func nameable(p string) bool {
	return p != "" && len(p) <= pathMax && utf8.ValidString(p) && strings.IndexFunc(p, unicode.IsControl) < 0
}

// Begins reports whether an @ behind this text begins a word: it is no part of an
// address such as me@example.org.
func Begins(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case before == "", unicode.IsSpace(r), strings.ContainsRune(`([{<"',;:=`, r):
		return true
	case r < utf8.RuneSelf:
		return false
	}
	return unicode.IsPunct(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// read reads the mention at an @. If it is none To is where to go on.
func read(text string, at int) (Mention, bool) {
	rest := text[at+1:]
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		p, end := unquote(quoted)
		if end < 0 {
			return Mention{To: at + 1}, false
		}
		return Mention{From: at, To: at + 2 + end, Path: p}, p != ""
	}
	n := strings.IndexFunc(rest[:min(len(rest), pathMax+1)], func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if n < 0 {
		n = len(rest)
	}
	if n > pathMax {
		return Mention{To: at + 1 + n}, false
	}
	p := unpunctuated(rest[:n])
	return Mention{From: at, To: at + 1 + len(p), Path: p}, p != "" && p[0] != '@' && utf8.ValidString(p)
}

// unquote reads a path up to the closing quote; end is the byte behind that, -1
// if it is not on the line.
func unquote(s string) (p string, end int) {
	var b strings.Builder
	for i := 0; i < len(s) && i <= pathMax; i++ {
		switch {
		case s[i] == '"':
			return b.String(), i + 1
		case s[i] < ' ':
			return b.String(), -1
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), -1
}

// unpunctuated is a path without the punctuation of the sentence it stands in.
func unpunctuated(p string) string {
	for p != "" {
		r, n := utf8.DecodeLastRuneInString(p)
		rest := p[:len(p)-n]
		opening, bracket := map[rune]string{')': "(", ']': "[", '}': "{", '>': "<"}[r]
		switch {
		case bracket && strings.Contains(rest, opening):
			return p
		case bracket, strings.ContainsRune(`,;:!?"'…。，、；：！？」』）`, r):
		case r == '.' && rest != "" && rest[len(rest)-1] != '/' && rest[len(rest)-1] != '.':
		default:
			return p
		}
		p = rest
	}
	return p
}

// split parts what was typed of a path into the directory, which ends in a
// slash or is empty, and the beginning of a name.
func split(typed string) (dir, name string) {
	if typed == "~" || typed == ".." {
		return typed + "/", ""
	}
	return path.Split(typed)
}
