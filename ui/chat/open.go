package chat

import (
	"errors"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

const (
	// firstPage is how many records are read when a session is opened, and
	// olderPage how many more when one scrolls up to them.
	firstPage = 40
	olderPage = 100
)

// loadedMsg brings the session and the end of its conversation.
type loadedMsg struct {
	to
	session *harness.Session // nil if it does not exist yet
	records []harness.Record
	parent  string // what the session is called that it was forked from
	pins    []harness.Origin
	err     error
}

// reload reads the session and the end of its conversation.
func (m Model) reload() tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		out := loadedMsg{to: to}
		s, err := d.Sessions.Get(ctx, id)
		switch {
		case err == nil:
			out.session = &s
			if out.records, out.err = d.Transcript.Tail(ctx, id, 0, firstPage); out.err == nil {
				out.parent, out.err = ParentName(ctx, d.Sessions, s)
			}
			if out.err == nil {
				out.pins, out.err = Pins(ctx, d.Transcript, s)
			}
		case !errors.Is(err, harness.ErrNotFound):
			out.err = err
		}
		return out
	}
}

func (msg loadedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		m, cmd := m.trouble(msg.err)
		return m, tea.Batch(cmd, m.configure())
	}
	var cmds []tea.Cmd
	if msg.session == nil && m.goal.Record > 0 {
		m.goal = harness.Origin{}
		m = m.Hint("the conversation that this comes from is gone")
	}
	if msg.session != nil {
		m = m.describes(*msg.session)
		m.parent = msg.parent
		m = m.withPins(msg.pins).shows(msg.records, msg.session.Records)
		if len(msg.records) == 0 && m.goal.Record > 0 { // all was taken back
			m = m.missed(m.goal)
			m.goal = harness.Origin{}
		}
		var cmd tea.Cmd
		m, cmd = m.seek()
		cmds = append(cmds, cmd)
	}
	if m.setup.Run.Model == "" {
		cmds = append(cmds, m.configure())
	}
	return m, tea.Batch(cmds...)
}

// shows takes the newest records of the branch, read when the log ended with
// record upTo.
func (m Model) shows(records []harness.Record, upTo int) Model {
	for _, r := range records {
		m.learn(r)
	}
	followed := m.pages.follow
	m.pages.merge(records, upTo)
	m = m.marked()
	if m.width > 0 {
		m.pages.settled(m.desk(), m.rows())
		if m.sel.on && !followed {
			m.pages.hold(m.desk(), m.rows())
		}
	}
	if m.context = contextOf(records, m.context); len(records) == 0 {
		m.context = 0
	}
	return m
}

// seek shows the record that the chat was opened at, once it is loaded.
func (m Model) seek() (Model, tea.Cmd) {
	if m.goal.Record == 0 || m.width == 0 || len(m.pages.items) == 0 {
		return m, nil
	}
	if !m.pages.show(m.desk(), m.goal, m.rows()) {
		if !m.pages.whole {
			return m.older(0)
		}
		m = m.missed(m.goal)
	}
	m.goal = harness.Origin{}
	return m, nil
}

// setupMsg brings the configuration of the next turn.
type setupMsg struct {
	to
	setup Setup
	err   error
}

// configure resolves the configuration of the next turn. It may take its time:
// a local server may be asked.
func (m Model) configure() tea.Cmd {
	ctx, d, to, session := m.ctx, m.deps, m.to(), m.session
	return func() tea.Msg {
		setup, err := d.Config(ctx, session)
		return setupMsg{to, setup, err}
	}
}

func (msg setupMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m.setup = msg.setup
	if msg.setup.Notice != "" {
		notice := msg.setup.Notice
		if k := m.keyOf(actModel); k != "" { // the command is known everywhere, the key only here
			notice = strings.Replace(notice, "/model", k+" (/model)", 1)
		}
		m.pages.add(item{quiet: notice})
	}
	return m, nil
}

// describes takes what the store knows of the session.
func (m Model) describes(s harness.Session) Model {
	if m.turning {
		s.NoMemory = m.session.NoMemory
	}
	m.session, m.stored = s, s.Records > 0 || s.Messages > 0 || s.Parent != nil
	m.pages.parent = harness.Origin{}
	if s.Parent != nil {
		m.pages.parent = *s.Parent
	}
	if m.saved.Before(s.Updated) {
		m.saved = s.Updated
	}
	return m
}

