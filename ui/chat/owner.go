package chat

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

const (
	// askEvery is how often a window that asked for a session looks whether it
	// was let go, and askFor how long before it offers to force it.
	askEvery = 100 * time.Millisecond
	askFor   = 5 * time.Second
	// leaveFor bounds the saving when a chat is left.
	leaveFor = 5 * time.Second
)

// access says what this window may do to the session.
type access int

const (
	// accessOpening has not heard yet.
	accessOpening access = iota
	// accessOwner may write.
	accessOwner
	// accessReader looks on while another window writes.
	accessReader
	// accessHanding is giving the session to another window.
	accessHanding
)

// ownership is who may write to the session.
type ownership struct {
	state  access
	lease  harness.Lease
	holder harness.Holder // who owns it, for a reader
	// waits is a run that waits for a decision in the owner's window.
	waits *harness.Run
	// run is the session's run that has not ended, as it stands in the owner's
	// window.
	run *harness.Run
	// asking says that the owner was asked, silent that it did not answer.
	asking, silent bool
	// looking says that a look at the store is under way, again that the
	// store changed meanwhile.
	looking, again bool
	// polling says that a look is due soon.
	polling bool
	// fresh says that the session is known not to exist, gone that another
	// window or command deleted it.
	fresh, gone bool
}

// ownMsg says whether the session is ours.
type ownMsg struct {
	to
	lease harness.Lease
	draft harness.Draft
	// edited is the message that the draft is to replace, if that is there.
	edited *harness.Record
	// open is not looked for yet where what runs did elsewhere is fetched first.
	open *openMsg
	// session is as it is now; nil if it does not exist yet.
	session *harness.Session
	asked   bool
	failed  error // what else went wrong
	err     error
}

// acquire takes the session if nobody living has it.
func (m Model) acquire() tea.Cmd {
	return m.taking(func(ctx context.Context, d Deps, meta harness.Session) (harness.Lease, error) {
		return d.Owners.Acquire(ctx, meta, d.Holder)
	}, false)
}

// take asks the owner for the session and waits until it lets go.
func (m Model) take() tea.Cmd {
	return m.taking(func(ctx context.Context, d Deps, meta harness.Session) (harness.Lease, error) {
		lease, err := d.Owners.Acquire(ctx, meta, d.Holder)
		if _, held := harness.AsHeld(err); !held {
			return lease, err
		}
		if err := d.Owners.Ask(ctx, meta.ID, d.Holder); err != nil {
			return harness.Lease{}, err
		}
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for range int(askFor / askEvery) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return harness.Lease{}, ctx.Err()
			}
			lease, err = d.Owners.Acquire(ctx, meta, d.Holder)
			if _, held := harness.AsHeld(err); !held {
				return lease, err
			}
		}
		return harness.Lease{}, err
	}, true)
}

// force takes the session from an owner that does not answer.
func (m Model) force() tea.Cmd {
	return m.taking(func(ctx context.Context, d Deps, meta harness.Session) (harness.Lease, error) {
		return d.Owners.Force(ctx, meta, d.Holder)
	}, true)
}

// taking is the command around the ways to get the session. What it finds with
// the session comes along: the draft, and runs that have not ended.
func (m Model) taking(get func(context.Context, Deps, harness.Session) (harness.Lease, error), asked bool) tea.Cmd {
	ctx, d, to, meta, fresh := m.ctx, m.deps, m.to(), m.session, m.own.fresh
	find := m.findOpen()
	return func() tea.Msg {
		out := ownMsg{to: to, asked: asked}
		if out.lease, out.err = get(ctx, d, meta); out.err != nil {
			return out
		}
		if d.Remote == nil {
			open, _ := find().(openMsg)
			out.open = &open
		}
		if s, err := d.Sessions.Get(ctx, meta.ID); err == nil {
			out.session, fresh = &s, false
		}
		if out.draft, out.failed = d.Drafts.Load(ctx, meta.ID); fresh && out.failed == nil && out.draft.Text == "" {
			out.draft, out.failed = d.Drafts.Adopt(ctx, meta.ID, d.Holder)
		}
		if out.failed == nil {
			out.edited, out.failed = EditedBy(ctx, d.Transcript, meta.ID, out.draft)
		}
		return out
	}
}

