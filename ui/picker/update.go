package picker

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// rename is the title that is being typed, or the tags; id is empty if neither
// is.
type rename struct {
	n      int // counts the renames: a late answer to an earlier one is told by it
	id     harness.SessionID
	field  widget.Field
	tags   bool
	saving bool
}

// Update handles a key, the wheel, a size, or one of this screen's messages.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var intent Intent
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyMsg:
		m, cmd, intent = m.onKey(msg)
	case tea.MouseMsg:
		m, cmd = m.onMouse(msg)
	case Changed:
		if m.front {
			m, cmd = m.load()
		}
	case listed:
		m, cmd = m.onListed(msg)
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
	}
	switch intent.(type) {
	case Open, NewChat, Back:
		m.front = false
	}
	l := m.layout(m.width, m.height)
	m.list.top = m.list.scrolled(l.list, l.headings)
	return m, cmd, intent
}

func (m Model) onKey(k tea.KeyMsg) (Model, tea.Cmd, Intent) {
	action, off := widget.Match(m.Bindings(), k)
	if _, moves := m.target(action); !m.notice.undo || !moves && action != "picker.undo" && action != "picker.forget-facts" {
		m.notice = notice{}
	}
	if m.rename.id != "" {
		m, cmd := m.onRenameKey(k, action)
		return m, cmd, nil
	}
	switch action {
	case "picker.open":
		return m.open()
	case "picker.new":
		return m, nil, NewChat{}
	case "picker.back":
		if m.trash {
			m, cmd := m.toTrash(false)
			return m, cmd, nil
		}
		return m, nil, Back{}
	case "picker.rename", "picker.tags":
		return m.write(action == "picker.tags"), nil, nil
	case "picker.trash":
		m, cmd := m.toTrash(!m.trash)
		return m, cmd, nil
	case "picker.delete":
		m, cmd := m.remove()
		return m, cmd, nil
	case "picker.forget-facts":
		m, cmd := m.forgetFacts()
		return m, cmd, nil
	case "picker.help":
		return m, nil, Help{}
	case "picker.undo":
		m, cmd := m.undelete()
		return m, cmd, nil
	case "picker.pin":
		s, _ := m.selected()
		pinned := !s.Pinned
		return m, m.edit(0, s.ID, harness.SessionEdit{Pinned: &pinned}), nil
	case "":
		if off != "" {
			m.notice = notice{text: upper(off) + "."}
			return m, nil, nil
		}
		m, cmd := m.onFilterKey(k)
		return m, cmd, nil
	default:
		m, cmd := m.move(action)
		return m, cmd, nil
	}
}

func (m Model) open() (Model, tea.Cmd, Intent) {
	if m.list.failed != nil {
		m, cmd := m.load()
		return m, cmd, nil
	}
	if m.list.len() == 0 {
		return m, nil, nil
	}
	k := m.list.keyAt(m.list.at)
	if m.trash {
		m, cmd := m.takeOut(k.session)
		return m, cmd, nil
	}
	return m, nil, Open{k.session, k.message}
}

// write begins a new title for the selected session, or new tags.
func (m Model) write(tags bool) Model {
	s, _ := m.selected()
	text := s.Title
	if tags {
		text = widget.Hashed(s.Tags)
	}
	m.rename = rename{n: m.rename.n + 1, id: s.ID, field: widget.Line(text), tags: tags}
	return m
}

func (m Model) onRenameKey(k tea.KeyMsg, action string) (Model, tea.Cmd) {
	switch {
	case m.rename.saving:
		return m, nil
	case action == "picker.discard":
		m.rename = rename{n: m.rename.n}
		return m, nil
	case action == "picker.save" && m.rename.tags:
		tags := widget.Tags(m.rename.field.Text())
		m.rename.saving = true
		return m, m.edit(m.rename.n, m.rename.id, harness.SessionEdit{Tags: &tags})
	case action == "picker.save":
		title := strings.TrimSpace(m.rename.field.Text())
		if title == "" {
			m.notice = notice{text: "A title needs at least one character.", failed: true}
			return m, nil
		}
		m.rename.saving = true
		return m, m.edit(m.rename.n, m.rename.id, harness.SessionEdit{Title: &title, TitleBy: harness.TitleByUser})
	default:
		m.rename.field, _ = m.rename.field.Key(k)
		return m, nil
	}
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
	m.notice = notice{}
	m.list = m.list.find(f.Text(), m.today()).to(0)
	m.list.top = 0
	m, search := m.search()
	m, look := m.look()
	return m, tea.Batch(search, look)
}

func (m Model) move(action string) (Model, tea.Cmd) {
	at, ok := m.target(action)
	if !ok {
		return m, nil
	}
	m.list = m.list.to(at)
	m.list.chosen = true
	return m.look()
}

// target is the row that a key moves to; ok is false for other keys.
func (m Model) target(action string) (row int, ok bool) {
	page := max(m.layout(m.width, m.height).list-1, 1)
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
	if m.rename.id != "" {
		return m, nil
	}
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		m.list = m.list.to(m.list.at - 3)
	case tea.MouseButtonWheelDown:
		m.list = m.list.to(m.list.at + 3)
	default:
		return m, nil
	}
	return m.look()
}

// selected is the session under the cursor; ok is false on a message or when
// there is no row.
func (m Model) selected() (harness.Session, bool) { return m.list.session(m.list.at) }

func (m Model) onHit() bool { return m.list.at >= len(m.list.rows) && m.list.at < m.list.len() }

// mayDelete says why a session cannot be deleted here; empty means it can.
func (m Model) mayDelete(s harness.Session) string {
	switch {
	case s.ID == m.present:
		return "this chat is open here: start or open another first"
	case m.elsewhere(s):
		return fmt.Sprintf("it is open in pid %d: close it there first", s.Owner.PID)
	default:
		return ""
	}
}

// elsewhere reports whether another process has the session open.
func (m Model) elsewhere(s harness.Session) bool {
	if s.Owner == nil {
		return false
	}
	sameHost := s.Owner.Host == "" || m.c.Self.Host == "" || s.Owner.Host == m.c.Self.Host
	return s.Owner.PID != m.c.Self.PID || !sameHost
}

func (m Model) today() time.Time { return m.c.Now() }

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
