package picker

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// Update handles a key, the wheel, a size, or one of this screen's messages.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var intent Intent
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.window.width, m.window.height = msg.Width, msg.Height
		m, cmd = m.look()
	case tea.KeyMsg:
		m, cmd, intent = m.onKey(msg)
	case tea.MouseMsg:
		m, cmd = m.onMouse(msg)
	case Changed:
		if m.window.front {
			m, cmd = m.refresh()
		}
	case due:
		m, cmd = m.onDue(msg)
	case listed:
		m, cmd = m.onListed(msg)
	case standings:
		m = m.onStandings(msg)
	case searched:
		m, cmd = m.onSearched(msg)
	case previewed:
		m, cmd = m.onPreviewed(msg)
	case deleted:
		m, cmd = m.onDeleted(msg)
	case forgotten:
		m = m.onForgotten(msg)
	case restored:
		m, cmd = m.onRestored(msg)
	case edited:
		m, cmd = m.onEdited(msg)
	case forked:
		m, intent = m.onForked(msg)
	case exported:
		m = m.onExported(msg)
	}
	switch intent.(type) {
	case Open, NewChat, Back:
		m.window.front = false
		m.found = m.found.stop()
	}
	return m.settled(), cmd, intent
}

// settled brings what is drawn in line with what has changed.
func (m Model) settled() Model {
	m = m.kept()
	l := m.layout(m.window.width, m.window.height)
	m.list.top = m.list.scrolled(l.list, l.headings)
	m.menu.top = widget.Scroll(m.menu.top, m.menu.at, len(m.menuActs()), max(l.list-1, 1))
	return m.laidPreview(l)
}

func (m Model) onKey(k tea.KeyMsg) (Model, tea.Cmd, Intent) {
	action, off := widget.Match(m.Bindings(), k)
	if _, moves := m.target(action); !m.notice.outlives(action, moves) {
		m.notice = notice{}
	}
	switch {
	case m.entry.id != "":
		m, cmd := m.onEntryKey(k, action)
		return m, cmd, nil
	case m.menu.open:
		return m.onMenuKey(action, off)
	}
	switch action {
	case "picker.back":
		return m.back()
	case "picker.new":
		return m, nil, NewChat{}
	case "picker.help":
		return m, nil, Help{}
	case "":
		if off != "" {
			m.notice = notice{text: upper(off) + "."}
			return m, nil, nil
		}
		m, cmd := m.onFilterKey(k)
		return m, cmd, nil
	}
	if at, ok := m.target(action); ok {
		m, cmd := m.to(at)
		return m, cmd, nil
	}
	if next, cmd, ok := m.onView(action); ok {
		return next, cmd, nil
	}
	return m.do(action)
}

// back leaves what is in front: the preview, the trash, the screen.
func (m Model) back() (Model, tea.Cmd, Intent) {
	switch {
	case m.preview.peek:
		m.preview.peek = false
		return m, nil, nil
	case m.show.trash:
		m, cmd := m.toTrash(false)
		return m, cmd, nil
	default:
		return m, nil, Back{}
	}
}

// onView handles the keys that change what is shown; ok is false for others.
func (m Model) onView(action string) (next Model, cmd tea.Cmd, ok bool) {
	page := max(m.previewRoom(m.layout(m.window.width, m.window.height))-1, 1)
	switch action {
	case "picker.actions":
		m = m.openMenu()
	case "picker.preview":
		m.preview.peek = !m.preview.peek
		m, cmd = m.look()
	case "picker.preview-up":
		m, cmd = m.scrollPreview(page)
	case "picker.preview-down":
		m, cmd = m.scrollPreview(-page)
	case "picker.here":
		m, cmd = m.toHere()
	case "picker.sort":
		m.show.order = (m.show.order + 1) % orders
		m.list = m.list.sort(m.show.order, m.today())
	case "picker.trash":
		m, cmd = m.toTrash(!m.show.trash)
	case "picker.undo":
		m, cmd = m.undelete()
	case "picker.forget-facts":
		m, cmd = m.forgetFacts()
	default:
		return m, nil, false
	}
	return m, cmd, true
}

// toHere narrows the list to the sessions of this directory, or shows all
// again.
func (m Model) toHere() (Model, tea.Cmd) {
	m.show.here = !m.show.here
	m.list = m.list.in(m.dir(), m.today())
	m, search := m.search()
	m, look := m.look()
	return m, tea.Batch(search, look)
}

// dir is the directory whose sessions are shown, empty for all.
func (m Model) dir() string {
	if !m.show.here {
		return ""
	}
	return m.c.Dir
}

func (m Model) onFilterKey(k tea.KeyMsg) (Model, tea.Cmd) {
	before := m.filter.Text()
	f, used := m.filter.Key(k)
	if !used {
		return m, nil
	}
	m.filter = f
	if f.Text() == before {
		return m, nil
	}
	if m.preview.peek = false; !m.notice.stays {
		m.notice = notice{}
	}
	return m.sought()
}

// sought looks for what is in the box, from the top of the list.
func (m Model) sought() (Model, tea.Cmd) {
	m.list = m.list.find(m.filter.Text(), m.today()).to(0)
	m.list.top = 0
	m, search := m.search()
	m, look := m.look()
	return m, tea.Batch(search, look)
}

func (m Model) to(row int) (Model, tea.Cmd) {
	m.list = m.list.to(row)
	m.list.chosen = true
	return m.look()
}

// target is the row that a key moves to; ok is false for other keys.
func (m Model) target(action string) (row int, ok bool) {
	page := max(m.layout(m.window.width, m.window.height).list-1, 1)
	at := m.list.at
	switch action {
	case "picker.up":
		return at - 1, true
	case "picker.down":
		return at + 1, true
	case "picker.page-up":
		return at - page, true
	case "picker.page-down":
		return at + page, true
	case "picker.first":
		return 0, true
	case "picker.last":
		return m.list.len() - 1, true
	default:
		return 0, false
	}
}

func (m Model) onMouse(msg tea.MouseMsg) (Model, tea.Cmd) {
	var by int
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		by = -3
	case tea.MouseButtonWheelDown:
		by = 3
	default:
		return m, nil
	}
	l := m.layout(m.window.width, m.window.height)
	switch {
	case m.entry.id != "" || m.menu.open:
		return m, nil
	case m.preview.peek || l.wide && msg.X > l.left:
		return m.scrollPreview(-by)
	default:
		return m.to(m.list.at + by)
	}
}

// selected is the session under the cursor; ok is false on a message or when
// there is no row.
func (m Model) selected() (harness.Session, bool) { return m.list.session(m.list.at) }

func (m Model) onHit() bool { return m.list.at >= len(m.list.rows) && m.list.at < m.list.len() }

func (m Model) today() time.Time { return m.c.Now() }

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
