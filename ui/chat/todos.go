package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

// The statuses of an item of a list of what is to be done; any other is open.
const (
	todoNow  = "in_progress"
	todoDone = "completed"
)

// todo is one item of a list of what is to be done.
type todo struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

// todos are the items of a call that writes them.
func todos(c *harness.ToolCall) []todo {
	var in struct {
		Todos []todo `json:"todos"`
	}
	if c.Malformed != "" || json.Unmarshal(c.Input, &in) != nil {
		return nil
	}
	return in.Todos
}

// checklist shows a list of what is to be done below its call.
func (d desk) checklist(list []todo) []string {
	paints := map[string]themes.Paint{todoDone: d.l.theme.Paints.Muted, todoNow: d.l.theme.Paints.Strong}
	out := d.items(list)
	for i, l := range out {
		out[i] = d.fit("    " + paints[list[i].Status].On(l))
	}
	return out
}

// items are a list of what is to be done, one a line, safe to draw.
func (d desk) items(list []todo) []string {
	o := d.l.theme.Ornaments
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = o.Todo + " " + render.SafeLine(t.Text)
		switch t.Status {
		case todoDone:
			out[i] = o.Ticked + " " + render.SafeLine(t.Text)
		case todoNow:
			out[i] += " (now)"
		}
	}
	return out
}

// findTodos shows the last list of what is to be done, of what is loaded or
// else of the whole conversation.
func (m Model) findTodos() (Model, tea.Cmd) {
	for i := len(m.pages.items) - 1; i >= 0; i-- {
		if list := lastTodos(m.pages.items[i].rec); list != nil {
			return m.showTodos(list), nil
		}
	}
	if m.pages.whole || !m.stored {
		m.notice = "nothing was planned in this conversation yet"
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		out := todosMsg{to: to}
		records, err := d.Transcript.Tail(ctx, id, 0, 0)
		if err != nil {
			return troubleMsg{to, err}
		}
		for i := len(records) - 1; i >= 0 && out.list == nil; i-- {
			out.list = lastTodos(records[i])
		}
		return out
	}
}

// todosMsg brings the last list, nil if there is none.
type todosMsg struct {
	to
	list []todo
}

func (msg todosMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	if msg.list == nil {
		m.notice = "nothing was planned in this conversation yet"
		return m, nil
	}
	return m.showTodos(msg.list), nil
}

// lastTodos is the last list in a record, nil if it has none.
func lastTodos(rec harness.Record) []todo {
	if rec.Message == nil {
		return nil
	}
	var list []todo
	for _, c := range rec.Message.Calls() {
		if c.Name == toolTodos {
			if found := todos(&c); len(found) > 0 {
				list = found
			}
		}
	}
	return list
}

// showTodos shows a list behind the conversation.
func (m Model) showTodos(list []todo) Model {
	done := 0
	for _, t := range list {
		if t.Status == todoDone {
			done++
		}
	}
	text := fmt.Sprintf("to do, %d of %d done:", done, len(list))
	for _, l := range m.desk().items(list) {
		text += "\n  " + l
	}
	m.pages.add(item{quiet: text})
	m.pages.follow = true
	return m
}

// listTools shows the tools behind the conversation.
func (m Model) listTools() Model {
	var list []ToolLine
	if m.deps.Tools != nil {
		list = m.deps.Tools()
	}
	if len(list) == 0 {
		m.notice = "the model has no tools here"
		return m
	}
	wide := 0
	for _, t := range list {
		wide = max(wide, render.Width(render.SafeLine(t.Name)))
	}
	var b strings.Builder
	b.WriteString("tools; /permissions shows the rules that may change these:")
	for _, t := range list {
		name := render.SafeLine(t.Name)
		line := fmt.Sprintf("  %s%s  %-5s  %s", name, strings.Repeat(" ", wide-render.Width(name)), t.Permission, render.SafeLine(t.Help))
		b.WriteString("\n" + render.Truncate(line, max(m.width, 1), m.deps.Theme.Ornaments.Ellipsis))
	}
	m.pages.add(item{quiet: b.String()})
	m.pages.follow = true
	return m
}
