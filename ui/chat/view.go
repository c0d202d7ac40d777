package chat

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/chat/compose"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// Below these sizes there is only a notice.
	leastWidth, leastHeight = 20, 6
	// Below these the header keeps title and saved state, the footer folds,
	// and the rule below the header goes.
	fullWidth, fullHeight, ruleHeight = 80, 20, 14
	// noticeRows is how many rows a notice may take, more on a high screen.
	noticeRows = 3
	// boxRows is how many rows the box may take, if it is no more than a third
	// of the screen.
	boxRows = 10
	// promptWidth is the room for the sign before the text.
	promptWidth = 2
)

// foot is what stands below the conversation.
type foot struct {
	lines []string
	// x and y are the caret's place, y counted from the foot's first line.
	x, y int
}

// View draws the screen: at most height lines of at most width cells.
func (m Model) View() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	if m.small() {
		return render.Truncate("the window is too small", m.width, "") + strings.Repeat("\n", m.height-1)
	}
	switch {
	case m.over.open():
		return m.overView()
	case m.branch.tree.Open():
		return m.branch.tree.View(m.treeLook())
	}
	if m.askWhole() {
		return widget.Frame(append(m.ask.dialog.View(m.env()).Lines, m.hints()), m.width, m.height)
	}
	f := m.foot()
	lines := m.head()
	room := max(m.height-len(lines)-len(f.lines), 0)
	body := m.pages.window(m.desk(), room)
	body = m.besides(body, room)
	lines = append(lines, body...)
	for range room - len(body) {
		lines = append(lines, "")
	}
	lines = append(lines, f.lines...)
	return strings.Join(lines[:min(len(lines), m.height)], "\n")
}

// Cursor is the caret's place on the screen.
func (m Model) Cursor() (x, y int, visible bool) {
	switch {
	case !m.small() && m.over.links != nil:
		return m.over.links.Cursor()
	case !m.small() && m.over.pager != nil:
		return m.over.pager.Cursor()
	case m.small(), m.covered():
		return 0, 0, false
	case m.sel.on && !m.sel.find.typing:
		return m.readCursor()
	}
	if m.asks() {
		e := m.env()
		drawn := m.ask.dialog.View(e)
		if m.askWhole() {
			return drawn.X, drawn.Y, drawn.Caret
		}
		if drawn.Caret {
			y = m.height - m.lowRows() - len(drawn.Lines) + drawn.Y
			return min(drawn.X, m.width-1), y, y >= 0 && y < m.height
		}
	}
	var f foot
	m.drawBox(&f)
	below := len(f.lines) + 1 + m.queueLines()
	y = m.height - below + f.y
	return min(f.x, m.width-1), y, y >= 0 && y < m.height
}

func (m Model) small() bool { return m.width < leastWidth || m.height < leastHeight }

// rows is the height of the conversation.
func (m Model) rows() int {
	if m.small() {
		return 0
	}
	return max(m.height-m.headRows()-m.footRows(), 0)
}

// footRows is the height of the foot: notices, the status or the dialog, and
// what is below.
func (m Model) footRows() int {
	n := len(m.notices()) + m.lowRows()
	if m.asks() {
		return n + len(m.ask.dialog.View(m.env()).Lines)
	}
	return n + 1
}

// lowRows is the height of the rule, the box, the queue and the hints.
func (m Model) lowRows() int {
	n := 2 + m.boxLines(m.box.Layout(m.boxWidth()))
	return n + m.queueLines() + len(m.trayRows())
}

// boxLines is how many rows of the box are seen.
func (m Model) boxLines(l compose.Layout) int {
	if m.recall.Open() {
		return m.recall.Rows(m.recallRows())
	}
	if m.sel.on || m.asks() && m.height < ruleHeight {
		return 1
	}
	return min(len(l.Rows), max(min(boxRows, m.height/3), 1))
}

