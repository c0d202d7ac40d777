package render

import (
	"bytes"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/ast"
)

// openFence is a code block at the end of the text whose closing fence has not
// come. Its lines are drawn once each, without colours; when it closes it is
// parsed and drawn as any block.
type openFence struct {
	char   byte
	length int
	indent int
	info   string
	start  int  // offset of the first line of code
	read   int  // offset of the first byte not on a kept line
	inLine bool // read is inside a line
}

// openFence recognises an unclosed fence as the only block of the tail. Its
// opening line must be complete.
func (s *Stream) openFence(b block, tail []byte) bool {
	fc, ok := b.node.(*ast.FencedCodeBlock)
	if !ok || s.finished {
		return false
	}
	eol := bytes.IndexByte(tail[b.start:], '\n')
	if eol < 0 {
		return false
	}
	f := openFence{start: s.stable}
	line := tail[b.start : b.start+eol]
	f.indent = len(line) - len(bytes.TrimLeft(line, " "))
	line = line[f.indent:]
	if len(line) < 3 || f.indent > 3 {
		return false
	}
	f.char = line[0]
	f.length = len(line) - len(bytes.TrimLeft(line, string(f.char)))
	if fc.Info != nil {
		f.info = unescape(string(fc.Info.Segment.Value(tail)))
	}
	f.start += eol + 1
	f.read = f.start
	if f.closed(s) {
		return false
	}
	s.fence = &f
	return true
}

// closed tells whether the closing fence has come as a complete line.
func (f *openFence) closed(s *Stream) bool {
	if s.finished {
		return true
	}
	first := true
	for at := f.read; ; first = false {
		eol := bytes.IndexByte(s.src[at:], '\n')
		if eol < 0 {
			return false
		}
		if (!first || !f.inLine) && f.closes(s.src[at:at+eol]) {
			return true
		}
		at += eol + 1
	}
}

// closes tells whether a line is the closing fence.
func (f *openFence) closes(line []byte) bool {
	code := bytes.TrimLeft(line, " ")
	if len(line)-len(code) > 3 {
		return false
	}
	rest := bytes.TrimLeft(code, string(f.char))
	return len(code)-len(rest) >= f.length && len(bytes.TrimSpace(rest)) == 0
}

// drawFence draws what is new of an open fence.
func (s *Stream) drawFence() {
	f := s.fence
	s.m.work += len(s.src) - f.read
	if s.kept == 0 {
		s.appendBlock(s.lastKind(), ast.KindFencedCodeBlock, []string{s.m.infoLine(f.info, s.code+1, s.width)})
	}
	for {
		eol := bytes.IndexByte(s.src[f.read:], '\n')
		if eol < 0 {
			break
		}
		s.lines = append(s.lines, s.m.plainCode(f.body(s.src[f.read:f.read+eol]), s.width)...)
		f.read += eol + 1
		f.inLine = false
	}
	if len(s.src)-f.read > longCode {
		f.keepRows(s)
	}
	s.kept = len(s.lines) - s.nStable
	if last := s.src[f.read:]; len(last) > 0 && (f.inLine || !f.closes(last)) {
		s.lines = append(s.lines, s.m.plainCode(f.body(last), s.width)...)
	}
}

// longCode is the length from which an unfinished line of code is kept in part.
const longCode = 2 << 10

// keepRows keeps the rows of the unfinished last line that can change no more:
// all but the last two.
func (f *openFence) keepRows(s *Stream) {
	line := f.body(s.src[f.read:])
	rows, starts := hardRows(line, s.width)
	n := len(rows) - 2
	if n <= 0 {
		return
	}
	s.lines = append(s.lines, paintLines(string(s.m.theme.Syntax(chroma.Text)), rows[:n])...)
	f.read = len(s.src) - len(line) + starts[n]
	f.inLine = true
}

// body is a line of code without the indentation of its fence.
func (f *openFence) body(line []byte) string {
	n := 0
	for !f.inLine && n < f.indent && n < len(line) && line[n] == ' ' {
		n++
	}
	return string(line[n:])
}
