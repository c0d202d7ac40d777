package browser

import (
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// change edits pinned or state of an entry.
func (m Model) change(e entry, pinned *bool, state *harness.FactState, said string) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		out := changed{entry: e, said: said}
		if e.kind == note {
			var n harness.Note
			n, out.err = c.Notes.Edit(ctx, e.id(), harness.NoteEdit{Pinned: pinned, State: state})
			out.entry = ofNote(n)
		} else {
			var f harness.Fact
			f, out.err = c.Facts.Edit(ctx, e.id(), harness.FactEdit{Pinned: pinned, State: state})
			out.entry = ofFact(f)
		}
		if out.err != nil {
			out.err = fmt.Errorf("edit %s: %w", e.id(), out.err)
		}
		return out
	}
}

func (m Model) onChanged(msg changed) (Model, tea.Cmd) {
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		return m.load()
	}
	m.notice = notice{text: msg.said}
	m = m.patch(msg.entry)
	return m.load()
}

// patch puts a changed entry in its place until the next reading.
func (m Model) patch(e entry) Model {
	for t := range m.lists {
		for i := range m.lists[t].entries {
			if m.lists[t].entries[i].id() == e.id() {
				next := slices.Clone(m.lists[t].entries)
				next[i] = e
				m.lists[t].entries = next
			}
		}
	}
	return m.match()
}

// forget moves the selected thing to the trash. It leaves the list at once and
// comes back if the store refuses.
func (m Model) forget() (Model, tea.Cmd) {
	e, _ := m.selected()
	id := e.id()
	m = m.hide(id, true)
	m.gone = append(m.gone[:len(m.gone):len(m.gone)], id)
	m.notice = notice{text: fmt.Sprintf("Forgot %s. %s brings it back (kept 30 days): \"%s\"", id, m.key("browser.undo", "u"), m.brief(e)), undo: true}
	m.mode = modeList
	ctx, c := m.ctx, m.c
	m, look := m.look()
	return m, tea.Batch(look, func() tea.Msg {
		var err error
		if e.kind == note {
			err = c.Notes.Forget(ctx, id)
		} else {
			err = c.Facts.Forget(ctx, id)
		}
		return forgotten{id, err}
	})
}

func (m Model) onForgotten(msg forgotten) (Model, tea.Cmd) {
	if msg.err == nil || errors.Is(msg.err, harness.ErrNotFound) {
		m = m.hide(msg.id, false)
		if m.back == msg.id {
			return m.bring(msg.id)
		}
		return m.load()
	}
	m = m.show(msg.id)
	m.back = ""
	m.lists[tabOf(msg.id)] = m.lists[tabOf(msg.id)].selectID(msg.id)
	m.gone = slices.DeleteFunc(slices.Clone(m.gone), func(id string) bool { return id == msg.id })
	m.notice = m.fail(fmt.Errorf("forget %s: %w", msg.id, msg.err))
	return m, nil
}

// restore brings back a forgotten thing: in the trash the selected one, else
// the one forgotten last.
func (m Model) restore() (Model, tea.Cmd) {
	id := ""
	if m.tab == tabTrash {
		e, _ := m.selected()
		id = e.id()
	} else if len(m.gone) > 0 {
		id = m.gone[len(m.gone)-1]
	}
	if id == "" {
		return m, nil
	}
	if m.loading.hidden[id] { // the store is still at it; restoring now might come first
		m.back = id
		return m, nil
	}
	return m.bring(id)
}

// bring restores one thing.
func (m Model) bring(id string) (Model, tea.Cmd) {
	m.back = ""
	m.gone = slices.DeleteFunc(slices.Clone(m.gone), func(g string) bool { return g == id })
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		out := restored{id: id}
		if kindOf(id) == note {
			var n harness.Note
			n, out.err = c.Notes.Restore(ctx, id)
			out.entry = ofNote(n)
		} else {
			var f harness.Fact
			f, out.err = c.Facts.Restore(ctx, id)
			out.entry = ofFact(f)
		}
		return out
	}
}

func (m Model) onRestored(msg restored) (Model, tea.Cmd) {
	if msg.err != nil {
		if !errors.Is(msg.err, harness.ErrNotFound) {
			m.gone = append(m.gone[:len(m.gone):len(m.gone)], msg.id)
		}
		m.notice = m.fail(fmt.Errorf("restore %s: %w", msg.id, msg.err))
		return m.load()
	}
	m = m.show(msg.id)
	m.lists[tabOf(msg.id)] = m.lists[tabOf(msg.id)].selectID(msg.id)
	m.notice = notice{text: fmt.Sprintf("%s is back: \"%s\"", msg.id, m.brief(msg.entry))}
	return m.load()
}
