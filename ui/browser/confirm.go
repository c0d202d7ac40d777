package browser

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

func (m Model) confirmKeys() []render.Binding {
	out := []render.Binding{
		{Action: "browser.yes", Keys: []string{"y"}, Help: fmt.Sprintf("accept %s", harness.Count(len(m.asked), "suggestion")), Group: keyGroup, Rank: 1},
		{Action: "browser.leave", Keys: []string{"esc", "left", "n", "ctrl+c"}, Help: "accept none", Group: keyGroup, Rank: 2},
	}
	return append(out, moving()...)
}

func (m Model) onConfirmKey(action string) (Model, tea.Cmd) {
	switch action {
	case "browser.leave":
		m.mode, m.asked = modeList, nil
		m.notice = notice{text: "Nothing was accepted."}
	case "browser.yes":
		all := make([]accepting, len(m.asked))
		for n, i := range m.asked {
			all[n] = accepting{idea: *i}
		}
		m.asked = nil
		return m.decide(0, false, all...)
	default:
		m.page.pane = m.page.pane.By(step(action, max(middle(m.height)-1, 1)))
	}
	return m, nil
}

// confirming is the page of what a yes would accept.
func (m Model) confirming(width, height int) page {
	of := pageKey{id: "accept all", revision: len(m.asked), width: width, theme: m.c.Theme}
	return m.page.show(of, middle(height), func() []string { return m.confirmLines(width) })
}

// confirmLines name what would be accepted, and what is left out and why.
func (m Model) confirmLines(width int) []string {
	against, stale := 0, 0
	l := m.lists[tabInbox]
	for _, n := range l.rows {
		switch i := l.entries[n].idea; {
		case i.of.Stale:
			stale++
		case len(i.against) > 0:
			against++
		}
	}
	said := fmt.Sprintf("%s accepts %s.", m.key("browser.yes", "y"), harness.Count(len(m.asked), "suggestion"))
	var left []string
	if against > 0 {
		left = append(left, fmt.Sprintf("%d that contradict a fact", against))
	}
	if stale > 0 {
		left = append(left, fmt.Sprintf("%d whose fact was changed since", stale))
	}
	if len(left) > 0 {
		said += " Left out: " + strings.Join(left, ", ") + "."
	}
	out := indent(render.Wrap(said, max(width-2, 1)))
	out = append(out, "")
	for _, i := range m.asked {
		out = append(out, "   "+m.oneLine(fmt.Sprintf("%s %s %s", render.Pad(i.of.ID, 4), kindWord(i.of.Kind), i.next().Text), width-4))
	}
	return out
}

// kindWord is what a suggestion would do, in a word of six cells.
func kindWord(k harness.SuggestionKind) string { return render.Pad(render.SafeLine(string(k)), 6) }

func (m Model) confirmView(width, height int) []string {
	pane := m.confirming(width, height).pane
	right := ""
	if rest := pane.Rest(); rest > 0 {
		right = fmt.Sprintf("%d more lines", rest)
	}
	out := m.heading("Accept all shown", right, width, height)
	return append(append(out, pane.Lines()...), m.ending(width, height)...)
}
