package browser

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/widget"
)

// page is the laid out text of the thing that is being read, kept so that a
// long note is not wrapped for every key.
type page struct {
	id       string
	revision int
	width    int
	title    string // of the source, which may come later
	lines    []string
}

// maxLines bounds what the view of one thing lays out.
const maxLines = 20_000

// viewLines are all lines of the selected thing.
func (m Model) viewLines(width int) []string {
	e, ok := m.selected()
	if !ok {
		return nil
	}
	p := m.page
	if p.id == e.id() && p.revision == e.revision() && p.width == width && p.title == m.origin.title {
		return p.lines
	}
	return m.describe(e, width, maxLines)
}

// laid keeps the lines of viewLines for the size last announced.
func (m Model) laid() Model {
	e, ok := m.selected()
	if m.mode != modeView || !ok {
		m.page = page{}
		return m
	}
	lines := m.viewLines(m.width)
	m.page = page{e.id(), e.revision(), m.width, m.origin.title, lines}
	return m
}

// describe is everything about an entry in at most height lines: what it is,
// its text as far as there is room, and where it comes from.
func (m Model) describe(e entry, width, height int) []string {
	if width < 4 || height < 1 {
		return nil
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
	switch {
	case f.Uses == 0:
		return "never"
	case f.Uses == 1:
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
