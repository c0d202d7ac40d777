package reading

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Want is what the list of links wants done with an address.
type Want int

// What a list wants.
const (
	// WantNothing is the zero value.
	WantNothing Want = iota
	// WantClose takes the list away.
	WantClose
	// WantOpen opens the address, WantCopy gives it to the clipboard.
	WantOpen
	WantCopy
	// WantHelp is the help.
	WantHelp
)

// Actions of the list of links.
const (
	actOpen  = "links.open"
	actCopy  = "links.copy"
	actNext  = "links.next"
	actPrev  = "links.previous"
	actClose = "links.close"
)

// List shows the links of a message, numbered. It is a value: Update returns the
// next one.
type List struct {
	links []string
	// local says that addresses can be opened on this display.
	local         bool
	at, top       int
	note          string
	theme         *themes.Theme
	keys          map[string][]string
	width, height int
}

// NewList returns a list of links. Local says that they can be opened on the
// display before the person; else they are copied.
func NewList(links []string, local bool, t *themes.Theme, keys map[string][]string) List {
	return List{links: links, local: local, theme: t, keys: keys}
}

// SetTheme changes the colours.
func (l List) SetTheme(t *themes.Theme) List {
	l.theme = t
	return l
}

// Say shows a sentence until the next key.
func (l List) Say(text string) List {
	l.note = text
	return l
}

// Resize tells the size of the screen.
func (l List) Resize(width, height int) List {
	l.width, l.height = width, height
	l.top = widget.Scroll(l.top, l.at, len(l.links), l.rows())
	return l
}

// LinkActions are all keys of the list of links.
func LinkActions() []render.Binding { return List{local: true}.Bindings() }

// Bindings are the keys of the list as they are now.
func (l List) Bindings() []render.Binding {
	const group = "Links"
	off := ""
	if !l.local {
		off = "no display of this machine is before you; the address is copied instead"
	}
	b := []render.Binding{
		{Action: actOpen, Keys: []string{"enter", "o"}, Help: "open the link", Group: group, Rank: 1, Off: off},
		{Action: actCopy, Keys: []string{"y", "c"}, Help: "copy its address", Group: group, Rank: 2},
		{Action: actNext, Keys: []string{"down", "j"}, Help: "next link", Group: group},
		{Action: actPrev, Keys: []string{"up", "k"}, Help: "link before", Group: group},
		{Action: actClose, Keys: []string{"esc", "q", "ctrl+c"}, Help: "close", Group: group, Rank: 3},
	}
	return widget.Rebind(b, l.keys)
}

// Update takes a key or the wheel, and says what is to be done with an address. A
// number opens the link that has it, or copies it where none can be opened.
func (l List) Update(msg tea.Msg) (next List, want Want, address string) {
	switch msg := msg.(type) {
	case tea.MouseMsg:
		l = l.move(map[tea.MouseButton]int{tea.MouseButtonWheelUp: -1, tea.MouseButtonWheelDown: 1}[msg.Button])
	case tea.KeyMsg:
		l.note = ""
		return l.key(msg)
	}
	return l, WantNothing, ""
}

func (l List) key(msg tea.KeyMsg) (List, Want, string) {
	use := WantOpen
	if !l.local {
		use = WantCopy
	}
	if name := msg.String(); len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		n := int(name[0] - '1')
		if n >= len(l.links) {
			l.note = "there is no link " + name
			return l, WantNothing, ""
		}
		l = l.move(n - l.at)
		return l, use, l.links[n]
	}
	switch action, off := widget.Match(l.Bindings(), msg); action {
	case actOpen:
		return l, WantOpen, l.links[l.at]
	case actCopy:
		return l, WantCopy, l.links[l.at]
	case actNext:
		return l.move(1), WantNothing, ""
	case actPrev:
		return l.move(-1), WantNothing, ""
	case actClose:
		return l, WantClose, ""
	case "":
		if off != "" { // of opening, which says that it copies instead
			return l, WantCopy, l.links[l.at]
		}
		if msg.String() == "f1" || msg.String() == "?" {
			return l, WantHelp, ""
		}
	}
	return l, WantNothing, ""
}

func (l List) move(n int) List {
	l.at = max(min(l.at+n, len(l.links)-1), 0)
	l.top = widget.Scroll(l.top, l.at, len(l.links), l.rows())
	return l
}

// rows is how many links are seen.
func (l List) rows() int { return max(l.height-4, 1) }

// View draws the list, with the whole address of the chosen link below it as far
// as there is room.
func (l List) View() string {
	p, o := l.theme.Paints, l.theme.Ornaments
	lines := []string{" " + p.Title.On(harness.Count(len(l.links), "link")), ""}
	digits := len(strconv.Itoa(len(l.links)))
	for i := l.top; i < min(l.top+l.rows(), len(l.links)); i++ {
		sign, paint := "  ", p.Text
		if i == l.at {
			sign, paint = render.Pad(o.Right, 2), p.Selected
		}
		number := strconv.Itoa(i + 1)
		row := sign + render.Pad("", digits-len(number)) + number + "  "
		lines = append(lines, paint.On(row+widget.OneLine(l.links[i], max(l.width-render.Width(row), 1), o.Ellipsis)))
	}
	for len(lines) < l.height-2 {
		lines = append(lines, "")
	}
	if l.note != "" {
		lines = append(lines, p.Warning.On(render.Truncate(render.SafeLine(l.note), l.width, o.Ellipsis)))
	} else {
		lines = append(lines, "")
	}
	return widget.Frame(append(lines, widget.Footer(l.Bindings(), l.theme, l.width)), l.width, l.height)
}

// Cursor is where the terminal's cursor belongs: at the chosen link.
func (l List) Cursor() (x, y int, visible bool) {
	y = 2 + l.at - l.top
	return 0, y, y < l.height-1
}