func (msg ownMsg) apply(m Model) (Model, tea.Cmd) {
	m.own.asking = false
	if msg.err != nil {
		m, cmd := m.notOurs(msg)
		return m, cmd
	}
	m.own = ownership{state: accessOwner, lease: msg.lease, fresh: m.own.fresh}
	moved := m.session.Head != 0
	if s := msg.session; s != nil { // what is sent now is sent with what is set for it
		moved = s.Head != m.session.Head
		m = m.describes(*s)
	}
	if !m.stored { // with what was set before it was ours
		m.own.lease.Meta = m.session
	}
	m.notice = m.hint
	m = m.takeDraft(msg.draft, msg.edited)
	if msg.asked {
		m.notice = "this window owns the session now"
	}
	var cmds []tea.Cmd
	if msg.failed != nil {
		var cmd tea.Cmd
		m, cmd = m.trouble(msg.failed)
		cmds = append(cmds, cmd)
	}
	if msg.asked || moved {
		cmds = append(cmds, m.reload())
	}
	var cmd tea.Cmd
	if msg.open == nil {
		m, cmd = m.fetch()
		return m, tea.Batch(append(cmds, cmd)...)
	}
	m, cmd = msg.open.apply(m)
	cmds = append(cmds, cmd)
	m, cmd = m.sendWaiting()
	return m, tea.Batch(append(cmds, cmd)...)
}

// notOurs makes this window a reader, or says why the session cannot be had.
func (m Model) notOurs(msg ownMsg) (Model, tea.Cmd) {
	holder, held := harness.AsHeld(msg.err)
	if !held {
		if m.own.state == accessOpening {
			m.own.state = accessReader
		}
		m.failed = msg.err
		return m.unsent().trouble(msg.err)
	}
	m.own.state, m.own.holder, m.own.silent = accessReader, holder, msg.asked
	m.notice = m.hint
	m = m.unsent()
	if msg.asked {
		m.notice = holder.String() + " does not answer"
	}
	return m.look()
}

// unsent puts back into the box what was to be sent as soon as the session is
// ours, when it is not.
func (m Model) unsent() Model {
	if m.draft.eager {
		m.draft.eager = false
		m = m.unqueue()
	}
	if m.prompt != "" && m.box.Empty() {
		m.box, m.prompt = m.box.SetText(m.prompt), ""
	}
	return m
}

// takeOver asks for the session, or forces it when asking did not help.
func (m Model) takeOver() (Model, tea.Cmd) {
	switch {
	case m.own.state != accessReader:
		m.notice = "this window owns the session already"
		return m, nil
	case m.own.asking:
		return m, nil
	case m.own.silent:
		m.own.silent, m.own.asking = false, true
		return m, m.force()
	}
	m.own.asking = true
	m.notice = "asked " + m.own.holder.String() + " to let go of the session"
	return m, m.take()
}

// Changed tells the chat that the store changed.
func (m Model) Changed() (Model, tea.Cmd) { return m.look() }

// look looks at the store: an owner whether somebody asks for the session, a
// reader what is new in it. One look at a time.
func (m Model) look() (Model, tea.Cmd) {
	if m.own.looking {
		m.own.again = true
		return m, nil
	}
	switch m.own.state {
	case accessOwner:
		m.own.looking = true
		ctx, d, to, lease, id, stored := m.ctx, m.deps, m.to(), m.own.lease, m.session.ID, m.stored
		return m, func() tea.Msg {
			out := askedMsg{to: to}
			if out.by, out.asked, out.err = d.Owners.Asked(ctx, lease); out.err != nil || !stored {
				return out
			}
			s, err := d.Sessions.Get(ctx, id)
			switch {
			case err == nil:
				out.session = &s
			case errors.Is(err, harness.ErrNotFound):
				out.gone = true
			default:
				out.err = err
			}
			return out
		}
	case accessReader:
		m.own.looking = true
		return m, m.peek()
	case accessOpening, accessHanding:
	}
	return m, nil
}

