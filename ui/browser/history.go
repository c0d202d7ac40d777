package browser

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// past is the history of one thing, newest revision first.
type past struct {
	n         int
	busy      bool
	of        entry
	revisions []entry
	at        int // the selected one
}

// recalled answers a reading of the history.
type recalled struct {
	n         int
	revisions []entry
	err       error
}

func (recalled) browserMsg() {}

func (m Model) historyKeys() []render.Binding {
	off := ""
	switch {
	case m.past.of.state() == harness.StateTrashed:
		off = "it is in the trash"
	case len(m.past.revisions) == 0:
		off = "there is no revision"
	case m.past.at == 0:
		off = "this is how it is now"
	}
	out := []render.Binding{
		{Action: "browser.restore-revision", Keys: []string{"enter"}, Help: "make it so again", Group: keyGroup, Rank: 1, Off: off},
		{Action: "browser.leave", Keys: []string{"esc", "left", "h", "ctrl+c"}, Help: "back", Group: keyGroup, Rank: 2},
	}
	return append(out, moving()...)
}

// history reads the revisions of the selected thing.
func (m Model) history() (Model, tea.Cmd) {
	e, _ := m.selected()
	m.mode = modeHistory
	m.past = past{n: m.past.n + 1, busy: true, of: e}
	ctx, c, n := m.ctx, m.c, m.past.n
	return m, func() tea.Msg {
		out := recalled{n: n}
		if e.kind == note {
			var notes []harness.Note
			notes, out.err = c.Notes.History(ctx, e.id())
			for _, r := range notes {
				out.revisions = append(out.revisions, ofNote(r))
			}
		} else {
			var facts []harness.Fact
			facts, out.err = c.Facts.History(ctx, e.id())
			for _, r := range facts {
				out.revisions = append(out.revisions, ofFact(r))
			}
		}
		if out.err != nil {
			out.err = fmt.Errorf("read history of %s: %w", e.id(), out.err)
		}
		slices.Reverse(out.revisions)
		return out
	}
}

func (m Model) onRecalled(msg recalled) Model {
	if msg.n != m.past.n {
		return m
	}
	m.past.busy, m.past.revisions = false, msg.revisions
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		if m.mode == modeHistory {
			m.mode = modeList
		}
	}
	return m
}

// goBack makes an old revision the current one: an edit like any other, so
// what is current now stays in the history.
func (m Model) goBack() (Model, tea.Cmd) {
	old, now := m.past.revisions[m.past.at], m.past.revisions[0]
	m.mode = modeList
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		out := changed{before: now}
		if old.kind == note {
			out.entry, out.err = editNote(ctx, c, old.id(), harness.NoteEdit{Title: &old.note.Title, Body: &old.note.Body, Tags: &old.note.Tags})
		} else {
			out.entry, out.err = editFact(ctx, c, old.id(), harness.FactEdit{Text: &old.fact.Text, Category: &old.fact.Category, Tags: &old.fact.Tags})
		}
		out.said = fmt.Sprintf("%s is as it was in v%d again, now v%d.", old.id(), old.revision(), out.entry.revision())
		return out
	}
}
