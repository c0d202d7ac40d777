package overlay

import (
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// prose is a sentence of our own, wrapped.
func prose(text string, width int) []string {
	lines := render.Wrap(text, max(width-2, 1))
	for i := range lines {
		lines[i] = " " + lines[i]
	}
	return lines
}

// told is text of any origin in a paint, wrapped to at most so many lines.
func told(text string, paint themes.Paint, width, most int) []string {
	lines, _ := widget.Lines(text, max(width-2, 1), most)
	for i := range lines {
		lines[i] = " " + paint.On(lines[i])
	}
	return lines
}
