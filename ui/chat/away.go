package chat

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/runs/standing"
)

const (
	// openEvery is how often it is looked whether a run that rests was gone on
	// with by somebody who does not have its session, and readEvery how often a
	// reader looks at one that goes on: neither changes the store.
	openEvery = 3 * time.Second
	readEvery = time.Second
)

// away is what a chat knows of runs of its session that are kept elsewhere.
type away struct {
	// fetching says that what they did is being fetched, again that the person had
	// it tried once more.
	fetching, again bool
	// watch numbers the looks at the run that rests.
	watch int
}

// fetch takes over what runs of the session did elsewhere, and looks then which
// of them has not ended.
func (m Model) fetch() (Model, tea.Cmd) {
	if m.deps.Remote == nil || m.away.fetching {
		return m, nil
	}
	m.away.fetching = true
	ctx, d, to, id, lease := m.ctx, m.deps, m.to(), m.session.ID, m.own.lease
	find := m.findOpen()
	return m, func() tea.Msg {
		out := fetchedMsg{to: to}
		out.engines, out.err = EnginesOf(ctx, d.Engine, id)
		if out.err == nil {
			out.fetched, out.err = d.Remote.Fetch(ctx, lease)
		}
		out.open, _ = find().(openMsg)
		return out
	}
}

// EnginesOf names the engines that keep unfinished runs of a session.
func EnginesOf(ctx context.Context, e harness.Engine, id harness.SessionID) ([]string, error) {
	runs, err := e.List(ctx, harness.RunFilter{Session: id, Unfinished: true})
	var names []string
	for _, r := range runs {
		if r.Away() && !slices.Contains(names, r.Engine) {
			names = append(names, r.Engine)
		}
	}
	return names, err
}

// fetchedMsg brings what was fetched, and the run that has not ended then.
type fetchedMsg struct {
	to
	fetched harness.Fetched
	engines []string
	open    openMsg
	err     error
}

func (msg fetchedMsg) apply(m Model) (Model, tea.Cmd) {
	again := m.away.again
	m.away.fetching, m.away.again = false, false
	if again {
		if m.notice = ""; msg.err == nil {
			m.failed = nil
		}
	}
	if m.own.state != accessOwner {
		return m, nil
	}
	var cmds []tea.Cmd
	if words := standing.Fetched(msg.fetched, msg.engines); words != "" {
		m.pages.add(item{quiet: words})
		cmds = append(cmds, m.reload())
	}
	for _, lost := range msg.fetched.Lost {
		m.pages.add(item{quiet: "not carried out: " + lost})
	}
	var cmd tea.Cmd
	if own := msg.open.own; msg.err != nil && (own == nil || own.Unreachable == "") {
		m, cmd = m.trouble(msg.err)
		cmds = append(cmds, cmd)
	}
	m, cmd = msg.open.apply(m)
	cmds = append(cmds, cmd)
	if r := m.open; again && r != nil && r.Interrupted && r.Cursor <= 1 && r.Unreachable == "" {
		// Its engine never got it, which is what was to be tried again.
		m, cmd = m.resume(*r, harness.ResumeContinue)
		return m, tea.Batch(append(cmds, cmd)...)
	}
	m, cmd = m.sendWaiting()
	return m, tea.Batch(append(cmds, cmd)...)
}

// sendWaiting sends what was to be sent as soon as the session is ours.
func (m Model) sendWaiting() (Model, tea.Cmd) {
	var cmd tea.Cmd
	switch {
	case m.prompt != "":
		text := m.prompt
		m.prompt = ""
		m, cmd = m.submitText(text)
	case m.draft.eager:
		m.draft.eager = false
		m, cmd = m.sendQueued()
	}
	return m, cmd
}

// goesOnElsewhere reports whether a run is under way where another process may
// drive it, so that it is followed and not offered.
func (m Model) goesOnElsewhere(r *harness.Run) bool { return r != nil && GoesOnElsewhere(m.deps, *r) }

// GoesOnElsewhere reports whether a run is under way where another process may
// drive it.
func GoesOnElsewhere(d Deps, r harness.Run) bool {
	return d.Remote != nil && r.Away() && r.Status == harness.RunRunning && !r.Interrupted && r.Unreachable == ""
}

