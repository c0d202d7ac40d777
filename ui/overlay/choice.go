package overlay

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Item is one choice.
type Item struct {
	// ID comes back in Chosen.
	ID string
	// Title says what it does in a few words, Detail what follows from it.
	Title, Detail string
	// Key chooses it at once, such as "c"; empty for none. It is not used in a
	// list with a filter, where letters are typed.
	Key string
	// Off says why it cannot be chosen now.
	Off string
}

// ChoiceConfig is what a list of choices shows.
type ChoiceConfig struct {
	// Title is the heading, Text the question below it; both may hold foreign
	// text.
	Title, Text string
	Items       []Item
	// Selected is the ID of the item under the cursor at first; empty means
	// the first one that can be chosen.
	Selected string
	// Filter makes letters narrow the list down, for long lists.
	Filter bool
	// Closing says what esc does, such as "decide later"; empty means "close".
	Closing string
	// Theme is required.
	Theme *themes.Theme
}

// Choice is a list to choose one from. It is a value: Update returns the next
// one.
type Choice struct {
	c             ChoiceConfig
	filter        widget.Field
	rows          []int // indexes of the items that match
	at            int
	off           string // why the last key did nothing
	width, height int
}

// NewChoice returns the list with its first choice selected.
func NewChoice(c ChoiceConfig) Choice {
	m := Choice{c: c, filter: widget.Line("")}.match()
	for n, i := range m.rows {
		if id := c.Items[i].ID; c.Selected != "" && id == c.Selected || c.Selected == "" && c.Items[i].Off == "" {
			m.at = n
			break
		}
	}
	return m
}

// SetTheme changes the colours.
func (m Choice) SetTheme(t *themes.Theme) Choice {
	m.c.Theme = t
	return m
}

func (m Choice) match() Choice {
	words := widget.Words(m.filter.Text())
	m.rows = nil
	for i, it := range m.c.Items {
		if widget.Has(widget.Fold(it.Title+" "+it.Detail+" "+it.ID), words) {
			m.rows = append(m.rows, i)
		}
	}
	m.at = 0
	return m
}

