package picker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// The results of deleting and bringing back.
type (
	deleted struct {
		id     harness.SessionID
		err    error
		facts  []string // that came from it
		unread error    // why these are not known
	}
	forgotten struct {
		id    harness.SessionID
		facts []string
		left  []string // that could not be forgotten
		err   error
	}
	restored struct {
		gone gone
		err  error
	}
)

func (deleted) pickerMsg()   {}
func (forgotten) pickerMsg() {}
func (restored) pickerMsg()  {}

// remove deletes the selected session. It leaves the list at once and comes
// back if the store refuses.
func (m Model) remove() (Model, tea.Cmd) {
	s, ok := m.selected()
	if !ok {
		return m, nil
	}
	g := gone{id: s.ID, title: m.title(s)}
	m.list = m.list.hide(s.ID, true, m.today())
	m.gone = append(m.gone[:len(m.gone):len(m.gone)], g)
	m.notice = m.offer(g)
	ctx, c := m.ctx, m.c
	m, look := m.look()
	return m, tea.Batch(look, func() tea.Msg {
		if err := c.Sessions.Delete(ctx, g.id); err != nil {
			return deleted{id: g.id, err: fmt.Errorf("delete session %s: %w", g.id, err)}
		}
		facts, err := factsOf(ctx, c.Facts, g.id)
		return deleted{id: g.id, facts: facts, unread: err}
	})
}

// offer is the line that says how to take a deletion back.
func (m Model) offer(g gone) notice {
	undo := widget.KeyFor(m.c.Keys, "picker.undo", "ctrl+_")
	what := fmt.Sprintf("%s brings it back (kept 30 days)", undo)
	if n := len(g.facts); n > 0 {
		also := widget.KeyFor(m.c.Keys, "picker.forget-facts", "ctrl+f")
		what = fmt.Sprintf("%s brings it back, %s also forgets the %s from it", undo, also, plural(n, "fact"))
	}
	if n := len(g.forgot); n > 0 {
		what = fmt.Sprintf("%s forgotten with it; %s brings all back", plural(n, "fact"), undo)
	}
	return notice{text: fmt.Sprintf("Deleted. %s: \"%s\"", what, g.title), undo: true}
}

// factsOf are the facts in use that came from a session.
func factsOf(ctx context.Context, facts harness.Facts, id harness.SessionID) ([]string, error) {
	if facts == nil {
		return nil, nil
	}
	all, err := facts.List(ctx, harness.MemoryFilter{State: harness.StateAny})
	if err != nil {
		return nil, fmt.Errorf("list facts of session %s: %w", id, err)
	}
	var out []string
	for _, f := range all {
		if f.Session == id || f.Source.Session == id {
			out = append(out, f.ID)
		}
	}
	return out, nil
}

func (m Model) onDeleted(msg deleted) (Model, tea.Cmd) {
	if msg.err != nil && !errors.Is(msg.err, harness.ErrNotFound) {
		m.list = m.list.unhide(msg.id, m.today()).selectKey(key{session: msg.id})
		m.gone = slices.DeleteFunc(slices.Clone(m.gone), func(g gone) bool { return g.id == msg.id })
		m.notice = m.fail(msg.err)
		return m, nil
	}
	m.list = m.list.hide(msg.id, false, m.today())
	m = m.note(msg.id, func(g *gone) { g.facts = msg.facts })
	if i := slices.IndexFunc(m.gone, func(g gone) bool { return g.id == msg.id && g.back }); i >= 0 {
		g := m.gone[i]
		m.gone = append(slices.Delete(slices.Clone(m.gone), i, i+1), g)
		return m.undelete()
	}
	if msg.unread != nil && m.notice.undo {
		m.notice.text += " " + m.c.Words(msg.unread)
	}
	return m.load()
}

// unoffered takes back the offers about sessions that are in the list again, as
// another window brought them back.
func (m Model) unoffered() Model {
	offered := m.lastGone().id
	m.gone = slices.DeleteFunc(slices.Clone(m.gone), func(g gone) bool {
		_, there := m.list.byID(g.id)
		return there && !m.list.isHidden(g.id)
	})
	if m.notice.undo && m.lastGone().id != offered {
		m.notice = notice{}
	}
	return m
}

