package chat

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/decide"
	"cairn/ui/render"
)

// wakeAfter is how long nothing may be typed before keys answer what a run
// waits for, so that nobody answers with what was meant for the box.
const wakeAfter = 600 * time.Millisecond

// holdFor is how long a letter must stand alone to be a choice: the first
// letter of a word is followed by the next one sooner, also where a paste
// cannot be told from typing.
const holdFor = 300 * time.Millisecond

// leastAsk is how many rows the dialog needs to show some of its text.
const leastAsk = 5

// asking is the dialog about what the session's run waits for.
type asking struct {
	run    harness.RunID
	dialog decide.Dialog
	// calls are those that waited when the run came to rest.
	calls []string
	// shown says that the dialog is open; what is decided later waits without.
	shown bool
	// awake says that keys are heard; wake counts the times it fell asleep.
	awake bool
	wake  int
	// note is said in the next dialog.
	note string
	// held is a letter that will be a choice unless more is typed at once, for
	// which it stands in name; holds counts them.
	held, name string
	holds      int
}

// waits reports whether the session's run rests for a person.
func (m Model) waits() bool {
	return m.open != nil && m.open.Status == harness.RunAwaiting && len(m.open.Pending) > 0 && !m.turn.active()
}

// asks reports whether the dialog is on screen.
func (m Model) asks() bool {
	return m.ask.shown && m.waits() && m.own.state == accessOwner && !m.small() && !m.covered()
}

// asked opens the dialog about the first decision that waits, unless it is open
// already or was put off.
func (m Model) asked() (Model, tea.Cmd) {
	if !m.waits() {
		if m.ask.note != "" {
			m.notice = "that was decided already, elsewhere"
		}
		m.ask = asking{wake: m.ask.wake}
		return m, nil
	}
	pending := m.open.Pending
	same := m.ask.run == m.open.ID
	for _, p := range pending {
		same = same && slices.Contains(m.ask.calls, p.Call.ID)
	}
	if !same {
		m.ask.run, m.ask.calls = m.open.ID, nil
		for _, p := range pending {
			m.ask.calls = append(m.ask.calls, p.Call.ID)
		}
	}
	of := len(m.ask.calls)
	n := of - len(pending) + 1
	if same && m.ask.dialog.About(pending[0]) {
		m.ask.dialog = m.ask.dialog.Counted(n, of)
		if m.ask.note == "" {
			return m, nil
		}
	} else {
		m.ask.dialog = decide.New(pending[0], n, of, m.askedAt(pending[0].Call.ID)).After(m.ask.dialog)
	}
	m, _ = m.unheld()
	m.ask.dialog = m.ask.dialog.Say(m.ask.note)
	m.ask.shown, m.ask.note = true, ""
	return m.doze()
}

// askedAt is when the model asked for a call, the zero time if that is not
// loaded.
func (m Model) askedAt(call string) time.Time {
	for i := len(m.pages.items) - 1; i >= 0; i-- {
		msg := m.pages.items[i].rec.Message
		if msg == nil {
			continue
		}
		for _, c := range msg.Calls() {
			if c.ID == call {
				return m.pages.items[i].rec.At
			}
		}
	}
	return time.Time{}
}

// doze makes the dialog deaf until nothing was typed for a while.
func (m Model) doze() (Model, tea.Cmd) {
	m.ask.awake = false
	m.ask.wake++
	msg := wakeMsg{m.to(), m.ask.wake}
	return m, tea.Tick(wakeAfter, func(time.Time) tea.Msg { return msg })
}

// Uncovered tells the chat that nothing stands before it any more: a dialog
// that was not to be seen has just appeared to the person.
func (m Model) Uncovered() (Model, tea.Cmd) {
	if !m.asks() {
		return m, nil
	}
	return m.doze()
}

// wakeMsg is due when the quiet time is over.
type wakeMsg struct {
	to
	wake int
}

func (msg wakeMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	if msg.wake == m.ask.wake {
		m.ask.awake = m.ask.shown
	}
	return m, nil
}

