package render

import (
	"strconv"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"

	"cairn/themes"
)

// Beyond these bounds code is shown without colours: highlighting is slow, and
// slowest on text made to be.
const (
	maxHighlight     = 64 << 10
	maxHighlightLine = 4 << 10
)

// Code is a code block of a text.
type Code struct {
	// Lang is the first word of the info line, as written.
	Lang string
	// Info is the rest of it.
	Info string
	// Text is the source of the block, unchanged, ending in a newline unless
	// empty.
	Text string
}

// CodeBlocks lists the code blocks of a text in order; the first is the one
// marked [1] when the text is rendered. Their text is the source, not what is
// drawn. Line ends are newlines.
func CodeBlocks(s string) []Code {
	src := []byte(s)
	root := parse(newParser(), shape(s), nil)
	var out []Code
	walkCode(root, func(n ast.Node) {
		var c Code
		if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
			c.Lang, c.Info = splitInfo(string(f.Info.Segment.Value(src)))
		}
		c.Text = strings.ReplaceAll(codeText(n, src), "\r\n", "\n")
		out = append(out, c)
	})
	return out
}

// shape is a text with the block structure that Safe of it has and the offsets
// of the original: each byte that Safe marks is an ordinary letter in it.
func shape(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		switch {
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
			b[i] = ' '
		case c < 0x20 && c != '\n' && c != '\t', c == 0x7f:
			b[i] = 'x'
		}
	}
	return b
}

// walkCode visits the code blocks below n in document order.
func walkCode(n ast.Node, visit func(ast.Node)) {
	switch n.Kind() {
	case ast.KindFencedCodeBlock, ast.KindCodeBlock:
		visit(n)
		return
	}
	if n.Type() == ast.TypeInline {
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeBlock {
			walkCode(c, visit)
		}
	}
}

func codeText(n ast.Node, src []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	return b.String()
}

// splitInfo separates the language from the rest of an info line.
func splitInfo(info string) (lang, rest string) {
	lang, rest, _ = strings.Cut(strings.TrimSpace(info), " ")
	return lang, strings.TrimSpace(rest)
}

// Warm loads the tables of the usual languages, which takes some ten
// milliseconds of CPU. Run it in a goroutine while nobody waits.
func Warm() {
	for _, lang := range []string{"go", "python", "bash", "json", "javascript", "typescript", "yaml", "sql", "diff"} {
		if lx := lexers.Get(lang); lx != nil {
			if it, err := lx.Tokenise(nil, "x = 1\n"); err == nil {
				for range it.Tokens() {
					continue
				}
			}
		}
	}
}

func (l *layouter) codeBlock(n ast.Node, w int) []string {
	l.code++
	var info string
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
		info = unescape(string(f.Info.Segment.Value(l.src)))
	}
	lang, _ := splitInfo(info)
	code := strings.TrimSuffix(codeText(n, l.src), "\n")
	out := []string{l.m.infoLine(info, l.code, w)}
	if l.open && !closed(n, l.src) {
		return append(out, l.m.plainCode(code, w)...)
	}
	key := leafKey{kind: n.Kind(), width: w, text: lang + "\n" + code}
	lines, ok := l.m.leaves.get(key)
	if !ok {
		lines = l.m.highlight(lang, code, w)
		l.m.leaves.put(key, lines, len(key.text))
	}
	return append(out, lines...)
}

// closed tells whether a code block can grow no more: it is followed by
// something, be it its closing fence.
func closed(n ast.Node, src []byte) bool {
	if n.Kind() != ast.KindFencedCodeBlock {
		return true
	}
	end := n.Pos()
	if k := n.Lines().Len(); k > 0 {
		end = n.Lines().At(k - 1).Stop
	} else if i := strings.IndexByte(string(src[max(end, 0):]), '\n'); i >= 0 {
		end += i + 1
	} else {
		return false
	}
	return strings.TrimLeft(string(src[min(end, len(src)):]), " \t\n>") != ""
}

// infoLine is the line above a code block: what was written after the fence,
// and at the right end the number to copy the block by.
func (m *Markdown) infoLine(info string, number, w int) string {
	left := SafeLine(strings.TrimSpace(info))
	return m.theme.Paints.Muted.On(Fit(left, "["+strconv.Itoa(number)+"]", w, m.theme.Ornaments.Ellipsis))
}

// plainCode draws code without colours of its language.
func (m *Markdown) plainCode(code string, w int) []string {
	return paintLines(string(m.theme.Syntax(chroma.Text)), HardWrap(code, w))
}

// highlight draws code in the colours of its language. If the lexer does not
// give back exactly the code, the code is drawn plain.
func (m *Markdown) highlight(lang, code string, w int) []string {
	if lang == "" || len(code) > maxHighlight || longestLine(code) > maxHighlightLine {
		return m.plainCode(code, w)
	}
	lx := lexers.Get(lang)
	if lx == nil {
		return m.plainCode(code, w)
	}
	it, err := chroma.Coalesce(lx).Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: false}, code)
	if err != nil {
		return m.plainCode(code, w)
	}
	var b, seen strings.Builder
	for _, t := range it.Tokens() {
		seen.WriteString(t.Value)
		paintToken(&b, m.theme.Syntax(t.Type), t.Value)
	}
	if strings.TrimSuffix(seen.String(), "\n") != code {
		return m.plainCode(code, w)
	}
	return HardWrap(compact(strings.TrimSuffix(b.String(), "\n")), w)
}

// paintToken paints each line of a token apart, so that no style crosses a
// line end.
func paintToken(b *strings.Builder, p themes.Paint, s string) {
	for {
		line, rest, more := strings.Cut(s, "\n")
		b.WriteString(p.On(line))
		if !more {
			return
		}
		b.WriteByte('\n')
		s = rest
	}
}

func longestLine(s string) int {
	longest := 0
	for line := range strings.SplitSeq(s, "\n") {
		longest = max(longest, len(line))
	}
	return longest
}
