package overlay

import (
	"fmt"
	"strings"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// choosePrompt stands before what is typed in a list that filters.
const choosePrompt = " > "

// chooseRoom is how many rows of such a list are on screen: beside them there are
// the head, the field, a line below and the foot, on a high screen also rules.
func chooseRoom(height int) int {
	switch {
	case height < 5:
		return max(height-2, 0)
	case height < roomyFrom:
		return height - 4
	default:
		return height - 6
	}
}

// chooseView is the screen of such a list: exactly height lines.
func chooseView(t *themes.Theme, head, field string, rows []string, below, foot string, width, height int) string {
	room := chooseRoom(height)
	for len(rows) < room {
		rows = append(rows, "")
	}
	rows = rows[:min(len(rows), max(room, 0))]
	var out []string
	switch rule := widget.Rule(t, width); {
	case height < 3:
		out = append(out, field)
	case height < 5:
		out = append(append(append(out, field), rows...), foot)
	case height < roomyFrom:
		out = append(append(append(out, head, field), rows...), below, foot)
	default:
		out = append(append(append(out, head, rule, field), rows...), below, rule, foot)
	}
	return widget.Frame(out, width, height)
}

// chooseField is the line that is typed in.
func chooseField(t *themes.Theme, f widget.Field, hint string, width int) string {
	if f.Empty() {
		return render.Truncate(t.Paints.Accent.On(choosePrompt)+t.Paints.Placeholder.On(hint), width, "")
	}
	text, _, _ := f.Draw(max(width-len(choosePrompt)-1, 1), 1)
	return t.Paints.Accent.On(choosePrompt) + strings.Join(text, "")
}

// chooseCursor is the cell of the caret in that line.
func chooseCursor(f widget.Field, width, height int) (x, y int, visible bool) {
	if width < len(choosePrompt)+2 || height < 1 {
		return 0, 0, false
	}
	_, x, _ = f.Draw(max(width-len(choosePrompt)-1, 1), 1)
	switch {
	case height < 5:
		y = 0
	case height < roomyFrom:
		y = 1
	default:
		y = 2
	}
	return len(choosePrompt) + x, y, true
}

// room is how many items are on screen.
func (p Palette) room() int { return chooseRoom(p.height) }

// Cursor implements [Layer].
func (p Palette) Cursor() (x, y int, visible bool) {
	return chooseCursor(p.list.field, p.width, p.height)
}

// View draws the palette: exactly height lines, none wider than width.
func (p Palette) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	t := p.c.Theme
	p.width, p.height = width, height
	p.list = p.list.by(0, len(p.hits()), p.room())
	return chooseView(t, p.header(width), chooseField(t, p.list.field, "what do you want to do?", width), p.rows(width), p.below(width),
		widget.Footer(p.Bindings(), t, width), width, height)
}

func (p Palette) header(width int) string {
	t := p.c.Theme
	left := " " + t.Paints.Title.On("Palette") + t.Paints.Muted.On(" "+t.Ornaments.Dot+" "+widget.OneLine(p.c.Title, 20, t.Ornaments.Ellipsis))
	if p.group < len(p.groups) {
		left += t.Paints.Muted.On(" " + t.Ornaments.Dot + " " + p.c.Groups[p.group].Name)
	}
	right := "type to filter"
	if n := len(p.hits()); n > 0 {
		right = fmt.Sprintf("%d of %d", p.list.at+1, n)
	}
	return render.Fit(left, t.Paints.Muted.On(right)+" ", width, t.Ornaments.Ellipsis)
}

// rows are the items on screen, or why there are none.
func (p Palette) rows(width int) []string {
	t := p.c.Theme
	if len(p.hits()) == 0 {
		text, paint := "Nothing here is called that.", t.Paints.Muted
		if p.group < len(p.groups) {
			switch g := p.groups[p.group]; {
			case g.failed != nil:
				text, paint = p.c.Words(g.failed), t.Paints.Error
			case g.loads:
				text = "reading" + t.Ornaments.Ellipsis
			case p.list.field.Empty():
				text = "There are no " + p.c.Groups[p.group].Name + "."
			}
		}
		return told(text, paint, width, max(p.room(), 1))
	}
	var out []string
	for n := p.list.top; n < len(p.hits()) && len(out) < p.room(); n++ {
		out = append(out, p.row(n, width))
	}
	return out
}

func (p Palette) row(n, width int) string {
	t := p.c.Theme
	it := p.groups[p.group].items[p.hits()[n]]
	mark, ground := "   ", themes.Paint("")
	if n == p.list.at {
		mark, ground = " > ", t.Paints.Selected
	}
	right := render.Truncate(render.SafeLine(it.Right), max(width/2, 0), t.Ornaments.Ellipsis)
	room := max(width-len(mark)-render.Width(right)-2, 1)
	name := widget.OneLine(it.Name, room, t.Ornaments.Ellipsis)
	line := painted(name, spansOf(name, p.list.words()), ground, t.Paints.Match)
	if rest := room - render.Width(name); it.Off != "" && rest > 6 {
		off := widget.OneLine(" ("+it.Off+")", rest, t.Ornaments.Ellipsis)
		if n == p.list.at {
			line += " " + off
		} else {
			line = t.Paints.Disabled.On(name) + " " + t.Paints.Disabled.On(off)
		}
	}
	if n != p.list.at {
		right = t.Paints.Key.On(right)
	}
	return ground.On(render.Fit(mark+line, right+" ", width, t.Ornaments.Ellipsis))
}

// below says why nothing was done, or in which other groups something is found.
func (p Palette) below(width int) string {
	t := p.c.Theme
	if p.notice != "" {
		return widget.Notice(t, p.notice, false, width)
	}
	var parts []string
	for i, g := range p.groups {
		if i == p.group {
			continue
		}
		count := fmt.Sprint(len(g.hits))
		if g.loads {
			count = t.Ornaments.Ellipsis
		}
		parts = append(parts, p.c.Groups[i].Name+" "+count)
	}
	if len(parts) == 0 {
		return ""
	}
	word := "also: "
	if !p.list.field.Empty() {
		word = "also matches: "
	}
	list := strings.Join(parts, " "+t.Ornaments.Dot+" ")
	if render.Width(word+list)+2 > width {
		word = ""
	}
	return " " + t.Paints.Muted.On(widget.OneLine(word+list, max(width-2, 0), t.Ornaments.Ellipsis))
}
