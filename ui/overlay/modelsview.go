package overlay

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// room is how many models are on screen.
func (m Models) room() int { return chooseRoom(m.height) }

// Cursor implements [Layer].
func (m Models) Cursor() (x, y int, visible bool) {
	if m.ask != nil {
		return m.ask.Cursor()
	}
	return chooseCursor(m.list.field, m.width, m.height)
}

// View draws the overlay: exactly height lines, none wider than width.
func (m Models) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	if m.ask != nil {
		return m.ask.View(width, height)
	}
	t := m.theme
	m.width, m.height = width, height
	m.list = m.list.by(0, len(m.hits), m.room())
	return chooseView(t, m.header(width), chooseField(t, m.list.field, "a name, a provider, images, reasoning", width), m.rows(width), m.below(width),
		widget.Footer(m.Bindings(), t, width), width, height)
}

func (m Models) header(width int) string {
	t := m.theme
	left := " " + t.Paints.Title.On("Models") + t.Paints.Muted.On(" "+t.Ornaments.Dot+" now "+widget.OneLine(m.c.Current, 40, t.Ornaments.Ellipsis))
	right := "reading" + t.Ornaments.Ellipsis
	switch n := len(m.hits); {
	case n > 0:
		right = fmt.Sprintf("%d of %d", m.list.at+1, n)
	case m.reads == 0:
		right = ""
	}
	return render.Fit(left, t.Paints.Muted.On(right)+" ", width, t.Ornaments.Ellipsis)
}

// rows are the models on screen, or why there are none.
func (m Models) rows(width int) []string {
	t := m.theme
	if len(m.hits) == 0 {
		text, paint := "No model is called that. /model PROVIDER/NAME takes one that is not listed.", t.Paints.Muted
		switch {
		case m.failed != nil:
			text, paint = m.c.Words(m.failed), t.Paints.Error
		case m.reads > 0:
			text = "reading" + t.Ornaments.Ellipsis
		case len(m.lines) == 0:
			text = "No model is known here."
		}
		return told(text, paint, width, max(m.room(), 1))
	}
	var out []string
	for n := m.list.top; n < len(m.hits) && len(out) < m.room(); n++ {
		out = append(out, m.row(n, width))
	}
	return out
}

// row is a model: its name, then whether it is in use or lacks a key, and as much of
// window and price as there is room for.
func (m Models) row(n, width int) string {
	t := m.theme
	l := m.lines[m.hits[n]]
	mark, ground := "   ", themes.Paint("")
	if n == m.list.at {
		mark, ground = " > ", t.Paints.Selected
	}
	state := ""
	switch {
	case l.Name == m.c.Current:
		state = "in use"
	case l.NeedsKey:
		state = "needs a key"
	}
	const leastName = 18
	columns := []string{figure(tokenCount(l.Window), 5), figure(priceWords(l), 13)}
	if width >= roomyWidth {
		columns = append([]string{render.Pad(strings.Join(able(l), " "), 27)}, columns...)
	}
	right := strings.Join(columns, " ")
	for len(columns) > 0 && len(mark)+leastName+render.Width(state)+render.Width(right)+4 > width {
		columns = columns[:len(columns)-1]
		right = strings.Join(columns, " ")
	}
	if state != "" {
		right = strings.TrimRight(state+"  "+right, " ")
	}
	room := max(width-len(mark)-render.Width(right)-2, 1)
	name := widget.OneLine(l.Name, room, t.Ornaments.Ellipsis)
	line := painted(name, spansOf(name, m.list.words()), ground, t.Paints.Match)
	if n != m.list.at {
		if l.NeedsKey && m.list.field.Empty() {
			line = t.Paints.Muted.On(name)
		}
		right = t.Paints.Muted.On(right)
	}
	return ground.On(render.Fit(mark+line, right+" ", width, t.Ornaments.Ellipsis))
}

// roomyWidth is the width from which a row says what a model can do.
const roomyWidth = 96

// below says all of the chosen model, or why nothing was done.
func (m Models) below(width int) string {
	t := m.theme
	if m.notice != "" {
		return widget.Notice(t, m.notice, false, width)
	}
	l, ok := m.at()
	if !ok {
		return ""
	}
	var parts []string
	switch {
	case l.NeedsKey:
		parts = append(parts, "no key of "+l.Provider())
	case l.Local:
		parts = append(parts, "local")
	case l.Key != "":
		parts = append(parts, "key from "+l.Key)
	}
	if l.Window > 0 {
		parts = append(parts, tokenCount(l.Window)+" tokens")
	}
	if words := able(l); len(words) > 0 {
		parts = append(parts, strings.Join(words, ", "))
	}
	parts = append(parts, priceLong(l))
	if l.Title != "" && width >= wideFrom {
		parts = append([]string{l.Title}, parts...)
	}
	return " " + t.Paints.Muted.On(widget.OneLine(strings.Join(parts, " "+t.Ornaments.Dot+" "), max(width-2, 0), t.Ornaments.Ellipsis))
}

// able is what a model can do beside text, in words.
func able(l ModelLine) []string {
	var words []string
	for _, c := range []struct {
		can  bool
		word string
	}{{l.Images, "images"}, {l.Documents, "documents"}, {l.Reasoning, "reasoning"}} {
		if c.can {
			words = append(words, c.word)
		}
	}
	return words
}

// figure is a text at the right of a column.
func figure(text string, width int) string {
	return strings.Repeat(" ", max(width-render.Width(text), 0)) + text
}

// tokenCount is a number of tokens, short.
func tokenCount(n int) string {
	switch {
	case n <= 0:
		return "?"
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + "M"
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strconv.Itoa(n)
}

// priceWords are what a million tokens cost in and out.
func priceWords(l ModelLine) string {
	switch {
	case l.Local:
		return "free"
	case !l.PriceKnown:
		return "price ?"
	}
	return dollars(l.InputPrice) + " / " + dollars(l.OutputPrice)
}

func priceLong(l ModelLine) string {
	switch {
	case l.Local:
		return "free"
	case !l.PriceKnown:
		return "its price is not known"
	}
	return dollars(l.InputPrice) + " in, " + dollars(l.OutputPrice) + " out per million"
}

func dollars(f float64) string { return "$" + strconv.FormatFloat(f, 'g', 4, 64) }

// ModelBrief is the window and the price of a model, for a narrow column.
func ModelBrief(l ModelLine) string { return tokenCount(l.Window) + "  " + priceWords(l) }
