package render

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newParser makes the parser for GitHub's Markdown. It is safe for concurrent
// use.
func newParser() parser.Parser {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithBlockParsers(util.Prioritized(plainParser{}, 1))),
	).Parser()
}

// references are the link definitions of a text by normalised label.
type references map[string]parser.Reference

// refContext lets a parse see definitions that stand in other parts of the
// text, at no cost for each.
type refContext struct {
	parser.Context
	known references
}

// Reference finds a definition by its normalised label; the first one wins.
func (c *refContext) Reference(label string) (parser.Reference, bool) {
	if r, ok := c.known[label]; ok {
		return r, true
	}
	return c.Context.Reference(label)
}

// parse parses safe text with the link definitions known so far.
func parse(p parser.Parser, src []byte, refs references) ast.Node {
	pc := &refContext{Context: parser.NewContext(), known: refs}
	return p.Parse(text.NewReader(src), parser.WithContext(pc))
}

// The parser's time grows with the square of the length of a paragraph and of
// the depth of nesting, for texts made to do so or a model caught in a loop.
// Beyond these bounds a line is not Markdown but plain text.
const (
	maxLine      = 8 << 10
	maxParagraph = 32 << 10
	maxNesting   = 64 // nodes; a list takes two
)

// kindPlain is a line that is shown as it is.
var kindPlain = ast.NewNodeKind("Plain") //nolint:gochecknoglobals // a number that the parser gives out once

type plainNode struct{ ast.BaseBlock }

func (n *plainNode) Kind() ast.NodeKind            { return kindPlain }
func (n *plainNode) IsRaw() bool                   { return true }
func (n *plainNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// plainParser takes lines beyond the bounds before any other parser sees them.
type plainParser struct{}

// Trigger is every byte: parsers without a trigger come last.
func (plainParser) Trigger() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func (plainParser) Open(parent ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, seg := reader.PeekLine()
	if len(line) <= maxLine && !tooDeep(parent) && !tooLong(parent.LastChild(), seg.Start) {
		return nil, parser.NoChildren
	}
	n := &plainNode{}
	n.SetPos(seg.Start)
	n.Lines().Append(seg)
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

func (plainParser) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }

func (plainParser) Close(ast.Node, text.Reader, parser.Context) {}

func (plainParser) CanInterruptParagraph() bool { return true }

func (plainParser) CanAcceptIndentedLine() bool { return false }

func tooDeep(n ast.Node) bool {
	depth := 0
	for ; n != nil && depth <= maxNesting; n = n.Parent() {
		depth++
	}
	return depth > maxNesting
}

// tooLong tells whether last is a paragraph that ends at offset at and may not
// grow.
func tooLong(last ast.Node, at int) bool {
	if last == nil || !ast.IsParagraph(last) || last.Lines().Len() == 0 {
		return false
	}
	lines := last.Lines()
	return at-lines.At(0).Start > maxParagraph && lines.At(lines.Len()-1).Stop >= at-maxNesting
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

// rawLines is the source of a block without its last newline.
func rawLines(n ast.Node, src []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
