// Package render turns text into safe, wrapped, styled lines.
//
// The one thing to know: every text that a model, a tool, a file or a server
// wrote passes through here before it is drawn. What comes out holds printable
// characters and SGR sequences of the theme, nothing else, and no line is wider
// than asked. Widths are counted in grapheme clusters, here and nowhere else.
package render

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"cairn/themes"
)

// Markdown renders messages in one theme. It keeps what it rendered, bounded,
// so that asking again for the same text and width costs a look-up. It is not
// safe for concurrent use.
type Markdown struct {
	theme    *themes.Theme
	glamour  *glamour
	parser   parser.Parser
	leaves   cache[leafKey]
	messages cache[messageKey]
}

type messageKey struct {
	text  string
	width int
}

// Bounds of the caches in bytes of rendered lines.
const (
	leafCacheBytes    = 1 << 20
	messageCacheBytes = 8 << 20
)

// NewMarkdown makes a renderer for a theme.
func NewMarkdown(t *themes.Theme) *Markdown {
	return &Markdown{
		theme: t, glamour: newGlamour(t), parser: newParser(),
		leaves:   cache[leafKey]{limit: leafCacheBytes},
		messages: cache[messageKey]{limit: messageCacheBytes},
	}
}

func newParser() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
}

// Theme is the theme it renders in.
func (m *Markdown) Theme() *themes.Theme { return m.theme }

// Message renders a whole text. The lines are shared: do not change them.
func (m *Markdown) Message(s string, width int) []string {
	key := messageKey{s, width}
	if lines, ok := m.messages.get(key); ok {
		return lines
	}
	st := NewStream(m)
	st.Append(s)
	st.Finish()
	lines := st.Lines(width)
	m.messages.put(key, lines, len(s))
	return lines
}

// Forget drops everything kept for later.
func (m *Markdown) Forget() {
	m.leaves.clear()
	m.messages.clear()
}

// parse parses safe text with the link definitions known so far.
func parse(p parser.Parser, src []byte, refs []parser.Reference) ast.Node {
	pc := parser.NewContext()
	for _, r := range refs {
		pc.AddReference(r)
	}
	return p.Parse(text.NewReader(src), parser.WithContext(pc))
}

// block is a top-level block of a parsed text.
type block struct {
	node       ast.Node
	start, end int // bytes of the source; start is the start of a line
}

// blocks lists the top-level blocks of a parsed text in order. A block ends
// where the next one starts.
func blocks(root ast.Node, src []byte) []block {
	var out []block
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		at := position(n)
		if at < 0 {
			continue
		}
		for at > 0 && src[at-1] != '\n' {
			at--
		}
		if k := len(out); k > 0 {
			at = max(at, out[k-1].start)
			out[k-1].end = at
		}
		out = append(out, block{node: n, start: at, end: len(src)})
	}
	return out
}

// position is the offset of a byte of the first line of a node, -1 if the
// node and all below it are empty. The parser's own position of a table is that
// of the paragraph it was cut from, that of an underlined heading its underline.
func position(n ast.Node) int {
	at := -1
	if _, ok := n.(*extast.Table); !ok {
		at = n.Pos()
		if n.Lines().Len() > 0 && (at < 0 || n.Lines().At(0).Start < at) {
			at = n.Lines().At(0).Start
		}
	}
	for c := n.FirstChild(); at < 0 && c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeBlock {
			at = position(c)
		}
	}
	return at
}

// rawLines is the source of a block whose lines are literal.
func rawLines(n ast.Node, src []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
