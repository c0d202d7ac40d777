package chat

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/compose"
)

// draftEvery is how late the draft may reach the store.
const draftEvery = time.Second

// draft is what was typed and queued, as far as it has to be stored.
type draft struct {
	queue []string
	// version counts the changes; stored is the version on disk.
	version, stored int
	// armed says that a save is to come, saving that one is under way.
	armed, saving bool
	// said is what was said into the turn and the model was not told yet.
	said []saying
	// doubted is what was queued because the engine failed to say whether it has it,
	// heard what it told that it has, the last of it.
	doubted []saying
	heard   []string
	// eager says that the queue is to be sent as soon as the session is ours.
	eager bool
}

// draftNow returns how to make the draft as it is now. Making it costs as much
// as the text is long, so a command does it.
func (m Model) draftNow() func() harness.Draft {
	box, queue, edit, at := m.box, m.draft.queue, m.branch.edit, m.deps.Now()
	if _, edits := m.queue.mode.Editing(); edits { // what is in the box is queued
		box, queue = m.queue.former, m.requeued(true)
	}
	return func() harness.Draft {
		d := harness.Draft{Queue: queue, QueueFolds: queueFolds(box, queue), At: at}
		if !box.Blank() {
			d.Text, d.Folds, d.Edits = box.Text(), box.Folds(), edit.stored()
		}
		return d
	}
}

// queueFolds are what is folded of queued messages, nil if nothing is.
func queueFolds(box compose.Box, queue []string) [][][2]int {
	all, some := make([][][2]int, len(queue)), false
	for i, text := range queue {
		all[i] = box.FoldsOf(text)
		some = some || all[i] != nil
	}
	if !some {
		return nil
	}
	return all
}

// takeDraft puts a stored draft into the box, unless something was typed. Edited
// is the message that it is to replace, nil if that is not on the branch.
func (m Model) takeDraft(d harness.Draft, edited *harness.Record) Model {
	if len(d.Queue) > 0 {
		m.draft.queue = append(append([]string(nil), d.Queue...), m.draft.queue...)
	}
	for i, folds := range d.QueueFolds {
		if i < len(d.Queue) {
			m.box = m.box.Knows(d.Queue[i], folds)
		}
	}
	if d.Text != "" && m.box.Empty() {
		m.box = m.box.Restore(d.Text, d.Folds)
		m.tray = m.tray.Restored(d.At)
		m.notice = "your draft is back"
		switch {
		case edited != nil:
			m.branch.edit = editing{record: *edited}
		case d.Edits != nil:
			m.notice += "; " + NotOnBranch(*d.Edits)
			m.draft.version++ // stored as what it is now: a new message
		}
	}
	return m
}

// draftDueMsg says that it is time to store the draft.
type draftDueMsg struct{ to }

// armDraft sees to it that the draft is stored within a second.
func (m Model) armDraft() (Model, tea.Cmd) {
	if m.draft.armed || m.own.state == accessReader {
		return m, nil
	}
	m.draft.armed = true
	to := m.to()
	return m, tea.Tick(draftEvery, func(time.Time) tea.Msg { return draftDueMsg{to} })
}

func (msg draftDueMsg) apply(m Model) (Model, tea.Cmd) {
	m.draft.armed = false
	m, cmd := m.saveDraft()
	return m, cmd
}

// draftSavedMsg says how storing the draft went.
type draftSavedMsg struct {
	to
	version int
	err     error
}

// saveDraft stores the draft if it changed. One save at a time, so that an
// older one never comes last.
func (m Model) saveDraft() (Model, tea.Cmd) {
	if m.draft.version == m.draft.stored || m.own.state == accessReader {
		return m, nil
	}
	if m.draft.saving || m.own.state != accessOwner {
		return m.armDraft()
	}
	m.draft.saving = true
	ctx, d, to, id, version, now := m.ctx, m.deps, m.to(), m.session.ID, m.draft.version, m.draftNow()
	return m, func() tea.Msg {
		return draftSavedMsg{to, version, d.Drafts.Save(ctx, id, d.Holder, now())}
	}
}

func (msg draftSavedMsg) apply(m Model) (Model, tea.Cmd) {
	m.draft.saving = false
	if msg.err != nil {
		m.failed = msg.err
		return m.trouble(msg.err)
	}
	m.draft.stored = msg.version
	if m.draft.version != msg.version {
		m, cmd := m.armDraft()
		return m, cmd
	}
	return m, nil
}

// enqueue puts a message behind the run that is under way.
func (m Model) enqueue(text string) Model {
	m.draft.queue = append(m.draft.queue[:len(m.draft.queue):len(m.draft.queue)], text)
	m.draft.version++
	return m
}

// sendQueued sends the first queued message.
func (m Model) sendQueued() (Model, tea.Cmd) {
	if len(m.draft.queue) == 0 || m.waits() {
		return m, nil
	}
	if m.queue.mode.Holds() {
		m.queue.due = true
		return m, nil
	}
	text := m.draft.queue[0]
	m.draft.queue = m.draft.queue[1:]
	m.draft.version++
	m, cmd := m.send(text)
	m.turn.queued = true
	return m, cmd
}
