package chat

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat/compose"
	"cairn/ui/chat/decide"
	"cairn/ui/render"
)

const (
	// stopWithin is how soon a second esc must follow to stop a run, and
	// quitWithin a second ctrl+c to quit.
	stopWithin = 2 * time.Second
	quitWithin = 2 * time.Second
	// wheelLines is how far one notch of the wheel scrolls.
	wheelLines = 3
	// leaderKey begins the sequences of two keys.
	leaderKey = "ctrl+x"
)

// key handles a key: of the search, of a sequence, of the table, or text.
func (m Model) key(msg tea.KeyMsg) (Model, tea.Cmd, Intent) {
	if msg.Paste {
		m, cmd := m.Paste(string(msg.Runes))
		return m, cmd, Intent{}
	}
	switch {
	case m.over.open():
		return m.toOver(msg)
	case m.branch.tree.Open():
		return m.treeKey(msg)
	case m.sel.on:
		return m.readKey(msg)
	case m.queue.mode.Open():
		return m.queueKey(msg)
	}
	if m.recall.Open() {
		if next, cmd, done := m.recallKey(msg); done {
			return next, cmd, Intent{}
		}
		m = m.takePrompt()
	}
	m, _ = m.unheld() // Update puts the dialog to sleep
	if next, cmd, intent, done := m.askCommand(msg); done {
		return next, cmd, intent
	}
	if next, cmd, done := m.askType(msg); done {
		return next, cmd, Intent{}
	}
	if next, cmd, held := m.hold(msg); held {
		return next, cmd, Intent{}
	}
	m, name, cmd, done := m.sequenced(msg)
	if done {
		return m, cmd, Intent{}
	}
	action, off := render.Match(m.Bindings(), name)
	switch {
	case action != "":
		return m.do(action, msg.String())
	case (msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace) && !msg.Alt && !strings.HasPrefix(name, leaderKey+" "):
		m.box = m.box.Insert(string(msg.Runes))
		m.draft.version++
		m.past.at = 0
	case off != "":
		m.notice = off
	case strings.HasPrefix(name, leaderKey+" "):
		m = m.stray(name)
	}
	return m, nil, Intent{}
}

// do carries out an action of the key table.
func (m Model) do(action, key string) (Model, tea.Cmd, Intent) {
	if next, cmd, want, ok := m.fileKey(action, key); ok {
		return next, cmd, want
	}
	if next, cmd, want, ok := m.readDo(action, key); ok {
		return next, cmd, want
	}
	if next, cmd, want, ok := m.writeDo(action); ok {
		return next, cmd, want
	}
	if strings.HasPrefix(action, "edit.") {
		m, cmd := m.edit(action)
		return m, cmd, Intent{}
	}
	if kind := intentOf(action); kind != WantNothing {
		return m, nil, Intent{Kind: kind}
	}
	var cmd tea.Cmd
	if decide.Owns(action) {
		m, cmd = m.answer(action)
		return m, cmd, Intent{}
	}
	switch action {
	case actBreak:
		return m.interrupt()
	case actEOF, actQuit:
		return m.quit()
	case actStop:
		m, cmd = m.escape()
	case actTake:
		m, cmd = m.takeOver()
	case actContinue, actRetry, actDrop, actKey:
		m, cmd = m.offer(action, key)
		want := m.wanted
		m.wanted = Intent{}
		return m, cmd, want
	case actHere:
		m, cmd = m.driveHere()
	case actUndo:
		m, cmd = m.undoWrite()
	case actUsed:
		m, want := m.openUsed()
		return m, nil, want
	case actDecide:
		m, cmd = m.reopen()
	default:
		m, cmd = m.see(action, key)
	}
	return m, cmd, Intent{}
}

// intentOf is what the root is to do for an action, if it is the root's.
func intentOf(action string) IntentKind {
	switch action {
	case actSessions:
		return WantSessions
	case actNew:
		return WantNew
	case actMemory:
		return WantMemory
	case actHelp, actQuestion:
		return WantHelp
	case actSuspend:
		return WantSuspend
	case actRuns:
		return WantRuns
	case actRules:
		return WantPermissions
	case actServers:
		return WantServers
	case actMouse:
		return WantMouse
	case actNotify:
		return WantNotify
	case actImages:
		return WantImages
	case actPalette:
		return WantPalette
	case actModel:
		return WantModels
	case actTheme:
		return WantTheme
	}
	return WantNothing
}

