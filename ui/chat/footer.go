package chat

import (
	"slices"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// footer is the last line of keys as it was drawn last. Most frames have the same
// one, and to measure all keys again took a tenth of a frame.
type footer struct {
	bindings []render.Binding
	theme    *themes.Theme
	width    int
	line     string
}

// footer is the line of the keys that work now.
func (m Model) footer() string {
	f, now := &m.laid.foot, m.Bindings()
	if f.theme != m.deps.Theme || f.width != m.width || !slices.EqualFunc(f.bindings, now, same) {
		*f = footer{bindings: now, theme: m.deps.Theme, width: m.width, line: widget.Footer(now, m.deps.Theme, m.width)}
	}
	return f.line
}

// same reports whether two keys look the same in a footer.
func same(a, b render.Binding) bool {
	return a.Rank == b.Rank && (a.Off == "") == (b.Off == "") && a.Help == b.Help && a.Foot == b.Foot && slices.Equal(a.Keys, b.Keys)
}
