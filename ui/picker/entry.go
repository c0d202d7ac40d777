package picker

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// entryKind is what is typed in a row of the list.
type entryKind int

const (
	entryTitle entryKind = iota
	entryTags
	entryExport // the file to export to
)

// entry is the line that is being typed in the selected row; id is empty if
// none is.
type entry struct {
	n      int // counts the entries: a late answer to an earlier one is told by it
	id     harness.SessionID
	of     key // the row
	kind   entryKind
	field  widget.Field
	saving bool
}

// write begins a new title for the selected session, or new tags, or the name
// of a file.
func (m Model) write(kind entryKind) Model {
	k, ok := m.list.selected()
	if !ok {
		return m
	}
	s, _ := m.list.byID(k.session)
	var text string
	switch kind {
	case entryTitle:
		text = s.Title
	case entryTags:
		text = widget.Hashed(s.Tags)
	case entryExport:
		text = string(k.session) + ".md"
	}
	m.entry = entry{n: m.entry.n + 1, id: k.session, of: k, field: widget.Line(text), kind: kind}
	m.preview.peek, m.list.chosen = false, true
	return m
}

// label stands before what is typed.
func (e entry) label() string {
	switch e.kind {
	case entryExport:
		return "export to: "
	case entryTags:
		return "tags: "
	default:
		return "" // a title stands where it is read
	}
}

func (m Model) onEntryKey(k tea.KeyMsg, action string) (Model, tea.Cmd) {
	switch {
	case m.entry.saving:
		return m, nil
	case action == "picker.discard":
		m.entry = entry{n: m.entry.n}
		return m, nil
	case action == "picker.save":
		return m.save()
	default:
		m.entry.field, _ = m.entry.field.Key(k)
		return m, nil
	}
}

func (m Model) save() (Model, tea.Cmd) {
	switch m.entry.kind {
	case entryExport:
		return m.export()
	case entryTags:
		tags := widget.Tags(m.entry.field.Text())
		m.entry.saving = true
		return m, m.edit(m.entry.n, m.entry.id, harness.SessionEdit{Tags: &tags})
	default:
		title := strings.TrimSpace(m.entry.field.Text())
		if title == "" {
			m.notice = notice{text: "A title needs at least one character.", failed: true}
			return m, nil
		}
		m.entry.saving = true
		return m, m.edit(m.entry.n, m.entry.id, harness.SessionEdit{Title: &title, TitleBy: harness.TitleByUser})
	}
}

// kept closes the menu and ends what is typed when their row is no longer the
// selected one, so that no key acts on another.
func (m Model) kept() Model {
	k, ok := m.list.selected()
	chosen, typed := m.menu.open && (!ok || k != m.menu.of), m.entry.id != "" && (!ok || k != m.entry.of)
	if !chosen && !typed {
		return m
	}
	id := m.menu.of.session
	if typed {
		id = m.entry.id
	}
	said := "The session is no longer in this list."
	if _, there := m.list.byID(id); !there {
		said = "The session was deleted elsewhere."
	}
	m.notice = notice{text: said, failed: true}
	if text := strings.TrimSpace(m.entry.field.Text()); typed && text != "" && !m.entry.saving {
		m.notice = notice{text: strings.TrimSuffix(said, ".") + `; you typed "` + text + `"`, failed: true, stays: true}
	}
	m.menu, m.entry = menu{}, entry{n: m.entry.n}
	return m
}

// edit changes the description of a session.
func (m Model) edit(n int, id harness.SessionID, e harness.SessionEdit) tea.Cmd {
	ctx, sessions := m.ctx, m.c.Sessions
	return func() tea.Msg {
		s, err := sessions.Edit(ctx, id, e)
		if err != nil {
			err = fmt.Errorf("edit session %s: %w", id, err)
		}
		return edited{n, s, err}
	}
}

func (m Model) onEdited(msg edited) (Model, tea.Cmd) {
	mine := msg.n != 0 && msg.n == m.entry.n && m.entry.id != ""
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		if mine {
			m.entry.saving = false
		}
		return m, nil
	}
	if mine {
		m.entry = entry{n: m.entry.n}
	}
	m.list = m.list.patch(msg.session, m.today())
	return m.load()
}
