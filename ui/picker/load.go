package picker

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// searchLimit is the most messages shown under the titles, searchNarrowed the
// most that are looked through for those of some sessions.
const (
	searchLimit    = 20
	searchNarrowed = 400
)

// loading numbers the readings of the list: only the last one counts, and only
// one is under way.
type loading struct {
	n     int
	busy  bool
	again bool          // the store changed during the reading
	soon  bool          // so it was by a person here
	waits bool          // the next one is to come after a pause
	took  time.Duration // the last one
}

// The pause between two readings for what other windows do: long lists take
// long, and windows that write all the time must not be kept from it.
const (
	readingShare = 4 // times as long as the reading took
	readingQuick = 20 * time.Millisecond
	readingPause = 2 * time.Second // at most
)

// pause is how long the next reading waits.
func (l loading) pause() time.Duration {
	if l.took < readingQuick {
		return 0
	}
	return min(readingShare*l.took, readingPause)
}

// dropped is no reading; the one that is under way no longer counts.
func (l loading) dropped() loading { return loading{n: l.n + 1, took: l.took} }

// searchPause is how long typing rests before messages are searched: a word
// typed in one go is one search.
const searchPause = 150 * time.Millisecond

// asked is what a search looks for, and what its hits are narrowed to.
type asked struct {
	text  string
	query string // folded, if it has tags
	dir   string
}

// found numbers the searches in messages. Only the last one counts; the one
// before it is stopped.
type found struct {
	n     int
	pause time.Duration // before a search
	asked asked         // what the last search was for
	busy  bool          // it waits or is under way
	stops context.CancelFunc
}

// stop ends the search that is under way and forgets what was asked.
func (f found) stop() found {
	if f.stops != nil {
		f.stops()
	}
	return found{n: f.n + 1, pause: f.pause}
}

// The results of the screen's commands.
type (
	listed struct {
		n    int
		book book
		took time.Duration
		err  error
	}
	due      struct{ n int } // a reading after a pause
	searched struct {
		n    int
		hits []harness.Hit
		err  error
		then tea.Cmd // looks for more
	}
	previewed struct {
		n       int
		records []harness.Record
		older   bool // they go before those that are shown
		err     error
	}
	edited struct {
		n       int // of the entry, 0 for what is not typed
		session harness.Session
		err     error
	}
)

func (listed) pickerMsg()    {}
func (due) pickerMsg()       {}
func (searched) pickerMsg()  {}
func (previewed) pickerMsg() {}
func (edited) pickerMsg()    {}

// load reads the list, after the reading that is under way if there is one.
func (m Model) load() (Model, tea.Cmd) {
	if m.loading.busy {
		m.loading.again, m.loading.soon = true, true
		return m, nil
	}
	m.loading = m.loading.dropped()
	m.loading.busy = true
	ctx, clock := m.ctx, m.c.Now
	sessions, n, filter := m.c.Sessions, m.loading.n, harness.SessionFilter{Deleted: m.show.trash}
	order, before := m.show.order, m.list.book
	if m.show.trash {
		order = byUse
	}
	return m, func() tea.Msg {
		begun := clock()
		s, err := sessions.List(ctx, filter)
		if err != nil {
			return listed{n: n, err: fmt.Errorf("list sessions: %w", err)}
		}
		book := newBook(s, order, before)
		return listed{n: n, book: book, took: clock().Sub(begun)}
	}
}

// refresh reads the list because the store changed: at once, or after a pause
// in which further changes are left to this reading.
func (m Model) refresh() (Model, tea.Cmd) {
	switch {
	case m.loading.waits:
		return m, nil
	case m.loading.busy:
		m.loading.again = true
		return m, nil
	case m.loading.pause() == 0:
		return m.load()
	}
	m.loading.waits = true
	ctx, n, pause := m.ctx, m.loading.n, m.loading.pause()
	return m, func() tea.Msg {
		if !rest(ctx, pause) {
			return nil
		}
		return due{n}
	}
}

func (m Model) onDue(msg due) (Model, tea.Cmd) {
	if msg.n != m.loading.n || !m.loading.waits {
		return m, nil
	}
	m.loading.waits = false
	if !m.window.front {
		return m, nil
	}
	return m.load()
}

func (m Model) onListed(msg listed) (Model, tea.Cmd) {
	if msg.n != m.loading.n {
		return m, nil
	}
	again, soon := m.loading.again, m.loading.soon
	m.loading.busy, m.loading.again, m.loading.soon = false, false, false
	if msg.err != nil {
		m.list.failed = msg.err
		m.list.read = true
	} else {
		m.loading.took = msg.took
		if !m.show.trash && msg.book.order != m.show.order { // it was changed during the reading
			msg.book = msg.book.sorted(m.show.order)
		}
		m.list = m.list.fill(msg.book, !again, m.today())
		if !m.show.trash {
			m = m.unoffered()
		}
	}
	var next tea.Cmd
	switch {
	case !again || !m.window.front:
	case soon:
		m, next = m.load()
	default:
		m, next = m.refresh()
	}
	m, look := m.look()
	return m, tea.Batch(next, look, m.runs())
}

// search looks for the filter's words in messages once typing rests, and stops
// the search for what stood there before.
func (m Model) search() (Model, tea.Cmd) {
	want := asked{text: said(m.filter.Text()), dir: m.list.dir}
	if m.list.query.tagged() {
		want.query = m.list.query.text
	}
	if m.c.Search == nil || m.show.trash || want == m.found.asked {
		return m, nil
	}
	m.found = m.found.stop()
	m.found.asked = want
	m.list = m.list.stillHits()
	if want.text == "" {
		return m, nil
	}
	limit := searchLimit
	if m.list.narrowed() { // most of what is found may be of other sessions
		limit = searchNarrowed
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.found.busy, m.found.stops = true, stop
	n, pause := m.found.n, m.found.pause
	look := func(s harness.Searcher, pause time.Duration, then tea.Cmd) tea.Cmd {
		return func() tea.Msg {
			if !rest(ctx, pause) {
				return nil
			}
			hits, err := s.Search(ctx, want.text, limit)
			if ctx.Err() != nil {
				return nil
			}
			return searched{n, hits, err, then}
		}
	}
	all := m.c.Search
	if s, ok := all.(interface{ Words() harness.Searcher }); ok {
		// What takes a model is looked for once the words are there and nobody types.
		return m, look(s.Words(), pause, look(all, meaningPause, nil))
	}
	return m, look(all, pause, nil)
}

// meaningPause is how long typing rests before a model is asked what is meant.
const meaningPause = 600 * time.Millisecond

// rest waits and reports whether it was not stopped meanwhile.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (m Model) onSearched(msg searched) (Model, tea.Cmd) {
	if msg.n != m.found.n {
		return m, nil
	}
	var more tea.Cmd
	if more = msg.then; more == nil || msg.err != nil {
		m.found.busy, more = false, nil
		m.found.stops()
	}
	if msg.err != nil {
		m.notice = m.fail(fmt.Errorf("search messages: %w", msg.err))
		msg.hits = nil
	}
	m.list = m.list.withHits(msg.hits)
	m, cmd := m.look()
	return m, tea.Batch(cmd, more)
}

// fail is the line about an error. What was typed stays.
func (m Model) fail(err error) notice { return notice{text: m.c.Words(err), failed: true} }

// Seek looks for words, as if they were typed into the box.
func (m Model) Seek(words string) (Model, tea.Cmd) {
	m.filter = widget.Line(words)
	return m.sought()
}
