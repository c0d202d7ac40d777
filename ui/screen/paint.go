package screen

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
)

// hideAbove is the size of a frame in bytes above which the cursor is hidden
// while it is written, for terminals that do not know synchronised updates.
const hideAbove = 256

// syncFrom is the size of a frame in bytes from which it is marked as one. A
// frame below it that changes one row at most cannot be seen half drawn, and
// while text streams the marks would outweigh it.
const syncFrom = 64

// scrollFrom is the number of changed rows from which a scroll is looked for.
const scrollFrom = 4

// caret is where the terminal's cursor is to be.
type caret struct {
	x, y    int
	visible bool
}

// parsed is a line of a view as cells, and the colours in force at its end.
type parsed struct {
	cells uv.Line
	pen   uv.Style
}

// painter turns views into the bytes that make a terminal show them. It knows
// what the terminal shows and writes only what differs, moving whole regions
// where that is shorter. It is not safe for concurrent use.
type painter struct {
	width, height int
	buf           *uv.RenderBuffer
	term          *uv.TerminalRenderer
	out           bytes.Buffer
	rows          []string // the text each row was parsed from
	plain         []bool   // whether that row's text alone decides its cells
	seen, next    map[string]parsed
	lines         []string
	caret         caret
	wary          bool // the terminal may measure characters in its own way
	unsure        bool // others have written: colours and cursor may be anything
	epoch         int  // how often everything was drawn anew
}

// newPainter makes a painter for a cleared terminal of the given TERM and size.
func newPainter(termName string, width, height int) *painter {
	p := &painter{seen: map[string]parsed{}, next: map[string]parsed{}}
	p.term = uv.NewTerminalRenderer(&p.out, []string{"TERM=" + termName})
	p.term.SetColorProfile(colorprofile.TrueColor) // views come in the terminal's colours already
	p.term.SetWidthMethod(widths)
	p.term.SetFullscreen(true)
	p.term.SetRelativeCursor(false)
	p.resize(width, height)
	return p
}

// resize takes on a new size; the next frame draws everything.
func (p *painter) resize(width, height int) {
	p.width, p.height = max(width, 1), max(height, 1)
	p.buf = uv.NewRenderBuffer(p.width, p.height)
	p.rows = make([]string, p.height)
	p.plain = make([]bool, p.height)
	clear(p.seen)
	p.term.Resize(p.width, p.height)
	p.term.Erase()
	p.epoch++
}

// heed says whether the terminal may measure characters in its own way. Lines that
// have such are drawn anew.
func (p *painter) heed(wary bool) {
	if wary == p.wary {
		return
	}
	p.wary = wary
	clear(p.seen)
	clear(p.plain)
}

// invalidate forgets what the terminal shows: the next frame draws everything.
func (p *painter) invalidate() {
	p.term.SetPosition(-1, -1)
	p.term.Erase()
	p.unsure = true
	p.epoch++
}

// paint returns the bytes that turn what is shown into view, with the cursor
// at want, or nothing if it is shown already. The result is valid until the
// next call. A view of too few lines is padded, one of too many loses its
// first ones, and long lines are cut.
func (p *painter) paint(view string, want caret) []byte {
	dropped := p.split(view)
	// Looking for lines that moved costs more than all the rest; with few rows
	// changed there is nothing to find.
	changed := p.fill()
	p.term.SetScrollOptim(changed >= scrollFrom)
	p.out.Reset()
	p.out.WriteString(syncBegin)
	p.term.Render(p.buf)
	want.x, want.y = min(max(want.x, 0), p.width-1), want.y-dropped
	want.visible = want.visible && want.y >= 0 && want.y < p.height
	hide := p.caret.visible && p.term.Buffered() > hideAbove || !want.visible && (p.caret.visible || p.unsure)
	show := want.visible && (hide || !p.caret.visible || p.unsure)
	if p.unsure {
		p.out.WriteString(plain)
	}
	if hide {
		p.out.WriteString(cursorHide)
	}
	if want.visible {
		p.term.MoveTo(want.x, want.y)
	}
	empty := p.term.Buffered() == 0 && !hide && !show
	if err := p.term.Flush(); err != nil { // a bytes.Buffer takes everything
		panic(err)
	}
	if show {
		p.out.WriteString(cursorShow)
	}
	p.caret, p.unsure = want, false
	if empty {
		return nil
	}
	if size := p.out.Len() - len(syncBegin); changed <= 1 && size < syncFrom {
		return p.out.Bytes()[len(syncBegin):]
	}
	p.out.WriteString(syncEnd)
	return p.out.Bytes()
}

// split cuts view into as many lines as there are rows and returns how many it
// left out at the top.
func (p *painter) split(view string) int {
	p.lines = p.lines[:0]
	for line := range strings.SplitSeq(view, "\n") {
		p.lines = append(p.lines, line)
	}
	dropped := max(len(p.lines)-p.height, 0)
	p.lines = p.lines[dropped:]
	for len(p.lines) < p.height {
		p.lines = append(p.lines, "")
	}
	return dropped
}

// fill brings the cells in line with p.lines. Rows whose text is unchanged are
// not looked at, and text that was on the last frame, on whichever row, is not
// parsed again. It returns the number of rows that changed.
func (p *painter) fill() (changed int) {
	pen := uv.Style{}
	clear(p.next)
	for y, text := range p.lines {
		plain := pen.IsZero()
		line, known := parsed{}, false
		if plain {
			if line, known = p.next[text]; !known {
				line, known = p.seen[text]
			}
		}
		if !known {
			line.cells, line.pen = parseLine(text, p.width, pen, p.wary)
		}
		if plain {
			p.next[text] = line
		}
		if !plain || !p.plain[y] || p.rows[y] != text {
			copy(p.buf.Lines[y], line.cells)
			p.buf.TouchLine(0, y, p.width)
			p.rows[y], p.plain[y] = text, plain
			changed++
		}
		pen = line.pen
	}
	p.seen, p.next = p.next, p.seen
	return changed
}
