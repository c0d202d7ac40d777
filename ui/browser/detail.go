package browser

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/widget"
)

// page is a text that is being read, kept so that a long one is not wrapped for
// every key.
type page struct {
	of   pageKey
	pane widget.Pane
}

// pageKey is all that the lines of a page depend on.
type pageKey struct {
	id       string
	revision int
	width    int
	title    string // of the source, which may come later
	theme    *themes.Theme
}

// show lays the page out unless it is laid out already.
func (p page) show(of pageKey, height int, lines func() []string) page {
	if p.of == of {
		p.pane = p.pane.Resize(height)
		return p
	}
	if p.of.id != of.id {
		p.pane = widget.Pane{}
	}
	return page{of, p.pane.Show(lines(), height)}
}

// maxLines bounds what the view of one thing lays out.
const maxLines = 20_000

// reading is the page of the selected thing in a size.
func (m Model) reading(e entry, width, height int) page {
	of := pageKey{e.id(), e.revision(), width, m.origin.title, m.c.Theme}
	return m.page.show(of, middle(height), func() []string { return m.describe(e, width, maxLines) })
}

// remembering is the page of the selected revision in a size.
func (m Model) remembering(width, height int) page {
	if len(m.past.revisions) == 0 {
		return page{}
	}
	r := m.past.revisions[m.past.at]
	_, room := m.historyLayout(height)
	of := pageKey{id: r.id(), revision: r.revision(), width: width, theme: m.c.Theme}
	return m.page.show(of, room, func() []string { return m.revisionLines(width) })
}

// laid keeps the page for the size last announced.
func (m Model) laid() Model {
	e, ok := m.selected()
	switch {
	case m.mode == modeView && ok:
		m.page = m.reading(e, m.width, m.height)
	case m.mode == modeConfirm:
		m.page = m.confirming(m.width, m.height)
	case m.mode == modeHistory:
		m.page = m.remembering(m.width, m.height)
	default:
		m.page = page{}
	}
	return m
}

// describe is everything about an entry in at most height lines: what it is,
// its text as far as there is room, and where it comes from.
func (m Model) describe(e entry, width, height int) []string {
	if width < 4 || height < 1 {
		return nil
	}
	if e.kind == suggestion {
		return m.describeIdea(e, width, height)
	}
	t := m.c.Theme
	head := t.Paints.Muted.On(m.oneLine(m.headline(e), width-1))
	meta := m.meta(e, width-1)
	room := height - 1 - len(meta)
	if len(meta) > 0 && room > 2 {
		room--
	}
	if room < 1 { // the text comes before where it is from
		room = min(max(height-1, 0), 2)
		meta = meta[:max(min(len(meta), height-1-room), 0)]
	}
	lines, more := widget.Lines(strings.TrimSpace(e.text()), width-1, room)
	if n := len(lines); more && n > 0 {
		lines[n-1] = m.oneLine(lines[n-1], width-14) + t.Ornaments.Ellipsis + " (" + m.key("browser.view", "v") + ": all)"
	}
	if e.kind == note && len(lines) > 0 {
		lines[0] = t.Paints.Strong.On(lines[0])
	}
	out := append([]string{" " + head}, indent(lines)...)
	if len(meta) > 0 && len(out)+len(meta) < height {
		out = append(out, "")
	}
	out = append(out, indent(meta)...)
	return out[:min(len(out), height)]
}

func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + l
	}
	return out
}

// headline is what an entry is, in one line.
func (m Model) headline(e entry) string {
	parts := []string{e.id(), e.kind.String()}
	switch e.by() {
	case harness.ByYou:
		parts = append(parts, "by you")
	case harness.ByModel:
		parts = append(parts, "by the model, asked")
	case harness.ByDistilled:
		parts = append(parts, "by the model, after a turn")
	case harness.ByImport:
		parts = append(parts, "imported")
	default:
	}
	if e.kind == fact && e.fact.Category != "" {
		parts = append(parts, e.fact.Category)
	}
	switch e.state() {
	case harness.StateTrashed:
		parts = append(parts, "in the trash")
	case harness.StateOff:
		parts = append(parts, "off")
	default:
	}
	if e.pinned() {
		parts = append(parts, "pinned")
	}
	if e.opposed != "" {
		parts = append(parts, "contradicted by "+e.opposed)
	}
	if w := e.word(m.c.Now()); w == "stale" {
		parts = append(parts, "stale: unused for half a year")
	}
	if c := e.created(); !c.IsZero() {
		parts = append(parts, "since "+m.day(c))
	}
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}

// meta are the lines about tags, source, history and use.
func (m Model) meta(e entry, width int) []string {
	var out []string
	add := func(label, text string) {
		if text != "" {
			out = append(out, m.c.Theme.Paints.Muted.On(label)+m.oneLine(text, width-len(label)))
		}
	}
	add("tags   ", widget.Hashed(e.tags()))
	add("from   ", m.from(e))
	if q := e.source().Quote; q != "" {
		add("said   ", `"`+strings.Join(strings.Fields(widget.Head(q, 2000)), " ")+`"`)
	}
	if e.revision() > 1 {
		add("was    ", fmt.Sprintf("v%d now, changed %s (%s: history)", e.revision(), m.moment(e.updated()), m.key("browser.history", "h")))
	}
	if e.kind == fact {
		add("used   ", m.used(e.fact))
		if e.fact.Supersedes != "" {
			add("after  ", e.fact.Supersedes)
		}
	}
	return out
}

// from says where an entry comes from.
func (m Model) from(e entry) string {
	src := e.source()
	switch {
	case src.Gone:
		return "a chat that was deleted for good"
	case src.Client != "":
		return "another agent, over MCP: " + src.Client
	case src.Session == "" || src.Session == harness.NoSession:
		switch e.by() {
		case harness.ByYou:
			return "typed by you"
		case harness.ByImport:
			return "an import"
		default:
			return ""
		}
	}
	title := string(src.Session)
	if m.origin.of == src.Session && m.origin.title != "" {
		title = `"` + m.oneLine(m.origin.title, 40) + `"`
	}
	out := "chat " + title
	if src.Message > 0 {
		out += fmt.Sprintf(", message %d", src.Message)
	}
	if m.origin.of == src.Session && m.origin.gone {
		return out + " (in the trash)"
	}
	return out + " (" + m.key("browser.source", "enter") + ": go there)"
}

func (m Model) used(f harness.Fact) string {
	switch f.Uses {
	case 0:
		return "never"
	case 1:
		return "in 1 answer, " + m.moment(f.LastUsed)
	default:
		return fmt.Sprintf("in %d answers, last %s", f.Uses, m.moment(f.LastUsed))
	}
}

func (m Model) local(t time.Time) time.Time { return t.In(m.c.Now().Location()) }

func (m Model) day(t time.Time) string { return m.local(t).Format("2 Jan 2006") }

// moment is a time with the hour if it is near.
func (m Model) moment(t time.Time) string {
	now, t := m.c.Now(), m.local(t)
	switch {
	case t.IsZero():
		return "at no known time"
	case now.Year() == t.Year() && now.YearDay() == t.YearDay():
		return "today " + t.Format("15:04")
	case now.Sub(t) < 300*24*time.Hour:
		return t.Format("2 Jan 15:04")
	default:
		return m.day(t)
	}
}

func (m Model) oneLine(text string, width int) string {
	return widget.OneLine(text, max(width, 0), m.c.Theme.Ornaments.Ellipsis)
}
