// Package overlay has what is drawn over a screen: the help made from the live
// key table, and a list of choices such as what to do with an unfinished run.
// The one thing to know: an overlay does not know what lies under it. It draws
// itself into the size it is given, and Place lays that over a view.
package overlay

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cairn/themes"
	"cairn/ui/render"
)

// Intent is what the root is to do; nil means nothing. It is one of Closed and
// Chosen.
type Intent interface{ intent() }

type (
	// Closed asks to take the overlay away without a choice.
	Closed struct{}
	// Chosen says which choice was made, by the ID of its item.
	Chosen struct{ ID string }
)

func (Closed) intent() {}
func (Chosen) intent() {}

// Place lays a box over a view with its top left cell at column x and row y.
// Each line of the box covers width cells. What lies beside the box keeps its
// place, and what would be outside the view is left out.
func Place(view, box string, x, y, width int) string {
	lines := strings.Split(view, "\n")
	for i, over := range strings.Split(box, "\n") {
		if row := y + i; row >= 0 && row < len(lines) && width > 0 {
			lines[row] = lay(lines[row], over, max(x, 0), width)
		}
	}
	return strings.Join(lines, "\n")
}

// lay covers the cells x to x+width of a line. A wide character of which only
// one half is covered becomes a space.
func lay(line, over string, x, width int) string {
	total := render.Width(line)
	left := render.Pad(ansi.Truncate(line, x, ""), x)
	out := left + themes.Reset + render.Pad(render.Truncate(over, width, ""), width)
	rest := total - x - width
	if rest <= 0 {
		return out
	}
	right := ansi.TruncateLeft(line, x+width, "")
	if render.Width(right) > rest {
		right = ansi.TruncateLeft(line, x+width+1, "")
	}
	if n := rest - render.Width(right); n > 0 {
		right = strings.Repeat(" ", n) + right
	}
	return out + themes.Reset + right
}
