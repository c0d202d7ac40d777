package overlay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// maxWindowBar is the most cells that the bar of the window needs.
	maxWindowBar = 100
	// kindWidth is the column of the names of kinds, and factWidth that of what
	// is told below.
	kindWidth = len("recalled, day, place") + 1
	factWidth = len("condensed") + 1
	// partBarFrom is the width from which each kind has a bar of its own.
	partBarFrom = 72
	// maxPinned is how much is told of a pinned message, in bytes.
	maxPinned = 120
	// freeMark is free room in the bar, which has no letter.
	freeMark = "."
)

// kind is one kind of what fills the window.
type kind struct {
	mark, name string
	tokens     int
	paint      themes.Paint
}

// kinds are all kinds in the order of the bar.
func (p Picture) kinds(t *themes.Theme) []kind {
	o := t.Paints
	return []kind{
		{"s", "system prompt", p.System, o.Heading},
		{"t", "tools", p.Tools, o.Link},
		{"r", "recalled, day, place", p.Recalled, o.Success},
		{"n", "note of condensed", p.Note, o.Warning},
		{"p", "pinned", p.Pinned, o.Key},
		{"y", "yours", p.Yours, o.User},
		{"a", "answers", p.Answers, o.Assistant},
		{"x", "tool results", p.Results, o.Code},
		{"f", "files", p.Files, o.Quote},
		{freeMark, "free", p.Free(), o.Muted},
		{"=", "kept for the reply", p.Reply, o.Muted},
	}
}

// laid is the body as it scrolls in a size.
func (c Context) laid(width, height int) widget.Pane {
	return c.pane.Show(c.body(width), usageRoom(height))
}

// View draws the overlay: exactly height lines, none wider than width.
func (c Context) View(width, height int) string {
	if width <= 0 || height <= 0 || c.c.Theme == nil {
		return widget.Frame(nil, width, height)
	}
	t := c.c.Theme
	shown := c.laid(width, height).Lines()
	head, foot := c.header(width), widget.Footer(c.Bindings(), t, width)
	switch {
	case height < 3:
		return widget.Frame(shown, width, height)
	case height < roomyFrom:
		return widget.Frame(append(append([]string{head}, shown...), foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, shown...), rule, foot), width, height)
}

func (c Context) header(width int) string {
	t, p := c.c.Theme, c.c.Picture
	sum := harness.Grouped(p.Used())
	switch {
	case p.Window <= 0:
		sum += " tokens"
	case width < partBarFrom:
		sum += ", " + percent(p.Used(), p.Window)
	default:
		sum += " of " + harness.Grouped(p.Window) + " tokens, " + percent(p.Used(), p.Window)
	}
	left := " " + t.Paints.Title.On("Context")
	if p.Model != "" {
		left += t.Paints.Muted.On(" " + t.Ornaments.Dot + " " + widget.OneLine(p.Model, width, t.Ornaments.Ellipsis))
	}
	return render.Fit(left, t.Paints.Muted.On(sum)+" ", width, t.Ornaments.Ellipsis)
}

// body is all that scrolls.
func (c Context) body(width int) []string {
	if width <= 0 || c.c.Theme == nil {
		return nil
	}
	out := c.bar(width)
	out = append(append(out, c.table(width)...), "")
	for _, f := range c.facts() {
		out = append(out, c.fact(f[0], f[1], width)...)
	}
	if len(c.c.Lines) > 0 {
		out = append(out, "")
	}
	for _, l := range c.c.Lines {
		const most = 4
		out = append(out, told(l, c.c.Theme.Paints.Muted, width, most)...)
	}
	return out
}

// bar is the window as a line of letters, one for each kind, with the place at
// which it is condensed below. What is not nothing has a cell.
func (c Context) bar(width int) []string {
	t, p := c.c.Theme, c.c.Picture
	room := min(width-4, maxWindowBar)
	if p.Window <= 0 || room < minBar {
		return nil
	}
	var b strings.Builder
	upTo, drawn := 0, 0
	for _, k := range p.kinds(t) {
		upTo += k.tokens
		end := min(int(int64(upTo)*int64(room)/int64(p.Window)), room)
		if k.tokens > 0 {
			end = min(max(end, drawn+1), room)
		}
		n := max(end-drawn, 0)
		b.WriteString(k.paint.On(strings.Repeat(k.mark, n)))
		drawn += n
	}
	b.WriteString(strings.Repeat(freeMark, room-drawn))
	out := []string{" [" + b.String() + "]"}
	if p.Trigger > 0 && p.Trigger <= p.Window {
		at := min(int(int64(p.Trigger)*int64(room)/int64(p.Window)), room-1)
		words := "condensed from here on"
		line := strings.Repeat(" ", at+2) + t.Ornaments.Up
		if right := line + " " + words; render.Width(right) <= width-1 {
			line = right
		} else if at+1 > render.Width(words) {
			line = strings.Repeat(" ", at+1-render.Width(words)) + words + " " + t.Ornaments.Up
		}
		out = append(out, t.Paints.Muted.On(line))
	}
	return append(out, "")
}

