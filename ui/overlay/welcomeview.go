package overlay

import (
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// welcomeColumn is the width of the names before what is found.
	welcomeColumn = 10
	// wideWelcome is the width from which the names have a column of their own.
	wideWelcome = 30
)

// View draws the welcome: exactly height lines, none wider than width.
func (w Welcome) View(width, height int) string {
	if width <= 0 || height <= 0 || w.c.Theme == nil {
		return widget.Frame(nil, width, height)
	}
	t := w.c.Theme
	shown := w.laid(width, height).Lines()
	if height < 3 {
		return widget.Frame(shown, width, height)
	}
	head := " " + t.Paints.Title.On("Welcome to cairn")
	foot := widget.Footer(w.Bindings(), t, width)
	if rest := "or just type"; render.Width(foot)+render.Width(rest)+4 <= width {
		foot += "  " + t.Paints.Muted.On(rest)
	}
	if height < roomyFrom {
		return widget.Frame(append(append([]string{head}, shown...), foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, shown...), rule, foot), width, height)
}

// laid is the body as it scrolls in a size.
func (w Welcome) laid(width, height int) widget.Pane {
	return w.pane.Show(w.body(width, height), usageRoom(height))
}

// body is all there is to say. What matters most comes first: a low screen shows
// the rest by scrolling.
func (w Welcome) body(width, height int) []string {
	t := w.c.Theme
	if t == nil || width <= 0 {
		return nil
	}
	roomy := height >= roomyFrom
	var lines []string
	gap := func() {
		if roomy {
			lines = append(lines, "")
		}
	}
	if roomy {
		lines = append(lines, prose("A chat with a language-model agent in which nothing is lost.", width)...)
		gap()
	}
	wait := []string{"looking" + t.Ornaments.Ellipsis}
	for _, row := range []struct {
		name  string
		shown bool
		words []string
	}{{"Model", w.c.Model != nil, w.model}, {"Keys", w.c.Keys != nil, w.keys}, {"Local", w.c.Servers != nil, w.servers}} {
		words := row.words
		if words == nil {
			words = wait
		}
		if row.shown {
			lines = append(lines, w.row(row.name, words, width)...)
		}
	}
	gap()
	for _, p := range w.c.Places {
		words := []string{p.Path}
		if joined := p.Path + ": " + p.Holds; p.Holds != "" && render.Width(joined) < width-welcomeColumn-2 {
			words = []string{joined}
		} else if p.Holds != "" && roomy {
			words = append(words, p.Holds)
		}
		lines = append(lines, w.row(p.What, words, width)...)
	}
	gap()
	return append(lines, prose("Nothing is sent anywhere but to the model you chat with. F1 shows the keys, /doctor checks the set-up.", width)...)
}

// row is a name with what is found; of several words the first is the thing and
// the others are about it.
func (w Welcome) row(name string, words []string, width int) []string {
	t, indent := w.c.Theme, welcomeColumn+1
	if width < wideWelcome {
		indent = 2
	}
	var lines []string
	for i, text := range words {
		paint := t.Paints.Strong
		if i > 0 || name != "Model" {
			paint = t.Paints.Text
		}
		if i > 0 {
			paint = t.Paints.Muted
		}
		for _, l := range render.Wrap(render.SafeLine(text), max(width-indent-1, 1)) {
			lines = append(lines, strings.Repeat(" ", indent)+paint.On(l))
		}
	}
	label := " " + t.Paints.Muted.On(name)
	if indent <= 2 {
		return append([]string{label}, lines...)
	}
	lines[0] = label + strings.Repeat(" ", max(indent-1-render.Width(name), 1)) + strings.TrimLeft(lines[0], " ")
	return lines
}
