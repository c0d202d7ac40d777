package ui

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/render"
)

// askedMsg is what an MCP server asks the person.
type askedMsg struct{ question harness.ServerQuestion }

// hear waits for the next question of a server; of nobody it hears none. While one
// is on screen it is not called: the others wait their turn.
func hear(ctx context.Context, s harness.Servers) tea.Cmd {
	if s == nil {
		return nil
	}
	questions := s.Questions()
	return func() tea.Msg {
		for {
			select {
			case q, ok := <-questions:
				if !ok {
					return nil
				}
				select {
				case <-q.Done: // nobody waits for it any more
					continue
				default:
				}
				return askedMsg{q}
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// asked shows what a server asks, over everything else.
func (m Model) asked(q harness.ServerQuestion) (tea.Model, tea.Cmd) {
	title := q.Server + " asks you"
	f, cmd := overlay.NewForm(m.ctx, overlay.FormConfig{
		Title: title, From: q.Server, Text: q.Text, Fields: q.Fields, URL: q.URL, Unasked: true, Done: q.Done, Answer: q.Answer,
		Browse: m.term.browse, Theme: m.look.theme, Words: Words, Keys: m.deps.Keys,
	}).Open()
	m = m.push(overlay.Over(f))
	if m.term.away {
		cmd = tea.Batch(cmd, m.notify(title))
	}
	return m, cmd
}

// answered goes on once a question of a server is off the screen. What is said of it
// outlasts the end of the turn, which often comes at once.
func (m Model) answered(say string) (tea.Model, tea.Cmd) {
	if say != "" {
		m.chat = m.chat.Hint(say)
	}
	return m, hear(m.ctx, m.deps.Servers)
}

// beneath gives a key to what lies below layer i, which stays where it is.
func (m Model) beneath(i int, k tea.KeyMsg) (tea.Model, tea.Cmd) {
	over := m.layers[i:]
	m.layers = m.layers[:i:i]
	next, cmd := m.passed(k)
	if now, ok := next.(Model); ok {
		now.layers = append(now.layers[:len(now.layers):len(now.layers)], over...)
		next = now
	}
	return next, cmd
}

// openServers shows the MCP servers.
func (m Model) openServers() (tea.Model, tea.Cmd) {
	if m.deps.Servers == nil {
		m.chat = m.chat.Say("no MCP servers are configured: cairn mcp add NAME -- COMMAND adds one, or cairn mcp add NAME URL")
		return m, nil
	}
	s, cmd := overlay.NewServers(m.ctx, overlay.ServersConfig{
		Servers: m.deps.Servers, Theme: m.look.theme, Now: m.deps.Now, Words: Words, Keys: m.deps.Keys,
	}).Open()
	return m.push(overlay.Over(s)), cmd
}

// openArguments asks for what the prompt of a server needs and was not given.
func (m Model) openArguments(want chat.Intent) (tea.Model, tea.Cmd) {
	call := want.Call
	f, cmd := overlay.NewForm(m.ctx, overlay.FormConfig{
		Title: "/" + call.Name(), From: call.Server, Text: call.Prompt.Help, Fields: call.Fields(), Theme: m.look.theme, Words: Words, Keys: m.deps.Keys,
		Then: func(values map[string]any) overlay.Intent {
			if values == nil {
				return overlay.Closed{}
			}
			given := map[string]string{}
			for name, v := range values {
				given[name] = fmt.Sprint(v)
			}
			return overlay.Command{Text: call.With(given)}
		},
	}).Open()
	return m.push(overlay.Over(f)), cmd
}

// promptBindings are the prompts of servers as the help shows them.
func (m Model) promptBindings() []render.Binding {
	var list []render.Binding
	for _, s := range m.chat.PromptCommands() {
		list = append(list, render.Binding{Action: "prompt." + s.Name, Keys: []string{"/" + s.Name}, Help: s.Help, Group: "Prompts of MCP servers"})
	}
	return list
}

// promptItems are the prompts of servers as the palette has them. One that takes
// something is written into the box.
func (m Model) promptItems() []overlay.PaletteItem {
	var items []overlay.PaletteItem
	for _, s := range m.chat.PromptCommands() {
		it := commandItem(s)
		it.Words += " mcp prompt"
		items = append(items, it)
	}
	return items
}
