package chat

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// phase says where the turn of this chat stands.
type phase int

const (
	phaseIdle phase = iota
	// phaseStarting waits for the message or the resumption to be on disk.
	phaseStarting
	phaseRunning
	phaseStopping
)

// turn is the execution of one message as this window follows it.
type turn struct {
	// n counts the turns of this chat; messages of older ones are stale.
	n     int
	phase phase
	run   harness.RunID
	since time.Time
	// step is the number of the model call that is under way.
	step int
	live *live
	// stop ends following, not the run.
	stop context.CancelFunc
	// sent is what the person wrote, given back if it could not be stored.
	sent string
	// queued says that sent came from the queue.
	queued bool
	// how says in which way an unfinished run is gone on with; closes that a
	// message ends one, whose half answer is stored with it.
	how    harness.ResumeHow
	closes bool
	// edit is what the person edited, gone back to if it could not be sent.
	edit editing
	// kept is where the run is kept, and driver who drives it, if that is another
	// process. unclaimed says that nobody has taken it, and why.
	kept              kept
	driver, unclaimed string
	// seconds counts those of the turn; looking says that it is being looked who
	// drives the run.
	seconds int
	looking bool
	// silent tells a driver that is not heard of.
	silent silence
	// progress is how far its calls say that they are.
	progress progress
	// steered says that it is stopped so that what is queued first is sent.
	steered bool
	// ended is how the run rests, once it does.
	ended harness.RunStatus
}

func (t turn) active() bool { return t.phase != phaseIdle }

// runs reports whether the turn is of this run and at work.
func (t turn) runs(id harness.RunID) bool { return t.active() && id != "" && t.run == id }

// begin opens a turn and shows it as starting.
func (m Model) begin(text string) (Model, context.Context) {
	ctx, stop := context.WithCancel(m.ctx)
	m = m.undistil()
	m.turn = turn{
		n: m.turn.n + 1, phase: phaseStarting, since: m.deps.Now(), step: 1, stop: stop, sent: text,
		live: newLive(m.deps.Markdown),
	}
	m.notice, m.failed = "", nil
	m.condensing.asks = nil
	m.escAt = time.Time{}
	return m, ctx
}

// send starts a turn with a message.
func (m Model) send(text string) (Model, tea.Cmd) {
	m, ctx := m.begin(text)
	m.draft.said = nil // the run that it waited in ends
	msg := harness.UserText(text)
	m.pages.add(item{rec: harness.Record{Kind: harness.RecordMessage, Message: &msg, At: m.deps.Now()}, sent: true})
	m.pages.follow = true
	m.turn.closes, m.open = m.open != nil, nil
	start := m.start(ctx, m.writer(text, nil))
	return m, tea.Batch(func() tea.Msg { return start() }, m.tick(), m.warm())
}

// warm loads what the first code block needs while the first answer is waited
// for, so that no frame waits for it.
func (m Model) warm() tea.Cmd {
	if m.turn.n > 1 {
		return nil
	}
	return func() tea.Msg {
		render.Warm()
		return nil
	}
}

// start begins a run with what write writes; it is for a command.
func (m Model) start(ctx context.Context, write writer) func() startedMsg {
	d, lease, to, setup, session, off := m.deps, m.own.lease, m.to(), m.setup, m.session, m.noMemory()
	request := harness.NewID()
	return func() startedMsg {
		out := startedMsg{to: to}
		if setup.Run.Model == "" {
			if setup, out.err = d.Config(ctx, session); out.err != nil {
				return out
			}
			out.setup = &setup
		}
		setup.Run.NoMemory = off // as it is now, also if it was changed here since
		var msg harness.Message
		if msg, out.notes, out.err = write(ctx, setup.Run.Model); out.err != nil {
			return out
		}
		out.handle, out.err = d.Engine.Start(ctx, harness.StartRequest{
			Lease: lease, Message: msg, Config: setup.Run, Request: request, Dir: d.Dir,
		})
		if out.err == nil {
			out.events = out.handle.Events(ctx, 0)
		}
		return out
	}
}

// resume goes on with an unfinished run.
func (m Model) resume(run harness.Run, how harness.ResumeHow) (Model, tea.Cmd) {
	shown := m.turn.live
	m, ctx := m.begin("")
	m.turn.how = how
	if how == harness.ResumeContinue && shown != nil { // stays until its message is stored
		m.turn.live.mark, m.turn.live.at = shown.mark, shown.at
		m.turn.live.text, m.turn.live.n = shown.text, shown.n
	}
	m.open = nil
	d, lease, to := m.deps, m.own.lease, m.to()
	return m, tea.Batch(m.tick(), func() tea.Msg {
		out := startedMsg{to: to, resumed: &run}
		if out.handle, out.err = d.Engine.Resume(ctx, lease, run.ID, how); out.err == nil {
			out.events = out.handle.Events(ctx, run.Cursor)
		}
		return out
	})
}

