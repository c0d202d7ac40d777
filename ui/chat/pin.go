package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
)

const (
	// pinPage is how many records are read at a time in search of pins.
	pinPage = 200
	// pinWidth is how much of a pinned message a list shows, in cells.
	pinWidth = 60
)

// NoPins says that no message is pinned.
const NoPins = "no message is pinned; /pin N pins one"

// Pins are the messages that stay in the context of a session's branch whatever
// is condensed, in the order of the conversation. Those of the session's own
// log have no session.
func Pins(ctx context.Context, t harness.Transcript, s harness.Session) ([]harness.Origin, error) {
	if s.PinRecords == 0 {
		return nil, nil
	}
	p := pinning{id: s.ID, decided: map[harness.Origin]bool{}}
	records, err := t.Tail(ctx, s.ID, 0, pinPage)
	for err == nil && len(records) > 0 && p.seen < s.PinRecords {
		var done bool
		for _, r := range slices.Backward(records) {
			if done, err = p.read(r); done || err != nil {
				return inOrder(p.pins), err
			}
		}
		records, err = t.Before(ctx, s.ID, origin(records[0]), pinPage)
	}
	return inOrder(p.pins), err
}

// pinning reads which messages are pinned from the records of a branch, the
// newest first: what is read of a message first counts.
type pinning struct {
	id      harness.SessionID
	pins    []harness.Origin
	decided map[harness.Origin]bool
	seen    int // records about pins
}

// read takes a record; done says that those before it do not count.
func (p *pinning) read(r harness.Record) (done bool, err error) {
	switch r.Kind {
	case harness.RecordPin:
		var pin harness.Pin
		if err := json.Unmarshal(r.Data, &pin); err != nil {
			return false, fmt.Errorf("pin record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
		}
		p.note(harness.Origin{Session: pin.In, Record: pin.Message}, r, !pin.Off)
		p.seen++
	case harness.RecordCondensed:
		c := condensedOf(r)
		if c == nil {
			return false, fmt.Errorf("condensed record %d: %w", r.Seq, harness.ErrDamaged)
		}
		for _, o := range c.Pins {
			p.note(o, r, true)
		}
		return true, nil
	case harness.RecordReset:
		return true, nil
	default:
	}
	return false, nil
}

// note notes what a record of a log says of a message.
func (p *pinning) note(o harness.Origin, in harness.Record, on bool) {
	if o.Session = cmp.Or(o.Session, in.In); o.Session == p.id {
		o.Session = ""
	}
	if !p.decided[o] && on {
		p.pins = append(p.pins, o)
	}
	p.decided[o] = true
}

// inOrder sorts places: those of other sessions are from before.
func inOrder(all []harness.Origin) []harness.Origin {
	slices.SortFunc(all, func(a, b harness.Origin) int {
		own := func(o harness.Origin) int { return min(len(o.Session), 1) }
		return cmp.Or(cmp.Compare(own(b), own(a)), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Record, b.Record))
	})
	return all
}

// PinRecord is the record that pins a message, or frees it.
func PinRecord(o harness.Origin, off bool) (harness.Record, error) {
	data, err := json.Marshal(harness.Pin{Message: o.Record, In: o.Session, Off: off})
	if err != nil {
		return harness.Record{}, fmt.Errorf("pin message %d: %w", o.Record, err)
	}
	return harness.Record{Kind: harness.RecordPin, Data: data}, nil
}

// Pinnable reports whether a record can be pinned: what somebody said in words.
func Pinnable(r harness.Record) bool {
	m := r.Message
	return m != nil && m.Mark != harness.MarkNotice && m.Role != harness.RoleTool && strings.TrimSpace(m.Text()) != ""
}

// PinWords say that a message is pinned, or is not any more.
func PinWords(o harness.Origin, off bool) string {
	if off {
		return MessageWords(o) + " is pinned no longer"
	}
	return "pinned " + MessageWords(o) + ": it stays in the context whatever is condensed; /unpin " +
		strings.TrimPrefix(MessageWords(o), "message ") + " frees it"
}

// PinName is the number of a message as a person writes it behind /pin, alone or,
// in a fork, with the session whose log it is in: "5", "#5", "5 of refactor-parser".
func PinName(arg string) (n int, of harness.SessionID, ok bool) {
	words := strings.Fields(arg)
	if len(words) == 3 && words[1] == "of" {
		of = harness.SessionID(words[2])
	} else if len(words) != 1 {
		return 0, "", false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(words[0], "#"))
	return n, of, err == nil && n > 0
}

// MessageWords name a message by its number.
func MessageWords(o harness.Origin) string {
	words := "message " + strconv.Itoa(o.Record)
	if o.Session != "" {
		words += " of " + string(o.Session)
	}
	return words
}

// pin pins a message by its number, or the lowest one on screen, or frees it.
func (m Model) pin(arg string, off bool) (Model, tea.Cmd) {
	if why := m.fixed(); why != "" {
		m.notice = why
		return m, nil
	}
	if arg == "" {
		r, ok := m.shownSaid(func(r harness.Record) bool { return !off || m.cut.pins[origin(r)] })
		switch {
		case ok:
			return m.setPin(r, off)
		case off:
			m.notice = "no message on screen is pinned; /pins lists those that are"
		default:
			m.notice = "no message is on screen that can be pinned"
		}
		return m, nil
	}
	n, of, ok := PinName(arg)
	if !ok {
		m.notice = "write the number of a message after it, or nothing for the one on screen; details show the numbers"
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		out := pinFoundMsg{to: to, n: n, off: off}
		out.record, out.found, out.err = tree.Numbered(ctx, d.Transcript, id, n, of)
		return out
	}
}

