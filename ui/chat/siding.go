package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/panel"
	"cairn/ui/render"
)

// siding is the panel beside the conversation. It is off until a person asks for
// it: beside it a terminal cannot scroll the lines of an answer that streams, so
// that all of them are sent anew.
type siding struct {
	on bool
	// texts are those of the facts and notes that answers were given, by id; an
	// empty one is looked for or gone.
	texts map[string]string
	found *sideFound
}

// sideFound is what was looked for in the conversation, for as long as that is
// what it was.
type sideFound struct {
	first *item
	n     int
	todos []todo
	used  []string
	pins  []string
}

// aside reports whether the panel is shown.
func (m *Model) aside() bool {
	return m.side.on && m.width >= panel.LeastWidth && m.height >= panel.LeastHeight
}

// pageWidth is how wide the conversation is.
func (m *Model) pageWidth() int {
	if m.aside() {
		return m.width - panel.Width - 2 // for the bar, and what parts it from the text
	}
	return m.width
}

// toggleSide shows the panel or takes it away.
func (m Model) toggleSide() (Model, tea.Cmd) {
	m = m.rewidth(func(m Model) Model {
		m.side.on = !m.side.on
		return m
	})
	if m.side.on && !m.aside() {
		m.notice = fmt.Sprintf("the side panel is shown from %d columns and %d rows on", panel.LeastWidth, panel.LeastHeight)
	}
	return m.sideFacts()
}

// besides puts the panel beside the lines of the conversation.
func (m Model) besides(body []string, height int) []string {
	if !m.aside() {
		return body
	}
	out, width := make([]string, height), m.pageWidth()
	for i, p := range panel.View(m.sections(), m.deps.Theme, height) {
		line := ""
		if i < len(body) {
			line = body[i]
		}
		out[i] = render.Pad(line, width+1) + p
	}
	return out
}

// sections are what the panel shows.
func (m *Model) sections() []panel.Section {
	o := m.deps.Theme.Ornaments
	dot := " " + o.Dot + " "
	about := panel.Section{Lines: []panel.Line{{Text: m.title()}}, Most: 4}
	if tags := m.session.Tags; len(tags) > 0 || m.session.Pinned {
		line := ""
		for _, t := range tags {
			line += "#" + t + " "
		}
		if m.session.Pinned {
			line += "pinned"
		}
		about.Lines = append(about.Lines, panel.Line{Text: strings.TrimSpace(line), Muted: true})
	}
	model := panel.Section{}
	if m.setup.Label != "" {
		model.Lines = append(model.Lines, panel.Line{Text: m.setup.Label})
	}
	if w := m.setup.Window; w > 0 {
		percent := m.context * 100 / w
		model.Lines = append(model.Lines, panel.Line{Text: fmt.Sprintf("context %s of %s %d%%", short(m.context), short(w), percent)}, panel.Line{Text: panel.Amount(o, percent)})
	}
	if cost := costWords(m.session.Usage); cost != "" {
		model.Lines = append(model.Lines, panel.Line{Text: cost})
	}
	run := panel.Section{Title: "RUN", Lines: m.runLines(dot)}
	f := m.sideFound()
	memory := panel.Section{Title: fmt.Sprintf("MEMORY USED (%d)", len(f.used)), Most: 10}
	for _, id := range f.used {
		memory.Lines = append(memory.Lines, panel.Line{Text: strings.TrimSpace(id + " " + m.side.texts[id])})
	}
	done := 0
	todos := panel.Section{Most: 14}
	for i, l := range m.desk().items(f.todos) {
		if f.todos[i].Status == todoDone {
			done++
		}
		todos.Lines = append(todos.Lines, panel.Line{Text: l, Muted: f.todos[i].Status == todoDone})
	}
	todos.Title = fmt.Sprintf("TO DO %d/%d", done, len(f.todos))
	pins := panel.Section{Title: fmt.Sprintf("PINNED (%d)", len(f.pins)), Most: 6}
	for _, p := range f.pins {
		pins.Lines = append(pins.Lines, panel.Line{Text: p})
	}
	return []panel.Section{about, model, run, todos, memory, pins}
}