// edit carries out an action of the box. Up and down go to other prompts where
// the box has no more lines.
func (m Model) edit(action string) (Model, tea.Cmd) {
	next, ok := m.box.Do(action, m.boxWidth())
	switch {
	case action == "edit.up" && !ok:
		return m.history(1)
	case action == "edit.down" && !ok:
		return m.history(-1)
	}
	m.box = next
	if ok {
		m.draft.version++
	}
	return m, nil
}

// see carries out an action about what one sees, or what the model does.
func (m Model) see(action, key string) (Model, tea.Cmd) {
	switch action {
	case actDetails:
		return m.relaid(func(m Model) Model {
			m = m.refolded()
			m.details = !m.details
			return m
		}), nil
	case actThinking:
		return m.relaid(func(m Model) Model {
			m = m.refolded()
			m.thinking = !m.thinking
			return m
		}), nil
	case actCondense, actLeave:
		return m.confirm(action, key)
	case actNote:
		return m.toggleNote()
	case actPin:
		return m.togglePin()
	case actResult:
		return m.showResult(m.lowest(), 1)
	}
	return m.move(action)
}

// move scrolls the conversation or goes among its branches.
func (m Model) move(action string) (Model, tea.Cmd) {
	if name, ok := branchNames[action]; ok {
		next, cmd, _ := m.branchCommand(Parsed{Name: name})
		return next, cmd
	}
	h := m.rows()
	switch action {
	case actPageUp:
		m.pages.scroll(m.desk(), -max(h-1, 1), h)
	case actPageDown:
		m.pages.scroll(m.desk(), max(h-1, 1), h)
	case actHalfUp:
		m.pages.scroll(m.desk(), -max(h/2, 1), h)
	case actHalfDown:
		m.pages.scroll(m.desk(), max(h/2, 1), h)
	case actFollow:
		m.pages.follow, m.pages.wantTop = true, false
	case actTop:
		if !m.pages.whole {
			m.pages.wantTop = true
			return m.older(0)
		}
		m.pages.home(m.desk(), h)
	}
	return m, nil
}

// wheel scrolls by a notch of the wheel.
func (m Model) wheel(msg tea.MouseMsg) Model {
	if m.branch.tree.Open() {
		by := map[tea.MouseButton]int{tea.MouseButtonWheelUp: -wheelLines, tea.MouseButtonWheelDown: wheelLines}[msg.Button]
		m.branch.tree = m.branch.tree.Wheel(by, m.height)
		return m
	}
	if m.askWhole() || m.overDialog(msg.Y) {
		lines := map[tea.MouseButton]int{tea.MouseButtonWheelUp: -wheelLines, tea.MouseButtonWheelDown: wheelLines}[msg.Button]
		m.ask.dialog = m.ask.dialog.Scroll(lines, m.env())
		return m
	}
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		m.pages.scroll(m.desk(), -wheelLines, m.rows())
	case tea.MouseButtonWheelDown:
		m.pages.scroll(m.desk(), wheelLines, m.rows())
	default:
	}
	return m
}

// overDialog reports whether a row of the screen is one of a dialog whose text
// scrolls.
func (m Model) overDialog(y int) bool {
	if !m.asks() || !m.ask.dialog.Scrolls(m.env()) {
		return false
	}
	below := m.height - m.lowRows()
	return y < below && y >= below-len(m.ask.dialog.View(m.env()).Lines)
}

// enter sends what is in the box, or breaks the line after a backslash.
func (m Model) enter() (Model, tea.Cmd, Intent) {
	if next, ok := m.box.Continued(); ok {
		m.box = next
		m.draft.version++
		return m, nil, Intent{}
	}
	if next, ok := m.requeue(true); ok {
		return next, nil, Intent{}
	}
	if m.box.Blank() {
		m.notice = ""
		if m.waits() && m.own.state == accessOwner {
			m, cmd := m.reopen()
			return m, cmd, Intent{}
		}
		if len(m.draft.queue) > 0 && !m.turn.active() && !m.branch.moving && !m.condensing.busy() && m.own.state == accessOwner {
			m, cmd := m.sendQueued()
			return m, cmd, Intent{}
		}
		return m, nil, Intent{}
	}
	if next, cmd, ok := m.behindReturned(); ok {
		return next, cmd, Intent{}
	}
	p := m.deps.Parse(m.box.Text())
	switch {
	case p.Typed != "" && p.Name == "":
		m.notice = p.Unknown()
		return m, nil, Intent{}
	case p.Name != "":
		return m.command(p)
	}
	return m.deliver(p)
}

