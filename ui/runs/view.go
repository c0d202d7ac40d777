package runs

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Sizes at which the layout changes.
const (
	wideFrom  = 110 // columns: the selected run stands beside the list
	longFrom  = 50  // columns of the list: states are said in full
	roomyFrom = 20  // rows: rules, headings, and the selected run below the list
)

// layout says what is where in a screen of some size.
type layout struct {
	width, height         int
	wide, roomy, headings bool
	list                  int // rows of the list
	detail                int // rows of the selected run below the list
	left, right           int // columns of the list, and of the run beside it
	page                  int // rows of a page
}

func (m Model) layout(width, height int) layout {
	l := layout{width: width, height: height, left: width}
	l.roomy = height >= roomyFrom
	l.headings = l.roomy
	l.wide = width >= wideFrom && height >= 8
	if l.wide {
		l.left = width * 9 / 20
		l.right = width - l.left - 3
	}
	switch {
	case height < 3:
		l.list, l.page = max(height, 0), max(height, 0)
	case !l.roomy:
		l.list, l.page = height-2, height-2
	default:
		l.page = height - 5
		l.list = height - 5
		if !l.wide {
			l.detail = max((height-6)/2, 4)
			l.list -= l.detail + 1
		}
	}
	return l
}

// View draws the screen: exactly height lines, none wider than width.
func (m Model) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	if width != m.width || height != m.height {
		m.width, m.height = width, height
		m = m.laid()
	}
	l := m.layout(width, height)
	if m.mode != modeList {
		return widget.Frame(m.reading(l), width, height)
	}
	return widget.Frame(m.listView(l), width, height)
}

// Cursor is where the caret belongs: there is none.
func (m Model) Cursor() (x, y int, visible bool) { return 0, 0, false }

func (m Model) listView(l layout) []string {
	t := m.c.Theme
	list := m.listLines(l)
	switch {
	case l.height < 3:
		return list
	case !l.roomy && !l.wide:
		return append(append([]string{m.header(l.width)}, list...), m.bottom(l.width))
	case !l.roomy:
		return append(append([]string{m.header(l.width)}, m.beside(l, list)...), m.bottom(l.width))
	case l.wide:
		out := append([]string{m.header(l.width), m.crossed(l, t.Ornaments.TeeDown)}, m.beside(l, list)...)
		return append(out, m.crossed(l, t.Ornaments.TeeUp), m.footer(l.width), m.noticeLine(l.width))
	}
	rule := widget.Rule(t, l.width)
	out := append([]string{m.header(l.width), rule}, list...)
	out = append(append(out, rule), m.detail(l.width, l.detail)...)
	return append(out, rule, m.footer(l.width), m.noticeLine(l.width))
}

// reading is a page: a run, or a decision.
func (m Model) reading(l layout) []string {
	t := m.c.Theme
	name, right := "Run", ""
	if m.mode == modeDecide {
		name = "Approve or refuse"
		it, _ := m.list.selected()
		for i, p := range it.run.Pending {
			if p.Call.ID == m.call {
				right = fmt.Sprintf("%d of %d", i+1, len(it.run.Pending))
			}
		}
	}
	if n := m.page.pane.Rest(); n > 0 {
		right = strings.TrimSpace(harness.Count(n, "line") + " below  " + right)
	} else if m.page.pane.Top() > 0 {
		right = strings.TrimSpace("the end  " + right)
	}
	head := render.Fit(" "+t.Paints.Title.On(name), t.Paints.Muted.On(right)+" ", l.width, m.c.Theme.Ornaments.Ellipsis)
	shown := m.page.pane.Lines()
	switch {
	case l.height < 3:
		return shown
	case !l.roomy:
		return append(append([]string{head}, shown...), m.bottom(l.width))
	}
	rule := widget.Rule(t, l.width)
	return append(append([]string{head, rule}, shown...), rule, m.footer(l.width), m.noticeLine(l.width))
}

// beside puts the selected run to the right of the list's lines.
func (m Model) beside(l layout, left []string) []string {
	bar := " " + m.c.Theme.Paints.Border.On(m.c.Theme.Ornaments.Bar) + " "
	return render.Columns(bar, []int{l.left, l.right}, left, m.detail(l.right, len(left)))
}

func (m Model) crossed(l layout, cross string) string {
	rule := m.c.Theme.Ornaments.Rule
	return m.c.Theme.Paints.Border.On(strings.Repeat(rule, l.left+1) + cross + strings.Repeat(rule, max(l.width-l.left-2, 0)))
}

