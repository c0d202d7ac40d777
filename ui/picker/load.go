package picker

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// searchLimit is the most messages shown under the titles.
const searchLimit = 20

// loading numbers the readings of the list: only the last one counts, and only
// one is under way.
type loading struct {
	n     int
	busy  bool
	again bool // the store changed during the reading
}

// found numbers the searches in messages, of which one is under way.
type found struct {
	n     int
	busy  bool
	query string // of the hits that are shown
}

// reset forgets what was found; a search that is still under way is told by
// its number.
func (f found) reset() found { return found{n: f.n + 1} }

// The results of the screen's commands.
type (
	listed struct {
		n     int
		items []item
		err   error
	}
	searched struct {
		n     int
		query string
		hits  []harness.Hit
		err   error
	}
	previewed struct {
		n       int
		id      harness.SessionID
		records []harness.Record
		err     error
	}
	edited struct {
		n       int // of the rename, 0 for a pin
		session harness.Session
		err     error
	}
)

func (listed) pickerMsg()    {}
func (searched) pickerMsg()  {}
func (previewed) pickerMsg() {}
func (edited) pickerMsg()    {}

// load reads the list, after the reading that is under way if there is one.
func (m Model) load() (Model, tea.Cmd) {
	if m.loading.busy {
		m.loading.again = true
		return m, nil
	}
	m.loading = loading{n: m.loading.n + 1, busy: true}
	ctx, sessions, n, filter := m.ctx, m.c.Sessions, m.loading.n, harness.SessionFilter{Deleted: m.trash}
	return m, func() tea.Msg {
		s, err := sessions.List(ctx, filter)
		if err != nil {
			return listed{n: n, err: fmt.Errorf("list sessions: %w", err)}
		}
		return listed{n: n, items: items(s)}
	}
}

func (m Model) onListed(msg listed) (Model, tea.Cmd) {
	if msg.n != m.loading.n {
		return m, nil
	}
	again := m.loading.again
	m.loading.busy, m.loading.again = false, false
	if msg.err != nil {
		m.list.failed = msg.err
		m.list.read = true
	} else {
		m.list = m.list.fill(msg.items, !again, m.today())
		if _, ok := m.list.byID(m.rename.id); m.rename.id != "" && !ok {
			m.notice = notice{text: "The session was deleted elsewhere.", failed: true}
			m.rename = rename{n: m.rename.n}
		}
	}
	var next tea.Cmd
	if again && m.front {
		m, next = m.load()
	}
	m, look := m.look()
	return m, tea.Batch(next, look)
}

// search looks for the filter's words in messages, one search at a time: keys
// typed meanwhile are one search after it.
func (m Model) search() (Model, tea.Cmd) {
	query := strings.TrimSpace(m.filter.Text())
	if m.c.Search == nil || m.trash || m.found.busy || query == m.found.query {
		return m, nil
	}
	if query == "" {
		m.found = m.found.reset()
		m.list = m.list.withHits(nil)
		return m, nil
	}
	m.found.n++
	m.found.busy = true
	ctx, search, n := m.ctx, m.c.Search, m.found.n
	return m, func() tea.Msg {
		hits, err := search.Search(ctx, query, searchLimit)
		return searched{n, query, hits, err}
	}
}

func (m Model) onSearched(msg searched) (Model, tea.Cmd) {
	if msg.n != m.found.n {
		return m, nil
	}
	m.found.busy, m.found.query = false, msg.query
	if msg.err != nil {
		m.notice = m.fail(fmt.Errorf("search messages: %w", msg.err))
		m.list = m.list.withHits(nil) // what is shown was found by other words
		return m.search()
	}
	m.list = m.list.withHits(msg.hits)
	m, look := m.look()
	m, again := m.search()
	return m, tea.Batch(look, again)
}

// edit changes the description of a session.
func (m Model) edit(n int, id harness.SessionID, e harness.SessionEdit) tea.Cmd {
	ctx, sessions := m.ctx, m.c.Sessions
	return func() tea.Msg {
		s, err := sessions.Edit(ctx, id, e)
		if err != nil {
			err = fmt.Errorf("edit session %s: %w", id, err)
		}
		return edited{n, s, err}
	}
}

func (m Model) onEdited(msg edited) (Model, tea.Cmd) {
	mine := msg.n != 0 && msg.n == m.rename.n && m.rename.id != ""
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		if mine {
			m.rename.saving = false
		}
		return m, nil
	}
	if mine {
		m.rename = rename{n: m.rename.n}
	}
	m.list = m.list.patch(msg.session, m.today())
	return m.load()
}

// fail is the line about an error. What was typed stays.
func (m Model) fail(err error) notice { return notice{text: m.c.Words(err), failed: true} }
