package widget

import (
	"strings"

	"github.com/charmbracelet/bubbles/viewport"
	tea "github.com/charmbracelet/bubbletea"
)

// Pane is text that scrolls by lines: bubbles' viewport, for lines that are
// safe and wrapped already. It is a value like a Field, and the zero value is
// empty. The lines given to it must not be changed afterwards.
type Pane struct{ view viewport.Model }

// Show gives the pane its lines, of which height are on screen. It stays where
// it is scrolled to as far as there are lines.
func (p Pane) Show(lines []string, height int) Pane {
	at := p.view.YOffset
	// The viewport has no width, so that it neither cuts nor wraps again.
	p.view = viewport.New(0, max(height, 0))
	if len(lines) > 0 { // to the viewport an empty text is one line
		p.view.SetContent(strings.Join(lines, "\n"))
	}
	p.view.SetYOffset(at)
	return p
}

// Resize changes how many lines are on screen.
func (p Pane) Resize(height int) Pane {
	p.view.Height = max(height, 0) // a negative one panics
	return p.By(0)
}

// By scrolls down by n lines, or up if n is negative, and stops at the ends.
func (p Pane) By(n int) Pane {
	p.view.SetYOffset(p.view.YOffset + n)
	return p
}

// Wheel scrolls as the wheel of the mouse was turned.
func (p Pane) Wheel(m tea.MouseMsg) Pane {
	p.view, _ = p.view.Update(m) // there are commands for keys only
	return p
}

// Top is how many lines are above the screen, Rest how many below.
func (p Pane) Top() int { return p.view.YOffset }

// Rest is how many lines are below the screen.
func (p Pane) Rest() int { return max(p.Len()-p.view.YOffset-p.view.Height, 0) }

// Len is the number of all lines.
func (p Pane) Len() int { return p.view.TotalLineCount() }

// Lines are the lines on screen, filled up to its height with empty ones.
func (p Pane) Lines() []string {
	if p.view.Height <= 0 {
		return nil
	}
	lines := strings.Split(p.view.View(), "\n")
	for i := range lines { // it pads all to the width of the longest
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
