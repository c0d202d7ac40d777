package browser

import (
	"fmt"
	"strconv"
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// Sizes at which the layout changes.
const (
	wideFrom  = 110 // columns: what is selected stands beside the list
	roomyFrom = 20  // rows: rules, and what is selected below the list
)

// layout says what is where in a screen of some size.
type layout struct {
	width, height int
	wide, roomy   bool
	search        int // the row of the search line, -1 for none
	listAt, list  int // the first row of the list, and how many
	detail        int // rows below the list for what is selected
	left, right   int // columns of the list, and of what is selected beside it
	footers       int
}

func (m Model) layout(width, height int) layout {
	l := layout{width: width, height: height, left: width, search: -1, footers: 1}
	l.roomy = height >= roomyFrom
	l.wide = width >= wideFrom && height >= 8
	searching := m.mode == modeFilter || m.filtering(m.tab)
	if l.wide {
		l.left = width * 9 / 20
		l.right = width - l.left - 3
	}
	switch {
	case height < 4:
		l.list = max(min(height, height-1), min(max(height, 0), 1))
		if m.mode == modeFilter && height > 1 {
			l.search, l.listAt, l.list = 0, 1, height-1
		}
	case l.roomy && l.wide:
		l.search, l.listAt, l.list = 2, 3, height-6
	case l.roomy:
		l.footers = 2
		l.detail = max(min((height-9)/2, 12), 4)
		l.search, l.listAt, l.list = 2, 4, height-9-l.detail
	case searching || l.wide:
		l.search, l.listAt, l.list = 1, 2, height-3
	default:
		l.listAt, l.list = 1, height-2
	}
	return l
}

// View draws the screen: exactly height lines, none wider than width.
func (m Model) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	switch m.mode {
	case modeForm:
		return widget.Frame(m.formView(width, height), width, height)
	case modeView:
		return widget.Frame(m.readView(width, height), width, height)
	case modeConfirm:
		return widget.Frame(m.confirmView(width, height), width, height)
	case modeChoose:
		return widget.Frame(m.chooseView(width, height), width, height)
	case modeHistory:
		return widget.Frame(m.historyView(width, height), width, height)
	default:
		return widget.Frame(m.listView(m.layout(width, height)), width, height)
	}
}

func (m Model) listView(l layout) []string {
	t := m.c.Theme
	rule := widget.Rule(t, l.width)
	list := m.listLines(l)
	switch {
	case l.height < 4 && l.search == 0:
		return append([]string{m.searchLine(l.width)}, list...)
	case l.height < 4:
		return append(list, m.bottom(l.width))
	case l.wide:
		left := append([]string{m.searchLine(l.left)}, list...)
		var right []string
		if e, ok := m.selected(); ok {
			right = m.describe(e, l.right, len(left))
		}
		bar := " " + t.Paints.Border.On(t.Ornaments.Bar) + " "
		panes := render.Columns(bar, []int{l.left, l.right}, left, right)
		if !l.roomy {
			return append(append([]string{m.header(l.width)}, panes...), m.bottom(l.width))
		}
		out := append([]string{m.header(l.width), m.crossed(l, t.Ornaments.TeeDown)}, panes...)
		return append(out, m.crossed(l, t.Ornaments.TeeUp), m.footers(l)[0], m.noticeLine(l.width))
	case l.roomy:
		out := append([]string{m.header(l.width), rule, m.searchLine(l.width), rule}, list...)
		out = append(out, rule)
		var detail []string
		if e, ok := m.selected(); ok {
			detail = m.describe(e, l.width, l.detail)
		}
		out = append(out, filled(detail, l.detail)...)
		return append(append(append(out, rule), m.footers(l)...), m.noticeLine(l.width))
	default:
		out := []string{m.header(l.width)}
		if l.search >= 0 {
			out = append(out, m.searchLine(l.width))
		}
		return append(append(out, list...), m.bottom(l.width))
	}
}

