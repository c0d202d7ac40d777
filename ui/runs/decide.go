package runs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

type (
	// decided says that a decision is on disk, or why it is not.
	decided struct {
		run      harness.RunID
		approved bool
		// said is what is told instead of what was decided.
		said   string
		handle harness.RunHandle
		lease  harness.Lease
		err    error
	}
	// dropped says that a run was dropped, or why not.
	dropped struct {
		run     harness.RunID
		session harness.SessionID
		err     error
	}
)

func (decided) runsMsg() {}
func (dropped) runsMsg() {}

// consent decides about what is shown in full. From where it is not, it only
// shows it.
func (m Model) consent(approve bool) (Model, tea.Cmd) {
	if m.mode != modeDecide {
		m.mode, m.call = modeDecide, m.firstOpen().Call.ID
		return m, nil
	}
	it, _ := m.list.selected()
	p := m.list.pending(m.call)
	d := harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: harness.DecideDecline, By: m.by()}
	if approve {
		d.How, d.Scope = harness.DecideApprove, harness.ScopeOnce
	}
	m.mode, m.call = modeList, ""
	m = m.working(it.run.ID, true)
	m.notice = notice{text: "Storing the decision."}
	return m, m.decide(it.run, d)
}

// by names who decides.
func (m Model) by() string {
	return cmp.Or(m.c.User, "user") + " at " + cmp.Or(m.c.Self.Terminal, "terminal") + " (runs)"
}

// decide takes the session, stores the decision, and keeps the session for the
// run that goes on.
func (m Model) decide(run harness.Run, d harness.Decision) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		out := decided{run: run.ID, approved: d.How == harness.DecideApprove}
		out.lease, out.err = c.Owners.Acquire(ctx, harness.Session{ID: run.Session}, c.Self)
		if out.err != nil {
			out.err = fmt.Errorf("decide about run %s: %w", run.ID, out.err)
			return out
		}
		if out.handle, out.err = c.Engine.Decide(ctx, out.lease, run.ID, d); out.err != nil {
			out.err = errors.Join(fmt.Errorf("decide about run %s: %w", run.ID, out.err), release(ctx, c, out.lease))
		}
		return out
	}
}

func (m Model) onDecided(msg decided) (Model, tea.Cmd, Intent) {
	m = m.working(msg.run, false)
	if msg.err != nil {
		return m.refused(msg.run, msg.err)
	}
	m.notice = notice{text: "Refused; the run goes on here."}
	if msg.approved {
		m.notice.text = "Approved once; the run goes on here."
	}
	if msg.said != "" {
		m.notice.text = msg.said
	}
	session := msg.lease.Session
	m.drives = maps.Clone(m.drives)
	if m.drives == nil {
		m.drives = map[harness.SessionID]drive{}
	}
	m.drives[session] = drive{run: msg.run, lease: msg.lease}
	m, look := m.wants(session)
	m, load := m.reload()
	return m, tea.Batch(m.follow(msg), look, load), nil
}

// refused says why something could not be done. What is open in this window is
// decided there.
func (m Model) refused(run harness.RunID, err error) (Model, tea.Cmd, Intent) {
	if holder, held := harness.AsHeld(err); held {
		if m.mine(holder) && m.front {
			for _, it := range m.list.items {
				if it.run.ID == run {
					return m, nil, Open{it.run.Session}
				}
			}
		}
		err = nil
		m.notice = notice{text: "Not decided: " + m.held(holder) + ".", failed: true}
	}
	if err != nil {
		m.notice = notice{text: m.c.Words(err), failed: true}
	}
	m, load := m.reload()
	return m, load, nil
}

// drop drops the selected run at the second key.
func (m Model) drop(confirm harness.RunID) (Model, tea.Cmd) {
	it, _ := m.list.selected()
	if confirm != it.run.ID {
		m.confirm = it.run.ID
		m.notice = notice{text: m.key("runs.drop", "d") + " again drops it; what it said stays."}
		return m, nil
	}
	m = m.working(it.run.ID, true)
	ctx, c, run := m.ctx, m.c, it.run
	return m, func() tea.Msg {
		out := dropped{run: run.ID, session: run.Session}
		lease, err := c.Owners.Acquire(ctx, harness.Session{ID: run.Session}, c.Self)
		if err == nil {
			var h harness.RunHandle
			if h, err = c.Engine.Resume(ctx, lease, run.ID, harness.ResumeDrop); err == nil {
				_, err = h.Wait(ctx)
			}
			err = errors.Join(err, release(ctx, c, lease))
		}
		if err != nil {
			out.err = fmt.Errorf("drop run %s: %w", run.ID, err)
		}
		return out
	}
}

func (m Model) onDropped(msg dropped) (Model, tea.Cmd, Intent) {
	m = m.working(msg.run, false)
	if msg.err != nil {
		return m.refused(msg.run, msg.err)
	}
	m.notice = notice{text: "Dropped."}
	m, cmd := m.reload()
	return m, cmd, nil
}

// working marks a run as being worked on, or no longer.
func (m Model) working(run harness.RunID, busy bool) Model {
	m.busy = maps.Clone(m.busy)
	if m.busy == nil {
		m.busy = map[harness.RunID]bool{}
	}
	if busy {
		m.busy[run] = true
	} else {
		delete(m.busy, run)
	}
	return m
}
