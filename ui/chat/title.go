package chat

import (
	"context"
	"errors"
	"log/slog"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
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

func (msg titledMsg) apply(m Model) (Model, tea.Cmd) { return m, m.describe() }
