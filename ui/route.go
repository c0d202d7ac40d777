package ui

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/browser"
	"cairn/ui/chat"
	"cairn/ui/picker"
	"cairn/ui/render"
	"cairn/ui/runs"
	"cairn/ui/screen"
	"cairn/ui/widget"
)

// toChats gives a message of a chat to the chat that owns it. Messages of
// chats that are gone are dropped.
func (m Model) toChats(msg chat.Msg) (tea.Model, tea.Cmd) {
	if m.chat.Owns(msg) {
		return m.toChat(msg)
	}
	for i, c := range m.parked {
		if !c.Owns(msg) {
			continue
		}
		c, cmd, want := c.Update(msg)
		m.parked = slices.Clone(m.parked)
		m.parked[i] = c
		if want.Kind == chat.WantRest {
			m.parked = slices.Delete(m.parked, i, i+1)
		}
		switch {
		case m.ending.exit != nil:
			next, end := m.end()
			return next, tea.Batch(cmd, end)
		case want.Kind == chat.WantRest:
			return m, cmd
		}
		return m.dismiss(i, cmd)
	}
	return m, nil
}

// dismiss lets a parked chat go once it rests. What could not be saved is said
// in front, and tried once more.
func (m Model) dismiss(i int, cmd tea.Cmd) (tea.Model, tea.Cmd) {
	c := m.parked[i]
	if c.Busy() || c.Leaving() {
		return m, cmd
	}
	if err := c.Failed(); err != nil {
		m.chat = m.chat.Say("session " + string(c.Session().ID) + " is not saved: " + Words(err))
	}
	c, left, want := c.Leave()
	m.parked = slices.Clone(m.parked)
	m.parked[i] = c
	if want.Kind == chat.WantRest {
		m.ending.lost = cmp.Or(m.parked[i].Failed(), m.ending.lost)
		m.parked = slices.Delete(m.parked, i, i+1)
	}
	return m, tea.Batch(cmd, left)
}

// toChat gives a message to the chat in front and does what it wants.
func (m Model) toChat(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m.chatDoes(m.chat.Update(msg))
}

// want does what the chat in front wants.
func (m Model) want(want chat.Intent) (tea.Model, tea.Cmd) {
	switch want.Kind {
	case chat.WantNothing:
	case chat.WantMemory, chat.WantFacts, chat.WantNotes, chat.WantInbox:
		return m.openMemory(want)
	case chat.WantEdit:
		return m, m.edit(want.Text, "message.md", m.chat.Edited())
	case chat.WantSessions:
		var cmd tea.Cmd
		m.front = frontPicker
		m.lists.picker, cmd = m.lists.picker.Open(m.chat.Session().ID, m.chat.Busy())
		if want.Text != "" {
			var search tea.Cmd
			m.lists.picker, search = m.lists.picker.Seek(want.Text)
			cmd = tea.Batch(cmd, search)
		}
		return m, cmd
	case chat.WantRuns:
		var cmd tea.Cmd
		m.front = frontRuns
		m.lists.runs, cmd = m.lists.runs.Open()
		return m, cmd
	case chat.WantOpen:
		return m.change(want.Open)
	case chat.WantNew:
		return m.change(chat.Open{Session: m.deps.NewSession(), New: true})
	case chat.WantMouse:
		return m.toggleMouse()
	case chat.WantNotify:
		return m.toggleNotify()
	case chat.WantImages:
		return m.toggleImages()
	case chat.WantCopy:
		return m, clipboard(want.Text)
	case chat.WantSuspend:
		return m, tea.Suspend
	case chat.WantRedraw:
		return m, screen.Redraw
	case chat.WantQuit:
		return m.quit()
	case chat.WantRest:
		exit := m.exit()
		m.ending.exit = &exit
		return m.end()
	default:
		return m.overlaid(want)
	}
	return m, nil
}

// overlaid opens the overlay that the chat in front wants.
func (m Model) overlaid(want chat.Intent) (tea.Model, tea.Cmd) {
	switch want.Kind {
	case chat.WantPermissions:
		return m.openPermissions()
	case chat.WantPalette:
		return m.openPalette(want.Text)
	case chat.WantModels:
		return m.openModels("", "")
	case chat.WantKey:
		return m.openModels(want.Text, want.Say)
	case chat.WantUsage:
		return m.openUsage()
	case chat.WantTheme:
		if want.Text != "" {
			return m, m.findTheme(want.Text)
		}
		return m.openThemes()
	case chat.WantServers:
		return m.openServers()
	case chat.WantArguments:
		return m.openArguments(want)
	case chat.WantHelp:
		return m.openHelp(), nil
	case chat.WantKeyTest:
		return m.openKeyTest()
	case chat.WantImage:
		return m.openImage(want)
	default:
		return m, nil
	}
}

// openMemory shows what is remembered: all of it, the facts, the notes,
// the inbox, or some.
func (m Model) openMemory(want chat.Intent) (tea.Model, tea.Cmd) {
	if want.IDs != nil && m.covered() { // the person went elsewhere meanwhile
		m.chat = m.chat.Say(want.Say)
		return m, nil
	}
	var cmd tea.Cmd
	b, id := m.lists.browser, m.chat.Session().ID
	switch {
	case want.Kind == chat.WantFacts:
		b, cmd = b.OpenFacts(id)
	case want.Kind == chat.WantNotes:
		b, cmd = b.OpenNotes(id)
	case want.Kind == chat.WantInbox:
		b, cmd = b.OpenInbox(id)
	case want.IDs != nil:
		b, cmd = b.Only(id, want.IDs, want.Text, want.Say)
	default:
		b, cmd = b.Open(id)
	}
	m.front, m.lists.browser = frontBrowser, b
	return m, cmd
}