// followAway follows a run that goes on elsewhere as if it had been started here.
func (m Model) followAway(run harness.Run) (Model, tea.Cmd) {
	said := m.notice
	m, ctx := m.begin("")
	m.notice, m.open = said, nil
	m.turn.kept = keptAway
	m = m.drivenBy(run)
	if p := run.Partial; p != nil {
		m = m.streams(*p)
	}
	d, lease, to := m.deps, m.own.lease, m.to()
	return m, tea.Batch(m.tick(), func() tea.Msg {
		out := startedMsg{to: to, resumed: &run, attached: true}
		if out.handle, out.err = d.Remote.Attach(ctx, lease, run.ID); out.err == nil {
			out.events = out.handle.Events(ctx, run.Cursor-run.Unfetched)
		}
		return out
	})
}

// streams shows text on disk that goes on to stream.
func (m Model) streams(p harness.Partial) Model {
	l := m.turn.live
	l.attempt, l.n = p.Attempt, len(p.Text)
	l.thinking = []byte(p.Thinking)
	l.text.Append(p.Text)
	return m
}

// driveHere goes on here with the run that nobody has taken. If somebody has
// meanwhile it is followed on.
func (m Model) driveHere() (Model, tea.Cmd) {
	if m.turn.unclaimed == "" || m.turn.run == "" {
		return m, nil
	}
	id, shown := m.turn.run, m.turn.live
	if m.turn.stop != nil {
		m.turn.stop()
	}
	m, ctx := m.begin("")
	m.turn.kept, m.turn.how, m.turn.live = keptAway, harness.ResumeContinue, shown
	m.turn.live.now = "taking the run"
	d, lease, to := m.deps, m.own.lease, m.to()
	return m, tea.Batch(m.tick(), func() tea.Msg {
		out := startedMsg{to: to, attached: true}
		run, err := d.Engine.Get(ctx, id)
		if out.err = err; err != nil {
			return out
		}
		out.resumed = &run
		out.handle, out.err = d.Engine.Resume(ctx, lease, id, harness.ResumeContinue)
		if errors.Is(out.err, harness.ErrBusy) {
			out.handle, out.err = d.Remote.Attach(ctx, lease, id)
		}
		if out.err == nil {
			out.events = out.handle.Events(ctx, run.Cursor-run.Unfetched)
		}
		return out
	})
}

// LeaveRun is how a run is left when its session is: one that this process
// drives is paused, one that is driven elsewhere goes on.
func LeaveRun(ctx context.Context, d Deps, id harness.RunID) error {
	if d.Remote != nil {
		return d.Remote.Leave(ctx, id)
	}
	return d.Engine.Pause(ctx, id)
}

// watchOpen looks after a while whether the run that rests still does: it may be
// decided, and gone on with, from where its session is not.
func (m Model) watchOpen() (Model, tea.Cmd) {
	m.away.watch++
	if m.deps.Remote == nil || m.open == nil || !m.open.Away() {
		return m, nil
	}
	ctx, d, due := m.ctx, m.deps, openDueMsg{to: m.to(), watch: m.away.watch, run: *m.open}
	return m, func() tea.Msg {
		select {
		case <-time.After(openEvery):
		case <-ctx.Done():
			return nil
		}
		var err error
		if due.run, err = d.Engine.Get(ctx, due.run.ID); err != nil {
			due.run.ID = ""
		}
		return due
	}
}

// openDueMsg tells how the run that rests stands now.
type openDueMsg struct {
	to
	watch int
	run   harness.Run
}

func (msg openDueMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n || msg.watch != m.away.watch || m.turn.active() || m.open == nil || m.own.state != accessOwner {
		return m, nil
	}
	was, is := m.open, msg.run
	if is.ID == "" || is.ID == was.ID && is.Cursor == was.Cursor && is.Status == was.Status &&
		is.Interrupted == was.Interrupted && is.Unreachable == was.Unreachable {
		return m.watchOpen()
	}
	return m.fetch()
}

// peekSoon has a reader look again at a run that goes on elsewhere.
func (m Model) peekSoon() (Model, tea.Cmd) {
	if r := m.own.run; m.own.polling || m.deps.Remote == nil || r == nil || !r.Away() || r.Status != harness.RunRunning {
		return m, nil
	}
	m.own.polling = true
	to := m.to()
	return m, tea.Tick(readEvery, func(time.Time) tea.Msg { return peekDueMsg{to} })
}

// peekDueMsg is due when a reader is to look again.
type peekDueMsg struct{ to }

func (msg peekDueMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n || m.own.state != accessReader {
		return m, nil
	}
	m.own.polling = false
	return m.look()
}