func (m Model) header(width int) string {
	p := m.c.Theme.Paints
	right := "reading"
	if m.list.read {
		right = fmt.Sprintf("%d unfinished %s %d recent", m.list.open, m.c.Theme.Ornaments.Dot, len(m.list.items)-m.list.open)
	}
	return render.Fit(" "+p.Title.On("Runs"), p.Muted.On(right)+" ", width, m.c.Theme.Ornaments.Ellipsis)
}

// listLines are exactly l.list lines; only these are laid out.
func (m Model) listLines(l layout) []string {
	p := m.c.Theme.Paints
	var out []string
	switch {
	case len(m.list.items) == 0:
		lines, _ := widget.Lines(m.emptyWords(), max(l.left-2, 1), l.list)
		for _, s := range lines {
			out = append(out, " "+p.Muted.On(s))
		}
	default:
		top := m.list.scrolled(l.list, l.headings)
		groups := m.list.groups()
		for row, line := 0, 0; row < len(m.list.items) && len(out) < l.list; row++ {
			if name := groups[row]; name != "" && l.headings {
				if line++; line > top {
					out = append(out, " "+p.Muted.On(strings.ToUpper(name)))
				}
			}
			if line++; line > top && len(out) < l.list {
				out = append(out, m.row(row, l.left))
			}
		}
	}
	for len(out) < l.list {
		out = append(out, "")
	}
	return out
}

func (m Model) emptyWords() string {
	switch {
	case m.list.failed != nil:
		return m.c.Words(m.list.failed) + "\n" + upper(m.key("runs.open", "enter")) + " tries again."
	case !m.list.read:
		return ""
	default:
		return "No runs yet. Every message that is sent makes one; what does not end by itself waits here."
	}
}

// row draws one run: where the cursor is, how it stands, whose it is, and what
// fits of what it is about and its age.
func (m Model) row(n, width int) string {
	it := m.list.items[n]
	mark := "  "
	if n == m.list.at {
		mark = "> "
	}
	long, short := m.state(it)
	const longest, shortest = 22, 12 // columns of a state, before the one that parts it from the title
	state := render.Pad(m.oneLine(long, longest), longest+1)
	if width < longFrom {
		state = render.Pad(m.oneLine(short, shortest), shortest+1)
	}
	if width >= longFrom && m.list.elsewhere() {
		kind, _, _ := strings.Cut(it.run.Engine, ":")
		state += render.Pad(m.oneLine(kind, 8), 9)
	}
	age := fmt.Sprintf("%5s", widget.Ago(m.c.Now(), it.run.Updated))
	room := max(width-len(mark)-render.Width(state)-len(age)-1, 0)
	title := m.oneLine(it.title, room)
	about := ""
	if left := room - render.Width(title) - 2; left >= 12 {
		about = "  " + m.oneLine(strings.Join(strings.Fields(widget.Head(summary(it.run), 400)), " "), left)
	}
	if n == m.list.at {
		return m.c.Theme.Paints.Selected.On(render.Fit(mark+state+title+about, age, width, m.c.Theme.Ornaments.Ellipsis))
	}
	return render.Fit(mark+m.statePaint(it).On(state)+title+m.c.Theme.Paints.Muted.On(about), age, width, m.c.Theme.Ornaments.Ellipsis)
}

// statePaint is the colour of a state, which says nothing that its words do not.
func (m Model) statePaint(it item) themes.Paint {
	p := m.c.Theme.Paints
	switch {
	case len(it.run.Pending) > 0 || it.run.Interrupted:
		return p.Warning
	case it.run.Error != nil:
		return p.Error
	case it.run.Status.Closed():
		return p.Muted
	default:
		return p.Accent
	}
}

// detail is the start of what is known of the selected run.
func (m Model) detail(width, height int) []string {
	it, ok := m.list.selected()
	if !ok || height <= 0 || width <= 0 {
		return make([]string, max(height, 0))
	}
	w := writer{theme: m.c.Theme, width: max(width-1, 1), limit: height}
	m.describe(&w, it)
	out := w.lines
	if w.more && len(out) > 0 {
		out[len(out)-1] = m.c.Theme.Paints.Muted.On(m.oneLine("... more: "+m.key("runs.read", "v")+" shows all of it", width-1))
	}
	for i, l := range out {
		out[i] = " " + l
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

func (m Model) footer(width int) string { return widget.Footer(m.Bindings(), m.c.Theme, width) }

func (m Model) noticeLine(width int) string {
	return widget.Notice(m.c.Theme, m.notice.text, m.notice.failed, width)
}

// bottom is the one line of a small screen: what happened, else the keys.
func (m Model) bottom(width int) string {
	if m.notice.text != "" {
		return m.noticeLine(width)
	}
	return m.footer(width)
}

func (m Model) oneLine(text string, width int) string {
	return widget.OneLine(text, max(width, 0), m.c.Theme.Ornaments.Ellipsis)
}
