package chat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// command carries out a slash command. Its text leaves the box.
func (m Model) command(p Parsed) (Model, tea.Cmd, Intent) {
	m.box = m.box.SetText("")
	m.draft.version++
	m.notice = ""
	if m.branch.edit.on() {
		m = m.unamend()
	}
	switch {
	case p.Name == "model" && p.Arg == "":
		return m, nil, Intent{Kind: WantModels}
	case p.Name == "settings":
		return m, nil, Intent{Kind: WantPalette, Text: p.Name}
	case p.Name == "search":
		return m, nil, Intent{Kind: WantSessions, Text: p.Arg}
	case p.Name == "editor":
		return m, nil, Intent{Kind: WantEdit}
	}
	if kind, ok := elsewhere(p.Name); ok {
		return m, nil, Intent{Kind: kind}
	}
	if next, cmd, ok := m.branchCommand(p); ok {
		return next, cmd, Intent{}
	}
	switch p.Name {
	case "memory":
		return m.memory(p.Arg)
	case "theme":
		return m, nil, Intent{Kind: WantTheme, Text: p.Arg}
	case "copy":
		return m.copied(p.Arg)
	case "keys":
		return m.keysCommand(p.Arg)
	case "image":
		m, want := m.viewImage(p.Arg)
		return m, nil, want
	}
	m, cmd := m.carryOut(p)
	return m, cmd, Intent{}
}

// carryOut carries out a command that wants nothing of the root.
func (m Model) carryOut(p Parsed) (Model, tea.Cmd) {
	switch p.Name {
	case "thinking":
		return m.see(actThinking, "")
	case "time":
		return m.toggleTimes(), nil
	case "find":
		return m.find(p.Arg)
	case "attach":
		return m.attach(p.Arg)
	case "rename":
		return m.rename(p.Arg)
	case "remember":
		return m.rememberThis(p.Arg)
	case "forget":
		return m.forgetFact(p.Arg)
	case "context":
		return m.showContext()
	case "compact":
		return m.compact(Compaction{Focus: p.Arg})
	case "prune":
		return m.compact(Compaction{Prune: true})
	case "pin", "unpin":
		return m.pin(p.Arg, p.Name == "unpin")
	case "pins":
		return m.listPins()
	case "note":
		return m.toggleNote()
	case "result":
		return m.openResult(p.Arg)
	case "model":
		return m.model(p.Arg)
	case "approve":
		return m.reopen()
	case "todos":
		return m.findTodos()
	case "queue":
		return m.openQueue(), nil
	case "steer":
		return m.steerCommand(p.Arg)
	case "tools":
		return m.listTools(), nil
	case "takeover":
		return m.takeOver()
	case "doctor":
		return m.doctor()
	}
	return m, nil
}

// elsewhere is what commands want that this screen does not do itself.
func elsewhere(name string) (kind IntentKind, ok bool) {
	kind, ok = map[string]IntentKind{
		"new": WantNew, "sessions": WantSessions, "inbox": WantInbox, "facts": WantFacts, "notes": WantNotes, "runs": WantRuns,
		"permissions": WantPermissions, "usage": WantUsage, "mcp": WantServers, "help": WantHelp, "quit": WantQuit, "redraw": WantRedraw,
	}[name]
	return kind, ok
}

// copied copies the answer selected, else the last one, or one of its code blocks,
// from its source.
func (m Model) copied(arg string) (Model, tea.Cmd, Intent) {
	text, what, of, codes := m.lastAnswer(), "the answer", "the last answer", m.lastCodes
	if m.sel.on {
		text, of, codes = m.chosenText(), "the message", m.chosenCodes
	}
	var want Intent
	switch n, err := strconv.Atoi(arg); {
	case text == "":
		m.notice = "there is no answer to copy yet"
	case arg == "" && m.sel.on:
		m, want = m.copyChosen()
	case arg == "":
		m, want = m.copyText(what, text)
	case err != nil:
		m.notice = "/copy 2 copies code block 2 of " + of + "; without a number all of it"
	default:
		m, want = m.copyCode(codes(), n, of)
	}
	return m, nil, want
}

// lastAnswer is the source text of the last answer.
func (m Model) lastAnswer() string {
	if m.turn.live != nil && m.turn.live.n > 0 {
		return m.turn.live.text.Text()
	}
	if msg := m.lastMessage(); msg != nil {
		return msg.Text()
	}
	return ""
}

// rename gives the session a title.
func (m Model) rename(title string) (Model, tea.Cmd) {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" {
		return m.proposeTitle()
	}
	return m.editSession(harness.SessionEdit{Title: &title, TitleBy: harness.TitleByUser}, "renamed to "+render.SafeLine(title))
}

// editSession changes the session's description, of one that does not exist
// yet what its first message will store.
func (m Model) editSession(e harness.SessionEdit, done string) (Model, tea.Cmd) {
	if !m.stored {
		if e.Title != nil {
			m.session.Title, m.session.TitleBy = *e.Title, e.TitleBy
		}
		if e.Model != nil {
			m.session.Model = *e.Model
		}
		m.own.lease.Meta = m.session
		m.notice = done
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		s, err := d.Sessions.Edit(ctx, id, e)
		return editedMsg{to, s, done, err}
	}
}

// editedMsg says how changing the session's description went.
type editedMsg struct {
	to
	session harness.Session
	done    string
	err     error
}

func (msg editedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	m = m.describes(msg.session)
	m.notice = msg.done
	return m, nil
}

// model changes the session's model.
func (m Model) model(name string) (Model, tea.Cmd) {
	ctx, d, to, session, old := m.ctx, m.deps, m.to(), m.session, m.setup.Run.Model
	session.Model = name
	return m, func() tea.Msg {
		setup, err := d.Config(ctx, session)
		return modelMsg{to, name, old, setup, err}
	}
}

// modelMsg says whether the model can be used.
type modelMsg struct {
	to
	name, old string
	setup     Setup
	err       error
}

func (msg modelMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		if m.box.Empty() { // to be mended, not typed again
			m.box = m.box.SetText("/model " + msg.name)
			m.draft.version++
		}
		return m.trouble(msg.err)
	}
	m.setup = msg.setup
	m, cmd := m.editSession(harness.SessionEdit{Model: &msg.name}, "the model is now "+msg.setup.Run.Model)
	if m.stored && m.own.state == accessOwner && msg.old != msg.setup.Run.Model && !m.turn.active() {
		cmd = tea.Batch(cmd, m.noteChange(harness.ConfigChange{Key: "model", Old: msg.old, New: msg.setup.Run.Model}))
	}
	return m, cmd
}

// notedMsg brings a record that was added to the conversation.
type notedMsg struct {
	to
	records []harness.Record
	err     error
}

// noteChange adds a change of the configuration to the conversation.
func (m Model) noteChange(c harness.ConfigChange) tea.Cmd {
	ctx, d, to, lease, at := m.ctx, m.deps, m.to(), m.own.lease, m.deps.Now()
	return func() tea.Msg {
		data, err := json.Marshal(c)
		if err != nil {
			return troubleMsg{to, fmt.Errorf("note the new %s: %w", c.Key, err)}
		}
		records, err := d.Transcript.Append(ctx, lease, harness.Record{Kind: harness.RecordConfig, Data: data, At: at})
		return notedMsg{to, records, err}
	}
}

func (msg notedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		m.failed = msg.err
		return m.trouble(msg.err)
	}
	for _, r := range msg.records {
		m.pages.put(r)
	}
	return m, nil
}
