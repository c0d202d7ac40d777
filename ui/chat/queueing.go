package chat

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat/compose"
	"cairn/ui/chat/queue"
	"cairn/ui/render"
)

// queueing is the mode in which the queue is changed.
type queueing struct {
	mode queue.Model
	// former is what was in the box before a queued message was edited there.
	former compose.Box
	// due says that the first message would have been sent meanwhile.
	due bool
}

// unqueue takes the last queued message back into the box; if something is written
// there, it opens the queue.
func (m Model) unqueue() Model {
	n := len(m.draft.queue)
	switch {
	case n == 0:
		return m
	case !m.box.Blank() || m.branch.edit.on():
		return m.openQueue()
	}
	text := m.draft.queue[n-1]
	m.draft.queue = m.draft.queue[:n-1]
	m.box = m.box.SetText(text)
	m.draft.version++
	return m
}

// openQueue opens the mode in which the queue is changed.
func (m Model) openQueue() Model {
	switch {
	case len(m.draft.queue) == 0:
		m.notice = "nothing is queued: what is sent while an answer is under way waits here"
	case m.branch.edit.on():
		m.notice = "send or leave the message that is edited first; the queue waits"
	case m.own.state == accessReader:
		m.notice = offReader
	default:
		m.queue.mode = queue.Opened(len(m.draft.queue))
	}
	return m
}

// queueKey handles a key while the queue is open.
func (m Model) queueKey(msg tea.KeyMsg) (Model, tea.Cmd, Intent) {
	action, off := render.Match(m.Bindings(), msg.String())
	switch {
	case action == queue.Close, msg.String() == "ctrl+c":
		m.queue.mode = queue.Model{}
		m, cmd := m.sendDue()
		return m, cmd, Intent{}
	case action == queue.Edit:
		at, _ := m.queue.mode.Editing()
		if at >= len(m.draft.queue) {
			return m, nil, Intent{}
		}
		m.queue.mode, m.queue.former = m.queue.mode.Edit(), m.box
		m.box = m.box.SetText(m.draft.queue[at])
		m.draft.version++
		return m, nil, Intent{}
	case action == queue.Steer && !m.turn.active():
		m.notice = offNoRun
		return m, nil, Intent{}
	case action == queue.Steer:
		m, cmd := m.steerQueued(m.queue.mode.At())
		if m.queue.mode = m.queue.mode.Within(len(m.draft.queue)); !m.queue.mode.Open() {
			m, due := m.sendDue()
			return m, tea.Batch(cmd, due), Intent{}
		}
		return m, cmd, Intent{}
	case msg.String() == "f1":
		return m, nil, Intent{Kind: WantHelp}
	case action == "":
		m.notice = off
		return m, nil, Intent{}
	}
	was := m.draft.queue
	m.queue.mode, m.draft.queue = m.queue.mode.Do(action, m.draft.queue)
	if !slices.Equal(was, m.draft.queue) {
		m.draft.version++
	}
	if action == queue.Drop {
		m.notice = "dropped"
		if k := m.keyOf(queue.Undo); k != "" {
			m.notice += "; " + k + " brings it back"
		}
	}
	return m, nil, Intent{}
}

// requeue puts the text of the box in the place of the queued message that is
// edited, if one is; an empty one drops it. Keep is false to leave it as it was.
func (m Model) requeue(keep bool) (Model, bool) {
	at, ok := m.queue.mode.Editing()
	if !ok {
		return m, false
	}
	m.draft.queue = m.requeued(keep)
	m.box, m.queue.former = m.queue.former, compose.Box{}
	m.queue.mode = m.queue.mode.Back()
	m.draft.version++
	if len(m.draft.queue) == 0 {
		m.queue.mode = queue.Model{}
	} else if at >= len(m.draft.queue) {
		m.queue.mode, _ = m.queue.mode.Do(queue.Up, m.draft.queue)
	}
	return m, true
}

// shutQueue closes the queue; what is edited of it goes back there.
func (m Model) shutQueue() Model {
	m, _ = m.requeue(true)
	m.queue.mode = queue.Model{}
	return m
}

// requeued is the queue with the message that is edited as it is in the box.
func (m Model) requeued(keep bool) []string {
	at, ok := m.queue.mode.Editing()
	if !ok || !keep || at >= len(m.draft.queue) {
		return m.draft.queue
	}
	texts := slices.Clone(m.draft.queue)
	if m.box.Blank() {
		return slices.Delete(texts, at, at+1)
	}
	texts[at] = m.box.Text()
	return texts
}

// sendDue sends what would have been sent while the queue was open.
func (m Model) sendDue() (Model, tea.Cmd) {
	if !m.queue.due || m.queue.mode.Holds() {
		return m, nil
	}
	m.queue.due = false
	if m.turn.active() || m.branch.moving || m.condensing.busy() || m.own.state != accessOwner {
		return m, nil
	}
	return m.sendQueued()
}

// queueRows are the rows of the queue below the box, and before them those of what
// was said into the turn.
func (m Model) queueRows() []string {
	n := m.queueLines() - m.saidLines()
	if n == 0 {
		return m.saidRows()
	}
	look := queue.Look{Theme: m.deps.Theme, Width: m.width, Most: n, Keys: m.queueKeys()}
	if m.turn.active() && !m.queue.mode.Holds() {
		look.When = "after this answer"
	}
	return append(m.saidRows(), m.queue.mode.Rows(m.draft.queue, look)...)
}

// queueLines is how many rows the queue has.
func (m Model) queueLines() int {
	most := 1
	switch holds := m.queue.mode.Holds(); {
	case holds && m.height < ruleHeight:
		most = 3
	case holds:
		most = min(m.height/3, 10)
	case m.height >= fullHeight:
		most = 3
	case m.height >= ruleHeight:
		most = 2
	}
	return m.saidLines() + min(len(m.draft.queue), most)
}

// queueKeys are the keys for what is queued: it waits for enter when no answer
// is under way.
func (m Model) queueKeys() string {
	if _, edits := m.queue.mode.Editing(); edits || m.queue.mode.Open() {
		return ""
	}
	var keys []string
	if send := m.keyOf(actSend); send != "" && m.box.Blank() && !m.turn.active() && !m.condensing.busy() && !m.waits() && m.own.state == accessOwner {
		keys = append(keys, send+" send")
	}
	if edit := m.keyOf(actUnqueue); edit != "" {
		keys = append(keys, edit+" edit queue")
	}
	return strings.Join(keys, " "+m.deps.Theme.Ornaments.Dot+" ")
}

// queueWords say what the keys do while the queue is changed.
func (m Model) queueWords() string {
	dot := " " + m.deps.Theme.Ornaments.Dot + " "
	if _, edits := m.queue.mode.Editing(); edits {
		return "editing a queued message" + dot + m.keyOf(actSend) + " puts it back" + dot + m.keyOf(actStop) + " leaves it as it was"
	}
	if m.queue.mode.Open() {
		return "the queue" + dot + "nothing of it is sent while it is open"
	}
	return ""
}
