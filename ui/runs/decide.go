package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// restFor bounds what is done when a run that went on from here is left.
const restFor = 5 * time.Second

// drive is a run that goes on from here.
type drive struct {
	run   harness.RunID
	lease harness.Lease
	// looking says that a look is under way whether another window wants the
	// session, again that the store changed meanwhile.
	looking, again bool
}

type (
	// decided says that a decision is on disk, or why it is not.
	decided struct {
		run      harness.RunID
		approved bool
		handle   harness.RunHandle
		lease    harness.Lease
		err      error
	}
	// rested says that a run that went on from here came to rest.
	rested struct {
		session harness.SessionID
		result  harness.Result
		err     error
	}
	// dropped says that a run was dropped, or why not.
	dropped struct {
		run     harness.RunID
		session harness.SessionID
		err     error
	}
	// wanted ends a look whether another window wants a session.
	wanted struct {
		session harness.SessionID
		err     error
	}
)

func (decided) runsMsg() {}
func (rested) runsMsg()  {}
func (dropped) runsMsg() {}
func (wanted) runsMsg()  {}

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
	return "user at " + cmp.Or(m.c.Self.Terminal, "terminal") + " (runs)"
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

// release gives a session back, also when the program is ending.
func release(ctx context.Context, c Config, l harness.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restFor)
	defer cancel()
	if err := c.Owners.Release(ctx, l); err != nil {
		return fmt.Errorf("give back session %s: %w", l.Session, err)
	}
	return nil
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

// follow waits until the run rests, and gives the session back.
func (m Model) follow(msg decided) tea.Cmd {
	ctx, c := m.ctx, m.c
	return func() tea.Msg {
		out := rested{session: msg.lease.Session}
		res, err := msg.handle.Wait(ctx)
		out.result = res
		if err != nil {
			// The program ends. Nothing may drive the run once the session is
			// given back.
			pause, cancel := context.WithTimeout(context.WithoutCancel(ctx), restFor)
			err = errors.Join(err, c.Engine.Pause(pause, msg.run))
			cancel()
		}
		out.err = errors.Join(err, release(ctx, c, msg.lease))
		return out
	}
}

func (m Model) onRested(msg rested) (Model, tea.Cmd) {
	m.drives = maps.Clone(m.drives)
	delete(m.drives, msg.session)
	if msg.err != nil {
		m.notice = notice{text: m.c.Words(msg.err), failed: true}
	} else if m.notice.text == "" || !m.notice.failed {
		m.notice = notice{text: restWords(msg.result)}
	}
	return m.reload()
}

func restWords(r harness.Result) string {
	switch r.Status {
	case harness.RunCompleted:
		return "The run is done."
	case harness.RunAwaiting:
		return "The run waits for another decision."
	case harness.RunFailed:
		return "The run failed."
	case harness.RunPaused:
		return "The run is paused."
	default:
		return "The run rests."
	}
}

// reload reads the list again if it is seen.
func (m Model) reload() (Model, tea.Cmd) {
	if !m.front {
		return m, nil
	}
	return m.load()
}

// onChanged reads anew what is seen, and looks whether other windows want the
// sessions of runs that go on from here.
func (m Model) onChanged() (Model, tea.Cmd) {
	m, cmd := m.reload()
	cmds := []tea.Cmd{cmd}
	for session := range m.drives {
		m, cmd = m.wants(session)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// wants looks whether another window wants a session. If so its run is paused,
// which gives the session back.
func (m Model) wants(session harness.SessionID) (Model, tea.Cmd) {
	d, ok := m.drives[session]
	if !ok {
		return m, nil
	}
	m.drives = maps.Clone(m.drives)
	d.again = d.looking
	began := !d.looking
	d.looking = true
	m.drives[session] = d
	if !began {
		return m, nil
	}
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		_, asked, err := c.Owners.Asked(ctx, d.lease)
		if asked {
			err = c.Engine.Pause(ctx, d.run)
		}
		if errors.Is(err, harness.ErrLost) || errors.Is(err, harness.ErrNotFound) || ctx.Err() != nil {
			err = nil // the run has come to rest, which is told by itself
		}
		return wanted{session, err}
	}
}

func (m Model) onWanted(msg wanted) (Model, tea.Cmd) {
	if msg.err != nil {
		m.notice = notice{text: m.c.Words(msg.err), failed: true}
	}
	d, ok := m.drives[msg.session]
	if !ok {
		return m, nil
	}
	again := d.again
	d.looking, d.again = false, false
	m.drives = maps.Clone(m.drives)
	m.drives[msg.session] = d
	if again {
		return m.wants(msg.session)
	}
	return m, nil
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
