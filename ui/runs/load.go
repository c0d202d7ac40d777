package runs

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

const (
	// recentRuns is how many runs are read besides those that have not ended.
	recentRuns = 50
	// stepRecords is how many records of a run are read: more than a turn of
	// the usual bound on steps has.
	stepRecords = 120
)

// loading numbers the readings of the list: only the last one counts, and only
// one is under way.
type loading struct {
	n     int
	busy  bool
	again bool // the store changed during the reading
}

// steps are the records of the selected run. Readings are numbered and one is
// under way at a time.
type steps struct {
	n       int
	busy    bool
	of      harness.RunID
	records int // the session's record count it was read at
	list    []harness.Record
	failed  error
}

type (
	listed struct {
		n     int
		items []item
		err   error
	}
	stepped struct {
		n    int
		list []harness.Record
		err  error
	}
)

func (listed) runsMsg()  {}
func (stepped) runsMsg() {}

// load reads the list, after the reading that is under way if there is one.
func (m Model) load() (Model, tea.Cmd) {
	if m.loading.busy {
		m.loading.again = true
		return m, nil
	}
	m.loading = loading{n: m.loading.n + 1, busy: true}
	ctx, c, n, known := m.ctx, m.c, m.loading.n, m.list.items
	return m, func() tea.Msg {
		items, err := read(ctx, c, known)
		return listed{n, items, err}
	}
}

// read reads the runs: all that have not ended, then the newest others. What a
// run waits for is read again only if the run moved on since it was known.
func read(ctx context.Context, c Config, known []item) ([]item, error) {
	open, err := c.Engine.List(ctx, harness.RunFilter{Unfinished: true})
	if err != nil {
		return nil, fmt.Errorf("list unfinished runs: %w", err)
	}
	recent, err := c.Engine.List(ctx, harness.RunFilter{Limit: recentRuns})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	before := make(map[harness.RunID]item, len(known))
	for _, it := range known {
		before[it.run.ID] = it
	}
	sessions := map[harness.SessionID]*harness.Session{}
	seen := map[harness.RunID]bool{}
	var out []item
	for _, ended := range []bool{false, true} {
		for _, r := range append(open[:len(open):len(open)], recent...) {
			if r.Status.Closed() != ended || seen[r.ID] {
				continue
			}
			seen[r.ID] = true
			s, err := session(ctx, c, sessions, r.Session)
			if err != nil {
				return nil, err
			}
			if s == nil { // deleted, and its runs with it
				continue
			}
			it := item{run: r, title: first(s.Title, s.Preview, string(s.ID)), owner: s.Owner, records: s.Records}
			if !ended {
				it = waits(ctx, c, it, before[r.ID])
			}
			out = append(out, it)
		}
	}
	return out, nil
}

// session reads a session once; nil means that it is gone.
func session(ctx context.Context, c Config, known map[harness.SessionID]*harness.Session, id harness.SessionID) (*harness.Session, error) {
	if s, ok := known[id]; ok {
		return s, nil
	}
	s, err := c.Sessions.Get(ctx, id)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		known[id] = nil
	case err != nil:
		return nil, fmt.Errorf("read session %s: %w", id, err)
	case s.Deleted != nil:
		known[id] = nil
	default:
		known[id] = &s
	}
	return known[id], nil
}

// waits adds what a run that has not ended waits for.
func waits(ctx context.Context, c Config, it, before item) item {
	r, b := it.run, before.run
	if r.Unreachable != "" {
		return it
	}
	if b.ID == r.ID && b.Cursor == r.Cursor && b.Status == r.Status && b.Interrupted == r.Interrupted && before.unread == nil {
		it.run.Pending = b.Pending
		return it
	}
	if r.Status == harness.RunRunning && !r.Interrupted {
		return it
	}
	full, err := c.Engine.Get(ctx, r.ID)
	switch {
	case errors.Is(err, harness.ErrNotFound): // it was pruned meanwhile
	case err != nil:
		it.unread = fmt.Errorf("read run %s: %w", r.ID, err)
	default:
		it.run = full
	}
	return it
}

func (m Model) onListed(msg listed) (Model, tea.Cmd) {
	if msg.n != m.loading.n {
		return m, nil
	}
	again := m.loading.again
	m.loading.busy, m.loading.again = false, false
	if msg.err != nil {
		m.list.failed, m.list.read = msg.err, true
	} else {
		m.list = m.list.fill(msg.items)
		m = m.settled()
	}
	var next tea.Cmd
	if again && m.front {
		m, next = m.load()
	}
	m, look := m.look()
	m, await := m.await()
	return m, tea.Batch(next, look, await)
}

// settled leaves what a new reading took away: the decision that was made
// elsewhere, the run that is gone.
func (m Model) settled() Model {
	it, ok := m.list.selected()
	if !ok || it.run.ID != m.confirm {
		m.confirm = ""
	}
	switch {
	case m.mode == modeDecide && m.list.pending(m.call) == nil:
		if ok && len(it.run.Pending) > 0 && it.run.ID == m.page.run {
			m.call = it.run.Pending[0].Call.ID
			return m
		}
		m.mode, m.call = modeList, ""
		m.notice = notice{text: "That decision does not wait any more."}
	case m.mode == modeRun && (!ok || it.run.ID != m.page.run):
		m.mode = modeList
	}
	return m
}

// look reads the steps of the selected run if they are not read yet.
func (m Model) look() (Model, tea.Cmd) {
	it, ok := m.list.selected()
	if !ok || m.c.Transcript == nil || m.steps.busy || !m.front {
		return m, nil
	}
	if m.steps.of == it.run.ID && m.steps.records == it.records {
		return m, nil
	}
	if m.steps.of != it.run.ID {
		m.steps.list, m.steps.failed = nil, nil
	}
	m.steps.n++
	m.steps.busy, m.steps.of, m.steps.records = true, it.run.ID, it.records
	ctx, c, n, run := m.ctx, m.c, m.steps.n, it.run
	from := min(run.First+stepRecords-1, it.records)
	return m, func() tea.Msg {
		records, err := c.Transcript.Tail(ctx, run.Session, from, stepRecords)
		if err != nil {
			return stepped{n: n, err: fmt.Errorf("read the steps of run %s: %w", run.ID, err)}
		}
		var mine []harness.Record
		for _, r := range records {
			if r.Run == run.ID || r.Seq == run.First {
				mine = append(mine, r)
			}
		}
		return stepped{n: n, list: mine}
	}
}

func (m Model) onStepped(msg stepped) (Model, tea.Cmd) {
	if msg.n != m.steps.n {
		return m, nil
	}
	m.steps.busy, m.steps.list, m.steps.failed = false, msg.list, msg.err
	return m.look()
}
