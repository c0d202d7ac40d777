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
	due := m.completed == 1 || m.completed == 1+titleAgain
	if !due || m.deps.Title == nil || m.own.state != accessOwner {
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		s, err := d.Sessions.Get(ctx, id)
		if err == nil && s.TitleBy == harness.TitleByWords {
			err = d.Title(ctx, id)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			d.Log.Warn("title", slog.String("session", string(id)), slog.Any("err", err))
		}
		return titledMsg{to}
	}
}

func (msg titledMsg) apply(m Model) (Model, tea.Cmd) { return m, m.describe() }
