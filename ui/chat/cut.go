package chat

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
)

// marks say how an item stands to what the model gets to see.
type marks uint8

const (
	// markOut is a message that is not in the context.
	markOut marks = 1 << iota
	// markPinned is one that stays in it whatever is condensed.
	markPinned
	// markCut is the first item behind what was condensed, markFull the first
	// one behind what the window had no room for.
	markCut
	markFull
	// markPart is a condensing that the next one goes on with.
	markPart
	allMarks = iota
)

// cut is what is known of the part of the conversation that the model does not
// get to see.
type cut struct {
	// last is the last condensing that is loaded, nil if there is none, at where
	// its record is, and when its time.
	last *harness.Condensed
	at   harness.Origin
	when time.Time
	// pins are the pinned messages; it is replaced and never changed.
	pins map[harness.Origin]bool
	// shown says that the note is unfolded, wanted that it is to be once the
	// conversation is loaded.
	shown, wanted bool
}

// placed is a place named in a record of a log as the chat names it.
func (m *Model) placed(o harness.Origin, in harness.Record) harness.Origin {
	if o.Session == "" {
		o.Session = in.In
	}
	if o.Session == m.session.ID {
		o.Session = ""
	}
	return o
}

// marked marks the items anew. It looks at all of them, so it is for when
// records came or the context changed, never for text that streams.
func (m Model) marked() Model {
	items := m.pages.items
	m.cut.last, m.cut.at = nil, harness.Origin{}
	from, at := 0, marks(0)
	for i := len(items) - 1; i >= 0; i-- {
		rec := items[i].rec
		if rec.Kind == harness.RecordReset {
			from = i
			break
		}
		if c := condensedOf(rec); c != nil {
			m.cut.last, m.cut.at, m.cut.when = c, origin(rec), rec.At
			if kept := m.pages.index(m.placed(harness.Origin{Session: c.In, Record: c.Kept}, rec)); c.Kept > 0 && kept >= 0 {
				from, at = kept, markCut
			}
			break
		}
	}
	// The note may be one message with what follows it, so that a request of
	// all that was kept seems to begin a little later.
	slack := 0
	if at == markCut {
		slack = 2
	}
	if full := m.fullFrom(from); full > from+slack {
		from, at = full, markFull
	}
	fresh := make([]item, len(items))
	changed := false
	for i, it := range items {
		it.marks = m.markOf(i, from, at)
		changed = changed || it.marks != items[i].marks
		fresh[i] = it
	}
	if changed {
		m.pages.items = fresh
	}
	return m
}

// markOf are the marks of an item where the context begins at item from.
func (m *Model) markOf(i, from int, at marks) marks {
	it, got := m.pages.items[i], marks(0)
	pinned := it.rec.Seq > 0 && m.cut.pins[origin(it.rec)]
	switch {
	case pinned:
		got |= markPinned
	case i < from && it.rec.Message != nil:
		got |= markOut
	}
	if i == from {
		got |= at
	}
	if it.rec.Kind == harness.RecordCondensed {
		for _, next := range m.pages.items[i+1:] {
			if next.rec.Seq > 0 {
				if next.rec.Kind == harness.RecordCondensed {
					got |= markPart
				}
				break
			}
		}
	}
	return got
}

// fullFrom is the item at which the last request began because the window had
// no room for more, 0 if nothing was left out or that is not loaded. Before
// item least it does not look.
func (m *Model) fullFrom(least int) int {
	items := m.pages.items
	last := len(items) - 1
	for last > least && !Counted(items[last].rec) {
		last--
	}
	if last <= least || items[last].rec.Message.Sent == nil || items[last].rec.Message.Sent.Dropped == 0 {
		return 0
	}
	sent := items[last].rec.Message.Sent
	left := sent.Count
	if sent.Note > 0 {
		left--
	}
	if sent.Pinned > 0 {
		left -= len(m.cut.pins)
	}
	// Neighbours of one side are one message of a request.
	var role harness.Role
	for i := last - 1; i > least; i-- {
		msg := items[i].rec.Message
		if msg == nil {
			continue
		}
		if sent.Pinned > 0 && m.cut.pins[origin(items[i].rec)] {
			left++ // it is not one from before
		}
		if msg.Role != role || msg.Role == harness.RoleAssistant {
			if left--; left < 0 {
				return m.behind(i)
			}
		}
		role = msg.Role
	}
	return 0
}

