package web

import (
	"context"
	"fmt"
	"net/url"
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
