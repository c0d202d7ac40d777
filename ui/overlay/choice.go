package overlay

import (
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
	action, off := widget.Match(m.Bindings(), k)
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