// foot draws what stands below the conversation.
func (m Model) foot() foot {
	f := foot{lines: m.notices()}
	if m.asks() {
		f.lines = append(f.lines, m.ask.dialog.View(m.env()).Lines...)
	} else {
		f.lines = append(f.lines, m.status())
	}
	f.lines = append(f.lines, m.rule())
	f.lines = append(f.lines, m.trayRows()...)
	m.drawBox(&f)
	f.lines = append(f.lines, m.queueRows()...)
	f.lines = append(f.lines, m.hints())
	return f
}

// status is the run line, with what is new below the lines seen.
func (m Model) status() string {
	p, o := m.deps.Theme.Paints, m.deps.Theme.Ornaments
	left, right := m.runLine(), ""
	if left == "" && m.notice != "" && m.quietNotice() {
		left = p.Warning.On(render.SafeLine(m.notice))
	}
	if words := m.editWords(); left == "" && words != "" {
		left = p.Warning.On(words)
	}
	if words := m.queueWords(); words != "" {
		left = p.Warning.On(words)
	}
	if left == "" && m.others > 0 {
		left = p.Muted.On(" " + harness.Count(m.others, "unfinished run") + ": /runs")
	}
	if !m.pages.follow && (!m.sel.on || !m.atBottom()) {
		if right = m.belowWords(m.width - render.Width(left)); right != "" {
			right = p.Accent.On(right) + " "
		}
	}
	if m.pages.loading && m.pages.wantTop {
		right = p.Muted.On("loading"+o.Ellipsis) + " "
	}
	if right == "" {
		return render.Truncate(left, m.width, o.Ellipsis)
	}
	return render.Truncate(render.Fit(left, right, m.width, o.Ellipsis), m.width, "")
}

// belowWords say what is below the lines seen, as long as room allows: how to stop
// stands beside them, and is not to be pushed away.
func (m Model) belowWords(room int) string {
	o := m.deps.Theme.Ornaments
	long, short := o.Down+" ", o.Down
	if at := m.pages.top.item; at < len(m.pages.items) && m.pages.items[at].marks&markOut != 0 {
		long = "not in context " + o.Dot + " " + long
	}
	if n := m.pages.fresh(m.desk()); n > 0 {
		long += harness.Count(n, "new line") + " " + o.Dot + " "
		short = harness.Grouped(n) + " new " + short
	}
	words := []string{long + "End to follow", short, o.Down}
	for _, w := range words {
		if render.Width(w)+2 <= room {
			return w
		}
	}
	if m.turn.active() || m.condensing.busy() {
		return ""
	}
	return short
}

// runLine says what the run does, for how long, and how to stop it.
func (m Model) runLine() string {
	t := m.turn
	p, o := m.deps.Theme.Paints, m.deps.Theme.Ornaments
	switch {
	case m.condensing.busy() && !t.active():
		return p.Accent.On(o.Running) + " " + m.condenseWords() + o.Ellipsis + p.Muted.On(" "+o.Dot+" esc stops")
	case !t.active():
		return ""
	}
	word := "waiting"
	switch {
	case t.phase == phaseStarting:
		word = "sending"
		if t.live.now != "" {
			word = t.live.now
		}
	case t.phase == phaseStopping:
		word = "stopping"
	case t.live.now != "":
		word = t.live.now
	case t.live.n > 0:
		word = "writing"
	case len(t.live.thinking) > 0:
		word = "thinking"
	}
	since, tail := o.Ellipsis+" "+elapsed(m.deps.Now().Sub(t.since)), ""
	if t.step > 1 {
		tail += fmt.Sprintf(" %s step %d", o.Dot, t.step)
	}
	stop := ""
	if t.phase != phaseStopping {
		hint := "esc esc stop"
		if !m.escAt.IsZero() && m.deps.Now().Sub(m.escAt) <= stopWithin {
			hint = "esc again stops"
		}
		stop = " " + o.Dot + " " + hint
	}
	sign := p.Accent.On(o.Running) + " "
	if driver := " " + o.Dot + " " + render.SafeLine(t.driver); t.driver != "" && t.unclaimed == "" {
		const leastWord = 8
		if render.Width(sign+since+tail+driver+stop)+leastWord <= m.width {
			tail += driver
		}
	}
	tail += stop
	// How to stop is always to be read, however long the words are.
	word = render.Truncate(word, max(m.width-render.Width(sign+since+tail), 1), o.Ellipsis)
	return sign + strings.TrimSuffix(word, o.Ellipsis) + since + p.Muted.On(tail)
}