// deliver sends the message in the box, which p is.
func (m Model) deliver(p Parsed) (Model, tea.Cmd, Intent) {
	if next, want, done := m.call(p); done {
		return next, nil, want
	}
	switch {
	case m.asks(): // what was typed when it came is no message yet
		return m, nil, Intent{}
	case m.own.gone:
		m.notice = "not sent: the session is deleted; your text stays here"
		return m, nil, Intent{}
	case m.own.state == accessReader || m.own.state == accessHanding:
		m.notice = offReader + "; your text stays here"
		return m, nil, Intent{}
	}
	if m.branch.edit.on() {
		m, cmd := m.resend(p.Text)
		return m, cmd, Intent{}
	}
	m.box = m.box.SetText("")
	m.draft.version++
	m, cmd := m.submitText(p.Text)
	return m, cmd, Intent{}
}

// submitText sends a message now, or after what is under way.
func (m Model) submitText(text string) (Model, tea.Cmd) {
	switch {
	case m.own.state == accessOwner && !m.turn.active() && !m.waits() && !m.branch.moving && !m.condensing.busy():
		return m.send(text)
	case m.own.state == accessOpening, m.branch.moving, m.condensing.busy():
		m.draft.eager = true
	}
	return m.enqueue(text), nil
}

// escape closes a notice, or stops the run when it comes twice.
func (m Model) escape() (Model, tea.Cmd) {
	if next, ok := m.requeue(false); ok {
		return next, nil
	}
	now := m.deps.Now()
	if m.turn.active() {
		if !m.escAt.IsZero() && now.Sub(m.escAt) <= stopWithin {
			m.escAt = time.Time{}
			return m.stopRun()
		}
		m.escAt = now
		return m, nil
	}
	if m.condensing.busy() {
		return m.stopCondensing()
	}
	m.condensing.asks = nil
	m.notice, m.own.silent = "", false
	if m.branch.edit.on() {
		m = m.unamend()
	}
	return m, nil
}

// interrupt is ctrl+c: it stops the run at once, else clears the box, else
// quits when it comes twice.
func (m Model) interrupt() (Model, tea.Cmd, Intent) {
	switch now := m.deps.Now(); {
	case m.turn.active() && m.turn.phase != phaseStopping:
		m, cmd := m.stopRun()
		return m, cmd, Intent{}
	case m.condensing.busy():
		m, cmd := m.stopCondensing()
		return m, cmd, Intent{}
	case !m.box.Empty():
		text := m.box.Text()
		m.past = m.past.added(text)
		m.box = m.box.SetText("")
		m.draft.version++
		m.notice = "cleared; undo brings it back (" + m.keyOf("edit.undo") + ")"
		return m, m.remember(text), Intent{}
	case !m.breakAt.IsZero() && now.Sub(m.breakAt) <= quitWithin:
		return m.quit()
	default:
		m.breakAt = now
		m.notice = "ctrl+c again quits; everything is kept"
		return m, nil, Intent{}
	}
}

// quit asks the root to end the program.
func (m Model) quit() (Model, tea.Cmd, Intent) {
	return m, nil, Intent{Kind: WantQuit}
}

// complete finishes the name of a command as far as it is clear.
func (m Model) complete() Model {
	if next, ok := m.requote(); ok {
		return next
	}
	found := m.completions(m.box.Text())
	if len(found) == 0 {
		return m
	}
	name := "/" + found[0].Name
	if found[0].Arg != "" {
		name += " "
	}
	m.box = m.box.SetText(name)
	m.draft.version++
	return m
}

// Edited returns what makes a message of the text that the person's editor
// left, or of why it could not be had.
func (m Model) Edited() func(text string, err error) tea.Msg {
	to := m.to()
	return func(text string, err error) tea.Msg { return editorMsg{to, text, err} }
}

// editorMsg brings the text back from the editor.
type editorMsg struct {
	to
	text string
	err  error
}

func (msg editorMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m.box = m.box.SetText(strings.TrimSuffix(compose.LineEnds(msg.text), "\n"))
	m.draft.version++
	return m, nil
}