// note changes what is known of a deleted session, and the offer if that is
// about it.
func (m Model) note(id harness.SessionID, change func(*gone)) Model {
	m.gone = slices.Clone(m.gone)
	for i := range m.gone {
		if m.gone[i].id == id {
			change(&m.gone[i])
		}
	}
	if g := m.lastGone(); g.id == id && m.notice.undo {
		m.notice = m.offer(g)
	}
	return m
}

// forgetFacts moves the facts that came from the session deleted last to the
// trash too.
func (m Model) forgetFacts() (Model, tea.Cmd) {
	g := m.lastGone()
	ctx, facts := m.ctx, m.c.Facts
	m = m.note(g.id, func(g *gone) { g.facts = nil })
	return m, func() tea.Msg {
		out := forgotten{id: g.id}
		for _, id := range g.facts {
			if err := facts.Forget(ctx, id); err != nil && !errors.Is(err, harness.ErrNotFound) {
				out.err = errors.Join(out.err, fmt.Errorf("forget fact %s: %w", id, err))
				out.left = append(out.left, id)
				continue
			}
			out.facts = append(out.facts, id)
		}
		return out
	}
}

func (m Model) onForgotten(msg forgotten) Model {
	m = m.note(msg.id, func(g *gone) {
		g.facts, g.forgot = msg.left, append(g.forgot[:len(g.forgot):len(g.forgot)], msg.facts...)
	})
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		m.notice.undo = true
	}
	return m
}

// undelete brings back the session deleted last, with the facts that were
// forgotten with it.
func (m Model) undelete() (Model, tea.Cmd) {
	if len(m.gone) == 0 {
		return m, nil
	}
	g := m.lastGone()
	m.notice = notice{}
	if m.list.hidden[g.id] { // the store is still at it; restoring now might come first
		return m.note(g.id, func(g *gone) { g.back = true }), nil
	}
	m.gone = m.gone[:len(m.gone)-1]
	return m, m.bring(g)
}

// bring restores a session and the facts that were forgotten with it.
func (m Model) bring(g gone) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		if err := c.Sessions.Restore(ctx, g.id); err != nil {
			return restored{g, fmt.Errorf("restore session %s: %w", g.id, err)}
		}
		for len(g.forgot) > 0 {
			id := g.forgot[0]
			f, err := c.Facts.Restore(ctx, id)
			if err != nil && !errors.Is(err, harness.ErrNotFound) {
				return restored{g, fmt.Errorf("restore fact %s: %w", id, err)}
			}
			if err == nil && f.ID != id {
				g.doubled = append(g.doubled[:len(g.doubled):len(g.doubled)], fmt.Sprintf("%s stays forgotten: %s says the same.", id, f.ID))
			}
			g.forgot = g.forgot[1:]
		}
		return restored{gone: g}
	}
}

func (m Model) onRestored(msg restored) (Model, tea.Cmd) {
	if msg.err != nil {
		msg.gone.back = false
		m.gone = append(m.gone[:len(m.gone):len(m.gone)], msg.gone)
		m.notice = m.fail(msg.err)
		return m.load()
	}
	m.list = m.list.unhide(msg.gone.id, m.today()).selectKey(key{session: msg.gone.id})
	m.notice = notice{text: strings.Join(append([]string{fmt.Sprintf("\"%s\" is back.", msg.gone.title)}, msg.gone.doubled...), " ")}
	m.list.chosen = true
	m.found.asked = asked{} // its messages are found again
	m, search := m.search()
	m, load := m.load()
	return m, tea.Batch(search, load)
}

// toTrash lists the deleted sessions, or goes back to the others.
func (m Model) toTrash(trash bool) (Model, tea.Cmd) {
	m.show.trash, m.notice = trash, notice{}
	m.filter, m.found = widget.Line(""), m.found.stop()
	m.list = m.list.emptied(trash)
	if !trash {
		m.list = m.list.selectKey(key{session: m.window.present})
	}
	m.loading = m.loading.dropped() // a reading of the other list no longer counts
	return m.load()
}

// takeOut brings a session back from the trash.
func (m Model) takeOut(id harness.SessionID) (Model, tea.Cmd) {
	s, _ := m.list.byID(id)
	g := gone{id: id, title: m.title(s)}
	for i := range m.gone {
		if m.gone[i].id == id {
			g = m.gone[i]
			m.gone = slices.Delete(slices.Clone(m.gone), i, i+1)
			break
		}
	}
	return m, m.bring(g)
}
