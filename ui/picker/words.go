package picker

import (
	"fmt"
	"strings"

	"cairn/harness"
)

// title is what a session is called; it is not safe yet.
func (m Model) title(s harness.Session) string {
	for _, t := range []string{s.Title, s.Preview} {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return string(s.ID)
}

// state says in words what is special about a session.
func (m Model) state(s harness.Session) string {
	switch {
	case s.ID == m.present && m.running:
		return "running here"
	case s.ID == m.present:
		return "open here"
	case m.elsewhere(s):
		return fmt.Sprintf("open in pid %d", s.Owner.PID)
	case s.OpenRun != "" && s.Owner == nil && s.OpenStatus == harness.RunAwaiting:
		return "waits for you"
	case s.OpenRun != "" && s.Owner == nil:
		return "interrupted"
	case s.HasDraft:
		return "unsent draft"
	case s.Parent != nil:
		return "fork"
	default:
		return ""
	}
}

func plural(n int, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case n >= 100_000:
		return fmt.Sprintf("%dk %ss", n/1000, one)
	default:
		return fmt.Sprintf("%d %ss", n, one)
	}
}

// cost is the price of a session so far; one that has used nothing has none.
func cost(u harness.Usage) string {
	switch {
	case u == harness.Usage{}:
		return ""
	case !u.CostKnown:
		return "$ ?"
	case u.Cost > 0 && u.Cost < 0.01:
		return "<$0.01"
	default:
		return fmt.Sprintf("$%.2f", u.Cost)
	}
}

// counts is the second line of the preview.
func (m Model) counts(s harness.Session) string {
	parts := []string{plural(s.Messages, "message")}
	switch c := cost(s.Usage); c {
	case "":
	case "$ ?":
		parts = append(parts, "price unknown")
	default:
		parts = append(parts, c)
	}
	if st := m.state(s); st != "" {
		parts = append(parts, st)
	}
	if s.Pinned {
		parts = append(parts, "pinned")
	}
	for _, t := range s.Tags {
		parts = append(parts, "#"+t)
	}
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}

// about is the third line of the preview.
func (m Model) about(s harness.Session) string {
	parts := []string{string(s.ID)}
	if !s.Created.IsZero() {
		parts = append(parts, "created "+s.Created.In(m.c.Now().Location()).Format("2 Jan 2006 15:04"))
	}
	if s.Model != "" {
		parts = append(parts, s.Model)
	}
	if s.Parent != nil {
		parts = append(parts, fmt.Sprintf("fork of %s at %d", s.Parent.Session, s.Parent.Record))
	}
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}