// runLines say what runs, and what waits.
func (m *Model) runLines(dot string) []panel.Line {
	var lines []panel.Line
	switch {
	case m.turn.active():
		words := "at work"
		if m.turn.step > 1 {
			words = fmt.Sprintf("step %d", m.turn.step)
		}
		lines = append(lines, panel.Line{Text: words})
	case m.waits():
		lines = append(lines, panel.Line{Text: "waits for a decision"})
	case m.open != nil:
		lines = append(lines, panel.Line{Text: "unfinished"})
	}
	var waiting []string
	if n := len(m.draft.queue); n > 0 {
		waiting = append(waiting, fmt.Sprintf("%d queued", n))
	}
	if m.others > 0 {
		waiting = append(waiting, fmt.Sprintf("%d unfinished elsewhere", m.others))
	}
	if len(waiting) > 0 {
		lines = append(lines, panel.Line{Text: strings.Join(waiting, dot)})
	}
	return lines
}

// sideFound looks through the conversation if it is another than the last time.
func (m *Model) sideFound() *sideFound {
	var first *item
	n := len(m.pages.items)
	if n > 0 {
		first = &m.pages.items[0]
	}
	if f := m.side.found; f != nil && f.first == first && f.n == n {
		return f
	}
	f := sideFound{first: first, n: n}
	for i := n - 1; i >= 0; i-- {
		it := m.pages.items[i]
		if msg := it.rec.Message; f.used == nil && msg != nil && msg.Role == harness.RoleAssistant && len(msg.Used) > 0 {
			f.used = slices.Clone(msg.Used)
		}
		if f.todos == nil {
			f.todos = lastTodos(it.rec)
		}
		if it.marks&markPinned != 0 && it.rec.Message != nil {
			words := headWords(it.rec.Message.Text())
			f.pins = append([]string{fmt.Sprintf("%d %s", it.rec.Seq, words)}, f.pins...)
		}
	}
	*m.side.found = f
	return m.side.found
}

// headWords are the beginning of a text, for a line of the panel.
func headWords(text string) string { return clip(firstLine(text), 200) }

// short is a number of tokens in few characters.
func short(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// sideFacts reads the facts and notes that the panel is to name and does not know.
func (m Model) sideFacts() (Model, tea.Cmd) {
	if !m.aside() {
		return m, nil
	}
	var ids []string
	for _, id := range m.sideFound().used {
		if _, known := m.side.texts[id]; !known {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return m, nil
	}
	texts := m.side.known()
	for _, id := range ids {
		texts[id] = ""
	}
	m.side.texts = texts
	ctx, d, to := m.ctx, m.deps, m.to()
	return m, func() tea.Msg {
		out := sideMsg{to: to, texts: map[string]string{}}
		for _, id := range ids {
			if strings.HasPrefix(id, "n") && d.Notes != nil {
				if n, err := d.Notes.Get(ctx, id); err == nil {
					out.texts[id] = n.Title
				}
			} else if d.Facts != nil {
				if f, err := d.Facts.Get(ctx, id); err == nil {
					out.texts[id] = f.Text
				}
			}
		}
		return out
	}
}

// known is a copy of the texts, to be added to.
func (s siding) known() map[string]string {
	texts := maps.Clone(s.texts)
	if texts == nil {
		texts = map[string]string{}
	}
	return texts
}

// sideMsg brings the texts of facts and the titles of notes.
type sideMsg struct {
	to
	texts map[string]string
}

func (msg sideMsg) apply(m Model) (Model, tea.Cmd) { //nolint:unparam // as all messages
	texts := m.side.known()
	for id, text := range msg.texts {
		texts[id] = headWords(text)
	}
	m.side.texts = texts
	return m, nil
}
