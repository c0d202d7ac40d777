package chat

import (
	"errors"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// actSteer says what is written into the turn that is under way.
const actSteer = "chat.steer"

// nowSaving is what is told of a turn whose answer has no calls.
const nowSaving = "saving"

// saying is what a person said into a turn, until the model is told it.
type saying struct {
	id, text string
	// held says that the engine does not have it yet: the run has no id, or what was
	// said before is on its way. flies says that it is on its way.
	held, flies bool
}

// steerKey is the key that says something into the turn; off says why it does
// nothing.
func (m Model) steerKey() render.Binding {
	off := ""
	_, edits := m.queue.mode.Editing()
	switch {
	case m.own.state == accessReader:
		off = offReader
	case edits || m.branch.edit.on():
		off = "a message is edited; send or leave it first"
	case !m.turn.active():
		off = offNoRun
	case m.box.Blank() && len(m.draft.queue) == 0:
		off = "nothing is written or queued"
	}
	return render.Binding{Action: actSteer, Keys: []string{"ctrl+x enter"}, Help: "say it into the turn", Group: "Writing", Off: off}
}

// steerNow says what is in the box, else what is queued first, into the turn.
func (m Model) steerNow() (Model, tea.Cmd) {
	if m.box.Blank() {
		return m.steerQueued(0)
	}
	p := m.deps.Parse(m.box.Text())
	if p.Typed != "" {
		m.notice = "/" + render.SafeLine(p.Typed) + " is for enter; a space before the slash sends it as text"
		return m, nil
	}
	m.box = m.box.SetText("")
	return m.steer(p.Text)
}

// steerQueued says a queued message into the turn.
func (m Model) steerQueued(at int) (Model, tea.Cmd) {
	if at >= len(m.draft.queue) {
		return m, nil
	}
	text := m.draft.queue[at]
	m.draft.queue = slices.Delete(slices.Clone(m.draft.queue), at, at+1)
	return m.steer(text)
}

// steerCommand is /steer.
func (m Model) steerCommand(text string) (Model, tea.Cmd) {
	back := func(why string) (Model, tea.Cmd) {
		m.box, m.notice = m.box.SetText("/steer "+text), why+"; your text stays here"
		m.draft.version++
		return m, nil
	}
	switch {
	case text == "":
		m.notice = "write after it what the model is to heed now: /steer use the other table"
		return m, nil
	case m.own.gone:
		return back("not sent: the session is deleted")
	case m.own.state == accessReader || m.own.state == accessHanding:
		return back(offReader)
	case m.waits():
		m.notice = "the model is told it once this is decided"
		return m.say(saying{id: harness.NewID(), text: text}, m.open.ID)
	case !m.turn.active():
		return m.submitText(text)
	}
	return m.steer(text)
}

// steer says something into the turn: the model is told it before its next step.
// What is said into one that is just being stopped is sent as soon as it is.
func (m Model) steer(text string) (Model, tea.Cmd) {
	m.draft.version++
	s := saying{id: harness.NewID(), text: text}
	switch m.turn.phase {
	case phaseStarting:
		s.held = true
		m.draft.said = append(slices.Clip(m.draft.said), s)
		return m, nil
	case phaseRunning:
		return m.say(s, m.turn.run)
	case phaseIdle, phaseStopping:
	}
	return m.stopFor(text)
}

// stopFor stops the answer that is under way, of which the text is kept, and sends
// this before all that is queued.
func (m Model) stopFor(text string) (Model, tea.Cmd) {
	m.draft.queue = append([]string{text}, m.draft.queue...)
	m.draft.version++
	m.turn.steered = true
	return m.stopRun()
}

// say has the engine say something into a run, behind all that was said before.
func (m Model) say(s saying, run harness.RunID) (Model, tea.Cmd) {
	busy := slices.ContainsFunc(m.draft.said, func(s saying) bool { return s.flies })
	s.held, s.flies = busy, !busy
	if at := slices.IndexFunc(m.draft.said, func(have saying) bool { return have.id == s.id }); at >= 0 {
		m.draft.said = slices.Clone(m.draft.said)
		m.draft.said[at] = s
	} else {
		m.draft.said = append(slices.Clip(m.draft.said), s)
	}
	if busy {
		return m, nil
	}
	ctx, e, to := m.ctx, m.deps.Engine, m.to()
	return m, func() tea.Msg {
		steerer, ok := e.(harness.Steerer)
		if !ok {
			return saidMsg{to, s, run, errors.ErrUnsupported}
		}
		return saidMsg{to, s, run, steerer.Steer(ctx, run, harness.Steer{ID: s.id, Message: harness.UserText(s.text)})}
	}
}

// sayHeld says the first of what the engine does not have.
func (m Model) sayHeld(run harness.RunID) (Model, tea.Cmd) {
	for _, s := range m.draft.said {
		if s.held {
			return m.say(s, run)
		}
	}
	return m, nil
}

// settled takes a saying from those that wait.
func (m Model) settled(id string) Model {
	m.draft.said = slices.DeleteFunc(slices.Clone(m.draft.said), func(s saying) bool { return s.id == id })
	return m
}

// saidInto shows what waits in a run that rests. What the engine does not have yet
// stays.
func (m Model) saidInto(r *harness.Run) Model {
	said := slices.DeleteFunc(slices.Clone(m.draft.said), func(s saying) bool { return !s.held && !s.flies })
	if r != nil {
		for _, s := range slices.Backward(r.Steers) {
			if !slices.ContainsFunc(said, func(have saying) bool { return have.id == s.ID }) {
				said = slices.Insert(said, 0, saying{id: s.ID, text: s.Message.Text()})
			}
		}
	}
	m.draft.said = said
	return m
}

// heard follows what the run tells of a saying, also of those from elsewhere.
func (m Model) heard(e harness.Event) Model {
	if e.Type == harness.EventSteered {
		m = m.notDoubted(e.Steer)
	}
	waits := slices.ContainsFunc(m.draft.said, func(s saying) bool { return s.id == e.Steer })
	if e.Type == harness.EventSteered && !waits && e.Message != nil {
		m.draft.said = append(slices.Clip(m.draft.said), saying{id: e.Steer, text: e.Message.Text()})
	}
	if e.Type == harness.EventMessage {
		m = m.settled(e.Steer).keep(e)
		if m.turn.live.now == nowSaving { // the answer before was to be the last
			m.turn.live.now = ""
			m.turn.step++
		}
	}
	return m
}

// heardMost is how many of the sayings that the engine has are remembered.
const heardMost = 16

// notDoubted takes from the queue what the engine has after all: it would be heard
// twice. What somebody is just at in the queue stays.
func (m Model) notDoubted(id string) Model {
	heard := m.draft.heard
	m.draft.heard = append(slices.Clone(heard[max(len(heard)-heardMost+1, 0):]), id)
	at := slices.IndexFunc(m.draft.doubted, func(s saying) bool { return s.id == id })
	if at < 0 {
		return m
	}
	queued := slices.Index(m.draft.queue, m.draft.doubted[at].text)
	m.draft.doubted = slices.Delete(slices.Clone(m.draft.doubted), at, at+1)
	if queued < 0 || m.queue.mode.Holds() {
		return m
	}
	m.draft.queue = slices.Delete(slices.Clone(m.draft.queue), queued, queued+1)
	m.draft.version++
	m.notice = ""
	return m
}

// saidMsg says whether something was said into a run.
type saidMsg struct {
	to
	said saying
	run  harness.RunID
	err  error
}

func (msg saidMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err == nil || slices.Contains(m.draft.heard, msg.said.id) { // its events tell the rest
		for i, s := range m.draft.said {
			if s.id == msg.said.id {
				m.draft.said = slices.Clone(m.draft.said)
				m.draft.said[i].flies = false
			}
		}
		return m.sayHeld(msg.run)
	}
	m = m.settled(msg.said.id)
	var cmd tea.Cmd
	switch {
	case errors.Is(msg.err, errors.ErrUnsupported) && m.turn.runs(msg.run):
		m = m.notSaid()
		m, cmd = m.stopFor(msg.said.text)
		m.notice = "who drives this turn cannot be told anything meanwhile, so it is stopped for it"
	case errors.Is(msg.err, harness.ErrEnded), errors.Is(msg.err, errors.ErrUnsupported):
		m, cmd = m.sayNext(msg.said.text)
	default:
		m.draft.doubted = append(slices.Clip(m.draft.doubted), msg.said)
		m, cmd = m.sayNext(msg.said.text)
		m.notice = "not said into the turn, but queued: " + m.deps.Words(msg.err)
	}
	return m, cmd
}

// sayNext makes what was not said into a turn the next messages. The first is sent at
// once if the turn came to its end, and waits if somebody stopped it.
func (m Model) sayNext(text string) (Model, tea.Cmd) {
	m = m.notSaid()
	m.draft.queue = append([]string{text}, m.draft.queue...)
	m.queue.mode = m.queue.mode.Shifted(1)
	m.draft.version++
	if m.turn.active() || m.turn.ended != harness.RunCompleted || m.branch.moving || m.condensing.busy() || m.own.state != accessOwner {
		return m, nil
	}
	return m.sendQueued()
}

// notSaid puts what was to be said into a turn, and the engine does not have, before
// all that is queued.
func (m Model) notSaid() Model {
	var texts []string
	for _, s := range m.draft.said {
		if s.held {
			texts = append(texts, s.text)
			m = m.settled(s.id)
		}
	}
	if len(texts) > 0 {
		m.draft.queue = append(texts, m.draft.queue...)
		m.queue.mode = m.queue.mode.Shifted(len(texts))
		m.draft.version++
	}
	return m
}

// steered sends what a turn was stopped for. What came to another end is the
// person's to decide about; then the message waits in the queue.
func (m Model) steered(t turn, status harness.RunStatus) (Model, tea.Cmd) {
	if status.Closed() {
		m.draft.said = nil // it is in the conversation
	}
	if !t.steered || status != harness.RunCancelled || m.own.state != accessOwner {
		return m, nil
	}
	return m.sendQueued()
}

// saidRows are the rows of what was said into the turn and waits, above the queue.
func (m Model) saidRows() []string {
	rows := m.saidLines()
	if rows == 0 {
		return nil
	}
	p, o := m.deps.Theme.Paints, m.deps.Theme.Ornaments
	var all []string
	said := m.draft.said
	for i, s := range said[len(said)-rows:] {
		word := "steering: "
		if hidden := len(said) - rows; i == 0 && hidden > 0 {
			word = "steering (" + harness.Grouped(hidden) + " more): "
		}
		all = append(all, render.Truncate(p.Accent.On("  "+word)+render.SafeLine(s.text), m.width, o.Ellipsis))
	}
	return all
}

// saidLines is how many rows that has.
func (m Model) saidLines() int {
	most := 1
	if m.height >= fullHeight {
		most = 3
	}
	return min(len(m.draft.said), most)
}
