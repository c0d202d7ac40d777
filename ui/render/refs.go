package render

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// maxLabel is the longest link label that CommonMark allows, in bytes.
const maxLabel = 999

// define takes over the link definitions in a finished block and renders those
// done blocks again that refer to a new one. i is the number of the block.
func (s *Stream) define(n ast.Node, i int) {
	if d, ok := n.(*ast.LinkReferenceDefinition); ok {
		label := util.ToLinkReference(d.Label)
		if _, ok := s.refs[label]; ok {
			return // the first definition wins
		}
		s.refs[label] = parser.NewReference(bytes.Clone(d.Label), bytes.Clone(d.Destination), bytes.Clone(d.Title))
		s.rerender(s.labels[label], i)
		return
	}
	if n.Type() == ast.TypeInline {
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeBlock {
			s.define(c, i)
		}
	}
}

// withoutOpen parses the first n blocks again without those after them if a link
// definition is among those: it is not finished, so what follows may still make
// it none, and finished blocks must not refer to it before.
func (s *Stream) withoutOpen(bs []block, n int, src []byte) {
	if n == 0 || !slices.ContainsFunc(bs[n:], func(b block) bool { return defines(b.node) }) {
		return
	}
	src = src[:bs[n].start]
	if again := blocks(parse(s.m.parser, src, s.refs), src); len(again) == n {
		copy(bs, again)
	}
}

// defines reports whether a link definition is in a block.
func defines(n ast.Node) bool {
	if n.Kind() == ast.KindLinkReferenceDefinition {
		return true
	}
	for c := n.FirstChild(); c != nil && c.Type() == ast.TypeBlock; c = c.NextSibling() {
		if defines(c) {
			return true
		}
	}
	return false
}

// rerender draws the given done blocks before block limit again in place.
func (s *Stream) rerender(which []int, limit int) {
	changed := false
	for _, i := range which {
		changed = changed || i < limit
	}
	if !changed {
		return
	}
	old := s.lines
	s.lines = make([]string, 0, len(old)+8)
	again := map[int]bool{}
	for _, i := range which {
		again[i] = true
	}
	for i := range s.done {
		d := s.done[i]
		if again[i] {
			s.layDone(i, s.renderDone(d))
			continue
		}
		s.layDone(i, old[d.line:d.line+d.n])
	}
}

// bracketLabels lists the normalised texts between brackets: every label that a
// reference in the text could have.
func bracketLabels(text []byte) []string {
	if bytes.IndexByte(text, '[') < 0 {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for i, c := range text {
		if c != '[' {
			continue
		}
		end := labelEnd(text[i+1:])
		if end <= 0 {
			continue
		}
		label := util.ToLinkReference(text[i+1 : i+1+end])
		if !seen[label] {
			seen[label] = true
			out = append(out, label)
		}
	}
	return out
}

// labelEnd is the length of the label at the start of text, -1 for none.
func labelEnd(text []byte) int {
	for i := 0; i < len(text) && i <= maxLabel; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			return i
		}
	}
	return -1
}
