package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/render"
	"cairn/ui/screen"
)

// layers are the overlays that are open, the uppermost last.
type layers []overlay.Layer

// top is the uppermost one; there must be one.
func (l layers) top() overlay.Layer { return l[len(l)-1] }

// title is that of the uppermost one, empty if none is open.
func (l layers) title() string {
	if len(l) == 0 {
		return ""
	}
	return l.top().Title()
}

// tell gives all of them a message that none of them answers with an intent.
func (l layers) tell(msg tea.Msg) (layers, tea.Cmd) {
	l = slices.Clone(l)
	cmds := make([]tea.Cmd, len(l))
	for i := range l {
		l[i], cmds[i], _ = l[i].Update(msg)
	}
	return l, tea.Batch(cmds...)
}

// restyled has all of them in a theme.
func (l layers) restyled(t *themes.Theme) layers {
	l = slices.Clone(l)
	for i := range l {
		l[i] = l[i].SetTheme(t)
	}
	return l
}

// push opens an overlay over what is there.
func (m Model) push(l overlay.Layer) Model {
	l, _, _ = l.Update(tea.WindowSizeMsg{Width: m.size.width, Height: m.size.height})
	m.layers = append(m.layers[:len(m.layers):len(m.layers)], l)
	return m
}

// toTop gives a key or the wheel to the uppermost overlay and does what it wants.
func (m Model) toTop(msg tea.Msg) (tea.Model, tea.Cmd) { return m.toLayer(len(m.layers)-1, msg) }

// toLayers gives a message of an overlay to all that are open; which of them
// it is for they know themselves. What one asked for that was closed is dropped.
func (m Model) toLayers(msg tea.Msg) (tea.Model, tea.Cmd) {
	var next tea.Model = m
	var cmds []tea.Cmd
	for i := len(m.layers) - 1; i >= 0; i-- {
		now, ok := next.(Model)
		if !ok || i >= len(now.layers) {
			break
		}
		var cmd tea.Cmd
		next, cmd = now.toLayer(i, msg)
		cmds = append(cmds, cmd)
	}
	return next, tea.Batch(cmds...)
}

func (m Model) toLayer(i int, msg tea.Msg) (tea.Model, tea.Cmd) {
	l, cmd, want := m.layers[i].Update(msg)
	m.layers = slices.Clone(m.layers)
	m.layers[i] = l
	if want == nil {
		return m, cmd
	}
	if t, ok := want.(overlay.Through); ok {
		next, more := m.beneath(i, t.Key)
		return next, tea.Batch(cmd, more)
	}
	if closes(want) {
		m.layers = slices.Delete(m.layers, i, i+1)
	}
	next, more := m.grant(want)
	return next, tea.Batch(cmd, more)
}

// closes reports whether an overlay that wants this is to be taken away.
func closes(want overlay.Intent) bool {
	switch want := want.(type) {
	case overlay.Copy:
		return false
	case overlay.UseTheme:
		return want.Keep || want.Back
	}
	return true
}

// grant does what an overlay wants, once it is away.
func (m Model) grant(want overlay.Intent) (tea.Model, tea.Cmd) {
	switch want := want.(type) {
	case overlay.Open:
		return m.change(chat.Open{Session: harness.Session{ID: want.Session}, Record: want.Message})
	case overlay.Copy:
		return m, clipboard(want.Text)
	case overlay.Pass:
		return m.passed(want.Key)
	case overlay.Say:
		m.chat = m.chat.Say(want.Text)
	case overlay.Act:
		return m.act(want.Action)
	case overlay.Command:
		m.front = frontChat
		return m.chatDoes(m.chat.Command(want.Text, want.Fill))
	case overlay.Chosen:
		return m.chosen(want)
	case overlay.PickModel:
		return m.openModels(want.Name, "")
	case overlay.KeysTested:
		return m, screen.Listen(false)
	case overlay.UseTheme:
		return m.useTheme(want)
	case overlay.UseModel:
		return m.useModel(want)
	case overlay.Answered:
		return m.answered(want.Say)
	}
	return m, nil
}

// chatDoes goes on with what the chat in front became, and does what it wants.
func (m Model) chatDoes(c chat.Model, cmd tea.Cmd, want chat.Intent) (tea.Model, tea.Cmd) {
	m.chat = c
	if want.Kind == chat.WantNothing { // nearly always: the rest copies the whole model
		return m, cmd
	}
	next, more := m.want(want)
	return next, tea.Batch(cmd, more)
}

// openHelp shows the keys of what is in front.
func (m Model) openHelp() Model {
	c := overlay.HelpConfig{Notes: m.helpNotes(), Theme: m.look.theme}
	c.Title, c.Bindings = m.keys()
	c.Bindings = append(slices.Clip(c.Bindings), m.mouseBindings()...)
	return m.push(overlay.Over(overlay.NewHelp(c)))
}

// keys are those that work now, and what they belong to.
func (m Model) keys() (title string, bindings []render.Binding) {
	switch {
	case len(m.layers) > 0:
		return m.layers.title(), m.layers.top().Bindings()
	case m.front == frontPicker:
		return "sessions", m.lists.picker.Bindings()
	case m.front == frontBrowser:
		return "memory", m.lists.browser.Bindings()
	case m.front == frontRuns:
		return "runs", m.lists.runs.Bindings()
	}
	return "chat", slices.Concat(m.chat.Bindings(), commands(), m.promptBindings())
}

// openPermissions shows the rules in force for the chat in front.
func (m Model) openPermissions() (tea.Model, tea.Cmd) {
	d := m.deps
	p, cmd := overlay.NewPermissions(m.ctx, overlay.PermissionsConfig{
		Grants: d.Grants, Rules: d.Rules, Session: m.chat.Session().ID, CheckRule: d.CheckRule, Self: d.Holder, User: d.User,
		Theme: m.look.theme, Now: d.Now, Words: Words, Keys: d.Keys,
	}).Open()
	return m.push(overlay.Over(p)), cmd
}

// openUsage shows what models used, and the chat in front of it.
func (m Model) openUsage() (tea.Model, tea.Cmd) {
	d := m.deps
	u, cmd := overlay.NewUsage(m.ctx, overlay.UsageConfig{
		Ledger: d.Ledger, Sessions: d.Sessions, Session: m.chat.Session().ID, Theme: m.look.theme, Now: d.Now, Words: Words, Keys: d.Keys,
	}).Open()
	return m.push(overlay.Over(u)), cmd
}
