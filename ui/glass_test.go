package ui_test

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"

	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// glass is a window on the painter of the program and a terminal in memory, which
// shows what was written.
type glass struct {
	*uitest.Driver
	t       *testing.T
	term    *vt.Emulator
	painter *screen.Painter
	size    [2]int
	written strings.Builder // all of it
	// inline leaves the alternate screen to what needs it.
	inline bool
}

// behindGlass shows a window of a size.
func behindGlass(t *testing.T, d *uitest.Driver, width, height int) *glass {
	t.Helper()
	g := &glass{Driver: d, t: t, term: vt.NewEmulator(width, height), painter: screen.NewPainter(width, height), size: [2]int{width, height}}
	g.show()
	return g
}

// resize changes the size of terminal and window.
func (g *glass) resize(width, height int) {
	g.t.Helper()
	g.size = [2]int{width, height}
	g.Resize(width, height)
	g.term.Resize(max(width, 1), max(height, 1))
	g.painter.Resize(width, height)
	g.show()
}

// show draws a frame.
func (g *glass) show() {
	g.t.Helper()
	g.Screen() // fails if the view does not fit
	m := g.Model()
	if g.inline {
		g.flow(m)
		return
	}
	x, y, on := 0, 0, false
	if c, ok := m.(screen.Cursorer); ok {
		x, y, on = c.Cursor()
	}
	b := g.painter.Paint(m.View(), x, y, on)
	g.written.Write(b)
	if _, err := g.term.Write(b); err != nil {
		g.t.Fatal(err)
	}
}

// flow draws a frame below what the terminal has. What opens and ends the alternate
// screen is left out of what is written.
func (g *glass) flow(m tea.Model) {
	g.t.Helper()
	b := g.painter.Draw(m)
	if _, err := g.term.Write(b); err != nil {
		g.t.Fatal(err)
	}
	s := strings.TrimPrefix(string(b), "\x1b[?1049l")
	if in, ok := strings.CutPrefix(s, "\x1b[?1049h"); ok {
		_, s, _ = strings.Cut(in, "\x1b[2J")
	}
	g.written.WriteString(s)
}

// differs says where the terminal is not what a fresh one of its size shows.
func (g *glass) differs() string {
	g.t.Helper()
	if g.inline { // what stands above is not to be drawn again
		return ""
	}
	w, h := max(g.size[0], 1), max(g.size[1], 1)
	fresh := vt.NewEmulator(w, h)
	x, y, on := g.Model().(screen.Cursorer).Cursor()
	if _, err := fresh.Write(screen.NewPainter(w, h).Paint(g.Model().View(), x, y, on)); err != nil {
		g.t.Fatal(err)
	}
	for y := range h {
		for x := range w {
			got, want := g.term.CellAt(x, y), fresh.CellAt(x, y)
			if !sameCell(got, want) {
				return fmt.Sprintf("cell %d,%d of %dx%d is %q %+v, fresh it is %q %+v\n%s\nfresh:\n%s",
					x, y, w, h, got.Content, got.Style, want.Content, want.Style, g.term.String(), fresh.String())
			}
		}
	}
	if on && g.term.CursorPosition() != fresh.CursorPosition() {
		return fmt.Sprintf("the cursor of %dx%d is at %v, fresh at %v", w, h, g.term.CursorPosition(), fresh.CursorPosition())
	}
	return ""
}

// sameCell compares what is seen of two cells: a blank has a background at most.
func sameCell(a, b *uv.Cell) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Content != b.Content {
		return false
	}
	if strings.TrimSpace(a.Content) == "" && a.Style.Attrs&uv.AttrReverse == b.Style.Attrs&uv.AttrReverse && a.Style.Underline == b.Style.Underline {
		return a.Style.Bg == b.Style.Bg
	}
	return a.Style.Equal(&b.Style)
}