// shownSaid is the lowest message on screen that can be pinned and that fits.
func (m *Model) shownSaid(fits func(harness.Record) bool) (harness.Record, bool) {
	first := m.pages.shown(m.desk(), m.rows()).item
	for i := min(m.lowest(), len(m.pages.items)-1); i >= first; i-- {
		if r := m.pages.items[i].rec; r.Seq > 0 && Pinnable(r) && fits(r) {
			return r, true
		}
	}
	return harness.Record{}, false
}

// togglePin pins the lowest message on screen, or frees it.
func (m Model) togglePin() (Model, tea.Cmd) {
	r, ok := m.shownSaid(func(harness.Record) bool { return true })
	return m.pin("", ok && m.cut.pins[origin(r)])
}

// pinFoundMsg brings the message that is to be pinned.
type pinFoundMsg struct {
	to
	n      int
	off    bool
	record harness.Record
	found  bool
	err    error
}

func (msg pinFoundMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case !msg.found:
		m.notice = fmt.Sprintf("message %d is not on this branch", msg.n)
	case !Pinnable(msg.record) && !msg.off:
		m.notice = fmt.Sprintf("record %d holds no words that can be pinned", msg.n)
	default:
		return m.setPin(msg.record, msg.off)
	}
	return m, nil
}

// setPin stores that a message is pinned, or is not any more.
func (m Model) setPin(r harness.Record, off bool) (Model, tea.Cmd) {
	o := origin(r)
	switch why := m.fixed(); {
	case why != "":
		m.notice = why
		return m, nil
	case m.cut.pins[o] != off:
		m.notice = MessageWords(o) + map[bool]string{false: " is pinned already", true: " is not pinned"}[off]
		return m, nil
	}
	ctx, d, to, lease, at := m.ctx, m.deps, m.to(), m.own.lease, m.deps.Now()
	return m, func() tea.Msg {
		out := pinnedMsg{to: to, of: o, off: off}
		rec, err := PinRecord(o, off)
		if err == nil {
			rec.At = at
			out.records, err = d.Transcript.Append(ctx, lease, rec)
		}
		out.err = err
		return out
	}
}

// pinnedMsg says that a message is pinned, or is not any more.
type pinnedMsg struct {
	to
	of      harness.Origin
	off     bool
	records []harness.Record
	err     error
}

func (msg pinnedMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil {
		return m.trouble(msg.err)
	}
	pins := maps.Clone(m.cut.pins)
	if pins == nil {
		pins = map[harness.Origin]bool{}
	}
	if pins[msg.of] = true; msg.off {
		delete(pins, msg.of)
	}
	m.cut.pins = pins
	for _, r := range msg.records {
		m.pages.put(r)
	}
	m.notice = PinWords(msg.of, msg.off)
	return m.marked(), m.describe()
}

// withPins takes the pinned messages as they were read.
func (m Model) withPins(pins []harness.Origin) Model {
	m.cut.pins = make(map[harness.Origin]bool, len(pins))
	for _, o := range pins {
		m.cut.pins[o] = true
	}
	return m
}

// listPins lists the pinned messages in the conversation.
func (m Model) listPins() (Model, tea.Cmd) {
	if !m.stored {
		m.notice = NoPins
		return m, nil
	}
	ctx, d, to, id := m.ctx, m.deps, m.to(), m.session.ID
	return m, func() tea.Msg {
		lines, err := PinLines(ctx, d, id)
		return pinsMsg{to, lines, err}
	}
}

// pinsMsg brings the list of the pinned messages.
type pinsMsg struct {
	to
	lines []string
	err   error
}

func (msg pinsMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case len(msg.lines) == 0:
		m.notice = NoPins
		return m, nil
	}
	m.pages.add(item{quiet: "pinned, whatever is condensed:\n  " + strings.Join(msg.lines, "\n  ")})
	m.pages.follow = true
	return m, nil
}

// pinnedOf reads the pinned messages of a session.
func pinnedOf(ctx context.Context, d Deps, id harness.SessionID) ([]harness.Record, error) {
	s, err := d.Sessions.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	pins, err := Pins(ctx, d.Transcript, s)
	if err != nil {
		return nil, err
	}
	records := make([]harness.Record, len(pins))
	for i, o := range pins {
		r, err := d.Transcript.Record(ctx, cmp.Or(o.Session, id), o.Record)
		if err == nil && r.Message == nil {
			err = harness.ErrDamaged
		}
		if err != nil {
			return nil, fmt.Errorf("read pinned message %d: %w", o.Record, err)
		}
		r.In = o.Session
		records[i] = r
	}
	return records, nil
}

// PinLines list the pinned messages of a session with how they begin, safe to
// print.
func PinLines(ctx context.Context, d Deps, id harness.SessionID) ([]string, error) {
	records, err := pinnedOf(ctx, d, id)
	lines := make([]string, len(records))
	for i, r := range records {
		who := "you"
		if r.Message.Role == harness.RoleAssistant {
			who = "cairn"
		}
		text := strings.Join(strings.Fields(clip(r.Message.Text(), 4*pinWidth)), " ")
		lines[i] = MessageWords(origin(r)) + "  " + who + ": " + render.Truncate(render.SafeLine(text), pinWidth, d.ellipsis())
	}
	return lines, err
}

// ellipsis says that something was cut; without a theme it is three dots.
func (d Deps) ellipsis() string {
	if d.Theme == nil {
		return "..."
	}
	return d.Theme.Ornaments.Ellipsis
}