// contextOf is the number of tokens that the last answer's call had.
func contextOf(records []harness.Record, unknown int64) int64 {
	for i := len(records) - 1; i >= 0; i-- {
		if msg := records[i].Message; msg != nil && msg.Usage != nil {
			return msg.Usage.Input + msg.Usage.Output
		}
	}
	return unknown
}

// describedMsg brings the session's title, usage and times anew.
type describedMsg struct {
	to
	session harness.Session
	err     error
}

// describe reads what the store knows of the session.
func (m Model) describe() tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		s, err := d.Sessions.Get(ctx, id)
		return describedMsg{to, s, err}
	}
}

func (msg describedMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err == nil:
		m = m.describes(msg.session)
	case !errors.Is(msg.err, harness.ErrNotFound):
		return m.trouble(msg.err)
	}
	return m, nil
}

// olderMsg brings records before those loaded.
type olderMsg struct {
	to
	before  harness.Origin // the oldest record loaded when it was asked for
	records []harness.Record
	whole   bool // there are none before them
	err     error
}

// older loads records before those loaded; limit 0 is all of them.
func (m Model) older(limit int) (Model, tea.Cmd) {
	first, ok := m.pages.first()
	if !ok || m.pages.whole || m.pages.loading {
		return m, nil
	}
	m.pages.loading = true
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		records, err := d.Transcript.Before(ctx, id, origin(first), limit)
		return olderMsg{to, origin(first), records, limit == 0 || len(records) < limit, err}
	}
}

func (msg olderMsg) apply(m Model) (Model, tea.Cmd) {
	first, ok := m.pages.first()
	if !ok || origin(first) != msg.before {
		return m, nil
	}
	if msg.err != nil {
		m.pages.loading, m.pages.whole = false, true
		return m.trouble(msg.err)
	}
	for _, r := range msg.records {
		m.learn(r)
	}
	if len(msg.records) > 0 && m.pages.top.item == 0 && !m.pages.follow {
		m.pages.top.line++ // above the first item there was no empty line
	}
	m.pages.prepend(msg.records, msg.whole)
	m = m.marked()
	switch {
	case m.cut.wanted:
		m.cut.wanted = false
		return m.toggleNote()
	case m.goal.Record > 0:
		if !m.pages.show(m.desk(), m.goal, m.rows()) {
			m = m.missed(m.goal)
		}
		m.goal = harness.Origin{}
	case m.pages.wantTop:
		m.pages.wantTop = false
		m.pages.home(m.desk(), m.rows())
	}
	return m, nil
}

// openMsg brings the runs that have not ended.
type openMsg struct {
	to
	own    *harness.Run
	others int
	err    error
}

// findOpen looks for runs that have not ended and that nobody drives. Only the
// owner of the session asks.
func (m Model) findOpen() tea.Cmd {
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return func() tea.Msg {
		runs, err := d.Engine.List(ctx, harness.RunFilter{Unfinished: true})
		out := openMsg{to: to, err: err}
		for _, r := range runs {
			switch {
			case r.Session == id:
				// The session is ours and no turn is under way here: whatever
				// the run is stored as, nobody drives it, unless its engine says
				// that somebody does.
				if full, err := d.Engine.Get(ctx, r.ID); err == nil {
					r = full
				}
				if r.Status.Closed() { // elsewhere; it is still to be fetched
					continue
				}
				if out.own == nil || r.Started.After(out.own.Started) {
					out.own = &r
				}
			case !r.Status.Closed() && (r.Status != harness.RunRunning || r.Interrupted):
				out.others++
			}
		}
		return out
	}
}

func (msg openMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n || m.turn.active() {
		return m, nil
	}
	m.open, m.others = msg.own, msg.others
	m = m.saidInto(msg.own)
	m.turn.live = nil
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	if m.goesOnElsewhere(msg.own) {
		return m.followAway(*msg.own)
	}
	if r := msg.own; r != nil && r.Partial != nil {
		m = m.showPartial(*r.Partial, string(harness.MarkInterrupted))
	}
	m, watch := m.watchOpen()
	m, cmd := m.asked()
	return m, tea.Batch(watch, cmd)
}

// showPartial shows text on disk that is no message.
func (m Model) showPartial(p harness.Partial, mark string) Model {
	l := newLive(m.deps.Markdown)
	l.attempt, l.n, l.mark, l.at = p.Attempt, len(p.Text), mark, p.At
	l.thinking = []byte(p.Thinking)
	l.text.Append(p.Text)
	m.turn.live = l
	return m
}

// clock is a time of day.
func (m Model) clock(t time.Time) string {
	return t.In(m.deps.Now().Location()).Format("15:04:05")
}
