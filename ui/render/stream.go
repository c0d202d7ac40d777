package render

import (
	"strings"
	"unicode/utf8"
)

// Stream renders one text while it grows. Blocks that nothing can change any
// more are rendered once; only the unfinished end is rendered again. After
// Finish the lines are those that Markdown.Message gives for the whole text.
// It is not safe for concurrent use.
type Stream struct {
	m        *Markdown
	raw      strings.Builder // what was appended
	pending  string          // its end, which cannot be made safe yet
	src      []byte          // the safe text
	safe     safeState       // where it ends
	finished bool

	done   []doneBlock
	stable int // bytes of src that are done
	code   int // code blocks in them
	refs   references
	labels map[string][]int // label in brackets -> done blocks that hold it

	width   int
	lines   []string
	nStable int // lines of the done blocks
	kept    int // lines after them that later text only adds to
	dirty   bool
	fence   *openFence
	bulk    bulk
}

// NewStream starts an empty text.
func NewStream(m *Markdown) *Stream {
	return &Stream{m: m, labels: map[string][]int{}, refs: references{}}
}

// Text is what was appended, unchanged.
func (s *Stream) Text() string { return s.raw.String() }

// Append adds a piece of text. A piece may end in the middle of a character.
// Appending to a finished stream opens it again.
func (s *Stream) Append(delta string) {
	if delta == "" {
		return
	}
	if s.finished {
		s.restart(s.raw.String())
	}
	s.raw.WriteString(delta)
	in := s.pending + delta
	cut := settled(in)
	s.add(in[:cut])
	s.pending = in[cut:]
}

// Set makes the text what is given. If it only grew, this is Append.
func (s *Stream) Set(text string) {
	old := s.raw.String()
	if strings.HasPrefix(text, old) {
		s.Append(text[len(old):])
		return
	}
	s.restart(text)
}

// Finish says that the text is complete: what was still open is closed.
func (s *Stream) Finish() {
	if s.finished {
		return
	}
	s.add(s.pending)
	s.pending = ""
	s.finished, s.dirty = true, true
}

// Forget drops the rendered lines; the next Lines renders everything again.
func (s *Stream) Forget() {
	s.dropLines()
	s.width = 0
}

func (s *Stream) dropLines() {
	s.lines, s.nStable, s.kept, s.dirty = nil, 0, 0, true
	s.bulk = bulk{}
	if s.fence != nil {
		s.fence.read, s.fence.inLine = s.fence.start, false
	}
}

// restart begins again with another text at the same width.
func (s *Stream) restart(text string) {
	width := s.width
	*s = *NewStream(s.m)
	s.width = width
	s.Append(text)
}

// add appends text whose safe form is settled.
func (s *Stream) add(text string) {
	if text == "" {
		return
	}
	s.src = s.safe.append(s.src, text)
	s.dirty = true
}

// maxPending bounds how many joiners wait for the character after them.
const maxPending = 64

// settled is the length of the prefix of in whose safe form does not depend
// on what follows: it does not end in the middle of a character, in a CR, or in
// a joiner.
func settled(in string) int {
	end := len(in)
	for i := 1; i <= utf8.UTFMax && i <= len(in); i++ {
		c := in[len(in)-i]
		if utf8.RuneStart(c) {
			if c >= 0x80 && !utf8.FullRuneInString(in[len(in)-i:]) {
				end = len(in) - i
			}
			break
		}
	}
	for end > 0 && len(in)-end < maxPending {
		r, n := utf8.DecodeLastRuneInString(in[:end])
		if r != '\r' && r != 0x200c && r != 0x200d {
			break
		}
		end -= n
	}
	return end
}

// Lines renders the text at a width. The slice is valid until the next call
// and must not be changed. A width below 1 counts as 1.
func (s *Stream) Lines(width int) []string {
	width = max(width, 1)
	if width != s.width {
		s.relayout(width)
	}
	if s.dirty {
		s.dirty = false
		s.advance()
	}
	return s.lines
}

// Fixed is how many of the lines that Lines gave last stay as they are, whatever is
// appended; but for a link whose address comes below all that is linked to it.
func (s *Stream) Fixed() int {
	if s.finished {
		return len(s.lines)
	}
	return min(s.nStable+s.kept, len(s.lines))
}

// advance brings the lines up to date with the text.
func (s *Stream) advance() {
	s.lines = s.lines[:s.nStable+s.kept]
	if s.fence != nil && !s.fence.closed(s) {
		s.drawFence()
		return
	}
	if s.drawBulk() {
		return
	}
	s.lines, s.kept, s.fence = s.lines[:s.nStable], 0, nil
	s.parseTail()
}

// parseTail parses what is not done, finishes what can be, and draws the rest.
func (s *Stream) parseTail() {
	tail := s.src[s.stable:]
	s.m.work += len(tail)
	root := parse(s.m.parser, tail, s.refs)
	bs := blocks(root, tail)
	n := len(bs)
	if !s.finished {
		n = finishedBlocks(bs, tail)
		s.withoutOpen(bs, n, tail)
	}
	l := &layouter{m: s.m, src: tail, code: s.code, open: !s.finished}
	base, from, nth := s.stable, s.stable, 0
	for i, b := range bs[:n] {
		if i > 0 && startsAlone(bs, i, tail) {
			from, nth = base+b.start, 0
		}
		s.finishBlock(l, b.node, doneBlock{start: base + b.start, end: base + b.end, from: from, nth: nth})
		nth++
	}
	s.code = l.code
	rest := bs[n:]
	if len(rest) > 0 {
		s.stable = base + rest[0].start
	} else if s.finished {
		s.stable = len(s.src)
	}
	if len(rest) == 1 && s.openFence(rest[0], tail) {
		s.drawFence()
		return
	}
	prev := s.lastKind()
	for _, b := range rest {
		s.appendBlock(prev, b.node.Kind(), l.block(b.node, s.width))
		prev = b.node.Kind()
	}
	s.bulk.rendered(s)
}