// looked ends a look and begins the next if the store changed meanwhile.
func (m Model) looked() (Model, tea.Cmd) {
	again := m.own.again
	m.own.looking, m.own.again = false, false
	if again {
		return m.look()
	}
	return m, nil
}

// askedMsg tells an owner whether somebody asks for the session, and what
// became of its description.
type askedMsg struct {
	to
	by      harness.Holder
	asked   bool
	session *harness.Session // nil if it is not stored, or gone
	gone    bool             // it was deleted elsewhere
	err     error
}

func (msg askedMsg) apply(m Model) (Model, tea.Cmd) {
	m, again := m.looked()
	if m.own.state != accessOwner {
		return m, again
	}
	if msg.err != nil {
		m, cmd := m.trouble(msg.err)
		return m, tea.Batch(again, cmd)
	}
	m.own.gone = msg.gone
	if msg.session != nil {
		m = m.describes(*msg.session)
	}
	if !msg.asked {
		return m, again
	}
	m = m.undistil().uncondense()
	m.own.state = accessHanding
	m.notice = "giving the session to " + msg.by.String()
	rest := m.rest()
	to := m.to()
	return m, tea.Batch(again, func() tea.Msg { return handedMsg{to, msg.by, rest()} })
}

// handedMsg says that the session was let go.
type handedMsg struct {
	to
	by  harness.Holder
	err error
}

func (msg handedMsg) apply(m Model) (Model, tea.Cmd) {
	on := m.turn.active() && m.turn.driver != ""
	m = m.reader(msg.by)
	m.draft.queue, m.queue = nil, queueing{} // it went along with the draft
	m.notice = msg.by.String() + " took this session over; this window is read-only now"
	if on {
		m.notice = msg.by.String() + " took this session over and shows the run now, which goes on; this window is read-only"
	}
	if msg.err != nil {
		m.notice += "; " + m.deps.Words(msg.err)
	}
	m, cmd := m.look()
	return m, cmd
}

// lost makes this window a reader after another forced the session from it.
func (m Model) lost(err error) (Model, tea.Cmd) {
	if m.own.state == accessReader {
		return m, nil
	}
	away := m.turn.active() && m.turn.kept == keptAway
	m = m.reader(harness.Holder{})
	m.notice = m.deps.Words(err)
	if away {
		m.notice = "Another window took this session over and shows the run now, which goes on; what you typed is still here."
	}
	return m.look()
}

// reader gives up the right to write.
func (m Model) reader(now harness.Holder) Model {
	m = m.undistil().uncondense()
	m.turning = m.turning && m.stored
	m.own = ownership{state: accessReader, holder: now, looking: m.own.looking, again: m.own.again}
	if m.turn.stop != nil {
		m.turn.stop()
	}
	m.turn = turn{n: m.turn.n + 1}
	m.open = nil
	m.ask = asking{wake: m.ask.wake}
	m.draft.version = m.draft.stored // what is typed now stays in this window
	return m
}

// rest writes down everything that is not stored yet and lets the session go.
// What a reader typed goes to the history of prompts.
// It is for a command to run; the error says what could not be stored.
func (m Model) rest() func() error {
	d, own, t, draft, prompts := m.deps, m.own, m.turn, m.draftNow(), m.deps.Prompts
	keep := own.state == accessOwner || own.state == accessHanding
	id := m.session.ID
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), leaveFor)
		defer cancel()
		if !keep { // the draft in the store is the owner's
			if d := draft(); d.Text != "" {
				return prompts.Add(ctx, id, d.Text)
			}
			return nil
		}
		var errs []error
		if t.active() && t.run != "" {
			errs = append(errs, LeaveRun(ctx, d, t.run))
		}
		errs = append(errs, d.Drafts.Save(ctx, id, d.Holder, draft()))
		errs = append(errs, d.Owners.Release(ctx, own.lease))
		return errors.Join(errs...)
	}
}