// Bindings are the keys of the list.
func (m Choice) Bindings() []render.Binding {
	const group = "Choices"
	closing := m.c.Closing
	if closing == "" {
		closing = "close"
	}
	out := []render.Binding{
		{Action: "choice.choose", Keys: []string{"enter"}, Help: "choose", Group: group, Rank: 1},
		{Action: "choice.up", Keys: []string{"up", "ctrl+p"}, Help: "up", Group: group},
		{Action: "choice.down", Keys: []string{"down", "ctrl+n"}, Help: "down", Group: group},
		{Action: "choice.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: group},
		{Action: "choice.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: group},
		{Action: "choice.first", Keys: []string{"home"}, Help: "first", Group: group},
		{Action: "choice.last", Keys: []string{"end"}, Help: "last", Group: group},
		{Action: "choice.close", Keys: []string{"esc", "ctrl+c"}, Help: closing, Group: group, Rank: 2},
	}
	if m.c.Filter {
		return out
	}
	for _, it := range m.c.Items {
		if it.Key != "" {
			out = append(out, render.Binding{Action: choose + it.ID, Keys: []string{it.Key}, Help: it.Title, Group: group, Off: it.Off})
		}
	}
	return out
}

// choose begins the action of an item's own key.
const choose = "choice.item:"

// Update handles a key, the wheel or a size.
func (m Choice) Update(msg tea.Msg) (Choice, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.MouseMsg:
		switch msg.Button {
		case tea.MouseButtonWheelUp:
			m = m.to(m.at - 1)
		case tea.MouseButtonWheelDown:
			m = m.to(m.at + 1)
		}
	case tea.KeyMsg:
		m, intent := m.onKey(msg)
		return m, nil, intent
	}
	return m, nil, nil
}

func (m Choice) onKey(k tea.KeyMsg) (Choice, Intent) {
	action, off := "", ""
	if !k.Paste {
		action, off = render.Match(m.Bindings(), k.String())
	}
	m.off = off
	page := max(m.listHeight(m.width, m.height)-1, 1)
	if id, ok := strings.CutPrefix(action, choose); ok {
		return m, Chosen{id}
	}
	switch action {
	case "choice.choose":
		return m.choose()
	case "choice.close":
		return m, Closed{}
	case "choice.up":
		m = m.to(m.at - 1)
	case "choice.down":
		m = m.to(m.at + 1)
	case "choice.page-up":
		m = m.to(m.at - page)
	case "choice.page-down":
		m = m.to(m.at + page)
	case "choice.first":
		m = m.to(0)
	case "choice.last":
		m = m.to(len(m.rows) - 1)
	default:
		if m.c.Filter {
			before := m.filter.Text()
			if m.filter, _ = m.filter.Key(k); m.filter.Text() != before {
				m = m.match()
			}
		}
	}
	return m, nil
}

func (m Choice) choose() (Choice, Intent) {
	if m.at >= len(m.rows) {
		return m, nil
	}
	it := m.c.Items[m.rows[m.at]]
	if it.Off != "" {
		m.off = it.Off
		return m, nil
	}
	return m, Chosen{it.ID}
}

func (m Choice) to(n int) Choice {
	m.at = max(min(n, len(m.rows)-1), 0)
	return m
}

// text is the question, wrapped.
func (m Choice) text(width int) []string {
	if m.c.Text == "" {
		return nil
	}
	lines, _ := widget.Lines(m.c.Text, max(width-2, 1), 200)
	return lines
}

// Height is how many lines the list takes to show everything in a width.
func (m Choice) Height(width int) int {
	n := 2 + len(m.text(width)) + max(len(m.rows), 1) // title, text, rows, keys
	if m.c.Filter {
		n++
	}
	if len(m.text(width)) > 0 {
		n++
	}
	return n + m.detailRoom(width)
}

// detailRoom is how many lines below the list tell what follows from the
// selected choice, where that does not fit beside it.
func (m Choice) detailRoom(width int) int {
	if width >= besideFrom {
		return 0
	}
	for _, it := range m.c.Items {
		if it.Detail != "" || it.Off != "" {
			return 2
		}
	}
	return 0
}

// besideFrom is the width from which details stand beside the choices.
const besideFrom = 64

// detail is what follows from a choice, or why it cannot be made.
func detail(it Item) string {
	if it.Off != "" {
		return "not now: " + it.Off
	}
	return it.Detail
}

// below are the lines of detailRoom.
func (m Choice) below(width int) []string {
	n := m.detailRoom(width)
	if n == 0 || m.at >= len(m.rows) {
		return nil
	}
	t := m.c.Theme
	lines, more := widget.Lines(detail(m.c.Items[m.rows[m.at]]), max(width-6, 1), n)
	if more {
		lines[n-1] = widget.OneLine(lines[n-1], max(width-7, 0), "") + t.Ornaments.Ellipsis
	}
	for i := range lines {
		lines[i] = "     " + t.Paints.Muted.On(lines[i])
	}
	for len(lines) < n { // so that the rest does not move with the cursor
		lines = append(lines, "")
	}
	return lines
}

// listHeight is how many choices are on screen: all if they fit, and else the
// question gives way first, but for its first two lines.
func (m Choice) listHeight(width, height int) int {
	bars := 2
	if m.c.Filter {
		bars++
	}
	if height <= bars {
		return min(max(height, 0), 1)
	}
	if d := m.detailRoom(width); height-bars-d >= 2 {
		bars += d
	}
	left := height - bars
	if n := len(m.text(width)); n > 0 {
		left = max(left-n-1, min(len(m.rows), max(height-bars-3, 1)))
	}
	return max(left, 1)
}

// View draws the list: exactly height lines, none wider than width. In fewer
// lines than Height the question is cut and the choices scroll.
func (m Choice) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	p := m.c.Theme.Paints
	n := m.listHeight(width, height)
	rows := m.list(width, n)
	if height <= 2 {
		return widget.Frame(rows, width, height)
	}
	out := []string{m.title(width, n)}
	if m.c.Filter {
		text, _, _ := m.filter.Draw(max(width-len(filterPrompt)-1, 1), 1)
		out = append(out, p.Muted.On(filterPrompt)+strings.Join(text, ""))
	}
	if room := height - len(out) - len(rows) - len(m.below(width)) - 1; room > 0 {
		out = append(out, m.question(width, room)...)
	}
	out = append(out, rows...)
	if below := m.below(width); len(out)+len(below) < height {
		out = append(out, below...)
	}
	return widget.Frame(append(out, m.bottom(width)), width, height)
}

