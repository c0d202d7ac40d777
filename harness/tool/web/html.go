package web

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"cairn/harness/tool"
)

const (
	// converting bounds the time for making Markdown; what takes longer
	// becomes plain text.
	converting = 5 * time.Second
	// maxElements of a page are looked through for its article and made into
	// Markdown; a page with more, or one nested deeper than maxDepth, becomes
	// plain text, because the libraries take more than linear time.
	maxElements = 30_000
	maxDepth    = 200
	// maxSource bounds such a page, in bytes, and maxQuoted the quotes and
	// lists in one another: each puts something before every line in it.
	maxSource = 2 << 20
	maxQuoted = 12
	// maxCells bounds a table, in cells with those that are spanned.
	maxCells = 10_000
	// maxTitle bounds a page's title, in characters.
	maxTitle = 300
	// article is how much text an article has at least, in bytes; one with
	// less is a wrong guess, and the whole page is taken.
	article = 200
)

// markdown makes readable Markdown of HTML. It never fails: what cannot be
// converted in time is given as the text that is in it.
func markdown(ctx context.Context, source string, at *url.URL) string {
	ctx, cancel := context.WithTimeout(ctx, converting)
	defer cancel()
	done := make(chan string, 1)
	go func() {
		defer close(done)
		// The libraries were not made for hostile input: what breaks them is
		// read in the simple way.
		defer func() { _ = recover() }()
		if text, err := convert(source, at); err == nil {
			done <- text
		}
	}()
	select {
	case text := <-done:
		if strings.TrimSpace(text) != "" {
			return text
		}
	case <-ctx.Done():
	}
	return textOf(source)
}

// convert finds the article of a page and makes Markdown of it.
func convert(source string, at *url.URL) (string, error) {
	if len(source) > maxSource {
		return "", fmt.Errorf("the page has %d bytes", len(source))
	}
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return "", fmt.Errorf("parse HTML: %w", err)
	}
	if err := measure(doc); err != nil {
		return "", err
	}
	at = baseOf(doc, at)
	clean(doc)
	found, title := find(doc, at)
	absolute(found, at)
	// Text is not escaped: nobody renders it, a model reads "a_b" better than
	// "a\_b", and escaping takes quadratic time.
	conv := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
	// The library writes "<" as an entity, which nobody turns back either.
	conv.Register.TextTransformer(swap("<", "\ufdd0", ">", "\ufdd1"), converter.PriorityEarly)
	conv.Register.TextTransformer(swap("\ufdd0", "<", "\ufdd1", ">"), converter.PriorityLate)
	out, err := conv.ConvertNode(found)
	if err != nil {
		return "", fmt.Errorf("convert HTML: %w", err)
	}
	text := strings.TrimSpace(string(out))
	if title = tool.Clip(strings.Join(strings.Fields(title), " "), maxTitle); title != "" && !strings.HasPrefix(text, "# ") {
		text = "# " + title + "\n\n" + text
	}
	return text, nil
}

// swap replaces text, as the library wants it. U+FDD0 and its neighbours stand
// for nothing in any text.
func swap(pairs ...string) converter.HandleTextTransformFunc {
	replacer := strings.NewReplacer(pairs...)
	return func(_ converter.Context, text string) string { return replacer.Replace(text) }
}

// find returns the article of a page, or its whole body if there is none, and
// the page's title.
func find(doc *html.Node, at *url.URL) (*html.Node, string) {
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	found, err := parser.ParseDocument(doc, at)
	if err == nil && found.Node != nil && len(inner(found.Node)) >= article {
		return found.Node, found.Title()
	}
	title := ""
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" {
			title = inner(n)
			break
		}
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "body" {
			return n, title
		}
	}
	return doc, title
}

// inner is the text in a node.
func inner(node *html.Node) string {
	var b strings.Builder
	for n := range node.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// measure refuses pages that the libraries would take too long for.
func measure(doc *html.Node) error {
	count, depth, quoted := 0, 0, 0
	for n := doc; n != nil; count++ {
		if count > 3*maxElements || depth > maxDepth || quoted > maxQuoted {
			return fmt.Errorf("the page has more than %d nodes or is nested deeper than %d", 3*maxElements, maxDepth)
		}
		if n.FirstChild != nil {
			quoted += quote(n)
			n, depth = n.FirstChild, depth+1
			continue
		}
		for n != nil && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
			if n != nil {
				quoted -= quote(n)
			}
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return nil
}

// quote is 1 for what puts something before every line in it.
func quote(n *html.Node) int {
	if n.Type == html.ElementNode && (n.Data == "blockquote" || n.Data == "li") {
		return 1
	}
	return 0
}

// baseOf returns what relative addresses on a page are relative to.
func baseOf(doc *html.Node, at *url.URL) *url.URL {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "base" {
			if ref, err := url.Parse(attribute(n, "href")); err == nil {
				if u := at.ResolveReference(ref); u.Scheme == "http" || u.Scheme == "https" {
					return u
				}
			}
			return at
		}
	}
	return at
}

// dropped are elements that hold no text to read.
var dropped = map[string]bool{ //nolint:gochecknoglobals // a table that nobody changes
	"script": true, "style": true, "template": true, "svg": true, "math": true, "iframe": true, "frame": true, "frameset": true,
	"object": true, "embed": true, "applet": true, "canvas": true, "audio": true, "video": true, "noscript": true,
	"button": true, "input": true, "select": true, "textarea": true, "dialog": true,
}

// clean takes out what is not there to be read, and what a person would not
// see.
func clean(doc *html.Node) {
	var out []*html.Node
	for n := range doc.Descendants() {
		switch {
		case n.Type == html.CommentNode, n.Type == html.ElementNode && (dropped[n.Data] || hidden(n)):
			out = append(out, n)
		case n.Type == html.ElementNode && n.Data == "table":
			tame(n)
		}
	}
	for _, n := range out {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		value := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && value == "true":
			return true
		case a.Key == "style" && (strings.Contains(value, "display:none") || strings.Contains(value, "visibility:hidden")):
			return true
		}
	}
	return false
}

// tame makes a table that would become too large into plain text: its width is
// that of its widest row, and every row gets as many cells.
func tame(node *html.Node) {
	rows, widest, width := 0, 0, 0
	for n := range node.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "tr":
			rows, width = rows+1+span(n, "rowspan"), 0
		case "td", "th":
			width += span(n, "colspan")
			rows += span(n, "rowspan") - 1
			widest = max(widest, width)
		}
		if rows*widest > maxCells {
			node.Attr = append(node.Attr, html.Attribute{Key: "role", Val: "presentation"})
			return
		}
	}
}

// span is how many cells a cell covers, at least one.
func span(n *html.Node, key string) int {
	many, err := strconv.Atoi(attribute(n, key))
	if err != nil {
		return 1
	}
	return min(max(many, 1), maxCells+1)
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// absolute writes the addresses of links and images in full, and takes out
// those that are no addresses of pages.
func absolute(node *html.Node, at *url.URL) {
	for n := range node.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for i := range n.Attr {
			a := &n.Attr[i]
			if a.Key != "href" && a.Key != "src" {
				continue
			}
			u, err := at.Parse(strings.TrimSpace(a.Val))
			if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
				a.Val = ""
				continue
			}
			a.Val = u.String()
		}
	}
}

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
