package render

import "strings"

// A block is rendered anew for each piece of text it gets, so the cost of one
// endless block would grow with the square of its length. Beyond bulkSize the
// block is rendered only when it has grown by a quarter; what came since is
// shown as plain text under it.
const (
	bulkSize  = 4 << 10
	bulkChunk = 1 << 10
)

// bulk is the state of an unfinished block beyond bulkSize.
type bulk struct {
	size  int // bytes of the tail when it was rendered; 0 for none
	drawn int // bytes of it that are on kept lines
}

// rendered remembers that the tail was rendered just now.
func (b *bulk) rendered(s *Stream) {
	size := len(s.src) - s.stable
	if size < bulkSize || s.finished {
		*b = bulk{}
		return
	}
	*b = bulk{size: size, drawn: size}
	s.kept = len(s.lines) - s.nStable
}

// drawBulk adds plain text to the last rendering of the tail if that is recent
// enough.
func (s *Stream) drawBulk() bool {
	b := &s.bulk
	size := len(s.src) - s.stable
	if s.finished || b.size == 0 || size > b.size+b.size/4 {
		return false
	}
	for size-b.drawn > bulkChunk {
		chunk := s.src[s.stable+b.drawn:]
		cut := lastBreak(string(chunk[:bulkChunk]))
		s.lines = append(s.lines, Wrap(strings.TrimRight(string(chunk[:cut]), "\n"), s.width)...)
		s.m.work += cut
		b.drawn += cut
		s.kept = len(s.lines) - s.nStable
	}
	s.m.work += size - b.drawn
	if rest := strings.TrimRight(string(s.src[s.stable+b.drawn:]), "\n"); rest != "" {
		s.lines = append(s.lines, Wrap(rest, s.width)...)
	}
	return true
}

// lastBreak is where to cut a piece of text: behind its last line, else its
// last space, else before its last character.
func lastBreak(s string) int {
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		return i + 1
	}
	for i := len(s) - 1; i > 0; i-- {
		if s[i]&0xc0 != 0x80 {
			return i
		}
	}
	return len(s)
}
