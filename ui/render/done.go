package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
)

// doneBlock is a finished top-level block.
type doneBlock struct {
	start, end int // bytes of src
	from, nth  int // it is block nth of the text that begins at byte from
	code       int // code blocks before it
	kind       ast.NodeKind
	line       int // its first line, behind the separating empty one
	n          int // number of its lines
}

// finishedBlocks is the number of leading blocks that no further text can
// change. A block is finished when the next one has begun behind an empty line,
// or, where a line that is still being written could join it (lists) or take
// the next one apart (tables), when the next one has two whole lines.
func finishedBlocks(bs []block, src []byte) int {
	for n := len(bs) - 1; n > 0; n-- {
		if !startsAlone(bs, n, src) {
			continue
		}
		if bytes.Count(src[bs[n].start:], []byte("\n")) >= 2 {
			return n
		}
		if bs[n-1].node.Kind() != ast.KindList && blankBefore(src, bs[n].start) {
			return n
		}
	}
	return 0
}

// startsAlone tells whether a parse that begins at block i finds the same
// blocks. It does not where the block was cut from one paragraph with the one
// before: at the start of a text its first line may mean something else.
func startsAlone(bs []block, i int, src []byte) bool {
	if blankBefore(src, bs[i].start) {
		return true
	}
	switch bs[i-1].node.Kind() {
	case ast.KindParagraph, ast.KindLinkReferenceDefinition, kindPlain:
	default:
		return bs[i].node.Kind() != kindPlain
	}
	switch bs[i].node.Kind() {
	case ast.KindFencedCodeBlock, ast.KindBlockquote, ast.KindList, ast.KindThematicBreak, ast.KindHTMLBlock:
		return true
	default:
		return false
	}
}

// blankBefore tells whether the line above offset at is blank.
func blankBefore(src []byte, at int) bool {
	above := bytes.TrimSuffix(src[:at], []byte("\n"))
	line := above[bytes.LastIndexByte(above, '\n')+1:]
	return len(bytes.TrimSpace(line)) == 0
}

// finishBlock moves a block of the tail to the done ones.
func (s *Stream) finishBlock(l *layouter, n ast.Node, d doneBlock) {
	d.code, d.kind = l.code, n.Kind()
	i := len(s.done)
	lines := l.block(n, s.width)
	d.line, d.n = s.appendBlock(s.lastKind(), d.kind, lines), len(lines)
	s.done = append(s.done, d)
	s.nStable = len(s.lines)
	s.define(n, i)
	for _, label := range bracketLabels(s.src[d.start:d.end]) {
		s.labels[label] = append(s.labels[label], i)
	}
}

func (s *Stream) lastKind() ast.NodeKind {
	if len(s.done) == 0 {
		return -1
	}
	return s.done[len(s.done)-1].kind
}

// appendBlock adds the lines of a block, an empty one before it, and tells
// where it begins.
func (s *Stream) appendBlock(prev, kind ast.NodeKind, lines []string) int {
	definitions := kind == ast.KindLinkReferenceDefinition && prev == kind
	if len(s.lines) > 0 && len(lines) > 0 && !definitions {
		s.lines = append(s.lines, "")
	}
	at := len(s.lines)
	s.lines = append(s.lines, lines...)
	return at
}

// relayout renders the done blocks again for another width.
func (s *Stream) relayout(width int) {
	s.dropLines()
	s.width = width
	for i := 0; i < len(s.done); {
		i = s.layGroup(i)
	}
}

// layDone puts lines of done block i at the end of the lines.
func (s *Stream) layDone(i int, lines []string) {
	d := &s.done[i]
	prev := ast.NodeKind(-1)
	if i > 0 {
		prev = s.done[i-1].kind
	}
	d.line, d.n = s.appendBlock(prev, d.kind, lines), len(lines)
	s.nStable = len(s.lines)
}

// layGroup renders the done blocks from i on that were parsed together again
// and tells which is the next.
func (s *Stream) layGroup(i int) int {
	end := i + 1
	for end < len(s.done) && s.done[end].from == s.done[i].from {
		end++
	}
	d := s.done[i]
	src := s.src[d.from:s.done[end-1].end]
	l := &layouter{m: s.m, src: src, code: d.code}
	for _, b := range blocks(parse(s.m.parser, src, s.refs), src) {
		if i < end {
			s.layDone(i, l.block(b.node, s.width))
			i++
		}
	}
	return end
}

// renderDone renders one done block again.
func (s *Stream) renderDone(d doneBlock) []string {
	src := s.src[d.from:d.end]
	l := &layouter{m: s.m, src: src, code: d.code}
	bs := blocks(parse(s.m.parser, src, s.refs), src)
	if d.nth >= len(bs) {
		return nil
	}
	return l.block(bs[d.nth].node, s.width)
}
