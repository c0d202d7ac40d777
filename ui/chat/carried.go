package chat

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// CarriedLines tell what the facts and notes that a request carried say now,
// and which of them were changed or forgotten since it was sent.
func CarriedLines(ctx context.Context, facts Facts, notes Notes, ids []string, sent time.Time) ([]string, error) {
	var lines []string
	for _, id := range ids {
		var text string
		var err error
		switch {
		case id != "" && id[0] == 'n' && notes != nil:
			text, err = carriedNote(ctx, notes, id, sent)
		case id != "" && id[0] == 'f' && facts != nil:
			text, err = carriedFact(ctx, facts, id, sent)
		default:
			continue
		}
		if errors.Is(err, harness.ErrNotFound) {
			text, err = "gone since", nil
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, "    "+id+"  "+render.SafeLine(text))
	}
	return lines, nil
}

func carriedFact(ctx context.Context, facts Facts, id string, sent time.Time) (string, error) {
	all, err := facts.History(ctx, id)
	if err != nil || len(all) == 0 {
		return "gone since", err
	}
	now, then := all[len(all)-1], all[0]
	for _, f := range all {
		if !f.Updated.After(sent) {
			then = f
		}
	}
	return now.Text + since(now.State, now.Text != then.Text), nil
}

func carriedNote(ctx context.Context, notes Notes, id string, sent time.Time) (string, error) {
	all, err := notes.History(ctx, id)
	if err != nil || len(all) == 0 {
		return "gone since", err
	}
	now, then := all[len(all)-1], all[0]
	for _, n := range all {
		if !n.Updated.After(sent) {
			then = n
		}
	}
	return now.Title + since(now.State, now.Title != then.Title || now.Body != then.Body), nil
}

// since says what became of a fact or note.
func since(s harness.FactState, changed bool) string {
	switch {
	case s == harness.StateTrashed:
		return " (forgotten since)"
	case s == harness.StateOff:
		return " (off now)"
	case changed:
		return " (changed since)"
	}
	return ""
}

// contextMsg brings what the last request carried.
type contextMsg struct {
	to
	text string
	err  error
}

func (msg contextMsg) apply(m Model) (Model, tea.Cmd) {
	m.pages.add(item{quiet: msg.text})
	m.pages.follow = true
	return m.trouble(msg.err)
}
