package runs

import (
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
	// rested says that a run that went on from here came to rest.
	rested struct {
		session harness.SessionID
		result  harness.Result
		err     error
	}
	// wanted ends a look whether another window wants a session.
	wanted struct {
		session harness.SessionID
		err     error
	}
)

func (rested) runsMsg() {}
func (wanted) runsMsg() {}

// release gives a session back, also when the program is ending.
func release(ctx context.Context, c Config, l harness.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restFor)
	defer cancel()
	if err := c.Owners.Release(ctx, l); err != nil {
		return fmt.Errorf("give back session %s: %w", l.Session, err)
	}
	return nil
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

func (m Model) onRested(msg rested) (Model, tea.Cmd, Intent) {
	m.drives = maps.Clone(m.drives)
	delete(m.drives, msg.session)
	text := restWords(msg.result)
	if msg.err != nil {
		text = m.c.Words(msg.err)
	}
	if !m.front {
		return m, nil, Say{"Session " + string(msg.session) + ": " + text}
	}
	if msg.err != nil || !m.notice.failed {
		m.notice = notice{text: text, failed: msg.err != nil}
	}
	m, cmd := m.load()
	return m, cmd, nil
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
