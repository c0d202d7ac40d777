package browser

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// loading numbers the readings: only the last one counts, and one is under way
// at a time.
type loading struct {
	n      int
	busy   bool
	again  bool // the store changed during the reading
	read   bool // the memory was read once
	failed error
	// hidden are things forgotten here: true while the store is at it, false
	// until a later reading leaves them out by itself.
	hidden map[string]bool
}

// origin is the title of the chat that the selected thing comes from.
type origin struct {
	n     int
	busy  bool
	of    harness.SessionID
	title string
	gone  bool
}

// The results of the screen's commands.
type (
	listed struct {
		n     int
		lists [tabs][]entry
		err   error
	}
	titled struct {
		n       int
		session harness.SessionID
		title   string
		err     error
	}
	changed struct { // pinned, switched off or on, or an old revision made current
		before, entry entry
		said          string
		err           error
	}
	forgotten struct {
		id  string
		err error
	}
	restored struct {
		entry entry
		id    string
		err   error
	}
)

func (listed) browserMsg()    {}
func (titled) browserMsg()    {}
func (changed) browserMsg()   {}
func (forgotten) browserMsg() {}
func (restored) browserMsg()  {}

// load reads the memory, after the reading that is under way if there is one.
func (m Model) load() (Model, tea.Cmd) {
	if m.loading.busy {
		m.loading.again = true
		return m, nil
	}
	m.loading.n++
	m.loading.busy = true
	ctx, c, n := m.ctx, m.c, m.loading.n
	return m, func() tea.Msg {
		lists, err := read(ctx, c)
		return listed{n, lists, err}
	}
}

// read reads all tabs. The trash has what was changed last first, facts and
// notes mixed.
func read(ctx context.Context, c Config) (lists [tabs][]entry, err error) {
	for _, part := range []struct {
		tab   tab
		state harness.FactState
	}{{tabFacts, harness.StateAny}, {tabTrash, harness.StateTrashed}} {
		filter := harness.MemoryFilter{State: part.state}
		if c.Facts != nil {
			facts, err := c.Facts.List(ctx, filter)
			if err != nil {
				return lists, fmt.Errorf("list facts: %w", err)
			}
			for _, f := range facts {
				lists[part.tab] = append(lists[part.tab], ofFact(f))
			}
		}
		if c.Notes == nil {
			continue
		}
		notes, err := c.Notes.List(ctx, filter)
		if err != nil {
			return lists, fmt.Errorf("list notes: %w", err)
		}
		to := part.tab
		if to == tabFacts {
			to = tabNotes
		}
		for _, n := range notes {
			lists[to] = append(lists[to], ofNote(n))
		}
	}
	if lists[tabInbox], err = ideas(ctx, c, lists[tabFacts]); err != nil {
		return lists, err
	}
	slices.SortStableFunc(lists[tabTrash], func(a, b entry) int { return b.updated().Compare(a.updated()) })
	return lists, nil
}

func (m Model) onListed(msg listed) (Model, tea.Cmd) {
	if msg.n != m.loading.n {
		return m, nil
	}
	again := m.loading.again
	m.loading.busy, m.loading.again, m.loading.read = false, false, true
	m.loading.failed = msg.err
	if msg.err == nil {
		if !again {
			m.loading.hidden = stillBusy(m.loading.hidden)
		}
		for t := range m.lists {
			m.lists[t].read = msg.lists[t]
		}
		m = m.resort()
	}
	var next tea.Cmd
	if again && m.front {
		m, next = m.load()
	}
	m, look := m.look()
	return m, tea.Batch(next, look)
}

func stillBusy(hidden map[string]bool) map[string]bool {
	out := map[string]bool{}
	for id, busy := range hidden {
		if busy {
			out[id] = true
		}
	}
	return out
}

// hidden are the ids that a tab leaves out: what was forgotten here a moment
// ago, but in the trash nothing.
func (m Model) hidden(t tab) map[string]bool {
	out := map[string]bool{}
	if t == tabTrash {
		return out
	}
	for id := range m.loading.hidden {
		out[id] = true
	}
	return out
}

// hide leaves things out of their lists until the store has said whether it
// did what was asked; show puts them back.
func (m Model) hide(busy bool, ids ...string) Model {
	m.loading.hidden = maps.Clone(m.loading.hidden)
	if m.loading.hidden == nil {
		m.loading.hidden = map[string]bool{}
	}
	for _, id := range ids {
		m.loading.hidden[id] = busy
	}
	return m.match()
}

func (m Model) show(ids ...string) Model {
	m.loading.hidden = maps.Clone(m.loading.hidden)
	for _, id := range ids {
		delete(m.loading.hidden, id)
	}
	return m.match()
}

// match filters the lists anew.
func (m Model) match() Model {
	for t := range m.lists {
		m.lists[t] = m.lists[t].match(m.passes(tab(t)))
	}
	return m
}

// unreachable says why the source of an entry cannot be gone to; empty means
// that it can, as far as is known.
func (m Model) unreachable(e entry) string {
	if why := e.noSource(); why != "" {
		return why
	}
	if m.origin.of == e.source().Session && m.origin.gone {
		return "the chat it comes from is in the trash"
	}
	return ""
}

// look finds out what the chat is called that the selected thing comes from.
func (m Model) look() (Model, tea.Cmd) {
	e, ok := m.selected()
	id := e.source().Session
	if !ok || e.noSource() != "" || m.c.Sessions == nil || m.origin.busy || m.origin.of == id {
		return m, nil
	}
	m.origin = origin{n: m.origin.n + 1, busy: true, of: id}
	ctx, sessions, n := m.ctx, m.c.Sessions, m.origin.n
	return m, func() tea.Msg {
		s, err := sessions.Get(ctx, id)
		return titled{n, id, s.Title, err}
	}
}

func (m Model) onTitled(msg titled) (Model, tea.Cmd) {
	if msg.n != m.origin.n {
		return m, nil
	}
	m.origin.busy, m.origin.title = false, msg.title
	switch {
	case errors.Is(msg.err, harness.ErrNotFound):
		m.origin.gone = true
	case msg.err != nil:
		m.notice = m.fail(fmt.Errorf("read session %s: %w", msg.session, msg.err))
	}
	return m.look()
}

func tabOf(id string) tab {
	return [...]tab{fact: tabFacts, note: tabNotes, suggestion: tabInbox}[kindOf(id)]
}

// fail is the line about an error. What was typed stays.
func (m Model) fail(err error) notice { return notice{text: m.c.Words(err), failed: true} }

// brief is an entry in a few words.
func (m Model) brief(e entry) string {
	return widget.OneLine(e.title(), 40, m.c.Theme.Ornaments.Ellipsis)
}