// table has a line for each kind that is there.
func (c Context) table(width int) []string {
	t, p := c.c.Theme, c.c.Picture
	whole, largest := p.Window, 1
	if whole <= 0 {
		whole = p.Used() + p.Reply
	}
	for _, k := range p.kinds(t) {
		largest = max(largest, k.tokens)
	}
	var out []string
	for _, k := range p.kinds(t) {
		if k.tokens == 0 && (k.mark != freeMark || p.Window <= 0) {
			continue
		}
		line := fmt.Sprintf(" %s %s %9s %4s", k.paint.On(k.mark), render.Pad(k.name, kindWidth), harness.Grouped(k.tokens), percent(k.tokens, whole))
		if width >= partBarFrom {
			room := min(width-render.Width(line)-3, maxBar)
			line += "  " + k.paint.On(strings.Repeat(t.Ornaments.Full, cells(float64(k.tokens), float64(largest), room)))
		}
		out = append(out, render.Truncate(line, width, ""))
	}
	return out
}

// facts are what is told in words: a name and what there is to say.
func (c Context) facts() [][2]string {
	p, dot := c.c.Picture, " "+c.c.Theme.Ornaments.Dot+" "
	window := "not known"
	if p.Window > 0 {
		window = harness.Grouped(p.Window) + " tokens"
		if p.From != "" {
			window += ", " + fromWords(p.From)
		}
	}
	facts := [][2]string{{"window", window}}
	if p.Trigger > 0 {
		words := "old messages are condensed from " + harness.Grouped(p.Trigger) + " tokens on"
		if left := p.Trigger - p.Used(); left > 0 {
			words += ", " + harness.Grouped(left) + " from now"
		} else {
			words += ", which is reached"
		}
		facts = append(facts, [2]string{"condenses", words})
	}
	messages := harness.Count(p.In, "message") + " in context"
	for _, n := range []struct {
		n    int
		what string
	}{{p.Condensed, "condensed"}, {p.Dropped, "left out, as the window is full"}} {
		if n.n > 0 {
			messages += dot + harness.Grouped(n.n) + " " + n.what
		}
	}
	if p.Cleared > 0 {
		messages += dot + harness.Count(p.Cleared, "tool result") + " left out"
	}
	facts = append(facts, [2]string{"messages", messages})
	if l := p.Last; l != nil {
		words := c.when(p.At)
		if l.Note != "" {
			words += fmt.Sprintf("%s as a note of %s characters", harness.Count(l.Messages, "message"), harness.Grouped(utf8.RuneCountInString(l.Note)))
		} else {
			words += harness.Count(l.Cleared, "tool result") + " left out"
		}
		if l.Model != "" {
			words += " by " + l.Model
		}
		if l.Focus != "" {
			words += dot + "to keep: " + l.Focus
		}
		facts = append(facts, [2]string{"condensed", words})
	}
	name := "pinned"
	for _, pin := range p.Pins {
		number := "message " + strconv.Itoa(pin.Message)
		if pin.In != "" {
			number += " of " + string(pin.In)
		}
		facts, name = append(facts, [2]string{name, number + ": " + widget.Head(pin.Text, maxPinned)}), ""
	}
	return facts
}

// fromWords say where a limit is known from.
func fromWords(from string) string {
	switch from {
	case "known":
		return "as the catalogue has it"
	case "configured":
		return "as configured"
	case "learned":
		return "learned from a refusal"
	case "assumed":
		return "assumed, as it is not known"
	}
	return from
}

// when is a time with what follows it set off.
func (c Context) when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	at = at.In(c.c.Now.Location())
	if at.Format(time.DateOnly) == c.c.Now.Format(time.DateOnly) {
		return at.Format("15:04") + ": "
	}
	return at.Format("2 Jan 15:04") + ": "
}

// fact is one fact, wrapped beside its name. It may hold foreign text.
func (c Context) fact(name, words string, width int) []string {
	const most = 3
	lines, more := widget.Lines(strings.Join(strings.Fields(words), " "), max(width-2-factWidth, 1), most)
	if more {
		lines[len(lines)-1] = render.Truncate(lines[len(lines)-1], max(width-3-factWidth, 1), "") + c.c.Theme.Ornaments.Ellipsis
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + c.c.Theme.Paints.Muted.On(name) + strings.Repeat(" ", max(factWidth-render.Width(name), 0)) + l
		name = ""
	}
	return out
}

// percent is what part a number of tokens is of the whole.
func percent(tokens, whole int) string {
	switch n := int64(tokens) * 100 / int64(max(whole, 1)); {
	case n == 0 && tokens > 0:
		return "<1%"
	default:
		return strconv.FormatInt(n, 10) + "%"
	}
}

// Lines are the picture in words, a line each, for where nothing is drawn.
// Foreign text in them is safe to print.
func (p Picture) Lines(t *themes.Theme, now time.Time) []string {
	var out []string
	add := func(words string) { out = append(out, render.SafeLine(words)) }
	whole := p.Window
	if whole <= 0 {
		whole = p.Used() + p.Reply
	}
	for _, k := range p.kinds(t) {
		if k.tokens > 0 {
			add(fmt.Sprintf("%s: %s tokens, %s", k.name, harness.Grouped(k.tokens), percent(k.tokens, whole)))
		}
	}
	name := ""
	for _, f := range NewContext(ContextConfig{Picture: p, Theme: t, Now: now}).facts() {
		if f[0] != "" {
			name = f[0]
		}
		add(name + ": " + f[1])
	}
	return out
}
