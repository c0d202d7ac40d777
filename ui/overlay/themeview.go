package overlay

import (
	"strings"

	"github.com/alecthomas/chroma/v2"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// sampleFrom is the width from which the sample stands beside the list, and
// namesWidth what the list takes then.
const sampleFrom, namesWidth = 64, 24

// View draws the overlay: exactly height lines, none wider than width.
func (l Themes) View(width, height int) string {
	if width <= 0 || height <= 0 || l.c.Theme == nil {
		return widget.Frame(nil, width, height)
	}
	t := l.c.Theme
	room := usageRoom(height)
	if height < 3 {
		return widget.Frame(l.list(width, room), width, height)
	}
	head, foot := l.header(width), widget.Footer(l.Bindings(), t, width)
	about := l.about(width, room)
	body := append(l.body(width, room-len(about)), about...)
	if height < roomyFrom {
		return widget.Frame(append(append([]string{head}, body...), foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, body...), rule, foot), width, height)
}

func (l Themes) header(width int) string {
	t := l.c.Theme
	left, right := " "+t.Paints.Title.On("Theme"), "dark background"
	if !t.Dark {
		right = "light background"
	}
	if len(l.all) > 0 {
		left += t.Paints.Muted.On(" " + t.Ornaments.Dot + " " + widget.OneLine(l.all[l.at].Name, 40, t.Ornaments.Ellipsis))
	}
	return render.Fit(left, t.Paints.Muted.On("for a "+right)+" ", width, t.Ornaments.Ellipsis)
}

// body is the list with the sample beside or below it, exactly room lines.
func (l Themes) body(width, room int) []string {
	var out []string
	switch {
	case !l.read:
	case len(l.all) == 0:
		out = []string{" " + l.c.Theme.Paints.Muted.On("There are no other themes here.")}
	case width >= sampleFrom:
		names, sample := l.list(namesWidth, room), l.sample(width-namesWidth-3)
		for i := range max(len(names), min(len(sample), room)) {
			left, right := "", ""
			if i < len(names) {
				left = names[i]
			}
			if i < len(sample) {
				right = sample[i]
			}
			out = append(out, render.Pad(left, namesWidth)+" "+l.c.Theme.Paints.Border.On(l.c.Theme.Ornaments.Bar)+" "+right)
		}
	default:
		n := min(len(l.all), max(room/2, min(room, 3)))
		out = append(l.list(width, n), l.sample(width)...)
	}
	for len(out) < room {
		out = append(out, "")
	}
	return out[:max(room, 0)]
}

// list is the names around the cursor, at most n of them.
func (l Themes) list(width, n int) []string {
	t := l.c.Theme
	top := widget.Scroll(l.top, l.at, len(l.all), n)
	var out []string
	for i := top; i < len(l.all) && len(out) < n; i++ {
		c := l.all[i]
		mark := "  "
		switch {
		case c.Make == nil:
			mark = t.Ornaments.Failed + " "
		case c.Name == l.c.Current:
			mark = t.Ornaments.Done + " "
		}
		line := render.Truncate(" "+render.Pad(mark, 3)+render.SafeLine(c.Name), max(width-1, 0), t.Ornaments.Ellipsis)
		if i == l.at {
			line = t.Paints.Selected.On(render.Pad(line, max(width-1, 0)))
		}
		out = append(out, line)
	}
	return out
}

// about is what is to be said of the theme at the cursor, in a few lines.
func (l Themes) about(width, room int) []string {
	if len(l.all) == 0 || room < 4 {
		return nil
	}
	t, c := l.c.Theme, l.all[l.at]
	var text string
	paint := t.Paints.Muted
	switch {
	case c.Wrong != "":
		text, paint = c.Wrong, t.Paints.Error
	case len(c.Faint) > 0:
		text, paint = strings.Join(c.Faint, "; "), t.Paints.Warning
	case c.File != "":
		text = c.File
	default:
		return nil
	}
	return told(text, paint, width, min(max(room/3, 1), 5))
}

// sample shows every role of text in the theme.
func (l Themes) sample(width int) []string {
	t := l.c.Theme
	p, o := t.Paints, t.Ornaments
	code := func(tok chroma.TokenType, s string) string { return t.Syntax(tok).On(s) }
	lines := []string{
		p.User.On("You") + "  " + p.Text.On("text, ") + p.Strong.On("strong") + ", " + p.Link.On("link") + ", " + p.Code.On("code"),
		p.Assistant.On("cairn") + "  " + p.Accent.On("accent") + ", " + p.Muted.On("muted") + ", " + p.Placeholder.On("placeholder"),
		p.Success.On(o.Done+" success") + "  " + p.Warning.On("warning") + "  " + p.Error.On(o.Failed+" error"),
		p.Selected.On(" selected ") + "  " + p.Badge.On(" badge ") + "  " + p.Match.On("match") + "  " + p.Key.On("key"),
		p.Inserted.On("+ inserted") + "  " + p.Deleted.On("- deleted") + "  " + p.Disabled.On("not now"),
		p.Heading.On("## Heading") + "  " + p.Quote.On(o.Quote+" quote"),
		p.Border.On(strings.Repeat(o.Rule, max(min(width-2, 34), 0))),
		code(chroma.Keyword, "func") + " " + code(chroma.NameFunction, "sum") + "(" + code(chroma.Name, "n") + " " + code(chroma.KeywordType, "int") + ") {  " + code(chroma.Comment, "// a comment"),
		"  " + code(chroma.Keyword, "return") + " " + code(chroma.NameBuiltin, "len") + "(" + code(chroma.LiteralString, `"text`) + code(chroma.LiteralStringEscape, `\n`) + code(chroma.LiteralString, `"`) + ") " + code(chroma.Operator, "+") + " " + code(chroma.LiteralNumber, "42"),
		"}  " + code(chroma.NameTag, "<tag ") + code(chroma.NameAttribute, "name") + code(chroma.NameTag, ">") + "  " + code(chroma.Error, "error"),
	}
	for i := range lines {
		lines[i] = render.Truncate(" "+lines[i], max(width, 0), o.Ellipsis)
	}
	return lines
}
