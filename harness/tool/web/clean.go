package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

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
