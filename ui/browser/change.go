package browser

import (
	"context"
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
		out := changed{before: e, entry: e, said: said}
		if e.kind == note {
			out.entry, out.err = editNote(ctx, c, e.id(), harness.NoteEdit{Pinned: pinned, State: state})
		} else {
			out.entry, out.err = editFact(ctx, c, e.id(), harness.FactEdit{Pinned: pinned, State: state})
		}
		return out
	}
}

func editFact(ctx context.Context, c Config, id string, edit harness.FactEdit) (entry, error) {
	f, err := c.Facts.Edit(ctx, id, edit)
	if err != nil {
		return entry{}, fmt.Errorf("edit %s: %w", id, err)
	}
	return ofFact(f), nil
}

func editNote(ctx context.Context, c Config, id string, edit harness.NoteEdit) (entry, error) {
	n, err := c.Notes.Edit(ctx, id, edit)
	if err != nil {
		return entry{}, fmt.Errorf("edit %s: %w", id, err)
	}
	return ofNote(n), nil
}

func (m Model) onChanged(msg changed) (Model, tea.Cmd) {
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		return m.load()
	}
	m.notice = notice{text: msg.said}
	if msg.entry.revision() == msg.before.revision()+1 { // else somebody else's change came between
		m = m.did(deed{what: didChange, id: msg.entry.id(), before: msg.before, after: msg.entry})
		m.notice = notice{text: fmt.Sprintf("%s %s undoes it.", msg.said, m.key("browser.undo", "u")), stays: true}
	}
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
	m = m.hide(true, id).did(deed{what: didForget, id: id})
	m.notice = notice{text: fmt.Sprintf("Forgot %s. %s brings it back (kept 30 days): \"%s\"", id, m.key("browser.undo", "u"), m.brief(e)), stays: true}
	m.mode = modeList
	ctx, c := m.ctx, m.c
	m, look := m.look()
	return m, tea.Batch(look, func() tea.Msg { return forgotten{id, trash(ctx, c, id)} })
}

// trash moves one thing to the trash.
func trash(ctx context.Context, c Config, id string) error {
	var err error
	if kindOf(id) == note {
		err = c.Notes.Forget(ctx, id)
	} else {
		err = c.Facts.Forget(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("forget %s: %w", id, err)
	}
	return nil
}

func (m Model) onForgotten(msg forgotten) (Model, tea.Cmd) {
	if msg.err == nil || errors.Is(msg.err, harness.ErrNotFound) {
		m = m.hide(false, msg.id)
		if m.back == msg.id {
			return m.bring(msg.id)
		}
		return m.load()
	}
	m = m.show(msg.id)
	m.back = ""
	m.lists[tabOf(msg.id)] = m.lists[tabOf(msg.id)].selectID(msg.id)
	m = m.undone(msg.id)
	m.notice = m.fail(msg.err)
	return m, nil
}

// restore brings back what is selected in the trash.
func (m Model) restore() (Model, tea.Cmd) {
	e, ok := m.selected()
	if !ok {
		return m, nil
	}
	return m.recover(e.id())
}

// recover brings a forgotten thing back, once the store has forgotten it.
func (m Model) recover(id string) (Model, tea.Cmd) {
	if m.loading.hidden[id] { // the store is still at it; restoring now might come first
		m.back = id
		return m, nil
	}
	return m.bring(id)
}

// bring restores one thing.
func (m Model) bring(id string) (Model, tea.Cmd) {
	m.back = ""
	m = m.undone(id)
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		e, err := untrash(ctx, c, id)
		return restored{e, id, err}
	}
}

// untrash takes one thing out of the trash. A fact that says the same as one
// that is active stays there, and the active one is returned.
func untrash(ctx context.Context, c Config, id string) (entry, error) {
	if kindOf(id) == note {
		n, err := c.Notes.Restore(ctx, id)
		if err != nil {
			return entry{}, fmt.Errorf("restore %s: %w", id, err)
		}
		return ofNote(n), nil
	}
	f, err := c.Facts.Restore(ctx, id)
	if err != nil {
		return entry{}, fmt.Errorf("restore %s: %w", id, err)
	}
	return ofFact(f), nil
}

func (m Model) onRestored(msg restored) (Model, tea.Cmd) {
	if msg.err != nil {
		if !errors.Is(msg.err, harness.ErrNotFound) {
			m = m.did(deed{what: didForget, id: msg.id})
		}
		m.notice = m.fail(msg.err)
		return m.load()
	}
	id := msg.entry.id()
	if id == msg.id {
		m = m.show(id)
	}
	m.lists[tabOf(id)] = m.lists[tabOf(id)].selectID(id)
	if id != msg.id {
		m.notice = m.twin(msg.id, msg.entry)
		return m.load()
	}
	if m.tab != tabTrash {
		m.tab = tabOf(id)
	}
	m.notice = notice{text: fmt.Sprintf("%s is back: \"%s\"", id, m.brief(msg.entry))}
	return m.load()
}

// twin says that a fact stays in the trash because another one says the same.
func (m Model) twin(id string, e entry) notice {
	return notice{text: fmt.Sprintf("%s stays in the trash: %s says the same now: \"%s\"", id, e.id(), m.brief(e)), failed: true}
}
