package render

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// minInner is the least width left inside a list or quotation; below it the
// content is not indented.
const minInner = 4

// leafKey identifies a rendered leaf block.
type leafKey struct {
	kind  ast.NodeKind
	level int
	width int
	text  string // its source and what else decides how it looks
}

// layouter lays out the blocks of one parsed source.
type layouter struct {
	m    *Markdown
	src  []byte
	code int  // code blocks seen so far
	open bool // an unclosed fence at the end of src is still growing
}

// block lays out a node and everything below it.
func (l *layouter) block(n ast.Node, w int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return l.heading(n, w)
	case *ast.Paragraph, *ast.TextBlock:
		return l.paragraph(n, w)
	case *ast.List:
		return l.list(n, w)
	case *ast.Blockquote:
		return l.quote(n, w)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return l.codeBlock(n, w)
	case *ast.HTMLBlock:
		return l.htmlBlock(n, w)
	case *ast.ThematicBreak:
		p := l.m.theme
		return []string{p.Paints.Border.On(strings.Repeat(p.Ornaments.Rule, max(w, 1)))}
	case *plainNode:
		return Wrap(rawLines(n, l.src), w)
	case *ast.LinkReferenceDefinition:
		return paintLines(string(l.m.theme.Paints.Muted), Wrap(rawLines(n, l.src), w))
	case *extast.Table:
		return l.table(n, w)
	default:
		return l.children(n, w, true)
	}
}

// children lays out the blocks inside a container; loose ones are set apart
// by an empty line.
func (l *layouter) children(n ast.Node, w int, loose bool) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := l.block(c, w)
		if len(lines) == 0 {
			continue
		}
		if loose && len(out) > 0 && (!isDefinition(c) || !isDefinition(c.PreviousSibling())) {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func isDefinition(n ast.Node) bool {
	return n != nil && n.Kind() == ast.KindLinkReferenceDefinition
}

// heading lays out a heading.
func (l *layouter) heading(n *ast.Heading, w int) []string {
	key := leafKey{kind: n.Kind(), level: n.Level, width: w, text: withTargets(rawLines(n, l.src), n.FirstChild(), nil)}
	return l.cached(key, func() string {
		return l.m.glamour.leaf(ast.NewHeading(n.Level), n.FirstChild(), nil, l.src)
	})
}

// paragraph lays out running text. It is cut at those line breaks that no
// emphasis or link spans, and each piece is drawn apart: a paragraph that grows
// costs no more than its last piece.
func (l *layouter) paragraph(n ast.Node, w int) []string {
	var out []string
	line := 0
	for first := n.FirstChild(); first != nil; {
		last, text := l.piece(n, first, &line)
		after := last.NextSibling()
		key := leafKey{kind: ast.KindParagraph, width: w, text: withTargets(text, first, after)}
		lines := l.cached(key, func() string { return l.inline(first, after) })
		out = append(out, lines...)
		first = after
	}
	return out
}

// piece finds the last node of the piece that starts with first, and the source
// lines of n that it stands in; line is the number of the first of them and
// becomes that of the next piece.
func (l *layouter) piece(n, first ast.Node, line *int) (ast.Node, string) {
	var text strings.Builder
	last := first
	for last.NextSibling() != nil && !breaks(last) {
		last = last.NextSibling()
	}
	end := len(l.src)
	if t, ok := last.(*ast.Text); ok && breaks(last) {
		end = t.Segment.Stop
	}
	for ; *line < n.Lines().Len(); *line++ {
		seg := n.Lines().At(*line)
		text.Write(seg.Value(l.src))
		if seg.Stop >= end {
			*line++
			break
		}
	}
	return last, text.String()
}

// breaks tells whether a line ends behind n.
func breaks(n ast.Node) bool {
	t, ok := n.(*ast.Text)
	return ok && (t.SoftLineBreak() || t.HardLineBreak())
}

// inline draws the inline nodes from first up to but without end. What is only
// text does not need glamour unless text has a colour.
func (l *layouter) inline(first, end ast.Node) string {
	if l.m.theme.Markdown.Document.Color == nil {
		in := inliner{src: l.src}
		var b strings.Builder
		n := first
		for ; n != end; n = n.NextSibling() {
			t, ok := n.(*ast.Text)
			if !ok {
				break
			}
			b.WriteString(in.literal(t))
		}
		if n == end {
			return strings.Trim(b.String(), "\n")
		}
	}
	return l.m.glamour.leaf(ast.NewParagraph(), first, end, l.src)
}

// withTargets appends to the source of inline nodes what their looks depend on
// besides: the targets of links, which may stand elsewhere, and the context.
func withTargets(text string, first, end ast.Node) string {
	if !strings.ContainsAny(text, "[:@") && !strings.Contains(text, "www.") {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	var walk func(n, end ast.Node)
	walk = func(n, end ast.Node) {
		for ; n != end && n != nil; n = n.NextSibling() {
			switch n := n.(type) {
			case *ast.Link:
				b.WriteByte(0)
				b.Write(n.Destination)
			case *ast.Image:
				b.WriteByte(0)
				b.Write(n.Destination)
			case *ast.AutoLink: // behind an open bracket the same text is no link
				b.WriteByte(2)
			case *extast.TaskCheckBox: // the same text elsewhere is no box
				b.WriteByte(1)
			}
			walk(n.FirstChild(), nil)
		}
	}
	walk(first, end)
	return b.String()
}

// cached wraps what draw gives, once for each key.
func (l *layouter) cached(key leafKey, draw func() string) []string {
	lines, ok := l.m.leaves.get(key)
	if !ok {
		if s := draw(); s != "" {
			lines = Wrap(s, key.width)
		}
		l.m.leaves.put(key, lines, len(key.text))
	}
	return lines
}

func (l *layouter) list(n *ast.List, w int) []string {
	var out []string
	num, loose := n.Start, isLoose(n)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if loose && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, l.item(c, l.marker(n, c, num), w, loose)...)
		num++
	}
	return out
}