// elapsed is a duration in whole seconds.
func elapsed(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%ds", s)
	}
	return fmt.Sprintf("%dm%02ds", s/60, s%60)
}

// boxWidth is how wide the text in the box may be; the caret has one cell
// more.
func (m Model) boxWidth() int { return max(m.width-promptWidth-1, 1) }

// drawBox draws the box, or the search of prompts in its place.
func (m Model) drawBox(f *foot) {
	p := m.deps.Theme.Paints
	if m.sel.on {
		m.drawRead(f)
		return
	}
	if m.recall.Open() {
		rows, x := m.recall.View(m.deps.Theme, m.width, m.recallRows())
		f.lines = append(f.lines, rows...)
		f.x, f.y = x, len(f.lines)-1
		return
	}
	l := m.box.Layout(m.boxWidth())
	rows := m.boxLines(l)
	from := min(max(l.Row-rows+1, 0), len(l.Rows)-rows)
	if from > l.Row {
		from = l.Row
	}
	f.x, f.y = promptWidth+l.Col, len(f.lines)+l.Row-from
	for i, row := range l.Rows[from : from+rows] {
		sign := "  "
		if i == 0 && from == 0 {
			sign = p.Accent.On(">") + " "
		}
		f.lines = append(f.lines, sign+row)
	}
	if m.box.Empty() {
		hint := "write a message; / for commands"
		if m.own.state == accessReader {
			hint = "read-only; what is written here stays here"
		}
		f.lines[len(f.lines)-1] += render.Truncate(p.Placeholder.On(hint), m.boxWidth(), "")
	}
}

// hints is the last line: keys that work now, or the commands that fit what is
// typed.
func (m Model) hints() string {
	p := m.deps.Theme.Paints
	var parts []string
	switch {
	case m.leader != "" && m.menu.Shown:
		return render.Truncate(m.menuHint(), m.width, m.deps.Theme.Ornaments.Ellipsis)
	case m.leader != "":
		for _, e := range m.continuations() {
			parts = append(parts, p.Key.On(e.Key)+" "+p.Muted.On(e.Help))
		}
	case m.lists():
		parts = m.listHints()
	case m.box.Starts("/") && !m.box.Starts("//"):
		found := m.matching(m.box.Text())
		if len(found) == 0 {
			return render.Truncate(" "+p.Muted.On("no command begins so; a space before the slash sends it as text"), m.width, m.deps.Theme.Ornaments.Ellipsis)
		}
		for i, s := range found {
			part := p.Key.On("/" + s.Name)
			for _, more := range []string{s.Help, s.Arg + " " + s.Help} {
				if long := p.Key.On("/"+s.Name) + " " + p.Muted.On(strings.TrimSpace(more)); i == 0 && render.Width(long)+2 <= m.width {
					part = long
				}
			}
			parts = append(parts, part)
		}
	case m.asks(), m.sel.on, m.queue.mode.Open(), m.recall.Open():
		return m.footer()
	case m.height < fullHeight && m.box.Empty():
		parts = append(parts, p.Key.On("?")+" "+p.Muted.On("help"))
	case m.height < fullHeight:
		parts = append(parts, p.Key.On("enter")+" "+p.Muted.On("send"), p.Key.On(m.keyOf(actNewline))+" "+p.Muted.On("new line"))
	default:
		return m.footer()
	}
	line := ""
	for _, part := range parts {
		next := line + " " + part + " "
		if render.Width(next) <= m.width {
			line = next
		}
	}
	return line
}
