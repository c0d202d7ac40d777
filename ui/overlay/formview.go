package overlay

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// formTextMax bounds the lines of a question, formURLMax those of an address.
const (
	formTextMax = 200
	formURLMax  = 100
)

// formLines is the body of a form: its lines, and where the cursor's place is.
type formLines struct {
	lines []string
	// from and to are the lines that belong to the place of the cursor, x is the
	// column of the caret in the line to-1, -1 for none. end is where what is said of
	// it ends.
	from, to, end, x int
}

// room is how many lines of the body are seen.
func (f Form) room() int {
	switch {
	case f.height < 4:
		return max(f.height-1, 1)
	case f.height < roomyFrom:
		return max(f.height-3, 1)
	}
	return f.height - 5
}

// read scrolls what is shown.
func (f Form) read(by int) Form {
	f.led = false
	f.top = max(min(f.top+by, len(f.body(f.width).lines)-f.room()), 0)
	return f
}

// look remembers what of the form is shown, and how much of it was.
func (f Form) look() Form {
	if f.width > 0 && f.height > 0 {
		b, room := f.body(f.width), f.room()
		f.top = f.first(b, room)
		f.seen = max(f.seen, f.top+room)
		f.whole = f.whole || f.seen >= len(b.lines)
	}
	return f
}

// unread reports whether something of the form was never shown.
func (f Form) unread() bool {
	return f.width > 0 && f.height > 0 && !f.whole
}

// below is how many lines there are below those that are shown.
func (f Form) below() int {
	b, room := f.body(f.width), f.room()
	return max(len(b.lines)-f.first(b, room)-room, 0)
}

// follow shows the place of the cursor.
func (f Form) follow() Form {
	f.led = true
	return f
}

// first is the first line shown.
func (f Form) first(b formLines, room int) int {
	top := max(min(f.top, len(b.lines)-room), 0)
	if !f.led {
		return top
	}
	top = widget.Scroll(top, b.end-1, len(b.lines), room)
	top = widget.Scroll(top, b.from, len(b.lines), room)
	return widget.Scroll(top, b.to-1, len(b.lines), room)
}

// body lays out the question and the fields.
func (f Form) body(width int) formLines {
	t := f.c.Theme
	b := formLines{x: -1}
	if t == nil || width <= 0 {
		return b
	}
	if f.c.Text != "" {
		b.lines = append(b.lines, told(f.c.Text, t.Paints.Text, width, formTextMax)...)
		b.lines = append(b.lines, "")
	}
	if f.c.URL != "" {
		b.lines = append(b.lines, told("The server "+f.c.From+" asks you to visit an "+address(f.c.URL)+":", t.Paints.Muted, width, 4)...)
		b.lines = append(b.lines, f.address(width)...)
		b.lines = append(b.lines, "")
		if strings.ContainsFunc(f.c.URL, func(r rune) bool { return r >= utf8.RuneSelf }) {
			b.lines = append(b.lines, told("It has letters that only look like others: it may not lead where it seems to.", t.Paints.Warning, width, 4)...)
		}
		b.lines = append(b.lines, told("Nothing is opened by itself. Look at where it leads before you agree.", t.Paints.Muted, width, 4)...)
	}
	if len(f.fields) == 0 && f.c.URL == "" {
		b.lines = append(b.lines, told("Nothing is to be filled in: it asks whether you agree.", t.Paints.Muted, width, 4)...)
	}
	for i := range f.fields {
		b = f.field(b, i, width)
	}
	if rest := len(f.c.Fields) - len(f.fields); rest > 0 {
		are := " are"
		if rest == 1 {
			are = " is"
		}
		b.lines = append(b.lines, told(harness.Count(rest, "more field")+are+" not shown and cannot be sent.", t.Paints.Warning, width, 2)...)
	}
	return b
}

// address is the address that the person is to visit, whole.
func (f Form) address(width int) []string {
	t, room := f.c.Theme, max(width-4, 1)
	head := widget.Head(f.c.URL, 2*formURLMax*room)
	rows := render.HardWrap(render.SafeLine(head), room)
	shown := rows[:min(len(rows), formURLMax)]
	lines := make([]string, 0, len(shown)+1)
	for _, row := range shown {
		lines = append(lines, "   "+t.Paints.Strong.On(row))
	}
	if len(shown) < len(rows) || len(head) < len(f.c.URL) {
		lines = append(lines, told(fmt.Sprintf("It has %d bytes, and more than is shown here.", len(f.c.URL)), t.Paints.Warning, width, 2)...)
	}
	return lines
}

