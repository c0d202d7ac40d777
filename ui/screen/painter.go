package screen

// Painter turns views into the bytes that make a terminal show them, as a Screen
// does, for whoever has no terminal, such as tests. It is not safe for
// concurrent use.
type Painter struct{ p *painter }

// NewPainter returns a painter for a cleared terminal of a size in cells. Sizes
// below one are one.
func NewPainter(width, height int) *Painter {
	return &Painter{newPainter("xterm-256color", width, height)}
}

// Resize takes on a new size; the next frame draws everything.
func (p *Painter) Resize(width, height int) { p.p.resize(width, height) }

// Paint returns the bytes that turn what is shown into view with the cursor at a
// cell, nothing if it is shown already.
func (p *Painter) Paint(view string, x, y int, visible bool) []byte {
	return append([]byte(nil), p.p.paint(view, caret{x, y, visible})...)
}
