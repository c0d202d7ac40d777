package chat

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/account"
	"cairn/ui/render"
)

// leastTitle is the room that the title keeps beside a long model name.
const leastTitle = 16

func (m Model) headRows() int {
	if m.height < ruleHeight {
		return 1
	}
	return 2
}

// head is the line with title, model, context, cost and saved state.
func (m Model) head() []string {
	p, o := m.deps.Theme.Paints, m.deps.Theme.Ornaments
	dot := p.Muted.On(" " + o.Dot + " ")
	var right []string
	if m.own.state == accessReader {
		right = append(right, p.Warning.On("read-only"))
	}
	least := leastTitle
	if m.noMemory() {
		right = append(right, p.Muted.On("memory off"))
		least /= 2 // it stands beside the saved state, which is to be read whole
	}
	model := ""
	if m.width >= fullWidth {
		if m.setup.Label != "" {
			model = dot + p.Muted.On(render.SafeLine(m.setup.Label))
		}
		if m.context > 0 && m.setup.Window > 0 {
			right = append(right, p.Muted.On(fmt.Sprintf("%d%% ctx", min(m.context*100/m.setup.Window, 999))))
		}
		if cost := costWords(m.session.Usage); cost != "" {
			right = append(right, p.Muted.On(cost))
		}
	}
	if s := m.savedWords(); s != "" {
		paint := p.Muted
		if m.failed != nil {
			paint = p.Error
		}
		right = append(right, paint.On(render.Truncate(s, max(m.width/2, 8), o.Ellipsis)))
	}
	// The title gives way to the model, which is nowhere else.
	room := m.width - render.Width(strings.Join(right, dot)) - 3
	title := render.Truncate(m.title(), max(room-render.Width(model), least), o.Ellipsis)
	left := " " + p.Title.On(title) + model
	lines := []string{render.Truncate(render.Fit(left, strings.Join(right, dot)+" ", m.width, o.Ellipsis), m.width, "")}
	if m.headRows() > 1 {
		lines = append(lines, m.readRule())
	}
	return lines
}

// title is the session's title, or what it is called without one.
func (m Model) title() string {
	switch {
	case m.session.Title != "":
		return render.SafeLine(m.session.Title)
	case m.stored:
		return string(m.session.ID)
	}
	return "New chat"
}

// costWords are what the session has cost; one that has used nothing has none.
func costWords(u harness.Usage) string {
	if u == (harness.Usage{}) {
		return ""
	}
	return account.Cost(u)
}

// savedWords is the saved state.
func (m Model) savedWords() string {
	switch {
	case m.deps.Ephemeral:
		return "not kept"
	case m.failed != nil:
		return "not saved: " + render.SafeLine(m.deps.Words(m.failed))
	case m.saved.IsZero():
		return ""
	}
	now := m.deps.Now()
	if now.Sub(m.saved) < 24*time.Hour && now.Day() == m.saved.In(now.Location()).Day() {
		return "saved " + m.clock(m.saved)
	}
	return "saved " + m.saved.In(now.Location()).Format("2 Jan 15:04")
}

func (m Model) rule() string {
	o := m.deps.Theme.Ornaments.Rule
	return m.deps.Theme.Paints.Border.On(strings.Repeat(o, m.width/max(render.Width(o), 1)))
}