func filled(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

func (m Model) crossed(l layout, cross string) string {
	rule := m.c.Theme.Ornaments.Rule
	n := max(l.width-l.left-2, 0)
	return m.c.Theme.Paints.Border.On(strings.Repeat(rule, l.left+1) + cross + strings.Repeat(rule, n))
}

// header is the name of the screen and its tabs; the present one stands in
// brackets.
func (m Model) header(width int) string {
	p := m.c.Theme.Paints
	left := " " + p.Title.On("Memory") + "  " + m.tabTitles(width, "%d %s %s", " ")
	if width < 60 {
		left = ""
		for _, f := range []struct{ format, gap string }{{"%d %s %s", " "}, {"%[2]s %[3]s", " "}, {"%[2]s %[3]s", ""}, {"%.1[2]s %[3]s", ""}} {
			if left = " " + m.tabTitles(width, f.format, f.gap); render.Width(left) <= width {
				break
			}
		}
	}
	right := ""
	switch {
	case !m.loading.read:
		right = "reading"
	case len(m.drafts) == 1:
		right = "1 unsaved draft"
	case len(m.drafts) > 1:
		right = fmt.Sprintf("%d unsaved drafts", len(m.drafts))
	}
	if render.Width(left)+render.Width(right)+2 > width {
		return render.Fit(left, "", width, m.c.Theme.Ornaments.Ellipsis)
	}
	return render.Fit(left, p.Muted.On(right)+" ", width, m.c.Theme.Ornaments.Ellipsis)
}

// tabTitles are the tabs with their counts, each in a format of its number, its
// name and its count. Gap is what stands on both sides of those in the back.
func (m Model) tabTitles(width int, format, gap string) string {
	p := m.c.Theme.Paints
	var b strings.Builder
	for t, label := range [tabs]string{"Facts", "Notes", "Inbox", "Trash"} {
		text := fmt.Sprintf(format, t+1, label, m.count(tab(t), width))
		switch {
		case tab(t) == tabInbox && !m.hasInbox():
		case tab(t) == m.tab:
			b.WriteString(p.Accent.On("[" + text + "]"))
		default:
			b.WriteString(gap + p.Muted.On(text) + " ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// count is how many entries a tab has, and how many of them are seen.
func (m Model) count(t tab, width int) string {
	l := m.lists[t]
	switch {
	case !m.filtering(t):
		return strconv.Itoa(len(l.entries))
	case width < 60:
		return strconv.Itoa(len(l.rows))
	default:
		return fmt.Sprintf("%d/%d", len(l.rows), len(l.entries))
	}
}

// searchPrompt is what stands before the words of the filter.
func (m Model) searchPrompt(width int) string {
	const search = " search: "
	chips := m.chips(m.tab)
	if chips == "" {
		return search
	}
	chips = " " + m.oneLine(chips, max(width/2, 4)) + " "
	if m.mode != modeFilter && m.filter.Empty() {
		return chips
	}
	return chips + m.c.Theme.Ornaments.Dot + search
}

// searchLine is the filter: what the list is narrowed to, the words, and how
// the list is sorted.
func (m Model) searchLine(width int) string {
	p, prompt := m.c.Theme.Paints, m.searchPrompt(width)
	line, _, _ := m.filter.Draw(max(width-render.Width(prompt)-1, 1), 1)
	text := strings.Join(line, "")
	switch {
	case m.mode == modeFilter:
		return p.Muted.On(prompt) + text
	case m.chips(m.tab) == "" && m.filter.Empty():
		text = p.Placeholder.On("/ searches text, tags and categories")
	}
	left, right := p.Muted.On(prompt)+text, m.order.word(m.tab)
	if m.filtering(m.tab) {
		l := m.lists[m.tab]
		right = fmt.Sprintf("%d of %d", len(l.rows), len(l.entries))
		if long := right + " " + m.c.Theme.Ornaments.Dot + " " + m.order.word(m.tab); render.Width(left)+render.Width(long)+3 <= width {
			right = long
		}
	}
	if render.Width(left)+render.Width(right)+2 > width && !m.filtering(m.tab) {
		return left
	}
	return render.Fit(left, p.Muted.On(right)+" ", width, m.c.Theme.Ornaments.Ellipsis)
}

func (m Model) footers(l layout) []string {
	return widget.Footers(m.Bindings(), m.c.Theme, l.width, l.footers)
}

func (m Model) noticeLine(width int) string {
	return widget.Notice(m.c.Theme, m.notice.text, m.notice.failed, width)
}

// bottom is the one line of a small screen: what happened, else the keys.
func (m Model) bottom(width int) string {
	if m.notice.text != "" {
		return m.noticeLine(width)
	}
	return widget.Footer(m.Bindings(), m.c.Theme, width)
}

// ending are the last lines of a screen that is not the list.
func (m Model) ending(width, height int) []string {
	switch {
	case height < 3:
		return nil
	case height < roomyFrom:
		return []string{m.bottom(width)}
	default:
		return []string{widget.Rule(m.c.Theme, width), widget.Footer(m.Bindings(), m.c.Theme, width), m.noticeLine(width)}
	}
}

// heading are the first lines of a screen that is not the list.
func (m Model) heading(left, right string, width, height int) []string {
	p := m.c.Theme.Paints
	line := render.Fit(" "+p.Title.On(left), p.Muted.On(right)+" ", width, m.c.Theme.Ornaments.Ellipsis)
	switch {
	case height < 3:
		return nil
	case height < roomyFrom:
		return []string{line}
	default:
		return []string{line, widget.Rule(m.c.Theme, width)}
	}
}

// middle is how many lines are left between heading and ending.
func middle(height int) int {
	switch {
	case height < 3:
		return max(height, 0)
	case height < roomyFrom:
		return height - 2
	default:
		return height - 5
	}
}

// readView is one thing in full.
func (m Model) readView(width, height int) []string {
	e, ok := m.selected()
	if !ok {
		return m.listView(m.layout(width, height))
	}
	pane := m.reading(e, width, height).pane
	shown := pane.Lines()
	right := ""
	if n := len(shown); pane.Len() > n {
		right = fmt.Sprintf("%d-%d of %d lines", pane.Top()+1, pane.Top()+n, pane.Len())
	}
	out := m.heading(upper(e.kind.String())+" "+m.oneLine(e.id(), 8), right, width, height)
	out = append(out, shown...)
	return append(out, m.ending(width, height)...)
}
