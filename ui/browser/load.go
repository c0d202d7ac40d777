package browser

import (
	"context"
	"errors"
	"fmt"
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
		entry entry
		said  string
		err   error
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
		words := widget.Words(m.filter.Text())
		for t := range m.lists {
			m.lists[t] = m.lists[t].fill(msg.lists[t], words, m.hidden(tab(t)))
		}
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

// hide leaves a thing out of its list until the store has said whether it
// forgot it; show puts it back.
func (m Model) hide(id string, busy bool) Model {
	next := map[string]bool{id: busy}
	for k, v := range m.loading.hidden {
		if k != id {
			next[k] = v
		}
	}
	m.loading.hidden = next
	return m.match()
}

func (m Model) show(id string) Model {
	next := map[string]bool{}
	for k, v := range m.loading.hidden {
		if k != id {
			next[k] = v
		}
	}
	m.loading.hidden = next
	return m.match()
}

// match filters the lists anew.
func (m Model) match() Model {
	words := widget.Words(m.filter.Text())
	for t := range m.lists {
		m.lists[t] = m.lists[t].match(words, m.hidden(tab(t)))
	}
	return m
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

// change edits pinned or state of an entry.
func (m Model) change(e entry, pinned *bool, state *harness.FactState, said string) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		out := changed{entry: e, said: said}
		if e.kind == note {
			var n harness.Note
			n, out.err = c.Notes.Edit(ctx, e.id(), harness.NoteEdit{Pinned: pinned, State: state})
			out.entry = ofNote(n)
		} else {
			var f harness.Fact
			f, out.err = c.Facts.Edit(ctx, e.id(), harness.FactEdit{Pinned: pinned, State: state})
			out.entry = ofFact(f)
		}
		if out.err != nil {
			out.err = fmt.Errorf("edit %s: %w", e.id(), out.err)
		}
		return out
	}
}

func (m Model) onChanged(msg changed) (Model, tea.Cmd) {
	if msg.err != nil {
		m.notice = m.fail(msg.err)
		return m.load()
	}
	m.notice = notice{text: msg.said}
	m = m.patch(msg.entry)
	return m.load()
}

// patch puts a changed entry in its place until the next reading.
func (m Model) patch(e entry) Model {
	for t := range m.lists {
		for i := range m.lists[t].entries {
			if m.lists[t].entries[i].id() == e.id() {
				next := slices.Clone(m.lists[t].entries)
				next[i] = e
				m.lists[t].entries = next
			}
		}
	}
	return m.match()
}

// forget moves the selected thing to the trash. It leaves the list at once and
// comes back if the store refuses.
func (m Model) forget() (Model, tea.Cmd) {
	e, _ := m.selected()
	id := e.id()
	m = m.hide(id, true)
	m.gone = append(m.gone[:len(m.gone):len(m.gone)], id)
	m.notice = notice{text: fmt.Sprintf("Forgot %s. %s brings it back (kept 30 days): \"%s\"", id, m.key("browser.undo", "u"), m.brief(e)), undo: true}
	m.mode = modeList
	ctx, c := m.ctx, m.c
	m, look := m.look()
	return m, tea.Batch(look, func() tea.Msg {
		err := error(nil)
		if e.kind == note {
			err = c.Notes.Forget(ctx, id)
		} else {
			err = c.Facts.Forget(ctx, id)
		}
		return forgotten{id, err}
	})
}

func (m Model) onForgotten(msg forgotten) (Model, tea.Cmd) {
	if msg.err == nil || errors.Is(msg.err, harness.ErrNotFound) {
		m = m.hide(msg.id, false)
		if m.back == msg.id {
			return m.bring(msg.id)
		}
		return m.load()
	}
	m = m.show(msg.id)
	m.back = ""
	m.lists[tabOf(msg.id)] = m.lists[tabOf(msg.id)].selectID(msg.id)
	m.gone = slices.DeleteFunc(slices.Clone(m.gone), func(id string) bool { return id == msg.id })
	m.notice = m.fail(fmt.Errorf("forget %s: %w", msg.id, msg.err))
	return m, nil
}

// restore brings back a forgotten thing: in the trash the selected one, else
// the one forgotten last.
func (m Model) restore() (Model, tea.Cmd) {
	id := ""
	if m.tab == tabTrash {
		e, _ := m.selected()
		id = e.id()
	} else if len(m.gone) > 0 {
		id = m.gone[len(m.gone)-1]
	}
	if id == "" {
		return m, nil
	}
	if m.loading.hidden[id] { // the store is still at it; restoring now might come first
		m.back = id
		return m, nil
	}
	return m.bring(id)
}

// bring restores one thing.
func (m Model) bring(id string) (Model, tea.Cmd) {
	m.back = ""
	m.gone = slices.DeleteFunc(slices.Clone(m.gone), func(g string) bool { return g == id })
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		out := restored{id: id}
		if kindOf(id) == note {
			var n harness.Note
			n, out.err = c.Notes.Restore(ctx, id)
			out.entry = ofNote(n)
		} else {
			var f harness.Fact
			f, out.err = c.Facts.Restore(ctx, id)
			out.entry = ofFact(f)
		}
		return out
	}
}

func (m Model) onRestored(msg restored) (Model, tea.Cmd) {
	if msg.err != nil {
		if !errors.Is(msg.err, harness.ErrNotFound) {
			m.gone = append(m.gone[:len(m.gone):len(m.gone)], msg.id)
		}
		m.notice = m.fail(fmt.Errorf("restore %s: %w", msg.id, msg.err))
		return m.load()
	}
	m = m.show(msg.id)
	m.lists[tabOf(msg.id)] = m.lists[tabOf(msg.id)].selectID(msg.id)
	m.notice = notice{text: fmt.Sprintf("%s is back: \"%s\"", msg.id, m.brief(msg.entry))}
	return m.load()
}

func tabOf(id string) tab {
	if kindOf(id) == note {
		return tabNotes
	}
	return tabFacts
}

// fail is the line about an error. What was typed stays.
func (m Model) fail(err error) notice { return notice{text: m.c.Words(err), failed: true} }

// brief is an entry in a few words.
func (m Model) brief(e entry) string {
	return widget.OneLine(e.title(), 40, m.c.Theme.Ornaments.Ellipsis)
}