// reopen shows what was put off again.
func (m Model) reopen() (Model, tea.Cmd) {
	switch {
	case m.asks():
		return m, nil
	case m.own.state == accessReader:
		m.notice = "this window is read-only: what waits is decided where the session is open, or here after /takeover"
		return m, nil
	case !m.waits():
		m.notice = decide.OffNone
		return m, nil
	}
	m.ask.shown = true
	m.notice = ""
	return m.doze()
}

// env is what the dialog depends on.
func (m Model) env() decide.Env {
	e := decide.Env{
		Theme: m.deps.Theme, Width: m.width, Height: m.height - 1, Awake: m.ask.awake,
		Draft: !m.box.Blank() || len(m.draft.queue) > 0, Keys: m.deps.Keys, Ephemeral: m.deps.Ephemeral,
	}
	if m.deps.Now != nil {
		e.Now = m.deps.Now()
	}
	if m.deps.CheckRule != nil {
		e.Fault = func(rule string) string { return m.deps.Words(m.deps.CheckRule(rule)) }
	}
	if !m.ask.dialog.Whole() {
		// A part of a large window stays with the conversation.
		room := m.height - m.headRows() - len(m.notices()) - m.lowRows()
		if room -= max(room-8, 0) / 4; room >= leastAsk {
			e.Height = room
		}
	}
	return e
}

// askWhole reports whether the dialog has the whole screen: because it was
// asked for, or because less would show nothing.
func (m Model) askWhole() bool { return m.asks() && m.env().Height == m.height-1 }

// dialog are the dialog's keys, all off when it is not on screen.
func (m Model) dialogKeys() []render.Binding {
	if !m.asks() {
		return decide.Dialog{}.Bindings(decide.Env{Keys: m.deps.Keys})
	}
	return m.ask.dialog.Bindings(m.env())
}

// askType gives a key to the text that is written in the dialog.
func (m Model) askType(msg tea.KeyMsg) (next Model, cmd tea.Cmd, done bool) {
	if !m.asks() || !m.ask.awake || m.leader != "" || !m.ask.dialog.Writes() {
		return m, nil, false
	}
	action, _ := render.Match(m.dialogKeys(), msg.String())
	if action == "" && msg.String() == "ctrl+c" && m.ask.dialog.Written() {
		action = decide.Later // as it clears the box, so that it does not quit
	}
	if action != "" {
		m, cmd = m.answer(action)
		return m, cmd, true
	}
	m.ask.dialog, done = m.ask.dialog.Type(msg, m.env())
	return m, nil, done
}

// askCommand carries out a command that was typed where an answer is asked for:
// the model is not told "/quit". What is in the box stays.
func (m Model) askCommand(msg tea.KeyMsg) (next Model, cmd tea.Cmd, intent Intent, done bool) {
	if !m.asks() || !m.ask.awake || m.leader != "" {
		return m, nil, Intent{}, false
	}
	p := ParseSlash(m.ask.dialog.Answer())
	if action, _ := render.Match(m.dialogKeys(), msg.String()); action != decide.Choose || p.Name == "" {
		return m, nil, Intent{}, false
	}
	box := m.box
	m.ask.dialog = m.ask.dialog.Unanswered()
	next, cmd, intent = m.command(p)
	next.box = box
	return next, cmd, intent, true
}

// hold keeps a letter that would decide until it is known to stand alone. Those
// that only open something act at once.
func (m Model) hold(msg tea.KeyMsg) (next Model, cmd tea.Cmd, held bool) {
	if !m.asks() || !m.ask.awake || m.leader != "" || msg.Type != tea.KeyRunes || msg.Alt || msg.Paste {
		return m, nil, false
	}
	action, _ := render.Match(m.dialogKeys(), msg.String())
	if !decide.Final(action) {
		return m, nil, false
	}
	m.ask.held, m.ask.name = action, string(msg.Runes)
	m.ask.holds++
	due := heldMsg{m.to(), m.ask.holds}
	return m, tea.Tick(holdFor, func(time.Time) tea.Msg { return due }), true
}

