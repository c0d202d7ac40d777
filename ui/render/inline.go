package render

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	gansi "github.com/charmbracelet/glamour/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cairn/themes"
)

// Glamour unescapes backslashes and entities wherever it meets them, in code
// spans too, so these two characters reach it as non-characters, which Safe
// never lets through, and are put back in its output.
const (
	hiddenBackslash = "\ufdd0"
	hiddenAmpersand = "\ufdd1"
)

// maxDepth bounds the nesting of emphasis and links that is drawn as such.
const maxDepth = 16

// glamour draws leaf blocks without wrapping them: wrapping is ours, since
// glamour's overflows with scripts without spaces.
type glamour struct {
	options gansi.Options
	r       renderer.Renderer
	buf     bytes.Buffer
}

func newGlamour(t *themes.Theme) *glamour {
	g := &glamour{options: gansi.Options{Styles: t.Markdown, ColorProfile: t.Profile, PreserveNewLines: true}}
	g.reset()
	return g
}

func (g *glamour) reset() {
	g.r = renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(gansi.NewRenderer(g.options), 1000)))
}

// render draws one leaf block: its inline content, styled, with a newline for
// each line break of the source.
func (g *glamour) render(leaf ast.Node, src []byte) (string, error) {
	doc := ast.NewDocument()
	doc.AppendChild(doc, leaf)
	g.buf.Reset()
	if err := g.r.Render(&g.buf, src, doc); err != nil {
		g.reset() // its stack of open blocks is no longer empty
		return "", fmt.Errorf("draw markdown: %w", err)
	}
	return compact(restore(strings.Trim(g.buf.String(), "\n"))), nil
}

func restore(s string) string {
	if !strings.Contains(s, "\ufdd0") && !strings.Contains(s, "\ufdd1") {
		return s
	}
	return strings.NewReplacer(hiddenBackslash, `\`, hiddenAmpersand, "&").Replace(s)
}

// inliner copies the inline content of a block into nodes that glamour draws
// as it was written: nothing is HTML, everything is literal.
type inliner struct {
	src []byte // what the nodes of the block point into
	out []byte // what the copies point into
}

// leaf draws the inline nodes from first up to but without end inside the
// empty block. Should glamour fail, their text is shown without styles.
func (g *glamour) leaf(block, first, end ast.Node, src []byte) string {
	in := inliner{src: src}
	for n := first; n != end; n = n.NextSibling() {
		in.node(block, n, 0)
	}
	if t, ok := block.LastChild().(*ast.Text); ok { // no line break at the end
		t.Segment = t.Segment.WithStop(t.Segment.Start + len(bytes.TrimRight(t.Segment.Value(in.out), "\n")))
	}
	s, err := g.render(block, in.out)
	if err != nil {
		var b strings.Builder
		for n := first; n != end; n = n.NextSibling() {
			b.WriteString(in.plain(n))
		}
		return b.String()
	}
	return s
}

// compact drops the SGR sequences that no character stands between: glamour
// opens and closes each style several times.
func compact(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var on, want string // the style that is on in b, and at the reading position
	for len(s) > 0 {
		if s[0] == 0x1b {
			t := escape(s)
			if seq := s[:t.n]; isReset(seq) {
				want = ""
			} else if t.kind == sgrToken {
				want += seq
			}
			s = s[t.n:]
			continue
		}
		n := strings.IndexByte(s, 0x1b)
		if n < 0 {
			n = len(s)
		}
		if on != want {
			if on != "" {
				b.WriteString(reset)
			}
			b.WriteString(want)
			on = want
		}
		b.WriteString(s[:n])
		s = s[n:]
	}
	if on != "" {
		b.WriteString(reset)
	}
	return b.String()
}

func (in *inliner) children(dst, n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(dst, c, depth)
	}
}

func (in *inliner) node(dst, n ast.Node, depth int) {
	if depth > maxDepth {
		in.text(dst, in.plain(n))
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		in.text(dst, in.literal(n))
	case *ast.CodeSpan:
		c := ast.NewCodeSpan()
		in.text(c, in.code(n))
		dst.AppendChild(dst, c)
	case *ast.Emphasis:
		c := ast.NewEmphasis(n.Level)
		in.children(c, n, depth+1)
		dst.AppendChild(dst, c)
	case *extast.Strikethrough:
		c := extast.NewStrikethrough()
		in.text(c, in.plain(n))
		dst.AppendChild(dst, c)
	case *ast.Link:
		in.link(dst, n, string(n.Destination), depth)
	case *ast.Image:
		in.link(dst, n, string(n.Destination), depth)
	case *ast.AutoLink:
		l := newLink()
		in.text(l, string(n.Label(in.src)))
		dst.AppendChild(dst, l)
	case *ast.RawHTML:
		in.text(dst, in.plain(n))
	case *extast.TaskCheckBox: // drawn with the list item
	default:
		in.children(dst, n, depth+1)
	}
}

// newLink is a link whose target glamour does not draw: it drops targets that
// are no valid URL and rewrites others.
func newLink() *ast.Link {
	l := ast.NewLink()
	l.Destination = []byte("#")
	return l
}

// link draws the text of a link and, if it says something else, its target.
func (in *inliner) link(dst, n ast.Node, target string, depth int) {
	l := newLink()
	in.children(l, n, depth+1)
	shown := in.plain(n)
	if l.FirstChild() == nil {
		in.text(l, target)
		shown = target
	}
	dst.AppendChild(dst, l)
	target = Safe(target)
	if shown == target || target == "" || strings.TrimPrefix(target, "mailto:") == shown {
		return
	}
	in.text(dst, " (")
	t := newLink()
	in.text(t, target)
	dst.AppendChild(dst, t)
	in.text(dst, ")")
}

// text appends literal text.
func (in *inliner) text(dst ast.Node, s string) {
	if s == "" {
		return
	}
	start := len(in.out)
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\':
			in.out = append(in.out, hiddenBackslash...)
		case '&':
			in.out = append(in.out, hiddenAmpersand...)
		default:
			in.out = append(in.out, c)
		}
	}
	t := ast.NewTextSegment(text.NewSegment(start, len(in.out)))
	dst.AppendChild(dst, t)
}

// literal is what a text node says, its escapes resolved and its line break
// as a newline.
func (in *inliner) literal(n *ast.Text) string {
	s := string(n.Segment.Value(in.src))
	if !n.IsRaw() {
		s = unescape(s)
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		s += "\n"
	}
	return s
}

// plain is the text of a node without styles.
func (in *inliner) plain(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		return in.literal(n)
	case *ast.CodeSpan:
		return in.code(n)
	case *ast.AutoLink:
		return string(n.Label(in.src))
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			seg := n.Segments.At(i)
			b.Write(seg.Value(in.src))
		}
		return b.String()
	}
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(in.plain(c))
	}
	return b.String()
}

// code is the content of a code span; a line break in it is a space.
func (in *inliner) code(n *ast.CodeSpan) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(in.src))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// unescape resolves backslash escapes and entities. An entity may spell a
// control character, so the result is made safe again.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case c == '&':
			ent, n := entity(s[i:])
			b.WriteString(ent)
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxEntity is longer than every named entity.
const maxEntity = 40

// entity decodes the entity at the start of s, which begins with "&", and
// tells how many bytes it took. What is no entity is the ampersand itself.
func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "&", 1
	}
	raw := s[:end+1]
	if dec := html.UnescapeString(raw); dec != raw && !strings.HasSuffix(dec, ";") {
		return SafeLine(dec), end + 1
	}
	return "&", 1
}