// isLoose tells whether blank lines set the items of a list or the blocks in
// them apart. The parser's own answer is not used: for a block behind a link
// definition it depends on what stands before the list.
func isLoose(list *ast.List) bool {
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil && item.HasBlankPreviousLines() {
			return true
		}
		for c := item.FirstChild(); c != nil; c = c.NextSibling() {
			if c.PreviousSibling() != nil && !isDefinition(c.PreviousSibling()) && c.HasBlankPreviousLines() {
				return true
			}
		}
	}
	return false
}

// marker is what stands before a list item, with the space after it.
func (l *layouter) marker(list *ast.List, item ast.Node, num int) string {
	o := l.m.theme.Ornaments
	if list.IsOrdered() {
		return strconv.Itoa(num) + string(list.Marker) + " "
	}
	if first := item.FirstChild(); first != nil {
		if box, ok := first.FirstChild().(*extast.TaskCheckBox); ok {
			if box.IsChecked {
				return o.Ticked + " "
			}
			return o.Todo + " "
		}
	}
	return o.Bullet + " "
}

func (l *layouter) item(n ast.Node, marker string, w int, loose bool) []string {
	mw := lineWidth(marker)
	painted := l.m.theme.Paints.Muted.On(marker)
	if w-mw < minInner {
		lines := l.children(n, w, loose)
		return append(Wrap(strings.TrimSpace(marker), w), lines...)
	}
	lines := l.children(n, w-mw, loose)
	if len(lines) == 0 {
		return []string{strings.TrimSpace(marker)}
	}
	return indent(lines, painted, strings.Repeat(" ", mw))
}

func (l *layouter) quote(n ast.Node, w int) []string {
	mark := l.m.theme.Ornaments.Quote + " "
	if w-lineWidth(mark) < minInner {
		return l.children(n, w, true)
	}
	lines := l.children(n, w-lineWidth(mark), true)
	p := l.m.theme.Paints.Muted
	out := make([]string, len(lines))
	for i, s := range lines {
		if s == "" {
			out[i] = p.On(strings.TrimRight(mark, " "))
			continue
		}
		out[i] = p.On(mark) + s
	}
	return out
}

// htmlBlock shows HTML as it was written.
func (l *layouter) htmlBlock(n *ast.HTMLBlock, w int) []string {
	s := rawLines(n, l.src)
	if n.HasClosure() {
		s += "\n" + strings.TrimSuffix(string(n.ClosureLine.Value(l.src)), "\n")
	}
	return paintLines(string(l.m.theme.Paints.Code), Wrap(s, w))
}

// indent puts first before the first line and rest before the others, but not
// before empty ones: copied text has no trailing blanks.
func indent(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, s := range lines {
		switch {
		case i == 0:
			out[i] = first + s
		case s == "":
		default:
			out[i] = rest + s
		}
	}
	return out
}

func paintLines(sgr string, lines []string) []string {
	if sgr == "" {
		return lines
	}
	out := make([]string, len(lines))
	for i, s := range lines {
		if s != "" {
			out[i] = sgr + s + reset
		}
	}
	return out
}