// question is the text in room lines with a blank line after it if there is
// room for one; what does not fit is marked.
func (m Choice) question(width, room int) []string {
	text := m.text(width)
	if len(text) == 0 {
		return nil
	}
	var out []string
	for i, l := range text {
		if i == room-1 && len(text) > room {
			out = append(out, " "+render.Truncate(l, max(width-3, 0), "")+m.c.Theme.Ornaments.Ellipsis)
			return out
		}
		out = append(out, " "+l)
	}
	if len(out) < room {
		out = append(out, "")
	}
	return out
}

// title is the heading; it counts the choices when shown of them are not all.
func (m Choice) title(width, shown int) string {
	t := m.c.Theme
	title := widget.OneLine(m.c.Title, max(width-20, 1), t.Ornaments.Ellipsis)
	if shown < len(m.rows) {
		title += fmt.Sprintf(" %s %d of %d", t.Ornaments.Dot, m.at+1, len(m.rows))
	}
	line := strings.Repeat(t.Ornaments.Rule, 3)
	rest := max(width-3-render.Width(title)-2, 0)
	return t.Paints.Border.On(line) + " " + t.Paints.Title.On(title) + " " + t.Paints.Border.On(strings.Repeat(t.Ornaments.Rule, rest))
}

func (m Choice) list(width, height int) []string {
	t := m.c.Theme
	if len(m.rows) == 0 {
		return []string{" " + t.Paints.Muted.On("Nothing matches.")}
	}
	names := 0
	for _, i := range m.rows {
		names = max(names, render.Width(m.name(m.c.Items[i], width)))
	}
	top := widget.Scroll(0, m.at, len(m.rows), height)
	var out []string
	for n := top; n < len(m.rows) && len(out) < height; n++ {
		out = append(out, m.row(n, min(names, width*3/5), width))
	}
	return out
}

// name is the key and the title of an item.
func (m Choice) name(it Item, width int) string {
	title := widget.OneLine(it.Title, max(width-4, 1), m.c.Theme.Ornaments.Ellipsis)
	if m.c.Filter {
		return title
	}
	return render.Pad(render.SafeLine(widget.KeyName(it.Key)), 3) + title
}

func (m Choice) row(n, names, width int) string {
	t := m.c.Theme
	it := m.c.Items[m.rows[n]]
	mark := "  "
	if n == m.at {
		mark = "> "
	}
	name := m.name(it, width)
	room := width - 2 - max(names, render.Width(name)) - 3
	line := mark + render.Pad(name, names)
	if d := detail(it); d != "" && room >= 8 && width >= besideFrom {
		line += "  " + widget.OneLine(d, room, t.Ornaments.Ellipsis)
	}
	line = render.Truncate(line, width, t.Ornaments.Ellipsis)
	switch {
	case n == m.at:
		return t.Paints.Selected.On(render.Pad(line, width))
	case it.Off != "":
		return t.Paints.Disabled.On(line)
	default:
		return line
	}
}

func (m Choice) bottom(width int) string {
	if m.off != "" {
		return " " + widget.OneLine("Not now: "+m.off+".", max(width-2, 0), m.c.Theme.Ornaments.Ellipsis)
	}
	return widget.Footer(m.Bindings(), m.c.Theme, width)
}

// Cursor is the cell of the caret of the filter.
func (m Choice) Cursor() (x, y int, visible bool) {
	if !m.c.Filter || m.height <= 3 || m.width < len(filterPrompt)+2 {
		return 0, 0, false
	}
	_, x, _ = m.filter.Draw(max(m.width-len(filterPrompt)-1, 1), 1)
	return len(filterPrompt) + x, 1, true
}
