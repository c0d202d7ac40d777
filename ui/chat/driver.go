package chat

import (
	"log/slog"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/runs/standing"
)

// driverEvery is how many seconds pass between two looks at who drives a run that
// is kept elsewhere.
const driverEvery = 2

// kept says where the run of a turn is kept.
type kept int

const (
	// keptUnknown was not looked at yet.
	keptUnknown kept = iota
	keptHere
	keptAway
)

// lookAtDriver looks now and then who drives the turn's run.
func (m Model) lookAtDriver() (Model, tea.Cmd) {
	t := &m.turn
	t.seconds++
	if m.deps.Remote == nil || t.kept == keptHere || t.run == "" || t.looking || t.seconds%driverEvery != 0 {
		return m, nil
	}
	t.looking = true
	ctx, d, to, id := m.ctx, m.deps, m.to(), t.run
	return m, func() tea.Msg {
		run, err := d.Engine.Get(ctx, id)
		return driverMsg{to, run, err}
	}
}

// driverMsg tells who drives the turn's run.
type driverMsg struct {
	to
	run harness.Run
	err error
}

func (msg driverMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n || !m.turn.active() {
		return m, nil
	}
	m.turn.looking = false
	switch {
	case msg.err != nil: // the events of the run say what is wrong
		m.deps.Log.Warn("who drives a run", slog.String("run", string(m.turn.run)), slog.Any("err", msg.err))
	case !msg.run.Away():
		m.turn.kept = keptHere
	default:
		m.turn.kept = keptAway
		m = m.drivenBy(msg.run)
		if msg.run.Interrupted && m.turn.silent.chat {
			return m.orphaned()
		}
	}
	return m, nil
}

// silence is what is known of a driver in another process.
type silence struct {
	// chat says that it was none of the workers, and not this process, which claims
	// its run again.
	chat bool
	// ends is when it has the run no more unless it is heard of, and looks how
	// often that was found to be as it was.
	ends  time.Time
	looks int
	// words say that it is silent, once that is certain.
	words string
}

// Of how many looks in which the time of a driver did not move it counts as
// silent, and by how much it moves only because of how long looking takes.
const (
	silentLooks = 2
	lookTakes   = 700 * time.Millisecond
)

// drivenBy takes in who drives the turn's run. One that is silent is told with
// the time at which others may go on with the run.
func (m Model) drivenBy(run harness.Run) Model {
	t, who := &m.turn, standing.Driven(run, m.deps.Holder)
	if run.Worker != nil {
		if t.unclaimed != "" {
			t.unclaimed, t.live.now = "", ""
		}
		t.silent.chat = who != "" && run.Worker.Purpose != standing.Worker
	}
	ends := m.deps.Now().Add(run.Held)
	switch {
	case who == "" || run.Held <= 0 || who != t.driver || ends.Sub(t.silent.ends).Abs() > lookTakes:
		t.silent.ends, t.silent.looks = ends, 0
	default:
		t.silent.looks++
	}
	t.driver, t.silent.words = who, ""
	if t.silent.looks >= silentLooks {
		t.silent.words = standing.Silent(*run.Worker, m.clock(t.silent.ends))
	}
	return m
}

// orphaned follows a run no more whose driver, a chat, is gone: nobody goes on
// with it but the person, who is offered that.
func (m Model) orphaned() (Model, tea.Cmd) {
	id := m.turn.run
	if m.turn.stop != nil {
		m.turn.stop()
	}
	m.turn = turn{n: m.turn.n + 1}
	ctx, d, to := m.ctx, m.deps, m.to()
	return m, func() tea.Msg {
		err := LeaveRun(ctx, d, id)
		return orphanedMsg{to, err}
	}
}

// orphanedMsg says that a run is followed no more.
type orphanedMsg struct {
	to
	err error
}

func (msg orphanedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.turn != m.turn.n || m.turn.active() {
		return m, nil
	}
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m, cmd := m.fetch()
	return m, tea.Batch(cmd, m.reload())
}
