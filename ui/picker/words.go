package picker

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/account"
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

// titleOf is what a session of an id is called, as far as it is known.
func (m Model) titleOf(id harness.SessionID) string {
	if s, ok := m.list.byID(id); ok {
		return m.title(s)
	}
	return string(id)
}

// states say in words what is special about a session, what matters most
// first.
func (m Model) states(s harness.Session) []string {
	var out []string
	waits := s.OpenRun != "" && s.OpenStatus == harness.RunAwaiting
	switch present := s.ID != "" && s.ID == m.window.present; {
	case present && m.window.running, m.atWork(s):
		out = append(out, "running here")
	case present:
		out = append(out, "open here")
	case m.elsewhere(s):
		out = append(out, m.held(s))
	}
	switch away := m.standing(s); {
	case away != "":
		out = append(out, away)
	case waits:
		out = append(out, "waits for you")
	case s.OpenRun != "" && s.Owner == nil && len(out) == 0:
		out = append(out, "interrupted")
	}
	if s.HasDraft {
		out = append(out, "unsent draft")
	}
	if s.Parent != nil {
		out = append(out, "fork")
	}
	if s.NoMemory {
		out = append(out, "memory off")
	}
	return out
}

// state is the first of the states in the width of a column.
func (m Model) state(s harness.Session) string {
	states := m.states(s)
	switch {
	case len(states) == 0:
		return ""
	case m.elsewhere(s):
		return fmt.Sprintf("open in pid %d", s.Owner.PID)
	default:
		return states[0]
	}
}

// messages counts also those that a fork has of its parents.
func messages(s harness.Session) int { return s.Messages + s.Inherited }

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
	default:
		return account.Cost(u)
	}
}

// when is a time as the preview says it.
func (m Model) when(t time.Time) string {
	return t.In(m.c.Now().Location()).Format("2 Jan 2006 15:04")
}

func (m Model) dotted(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}

// counts is how long a session is and what it cost.
func (m Model) counts(s harness.Session) string {
	price, pinned := cost(s.Usage), ""
	if price == "$ ?" {
		price = "price unknown"
	}
	if s.Pinned {
		pinned = "pinned"
	}
	said := plural(messages(s), "message")
	if s.Inherited > 0 {
		said += fmt.Sprintf(" (%d of its parent)", s.Inherited)
	}
	return m.dotted(said, price, pinned)
}

// times are the absolute times of a session.
func (m Model) times(s harness.Session) string {
	var parts []string
	for _, t := range []struct {
		what string
		at   time.Time
	}{{"used", s.Updated}, {"created", s.Created}} {
		if !t.at.IsZero() {
			parts = append(parts, t.what+" "+m.when(t.at))
		}
	}
	if s.Deleted != nil {
		parts = append([]string{"deleted " + m.when(*s.Deleted)}, parts...)
	}
	return m.dotted(parts...)
}

// origin says of what a fork is one.
func (m Model) origin(s harness.Session) string {
	if s.Parent == nil {
		return ""
	}
	return fmt.Sprintf("fork of %s at message %d", m.titleOf(s.Parent.Session), s.Parent.Record)
}

// branches names the forks of a session.
func (m Model) branches(s harness.Session) string {
	forks := m.list.forks[s.ID]
	if len(forks) == 0 {
		return ""
	}
	var names []string
	for _, i := range slices.SortedFunc(slices.Values(forks), func(a, b int) int {
		return cmp.Compare(m.list.items[a].Parent.Record, m.list.items[b].Parent.Record)
	}) {
		f := m.list.items[i].Session
		names = append(names, fmt.Sprintf("%s at %d", m.title(f), f.Parent.Record))
	}
	return plural(len(forks), "fork") + ": " + strings.Join(names, ", ")
}

// about is what a line under the list says of a session.
func (m Model) about(s harness.Session) string {
	var held, created string
	if m.elsewhere(s) {
		held = m.held(s)
	}
	if !s.Created.IsZero() {
		created = "created " + m.when(s.Created)
	}
	return m.dotted(held, m.origin(s), created, s.Model, string(s.ID))
}

// facts are the lines that say what a session is, above its last messages.
func (m Model) facts(s harness.Session) []string {
	var tags, since string
	if len(s.Tags) > 0 {
		tags = "#" + strings.Join(s.Tags, " #")
	}
	if m.elsewhere(s) && !s.Owner.Since.IsZero() {
		since = "since " + m.when(s.Owner.Since)
	}
	lines := []string{
		m.counts(s), m.dotted(append(m.states(s), since)...), tags, m.times(s), m.dotted(s.Model, "id "+string(s.ID)),
		s.Dir, m.origin(s), m.branches(s),
	}
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// name is what the list shows.
func (m Model) name(width int) string {
	name, where := "Sessions", ""
	if m.show.trash {
		name = "Deleted sessions"
	}
	switch {
	case m.show.here:
		where = "in " + m.oneLine(filepath.Base(m.c.Dir), max(width/3, 8))
	case m.c.Dir != "" && width >= 60:
		where = "of all directories"
	}
	return strings.TrimSpace(name + " " + where)
}