// startedMsg says that a run began, or why not.
type startedMsg struct {
	to
	handle  harness.RunHandle
	events  <-chan harness.Event
	setup   *Setup
	resumed *harness.Run
	// notes are what there is to say of the files that were sent.
	notes []string
	// decision is what the person decided, if that is how it goes on.
	decision *harness.Decision
	// attached says that the run goes on elsewhere and is followed.
	attached bool
	err      error
}

func (msg startedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.setup != nil {
		m.setup = *msg.setup
	}
	if msg.turn != m.turn.n {
		return m.leaveDue(nil)
	}
	if msg.err != nil {
		m, cmd := m.notStarted(msg)
		return m.leaveDue(cmd)
	}
	stopping := m.turn.phase == phaseStopping
	m.turn.phase, m.turn.run = phaseRunning, msg.handle.ID()
	m.stored = true
	for _, note := range msg.notes {
		m.pages.add(item{quiet: note})
	}
	cmds := []tea.Cmd{pump(m.ctx, m.to(), msg.events)}
	if m.turning { // memory was turned while the session was made
		var cmd tea.Cmd
		m, cmd = m.storeMemory()
		cmds = append(cmds, cmd)
	}
	if m.session.Title == "" {
		cmds = append(cmds, m.describe())
	}
	if m.turn.closes || msg.attached { // records may have come meanwhile
		cmds = append(cmds, m.reload())
	}
	if m.turn.sent != "" {
		cmds = append(cmds, m.remember(m.turn.sent))
		m.past = m.past.added(m.turn.sent)
	}
	var cmd tea.Cmd
	m, cmd = m.saveDraft()
	cmds = append(cmds, cmd)
	m, cmd = m.sayHeld(m.turn.run)
	cmds = append(cmds, cmd)
	if stopping {
		m, cmd = m.cancel()
		cmds = append(cmds, cmd)
	}
	return m.leaveDue(tea.Batch(cmds...))
}

// notStarted gives the text back and says why.
func (m Model) notStarted(msg startedMsg) (Model, tea.Cmd) {
	m.pages.unsend()
	m = m.notSaid()
	text, queued, e, closes := m.turn.sent, m.turn.queued, m.turn.edit, m.turn.closes
	m.turn.stop()
	m.turn = turn{n: m.turn.n}
	m.turning = m.turning && m.stored // else it goes with the next first message
	m.open = msg.resumed
	switch {
	case text == "":
	case e.on():
		e.former = m.box.Text()
		m.branch.edit = e
		m.box = m.box.SetText(text)
		m.draft.version++
	case m.box.Empty() && !queued:
		m.box = m.box.SetText(text)
	default:
		m.draft.queue = append([]string{text}, m.draft.queue...)
		m.queue.mode = m.queue.mode.Shifted(1)
		m.draft.version++
	}
	if msg.decision != nil {
		return m.refused(msg)
	}
	m, cmd := m.unattached(msg.err)
	cmds := []tea.Cmd{cmd, m.reload()}
	if closes || m.deps.Remote != nil { // the run that was to be closed may not be, or goes on elsewhere
		cmds = append(cmds, m.findOpen())
	}
	return m, tea.Batch(cmds...)
}

// stopRun stops the run, or has it stopped as soon as it has an id.
func (m Model) stopRun() (Model, tea.Cmd) {
	switch m.turn.phase {
	case phaseStarting:
		m.turn.phase = phaseStopping
		return m, nil
	case phaseRunning:
		return m.cancel()
	case phaseIdle, phaseStopping:
	}
	return m, nil
}

// cancel asks the engine to stop the run; the events say when it has.
func (m Model) cancel() (Model, tea.Cmd) {
	m.turn.phase = phaseStopping
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.turn.run
	return m, func() tea.Msg {
		if err := d.Engine.Cancel(ctx, id); err != nil {
			return troubleMsg{to, err}
		}
		return nil
	}
}

// tickMsg is due once a second while a turn runs.
type tickMsg struct{ to }

// tick waits for the next whole second of the turn.
func (m Model) tick() tea.Cmd {
	to := m.to()
	wait := time.Second - m.deps.Now().Sub(m.turn.since)%time.Second
	return tea.Tick(wait, func(time.Time) tea.Msg { return tickMsg{to} })
}

func (msg tickMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n || !m.turn.active() {
		return m, nil
	}
	m, look := m.lookAtDriver()
	return m, tea.Batch(m.tick(), look)
}
