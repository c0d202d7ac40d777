package picker

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// previewRecords is how many records the preview reads: enough for a screen.
const previewRecords = 12

// preview is the end of the selected session. Readings are numbered and one is
// under way at a time, so running down the list reads what the eye rests on.
type preview struct {
	n       int
	busy    bool
	of      key
	state   int // the session's record count it was read at
	records []harness.Record
	failed  error
}

// look reads the end of the selected session if it is shown and not read yet.
func (m Model) look() (Model, tea.Cmd) {
	if m.c.Transcript == nil || m.preview.busy || m.list.len() == 0 || !m.layout(m.width, m.height).wide {
		return m, nil
	}
	k := m.list.keyAt(m.list.at)
	s, _ := m.list.byID(k.session)
	if m.preview.of == k && m.preview.state == s.Records {
		return m, nil
	}
	if m.preview.of != k {
		m.preview.records, m.preview.failed = nil, nil
	}
	m.preview.n++
	m.preview.busy, m.preview.of, m.preview.state = true, k, s.Records
	ctx, transcript, n := m.ctx, m.c.Transcript, m.preview.n
	return m, func() tea.Msg {
		records, err := transcript.Tail(ctx, k.session, k.message, previewRecords)
		return previewed{n, k.session, records, err}
	}
}

func (m Model) onPreviewed(msg previewed) (Model, tea.Cmd) {
	if msg.n != m.preview.n {
		return m, nil
	}
	m.preview.busy = false
	m.preview.records, m.preview.failed = msg.records, msg.err
	return m.look()
}

// previewPane is the right pane: what the session is, and its end.
func (m Model) previewPane(width, height int) []string {
	p := m.c.Theme.Paints
	if m.list.len() == 0 {
		return nil
	}
	k := m.list.keyAt(m.list.at)
	s, ok := m.list.byID(k.session)
	if !ok {
		return []string{p.Muted.On("id " + widget.OneLine(string(k.session), width-3, m.c.Theme.Ornaments.Ellipsis))}
	}
	head := []string{
		p.Title.On(m.oneLine(m.title(s), width)),
		p.Muted.On(m.oneLine(m.counts(s), width)),
		p.Muted.On(m.oneLine(m.about(s), width)),
		"",
	}
	room := height - len(head)
	if room <= 0 {
		return head
	}
	return append(head, m.ending(s, k, width, room)...)
}

// ending is the last messages, the very last one whole if it fits.
func (m Model) ending(s harness.Session, k key, width, height int) []string {
	p := m.c.Theme.Paints
	switch {
	case m.preview.of != k || m.preview.busy && m.preview.records == nil:
		return nil
	case m.preview.failed != nil:
		lines, _ := widget.Lines(m.c.Words(m.preview.failed), width, height)
		return lines
	case m.c.Transcript == nil:
		lines, _ := widget.Lines(s.Preview, width, height)
		return lines
	}
	var blocks [][]string
	left := height
	for i := len(m.preview.records) - 1; i >= 0 && left > 1; i-- {
		r := m.preview.records[i]
		who, text := m.said(r)
		if text == "" {
			continue
		}
		lines, more := widget.Lines(text, width, left-1)
		if more && len(lines) > 0 {
			lines[len(lines)-1] = m.oneLine(lines[len(lines)-1], width-2) + m.c.Theme.Ornaments.Ellipsis
		}
		block := append([]string{p.Muted.On(m.oneLine(who, width))}, lines...)
		blocks = append(blocks, block)
		left -= len(block) + 1
	}
	slices.Reverse(blocks)
	var out []string
	for i, b := range blocks {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, b...)
	}
	return out
}

// said is who spoke when, and what; the text is empty if there is nothing to
// read in the record.
func (m Model) said(r harness.Record) (who, text string) {
	if r.Kind != harness.RecordMessage || r.Message == nil {
		return "", ""
	}
	msg := *r.Message
	switch {
	case msg.Mark == harness.MarkNotice, msg.Role == harness.RoleTool:
		return "", ""
	case msg.Role == harness.RoleUser:
		who = "you"
	default:
		who = "cairn"
	}
	if msg.Name != "" {
		who = msg.Name
	}
	dot := " " + m.c.Theme.Ornaments.Dot + " "
	if !r.At.IsZero() {
		who += dot + r.At.In(m.c.Now().Location()).Format("2 Jan 15:04")
	}
	if msg.Mark != harness.MarkNone {
		who += dot + string(msg.Mark)
	}
	text = strings.TrimSpace(msg.Text())
	if calls := msg.Calls(); text == "" && len(calls) > 0 {
		text = fmt.Sprintf("uses the tool %s", calls[0].Name)
	}
	return who, text
}
