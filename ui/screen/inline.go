package screen

import (
	"bytes"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Inliner is a model that can be drawn below what the terminal shows already,
// without the alternate screen; see [Options.Inline]. Its View is then a region of
// as many lines as it needs, the last of what is written.
type Inliner interface {
	// Inline says whether the next frame is such a region, and gives what is to be
	// written for good above it. It is called once a frame, before View; what it
	// gave it does not give again. Where it is no region, the frame is drawn on the
	// alternate screen, and nothing may be given.
	Inline() (above Above, inline bool)
}

// Above are lines for the terminal's own scrollback. They are never changed again.
type Above struct {
	Lines []string
	// Anew says that the width has changed. Again are then the last lines of what was
	// given before, as they are now: they take the place of what is on the screen if
	// they fill it.
	Anew  bool
	Again []string
}

// leastKept is how many lines below new ones must stay for it to pay to move them.
const leastKept = 2

// region paints the lines at the end of what was written to a terminal, and moves
// those that are final into its scrollback. It knows nothing of where on the screen
// it is and moves by rows up and down only. It is not safe for concurrent use.
type region struct {
	kind          string
	width, height int // of the terminal
	wary          bool
	r             *uv.TerminalRenderer
	buf           *uv.RenderBuffer
	out           bytes.Buffer
	rows          []string // the lines that are shown, none if the region is not on the terminal
	caret         caret
	ours          int  // rows written above the region, as far as they can be on the screen
	narrowed      int  // the width before, if rows may have been wrapped since; 0 for not
	stale         bool // others may have written over it
	unsure        bool // others have written: colours may be anything
}

func newRegion(kind string, width, height int) *region {
	g := &region{kind: kind, width: width, height: height, unsure: true}
	g.begin()
	return g
}

// begin takes the cursor's line for the first one of a region that is not shown yet.
func (g *region) begin() {
	g.r = uv.NewTerminalRenderer(&g.out, []string{"TERM=" + g.kind})
	g.r.SetColorProfile(colorprofile.TrueColor)
	g.r.SetWidthMethod(widths)
	g.r.SetFullscreen(false)
	g.r.SetRelativeCursor(true)
	g.r.Resize(g.width, g.height)
	g.buf, g.rows, g.caret = uv.NewRenderBuffer(g.width, 1), nil, caret{visible: g.caret.visible}
}

// invalidate forgets the region: the cursor is on a line of its own, wherever.
func (g *region) invalidate() {
	g.begin()
	g.unsure, g.stale, g.ours, g.narrowed = true, false, 0, 0
}

// resize takes on the size of the terminal.
func (g *region) resize(width, height int) {
	width, height = max(width, 1), max(height, 1)
	if width < g.width && g.narrowed == 0 {
		g.narrowed = g.width
	}
	g.width, g.height = width, height
	g.ours = min(g.ours, height)
}

// rub returns what takes the region away and leaves the cursor where it began.
func (g *region) rub() string {
	if len(g.rows) == 0 {
		return ""
	}
	up := g.caret.y
	if g.narrowed > 0 { // terminals wrap what is too long now, and most do it so
		up = 0
		for _, row := range g.rows[:min(g.caret.y, len(g.rows))] {
			up += max((ansi.StringWidth(row)+g.width-1)/g.width, 1)
		}
		up = min(up+g.caret.x/g.width, g.height-1)
	}
	back := "\r"
	if up > 0 {
		back += ansi.CursorUp(up)
	}
	return back + wipe(len(g.rows))
}

// wipe clears so many lines from the cursor's on, and all below them, and leaves the
// cursor where it is. The first one is cleared alone: a terminal that is cleared from
// its corner on, such as tmux, keeps what it showed in its scrollback.
func wipe(rows int) string {
	if rows < 2 { // there may be no line below
		return ansi.EraseScreenBelow
	}
	return ansi.EraseLineRight + ansi.CUD1 + ansi.EraseScreenBelow + ansi.CUU1
}

// paint returns the bytes that write lines for good and the view as the region
// below them, with the cursor at want. The result is valid until the next call.
func (g *region) paint(above Above, view string, want caret) []byte {
	lines := strings.Split(view, "\n")
	dropped := max(len(lines)-g.height, 0)
	lines, want.y = lines[dropped:], max(want.y-dropped, 0)
	g.out.Reset()
	g.out.WriteString(syncBegin)
	hidden := g.caret.visible
	if hidden {
		g.out.WriteString(cursorHide)
	}
	if g.unsure {
		g.out.WriteString(plain[:len("\x1b[m")] + "\x1b[?7h")
	}
	resized := g.stale || g.narrowed > 0 || above.Anew || len(g.rows) > g.height
	switch {
	case resized:
		g.anew(above)
	case len(above.Lines) > 0 && !g.adopt(above.Lines):
		g.out.WriteString(g.rub())
		g.give(above.Lines)
	}
	g.grow(lines)
	changed := g.fill(lines)
	want.x, want.y = min(max(want.x, 0), g.width-1), min(want.y, len(lines)-1)
	if !changed && !resized && !g.unsure && len(above.Lines) == 0 && want == g.caret {
		return nil
	}
	g.r.Render(g.buf)
	g.r.MoveTo(want.x, want.y)
	if err := g.r.Flush(); err != nil { // a bytes.Buffer takes everything
		panic(err)
	}
	switch {
	case want.visible:
		g.out.WriteString(cursorShow)
	case !hidden:
		g.out.WriteString(cursorHide)
	}
	g.caret, g.unsure = want, false
	g.out.WriteString(syncEnd)
	return g.out.Bytes()
}

// adopt leaves the first lines of the region where they are, if they are those that
// are to stand above it: they are on the terminal already.
func (g *region) adopt(lines []string) bool {
	if len(lines) >= len(g.rows) || !slices.Equal(g.rows[:len(lines)], lines) {
		return false
	}
	n, rest, at := len(lines), slices.Clone(g.rows[len(lines):]), g.caret
	if at.y < n { // the cursor must not stay above its region
		return false
	}
	at.y -= n
	g.shows(rest, at)
	g.ours = min(g.ours+n, g.height)
	return true
}

// shows takes it for known that the terminal shows lines as the region, with the
// cursor at a cell of it.
func (g *region) shows(lines []string, at caret) {
	said := slices.Clone(g.out.Bytes())
	g.begin()
	g.fill(lines)
	g.r.Render(g.buf)
	if err := g.r.Flush(); err != nil { // a bytes.Buffer takes everything
		panic(err)
	}
	g.out.Reset()
	g.out.Write(said)
	g.r.SetPosition(at.x, at.y)
	g.caret = at
}

// grow makes room for new lines above the last ones of the region, which stay: the
// box and what is around it move down as they are.
func (g *region) grow(lines []string) {
	old, more := len(g.rows), len(lines)-len(g.rows)
	if more <= 0 || g.unsure {
		return
	}
	last := 0
	for last < old && g.rows[old-1-last] == lines[len(lines)-1-last] {
		last++
	}
	if last < leastKept {
		return
	}
	g.out.WriteString("\r")
	if down := old - 1 - g.caret.y; down > 0 {
		g.out.WriteString(ansi.CursorDown(down))
	}
	// At the bottom of the screen this moves everything up, and else the cursor down.
	g.out.WriteString(strings.Repeat("\n", more))
	if up := more + last - 1; up > 0 {
		g.out.WriteString(ansi.CursorUp(up))
	}
	g.out.WriteString(ansi.InsertLine(more))
	at := old - last
	g.shows(slices.Insert(slices.Clone(g.rows), at, make([]string, more)...), caret{y: at, visible: g.caret.visible})
}

// give writes lines for good where the cursor is and begins a region below them.
func (g *region) give(lines []string) {
	for _, text := range lines {
		// One that was laid out for another width is wrapped and not cut.
		for part := range strings.SplitSeq(ansi.Hardwrap(text, g.width, true), "\n") {
			cells, _ := parseLine(part, g.width, uv.Style{}, g.wary)
			g.out.WriteString(strings.TrimRight(cells.Render(), " "))
			g.out.WriteString("\r\n")
			g.ours++
		}
	}
	g.ours = min(g.ours, g.height)
	g.begin()
}

// anew brings the terminal in line after a change of its size: what is on the screen
// is written again if all of it is ours and is to be had, and else the region alone.
func (g *region) anew(above Above) {
	if room := g.height - len(g.rows); above.Anew && g.ours >= room && len(above.Again) >= room {
		g.out.WriteString(ansi.CursorHomePosition + wipe(g.height))
		g.ours = 0
		g.begin()
		g.give(above.Again[max(len(above.Again)-g.height, 0):])
	} else {
		g.out.WriteString(g.rub())
		g.begin()
	}
	g.narrowed, g.stale = 0, false
	g.give(above.Lines)
}

// fill brings the cells of the region in line with its lines, and tells whether any
// changed.
func (g *region) fill(lines []string) (changed bool) {
	if changed = len(lines) != len(g.rows); changed || g.buf.Width() != g.width {
		g.buf.Resize(g.width, len(lines))
	}
	for y, text := range lines {
		if y < len(g.rows) && g.rows[y] == text {
			continue
		}
		cells, _ := parseLine(text, g.width, uv.Style{}, g.wary)
		copy(g.buf.Lines[y], cells)
		g.buf.TouchLine(0, y, g.width)
		changed = true
	}
	g.rows = slices.Clone(lines)
	return changed
}

// The modes of a session without the alternate screen. Margins stay as they are:
// setting them moves the cursor.
const (
	inlineModes = "\x1b[m\x1b[?7h" + cursorHide + reportModes
	inlineEnd   = syncEnd + "\x1b[m" + unreportModes + cursorShow
	altOn       = "\x1b[?1049h" + plain + "\x1b[H\x1b[2J" + cursorHide
	altOff      = "\x1b[?1049l"
)

// drawInline writes what is final and the region below it, coming back from the
// alternate screen if need be.
func (s *Screen) drawInline(above Above, view string, at caret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return nil
	}
	back := s.shut()
	if b := s.line.paint(above, view, at); len(back)+len(b) > 0 {
		return s.write(append([]byte(back), b...))
	}
	return nil
}

