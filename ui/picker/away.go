package picker

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/runs/standing"
)

// standings brings the unfinished runs that are kept elsewhere, by session.
type standings struct {
	n    int
	runs map[harness.SessionID]harness.Run
}

func (standings) pickerMsg() {}

// runs asks how the unfinished runs stand that are kept elsewhere. Their engines may
// take their time, so the list is there before.
func (m Model) runs() tea.Cmd {
	open := false
	for _, e := range m.list.items {
		open = open || e.OpenRun != ""
	}
	if m.c.Runs == nil || !open || m.show.trash {
		return nil
	}
	ctx, c, n := m.ctx, m.c, m.loading.n
	return func() tea.Msg {
		list, err := c.Runs(ctx, harness.RunFilter{Unfinished: true})
		if err != nil {
			return nil // the states of the sessions are told without
		}
		out := standings{n, map[harness.SessionID]harness.Run{}}
		for _, r := range list {
			if r.Away() {
				out.runs[r.Session] = r
			}
		}
		return out
	}
}

func (m Model) onStandings(msg standings) Model {
	if msg.n == m.loading.n {
		m.away = msg.runs
	}
	return m
}

// standing says in words how the run of a session stands that is kept elsewhere,
// empty if there is none or nothing special about it.
func (m Model) standing(s harness.Session) string {
	r, ok := m.away[s.ID]
	if !ok || s.OpenRun != r.ID {
		return ""
	}
	long, _ := standing.Word(r, m.c.Self)
	return long
}

// Runs lists runs; [harness.Engine].List does.
type Runs func(ctx context.Context, f harness.RunFilter) ([]harness.Run, error)
