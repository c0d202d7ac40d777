package chat

import (
	"context"
	"errors"
	"log/slog"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// titleAgain is after how many turns a model is asked for a title once more.
const titleAgain = 6

// titledMsg says that a model was asked for a title.
type titledMsg struct{ to }

// entitle asks a model for a title after the first turn here, and once more some
// turns later, while the session has none but its first words.
func (m Model) entitle() (Model, tea.Cmd) {
	m.completed++
	if m.deps.Title == nil || m.own.state != accessOwner || !TitleDue(m.completed) {
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		Entitle(ctx, d, id)
		return titledMsg{to}
	}
}

// TitleDue reports whether a model is to be asked for a title after so many
// turns in one window.
func TitleDue(completed int) bool { return completed == 1 || completed == 1+titleAgain }

// Entitle asks a model for the title of a session that has none but its first
// words. Without a title a chat is none the worse, so what fails is only logged.
func Entitle(ctx context.Context, d Deps, id harness.SessionID) {
	s, err := d.Sessions.Get(ctx, id)
	if err == nil && s.TitleBy == harness.TitleByWords {
		err = d.Title(ctx, id)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		d.Log.Warn("title", slog.String("session", string(id)), slog.Any("err", err))
	}
}

// proposeTitle puts a title into the box to be changed or sent: that of the model,
// which is asked for one if there is none yet.
func (m Model) proposeTitle() (Model, tea.Cmd) {
	if !m.stored {
		m.notice = "write the title after it: /rename Q3 invoices"
		return m, nil
	}
	ctx, d, to, id, owned := m.ctx, m.deps, m.to(), m.session.ID, m.own.state == accessOwner
	m.notice = "looking for a title"
	return m, func() tea.Msg {
		if d.Title != nil && owned {
			Entitle(ctx, d, id)
		}
		s, err := d.Sessions.Get(ctx, id)
		return proposedMsg{to, s, err}
	}
}

// proposedMsg brings the title that is proposed.
type proposedMsg struct {
	to
	session harness.Session
	err     error
}

func (msg proposedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m = m.describes(msg.session)
	if m.notice = "change it as you like; " + m.keyOf(actSend) + " gives it"; !m.box.Blank() {
		m.notice = "the title is " + render.SafeLine(msg.session.Title)
		return m, nil
	}
	m.box = m.box.SetText("/rename " + msg.session.Title)
	m.draft.version++
	return m.armDraft()
}

func (msg titledMsg) apply(m Model) (Model, tea.Cmd) { return m, m.describe() }