// field lays out one field.
func (f Form) field(b formLines, i, width int) formLines {
	t, x := f.c.Theme, f.fields[i]
	at := spot{-1, -1}
	if f.at < len(f.spots) {
		at = f.spots[f.at]
	}
	sign := "  "
	if at.field == i {
		sign = t.Paints.Accent.On(">") + " "
		b.from = len(b.lines)
	}
	label := t.Paints.Strong.On(widget.OneLine(x.title(), min(formNameMax, max(width-14, 4)), t.Ornaments.Ellipsis))
	if x.is.Required {
		label += t.Paints.Warning.On(" (required)")
	}
	if hint := x.hint(); hint != "" && render.Width(label)+render.Width(hint)+5 <= width {
		label += t.Paints.Muted.On("  " + hint)
	}
	b.lines = append(b.lines, render.Truncate(sign+label, width, t.Ornaments.Ellipsis))
	if x.is.Help != "" {
		for _, l := range told(x.is.Help, t.Paints.Muted, width-1, 3) {
			b.lines = append(b.lines, " "+l)
		}
	}
	if !x.chooses() {
		row, col, _ := x.text.Draw(max(width-5, 1), 1)
		b.lines = append(b.lines, "  "+t.Paints.Border.On(t.Ornaments.Bar)+" "+row[0])
		if at.field == i {
			b.x, b.to = 4+col, len(b.lines)
		}
	}
	for n, c := range x.is.Choices {
		b = f.choice(b, x, n, c, at == spot{i, n}, width)
	}
	if x.wrong != "" {
		for _, l := range told(x.wrong, t.Paints.Error, width-1, 2) {
			b.lines = append(b.lines, " "+l)
		}
	}
	if b.to > 0 && at.field == i {
		if b.end = b.to; x.wrong != "" {
			b.end = len(b.lines)
		}
	}
	return b
}

// choice lays out one choice of a field.
func (f Form) choice(b formLines, x formField, n int, c harness.FieldChoiceOf, at bool, width int) formLines {
	t := f.c.Theme
	// Of one choice the signs are round, of several they are ticked.
	sign := map[bool]string{true: "(*)", false: "( )"}[x.on[n]]
	if x.is.Kind == harness.FieldChoices {
		sign = map[bool]string{true: t.Ornaments.Ticked, false: t.Ornaments.Todo}[x.on[n]]
	}
	title := c.Title
	if strings.TrimSpace(title) == "" {
		title = c.Value
	}
	line := "   " + sign + " " + widget.OneLine(title, max(width-8, 1), t.Ornaments.Ellipsis)
	if at {
		line = t.Paints.Selected.On(render.Pad(" > "+strings.TrimPrefix(line, "   "), max(width-1, 1)))
		b.from, b.to = len(b.lines), len(b.lines)+1
	}
	b.lines = append(b.lines, line)
	return b
}

// View draws the overlay: exactly height lines, none wider than width.
func (f Form) View(width, height int) string {
	if width <= 0 || height <= 0 || f.c.Theme == nil {
		return widget.Frame(nil, width, height)
	}
	t := f.c.Theme
	f.width, f.height = width, height
	room := f.room()
	b := f.body(width)
	top := f.first(b, room)
	shown := make([]string, room)
	copy(shown, b.lines[min(top, len(b.lines)):min(top+room, len(b.lines))])
	right := ""
	if below := len(b.lines) - top - room; below > 0 {
		right = t.Paints.Accent.On(t.Ornaments.Down+" "+harness.Count(below, "line")) + " "
	} else if top > 0 {
		right = t.Paints.Muted.On(t.Ornaments.Up+" "+strconv.Itoa(top)) + " "
	}
	title := widget.OneLine(f.c.Title, max(width-render.Width(right)-2, 1), t.Ornaments.Ellipsis)
	head := render.Fit(" "+t.Paints.Title.On(title), right, width, t.Ornaments.Ellipsis)
	foot := widget.Footer(f.Bindings(), t, width)
	note := widget.Notice(t, f.notice, f.failing, width)
	if f.asleep {
		foot, note = " "+t.Paints.Muted.On(widget.OneLine("it takes keys once you stop typing; they go where they went", width-2, t.Ornaments.Ellipsis)), ""
	}
	switch {
	case height < 4:
		return widget.Frame(append(shown, foot), width, height)
	case height < roomyFrom:
		return widget.Frame(append(append([]string{head}, shown...), note, foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, shown...), rule, foot, note), width, height)
}

// Cursor is where something is typed.
func (f Form) Cursor() (x, y int, visible bool) {
	if f.asleep || !f.types() || f.c.Theme == nil || f.height < 4 {
		return 0, 0, false
	}
	room := f.room()
	b := f.body(f.width)
	y = b.to - 1 - f.first(b, room)
	if b.x < 0 || y < 0 || y >= room {
		return 0, 0, false
	}
	if y++; f.height >= roomyFrom {
		y++
	}
	return min(b.x, f.width-1), y, true
}