// shut is what leaves the alternate screen that a session without one opened for a
// while. The caller holds mu.
func (s *Screen) shut() string {
	if s.line == nil || !s.alt {
		return ""
	}
	s.alt = false
	s.line.caret.visible = true // whatever it was there
	back := plain[:len("\x1b[m")] + altOff + cursorShow
	if s.mouse != MouseOff {
		back = mouseOff + back
	}
	if s.keysOn != "" {
		back = "\x1b[<u" + back // each screen has a stack of its own
	}
	return back
}

// raise is what opens the alternate screen for a session without one. The caller
// holds mu.
func (s *Screen) raise() string {
	if s.line == nil || s.alt {
		return ""
	}
	s.alt = true
	s.paint.invalidate()
	return altOn + s.keysOn + s.mouseOn()
}

// modesOn and modesOff put the modes of the session in force and end them. The
// caller holds mu.
func (s *Screen) modesOn(keys string) string {
	if s.line == nil {
		return enterModes + keys + s.mouseOn()
	}
	s.alt = false
	s.line.invalidate()
	return inlineModes + keys
}

func (s *Screen) modesOff() string {
	keys := ""
	if s.keysOn != "" {
		keys = keysOff
	}
	switch {
	case s.line != nil:
		// The region goes; what stands above it is for whoever reads on.
		return s.shut() + s.line.rub() + keys + inlineEnd
	case s.mouse != MouseOff:
		return mouseOff + keys + leaveModes
	}
	return keys + leaveModes
}