// unheld gives a letter that was held to the box, since more was typed.
func (m Model) unheld() (Model, tea.Cmd) {
	if m.ask.held == "" {
		return m, nil
	}
	m.box = m.box.Insert(m.ask.name)
	m.draft.version++
	m.ask.held, m.ask.name = "", ""
	if !m.asks() {
		return m, nil
	}
	return m.doze()
}

// heldMsg is due when a letter has stood alone for long enough.
type heldMsg struct {
	to
	hold int
}

func (msg heldMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.hold != m.ask.holds || m.ask.held == "" {
		return m, nil
	}
	if !m.asks() || !m.ask.awake {
		return m.unheld()
	}
	action := m.ask.held
	m.ask.held, m.ask.name = "", ""
	return m.answer(action)
}

// answer carries out an action of the dialog.
func (m Model) answer(action string) (Model, tea.Cmd) {
	dialog, out := m.ask.dialog.Do(action, m.env())
	m.ask.dialog = dialog
	switch {
	case out.Later:
		m.ask.shown, m.ask.awake = false, false
	case out.Decision != nil:
		return m.decide(*out.Decision, out.Draft)
	}
	return m, nil
}

// decide stores a decision, with the unsent text if that is to go along, and
// follows the run if it goes on.
func (m Model) decide(x harness.Decision, withDraft bool) (Model, tea.Cmd) {
	text, queued := "", false
	if withDraft {
		m = m.shutQueue()
	}
	switch {
	case !withDraft:
	case !m.box.Blank():
		text = m.box.Text()
		m.box = m.box.SetText("")
		m.draft.version++
	case len(m.draft.queue) > 0:
		text, queued = m.draft.queue[0], true
		m.draft.queue = m.draft.queue[1:]
		m.draft.version++
	}
	if withDraft {
		x.Text = strings.TrimSpace(text)
	}
	x.By = by(m.deps)
	run := *m.open
	m, ctx := m.begin(text)
	m.turn.queued = queued
	m.turn.live.now = "saving the decision"
	m.open = nil
	d, lease, to := m.deps, m.own.lease, m.to()
	return m, tea.Batch(m.tick(), func() tea.Msg {
		out := startedMsg{to: to, resumed: &run, decision: &x}
		if out.handle, out.err = d.Engine.Decide(ctx, lease, run.ID, x); out.err == nil {
			out.events = out.handle.Events(ctx, run.Cursor)
		}
		return out
	})
}

// by says who decides here.
func by(d Deps) string {
	who := d.User
	if who == "" {
		who = "user"
	}
	if d.Holder.Terminal != "" {
		who += " at " + d.Holder.Terminal
	}
	return who + " (chat)"
}

// refused shows a decision that was not stored again, and says why.
func (m Model) refused(msg startedMsg) (Model, tea.Cmd) {
	switch {
	case errors.Is(msg.err, harness.ErrLost), errors.Is(msg.err, context.Canceled):
		return m.trouble(msg.err)
	case errors.Is(msg.err, harness.ErrStale):
		m.ask.note = "What waits has changed since it was shown. Nothing was decided; this is how it is now."
		return m, m.findOpen()
	case errors.Is(msg.err, harness.ErrNotFound):
		m.ask.note = "That was decided already, elsewhere. This waits now."
		return m, tea.Batch(m.findOpen(), m.reload())
	}
	words := m.deps.Words(msg.err)
	if msg.decision.Rule != "" {
		m.ask.dialog = m.ask.dialog.Mend(msg.decision.Scope, words)
	} else {
		m.ask.dialog = m.ask.dialog.Say(words)
	}
	m.ask.shown = true
	return m.doze()
}

// pendingWords says what the run waits for.
func (m Model) pendingWords(run *harness.Run) string {
	p := run.Pending[0]
	name := render.SafeLine(p.Call.Name)
	words := "an approval waits: " + name
	switch {
	case p.Uncertain:
		words = "a decision waits: nobody saw " + name + " end"
	case p.Question():
		words = "a question waits: " + render.SafeLine(firstLine(p.Proposal.Body))
	}
	if n := len(run.Pending); n > 1 {
		words += " (and " + strconv.Itoa(n-1) + " more" + ")"
	}
	return words
}
