package screen

import tea "github.com/charmbracelet/bubbletea"

// Painter turns views into the bytes that make a terminal show them, as a Screen
// does, for whoever has no terminal, such as tests. It is not safe for
// concurrent use.
type Painter struct {
	p    *painter
	line *region
	alt  bool
}

// NewPainter returns a painter for a cleared terminal of a size in cells. Sizes
// below one are one.
func NewPainter(width, height int) *Painter {
	const kind = "xterm-256color"
	return &Painter{p: newPainter(kind, width, height), line: newRegion(kind, width, height)}
}

// Resize takes on a new size; the next frame draws everything.
func (p *Painter) Resize(width, height int) {
	p.p.resize(width, height)
	p.line.resize(width, height)
}

// Paint returns the bytes that turn what is shown into view with the cursor at a
// cell, nothing if it is shown already.
func (p *Painter) Paint(view string, x, y int, visible bool) []byte {
	return append([]byte(nil), p.p.paint(view, caret{x, y, visible})...)
}

// Draw returns the bytes of a frame of m, below what the terminal shows if m is an
// [Inliner] that says so, and else on its alternate screen.
func (p *Painter) Draw(m tea.Model) []byte {
	var above Above
	inline := false
	if i, ok := m.(Inliner); ok {
		above, inline = i.Inline()
	}
	var at caret
	view := m.View()
	if c, ok := m.(Cursorer); ok {
		at.x, at.y, at.visible = c.Cursor()
	}
	var out []byte
	switch {
	case inline && p.alt:
		out = append(out, altOff...)
	case !inline && !p.alt:
		out = append(out, altOn...)
		p.p.invalidate()
	}
	if p.alt = !inline; inline {
		return append(out, p.line.paint(above, view, at)...)
	}
	return append(out, p.p.paint(view, at)...)
}