// behind is the first item with a message behind an item.
func (m *Model) behind(i int) int {
	for i++; i < len(m.pages.items)-1 && m.pages.items[i].rec.Message == nil; i++ {
	}
	return i
}

// standing are the words that a heading tells of its message.
func (d desk) standing(it item) []string {
	var words []string
	if it.marks&markOut != 0 {
		words = append(words, "not in context")
	}
	if it.marks&markPinned != 0 {
		words = append(words, "pinned")
	}
	if d.l.details && it.rec.Seq > 0 {
		number := fmt.Sprintf("message %d", it.rec.Seq)
		if it.rec.In != "" {
			number += " of " + string(it.rec.In)
		}
		words = append(words, number)
	}
	return words
}

// divider stands before the first item that is in the context.
func (d desk) divider(it item) []string {
	o, paints := d.l.theme.Ornaments, d.l.theme.Paints
	var words string
	switch c := d.m.cut.last; {
	case it.marks&markFull != 0:
		words = "the window is full: what is above was not in the last request; it stays readable and is found by search"
	case it.marks&markCut == 0 || c == nil:
		return nil
	case c.Note == "":
		words = "what is above is not in context"
	default:
		words = fmt.Sprintf("%s above stand as a note of %s", harness.Count(c.Messages, "message"), harness.Count(utf8.RuneCountInString(c.Note), "character"))
		if c.Messages == 1 {
			words = strings.Replace(words, " stand ", " stands ", 1)
		}
		if k := d.m.usual(actNote); k != "" {
			words += " " + o.Dot + " " + k
		} else {
			words += " " + o.Dot + " /note"
		}
		if d.l.noted {
			words += " folds it"
		} else {
			words += " shows it"
		}
	}
	title := o.Rule + o.Rule + " not in context above "
	rest := strings.Repeat(o.Rule, max(d.l.width-render.Width(title), 0))
	// The words are to be read, the line only to be seen.
	out := []string{"", d.fit(paints.Border.On(o.Rule+o.Rule) + paints.Muted.On(" not in context above ") + paints.Border.On(rest))}
	for _, l := range render.Wrap(words, d.l.width) {
		out = append(out, paints.Muted.On(l))
	}
	if c := d.m.cut.last; d.l.noted && it.marks&markCut != 0 && c.Note != "" {
		for _, l := range render.Wrap(render.Safe(strings.TrimSpace(c.Note)), max(d.l.width-2, 1)) {
			out = append(out, d.fit("  "+paints.Muted.On(l)))
		}
	}
	return out
}

// condensed is the line of a condensing. Parts of one go are told together, at
// the last of them.
func (d desk) condensed(i int) []string {
	items := d.m.pages.items
	c := condensedOf(items[i].rec)
	switch {
	case items[i].marks&markPart != 0:
		return nil
	case c == nil:
		return d.quiet("older messages were condensed; what is above is no longer sent")
	}
	whole := *c
	for j := i - 1; j >= 0 && items[j].marks&markPart != 0; j-- {
		if part := condensedOf(items[j].rec); part != nil {
			whole.Dropped, whole.Cleared, whole.Before = whole.Dropped+part.Dropped, whole.Cleared+part.Cleared, part.Before
		}
	}
	words := CondensedWords(whole)
	if whole.Focus != "" {
		words += " " + d.l.theme.Ornaments.Dot + " to keep: " + whole.Focus
	}
	return d.quiet(words)
}

// toggleNote folds or unfolds the note, and goes to it.
func (m Model) toggleNote() (Model, tea.Cmd) {
	if m.cut.shown {
		m.cut.shown = false
		return m, nil
	}
	for _, it := range m.pages.items {
		if it.marks&markCut == 0 || m.cut.last == nil || m.cut.last.Note == "" {
			continue
		}
		m.cut.shown = true
		m.pages.show(m.desk(), origin(it.rec), m.rows())
		return m, nil
	}
	if m.pages.whole || m.width <= 0 {
		m.notice = "nothing in this chat stands as a note"
		return m, nil
	}
	m.cut.wanted = true
	return m.older(0)
}
