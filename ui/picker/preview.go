package picker

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// How many records the preview reads: enough for a screen, and what scrolling
// adds.
const (
	previewRecords = 12
	previewMore    = 40
)

// preview is the end of the selected session. Readings are numbered and one is
// under way at a time, so running down the list reads what the eye rests on.
type preview struct {
	peek bool // it is shown in place of the list

	n       int
	busy    bool
	of      key
	state   int // the session's record count it was read at
	records []harness.Record
	first   bool // the first record of the conversation is among them
	failed  error
	laid    laid
	up      int // lines that are scrolled away below
}

// previewing reports whether the preview is on the screen.
func (m Model) previewing() bool {
	return m.list.len() > 0 && !m.menu.open && (m.preview.peek || m.layout(m.window.width, m.window.height).wide)
}

// look reads the end of the selected session if it is shown and not read yet.
func (m Model) look() (Model, tea.Cmd) {
	k, ok := m.list.selected()
	if m.c.Transcript == nil || m.preview.busy || !ok || !m.previewing() {
		return m, nil
	}
	s, _ := m.list.byID(k.session)
	if m.preview.of == k && m.preview.state == s.Records {
		return m, nil
	}
	limit := previewRecords
	if m.preview.of == k { // what was scrolled to stays
		limit = max(limit, len(m.preview.records)+s.Records-m.preview.state)
	} else {
		m.preview.records, m.preview.failed, m.preview.laid, m.preview.up = nil, nil, laid{}, 0
	}
	m.preview.n++
	m.preview.busy, m.preview.of, m.preview.state = true, k, s.Records
	ctx, transcript, n := m.ctx, m.c.Transcript, m.preview.n
	return m, func() tea.Msg {
		records, err := transcript.Tail(ctx, k.session, k.message, limit)
		if err != nil {
			err = fmt.Errorf("read session %s: %w", k.session, err)
		}
		return previewed{n: n, records: records, err: err}
	}
}

// lookBack reads what was said before.
func (m Model) lookBack() (Model, tea.Cmd) {
	if m.c.Transcript == nil || m.preview.busy || m.preview.first || len(m.preview.records) == 0 {
		return m, nil
	}
	m.preview.n++
	m.preview.busy = true
	ctx, transcript, n, id := m.ctx, m.c.Transcript, m.preview.n, m.preview.of.session
	oldest := m.preview.records[0]
	return m, func() tea.Msg {
		records, err := transcript.Before(ctx, id, harness.Origin{Session: oldest.In, Record: oldest.Seq}, previewMore)
		if err != nil {
			err = fmt.Errorf("read session %s before record %d: %w", id, oldest.Seq, err)
		}
		return previewed{n: n, records: records, older: true, err: err}
	}
}

func (m Model) onPreviewed(msg previewed) (Model, tea.Cmd) {
	if msg.n != m.preview.n {
		return m, nil
	}
	m.preview.busy = false
	switch {
	case msg.err != nil && msg.older:
		m.notice = m.fail(msg.err)
	case msg.older:
		m.preview.records = append(msg.records[:len(msg.records):len(msg.records)], m.preview.records...)
		m.preview.first = len(msg.records) < previewMore
	default:
		m.preview.failed = msg.err
		m.preview.records = msg.records
		m.preview.first = len(msg.records) < previewRecords
	}
	return m.look()
}

// scrollPreview moves to what was said earlier, or later if by is negative, and
// reads on when it comes near the start of what was read.
func (m Model) scrollPreview(by int) (Model, tea.Cmd) {
	l := m.layout(m.window.width, m.window.height)
	room := m.previewRoom(l)
	most := max(len(m.preview.laid.lines)-room, 0)
	m.preview.up = max(min(m.preview.up, most)+by, 0)
	if m.preview.up < most-room {
		return m, nil
	}
	if m.preview.first {
		m.preview.up = min(m.preview.up, most)
	}
	return m.lookBack() // what is beyond the start shows when it was read
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
	at := ""
	if !r.At.IsZero() {
		at = m.when(r.At)
	}
	text = strings.TrimSpace(msg.Text())
	if calls := msg.Calls(); text == "" && len(calls) > 0 {
		text = fmt.Sprintf("uses the tool %s", calls[0].Name)
	}
	return m.dotted(who, at, string(msg.Mark)), text
}
