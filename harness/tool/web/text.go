package web

import (
	"strings"

	"golang.org/x/net/html"
)

// textOf is the text of a page without any form, in time that grows with its
// length only.
func textOf(source string) string {
	var b strings.Builder
	skip := ""
	for z := html.NewTokenizer(strings.NewReader(source)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return tidy(b.String())
		case html.TextToken:
			if skip == "" {
				b.Write(z.Text())
			}
		case html.StartTagToken:
			raw, _ := z.TagName()
			if name := string(raw); skip == "" && unread(name) {
				skip = name
			} else if !inline[name] {
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			raw, _ := z.TagName()
			if name := string(raw); name == skip {
				skip = ""
			} else if !inline[name] {
				b.WriteByte('\n')
			}
		case html.SelfClosingTagToken:
			b.WriteByte('\n')
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// unread reports whether the text in an element is none to read. These always
// have an end, if only that of the page.
func unread(name string) bool {
	switch name {
	case "script", "style", "template", "noscript", "iframe", "textarea", "title":
		return true
	}
	return false
}

// inline are the elements that do not end a line.
var inline = map[string]bool{ //nolint:gochecknoglobals // a table that nobody changes
	"a": true, "abbr": true, "b": true, "bdi": true, "bdo": true, "cite": true, "code": true, "em": true, "font": true, "i": true,
	"kbd": true, "mark": true, "q": true, "s": true, "samp": true, "small": true, "span": true, "strong": true, "sub": true,
	"sup": true, "time": true, "u": true, "var": true, "wbr": true,
}

// tidy joins what is written with spaces and leaves out empty lines.
func tidy(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
