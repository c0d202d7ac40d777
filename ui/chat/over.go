package chat

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/chat/reading"
	"cairn/ui/overlay"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// over is what is drawn over the conversation; nil is not open.
type over struct {
	context *overlay.Context
	pager   *overlay.Pager
	links   *reading.List
}

func (o over) open() bool { return o.context != nil || o.pager != nil || o.links != nil }

// covered reports whether the conversation is not to be seen.
func (m Model) covered() bool { return m.branch.tree.Open() || m.over.open() }

// resized tells what is open the size.
func (o over) resized(width, height int) over {
	size := tea.WindowSizeMsg{Width: width, Height: height}
	if o.context != nil {
		c, _ := o.context.Update(size)
		o.context = &c
	}
	if o.pager != nil {
		p, _ := o.pager.Update(size)
		o.pager = &p
	}
	if o.links != nil {
		l := o.links.Resize(width, height)
		o.links = &l
	}
	return o
}

// restyled takes a new theme.
func (o over) restyled(t *themes.Theme) over {
	if o.context != nil {
		c := o.context.SetTheme(t)
		o.context = &c
	}
	if o.pager != nil {
		p := o.pager.SetTheme(t)
		o.pager = &p
	}
	if o.links != nil {
		l := o.links.SetTheme(t)
		o.links = &l
	}
	return o
}

// toOver gives a key or the wheel to what is open.
func (m Model) toOver(msg tea.Msg) (Model, tea.Cmd, Intent) {
	if k, ok := msg.(tea.KeyMsg); ok && k.String() == "f1" {
		return m, nil, Intent{Kind: WantHelp}
	}
	if m.over.links != nil {
		l, want, address := m.over.links.Update(msg)
		m.over.links = &l
		return m.linkWants(want, address)
	}
	var want overlay.Intent
	switch {
	case m.over.pager != nil:
		var p overlay.Pager
		p, want = m.over.pager.Update(msg)
		m.over.pager = &p
	case m.over.context != nil:
		var c overlay.Context
		c, want = m.over.context.Update(msg)
		m.over.context = &c
	}
	switch want := want.(type) {
	case overlay.Closed:
		m.over = over{}
		m, cmd := m.Uncovered()
		return m, cmd, Intent{}
	case overlay.Copy:
		return m, nil, Intent{Kind: WantCopy, Text: want.Text}
	}
	return m, nil, Intent{}
}

// overView draws what is open.
func (m Model) overView() string {
	if m.over.links != nil {
		return m.over.links.View()
	}
	if m.over.pager != nil {
		return m.over.pager.View(m.width, m.height)
	}
	return m.over.context.View(m.width, m.height)
}

// overKeys are the keys of what is open.
func (m Model) overKeys() []render.Binding {
	if m.over.links != nil {
		return m.over.links.Bindings()
	}
	if m.over.pager != nil {
		return m.over.pager.Bindings()
	}
	return m.over.context.Bindings()
}

// resultOf is a call with its result.
type resultOf struct {
	call   harness.ToolCall
	result *harness.ToolResult
}

// resultAt is the n-th last call with a result up to an item; ok is false if so
// many are not loaded.
func (m *Model) resultAt(item, n int) (resultOf, bool) {
	for i := min(item, len(m.pages.items)-1); i >= 0; i-- {
		msg := m.pages.items[i].rec.Message
		if msg == nil || msg.Role != harness.RoleAssistant {
			continue
		}
		calls := msg.Calls()
		for j := len(calls) - 1; j >= 0; j-- {
			if res := m.results[calls[j].ID]; res != nil {
				if n--; n == 0 {
					return resultOf{calls[j], res}, true
				}
			}
		}
	}
	return resultOf{}, false
}

// openResult opens the n-th last result of a tool.
func (m Model) openResult(arg string) (Model, tea.Cmd) {
	n, ok := Which(arg)
	if !ok {
		m.notice = "/result 2 opens the result before the last one; without a number it is the last one"
		return m, nil
	}
	return m.showResult(len(m.pages.items)-1, n)
}

// showResult opens the n-th last result up to an item in the pager, the whole
// of a large one.
func (m Model) showResult(item, n int) (Model, tea.Cmd) {
	r, ok := m.resultAt(item, n)
	if !ok {
		m.notice = "there is no such result of a tool here; /result opens the last one, /result 2 the one before"
		return m, nil
	}
	title := r.call.Name
	if arg := m.desk().argument(&r.call); arg != "" {
		title += "  " + widget.Head(arg, 400)
	}
	open := resultMsg{to: m.to(), title: title, text: r.result.Text}
	if r.result.Artifact == "" {
		return open.apply(m)
	}
	open.note = "this is the beginning of it"
	if m.deps.Artifact == nil {
		return open.apply(m)
	}
	ctx, d, id := m.ctx, m.deps, m.session.ID
	return m, func() tea.Msg {
		data, err := d.Artifact(ctx, id, r.result.Artifact)
		if err != nil {
			open.note += ": " + d.Words(fmt.Errorf("read the whole result: %w", err))
			return open
		}
		open.text, open.note = string(data), ""
		return open
	}
}

// resultMsg brings a result of a tool.
type resultMsg struct {
	to
	title, text, note string
}

func (msg resultMsg) apply(m Model) (Model, tea.Cmd) {
	if m.branch.tree.Open() { // the person went elsewhere meanwhile
		return m, nil
	}
	p := overlay.NewPager(overlay.PagerConfig{Title: msg.title, Text: msg.text, Note: msg.note, Theme: m.deps.Theme, Keys: m.deps.Keys})
	m.over = over{pager: &p}.resized(m.width, m.height)
	return m, nil
}