// commands are the slash commands as the help shows them.
func commands() []render.Binding {
	var list []render.Binding
	for _, s := range chat.Slashes() {
		keys := []string{"/" + s.Name}
		for _, o := range s.Other {
			keys = append(keys, "/"+o)
		}
		list = append(list, render.Binding{Action: "slash." + s.Name, Keys: keys, Help: s.Help, Group: "Commands"})
	}
	return list
}

// quit leaves all chats; the program ends when they are saved.
func (m Model) quit() (tea.Model, tea.Cmd) {
	m, behind := m.leaveParked()
	c, cmd, want := m.chat.Leave()
	m.chat = c
	next, end := m.want(want)
	return next, tea.Batch(behind, cmd, end)
}

// end ends the program once the chats behind the one in front are left, too.
func (m Model) end() (tea.Model, tea.Cmd) {
	m, cmd := m.leaveParked()
	if len(m.parked) > 0 {
		return m, cmd
	}
	return m, tea.Quit
}

// leaveParked leaves the chats behind the one in front. One that could not be
// saved is left without at the second time, which the exit tells.
func (m Model) leaveParked() (Model, tea.Cmd) {
	var left []chat.Model
	var cmds []tea.Cmd
	for _, c := range m.parked {
		if c.Leaving() {
			left = append(left, c)
			continue
		}
		failed := c.Failed()
		c, cmd, want := c.Leave()
		cmds = append(cmds, cmd)
		if want.Kind != chat.WantRest {
			left = append(left, c)
			continue
		}
		if failed != nil {
			m.ending.lost = failed
		}
	}
	m.parked = left
	return m, tea.Batch(cmds...)
}

// change opens another session. The chat in front is let go, after its run if
// one is under way.
func (m Model) change(o chat.Open) (tea.Model, tea.Cmd) {
	m.front = frontChat
	if o.Session.ID == m.chat.Session().ID {
		if o.Record > 0 {
			var cmd tea.Cmd
			m.chat, cmd = m.chat.Goto(o.Record)
			return m, cmd
		}
		return m, nil
	}
	m.parked = append(m.parked[:len(m.parked):len(m.parked)], m.chat)
	for i, c := range m.parked {
		if c.Session().ID == o.Session.ID && !c.Leaving() {
			m.chat = c
			m.parked = slices.Delete(slices.Clone(m.parked), i, i+1)
			next, cmd := m.dismiss(len(m.parked)-1, nil)
			return next, cmd
		}
	}
	old := len(m.parked) - 1
	m = m.open(o)
	m.chat, _ = m.chat.Resize(m.size.width, m.size.height)
	next, cmd := m.dismiss(old, m.chat.Init())
	return next, cmd
}

// toPicker gives a message to the list of sessions and does what it wants.
func (m Model) toPicker(msg tea.Msg) (tea.Model, tea.Cmd) {
	p, cmd, want := m.lists.picker.Update(msg)
	m.lists.picker = p
	var next tea.Model = m
	var more tea.Cmd
	switch want := want.(type) {
	case picker.Open:
		next, more = m.change(chat.Open{Session: harness.Session{ID: want.Session}, Record: want.Message})
	case picker.Copy:
		more = clipboard(want.Text)
	case picker.NewChat:
		next, more = m.change(chat.Open{Session: m.deps.NewSession(), New: true})
	case picker.Back:
		m.front = frontChat
		next = m
	case picker.Help:
		next = m.openHelp()
	}
	return next, tea.Batch(cmd, more)
}

// toBrowser gives a message to the memory browser and does what it wants.
func (m Model) toBrowser(msg tea.Msg) (tea.Model, tea.Cmd) {
	b, cmd, want := m.lists.browser.Update(msg)
	m.lists.browser = b
	var next tea.Model = m
	var more tea.Cmd
	switch want := want.(type) {
	case browser.Open:
		next, more = m.toSource(want)
	case browser.Edit:
		more = m.edit(want.Text, want.Name, want.Done)
	case browser.Back:
		m.front = frontChat
		next = m
	}
	return next, tea.Batch(cmd, more)
}

// toSource shows the message that something remembered comes from.
func (m Model) toSource(want browser.Open) (tea.Model, tea.Cmd) {
	next, cmd := m.change(chat.Open{Session: harness.Session{ID: want.Session}, Record: want.Message})
	if now, ok := next.(Model); ok && !now.chat.Noted() {
		now.chat = now.chat.Hint(widget.KeyFor(m.deps.Keys, "chat.memory", "ctrl+x f") + " goes back to the memory")
		next = now
	}
	return next, cmd
}

// toRuns gives a message to the screen of runs and does what it wants.
func (m Model) toRuns(msg tea.Msg) (tea.Model, tea.Cmd) {
	r, cmd, want := m.lists.runs.Update(msg)
	m.lists.runs = r
	var next tea.Model = m
	var more tea.Cmd
	switch want := want.(type) {
	case runs.Open:
		next, more = m.change(chat.Open{Session: harness.Session{ID: want.Session}})
	case runs.Say:
		m.chat = m.chat.Say(want.Text)
		next = m
	case runs.Help:
		next = m.openHelp()
	case runs.Back:
		m.front = frontChat
		next = m
	}
	return next, tea.Batch(cmd, more)
}
