package browser

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// chooser lists the categories or the tags of a tab to choose one from.
type chooser struct {
	tags    bool // else categories
	options []option
	at, top int
}

// option is a category or a tag with the number of things that have it. The
// first has no name: it is all.
type option struct {
	name string
	n    int
}

// choose opens the choice of a category or a tag.
func (m Model) choose(tags bool) Model {
	counts, all := map[string]int{}, 0
	list, hidden := m.lists[m.tab], m.hidden(m.tab)
	for i := range list.entries {
		e := &list.entries[i]
		if hidden[e.id()] {
			continue
		}
		all++
		switch {
		case tags:
			for _, t := range e.tags() {
				counts[t]++
			}
		case e.kind != note && e.fact.Category != "":
			counts[e.fact.Category]++
		}
	}
	c := chooser{tags: tags, options: []option{{n: all}}}
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	}) {
		c.options = append(c.options, option{name, counts[name]})
	}
	now := m.narrow.category
	if tags {
		now = m.narrow.tag
	}
	c.at = max(slices.IndexFunc(c.options, func(o option) bool { return o.name == now }), 0)
	m.chooser, m.mode, m.notice = c, modeChoose, notice{}
	return m
}

func (m Model) chooseKeys() []render.Binding {
	out := []render.Binding{
		{Action: "browser.keep-filter", Keys: []string{"enter"}, Help: "show only these", Group: keyGroup, Rank: 1},
		{Action: "browser.leave", Keys: []string{"esc", "left", "ctrl+c"}, Help: "back", Group: keyGroup, Rank: 2},
	}
	return append(out, moving()...)
}

func (m Model) onChooseKey(action string) (Model, tea.Cmd) {
	switch action {
	case "browser.leave":
		m.mode = modeList
	case "browser.keep-filter":
		name := m.chooser.options[m.chooser.at].name
		if m.chooser.tags {
			m.narrow.tag = name
		} else {
			m.narrow.category = name
		}
		m.mode = modeList
		m = m.match()
		m.lists[m.tab] = m.lists[m.tab].to(0)
		return m.look()
	default:
		by := step(action, max(middle(m.height)-1, 1))
		m.chooser.at = max(min(m.chooser.at+by, len(m.chooser.options)-1), 0)
	}
	return m, nil
}

// chooseView is the choice of a category or a tag.
func (m Model) chooseView(width, height int) []string {
	c, room := m.chooser, middle(height)
	title, every := "Categories", "all categories"
	if c.tags {
		title, every = "Tags", "all, with and without tags"
	}
	out := m.heading(title, fmt.Sprintf("%d", len(c.options)-1), width, height)
	top := widget.Scroll(c.top, c.at, len(c.options), room)
	var lines []string
	for i := top; i < len(c.options) && len(lines) < room; i++ {
		o, mark := c.options[i], "  "
		if i == c.at {
			mark = "> "
		}
		name := every
		switch {
		case o.name != "" && c.tags:
			name = "#" + o.name
		case o.name != "":
			name = o.name
		}
		n := fmt.Sprintf("%d ", o.n)
		line := render.Fit(mark+m.oneLine(name, width-len(mark)-len(n)-1), n, width, m.c.Theme.Ornaments.Ellipsis)
		if i == c.at {
			line = m.c.Theme.Paints.Selected.On(line)
		}
		lines = append(lines, line)
	}
	out = append(out, filled(lines, room)...)
	return append(out, m.ending(width, height)...)
}
