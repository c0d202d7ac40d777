// Package queue shows the messages that wait for the answer under way, and lets a
// person move among them, edit, order and drop them. The one thing to know: it
// does not hold the messages. The chat does, and hands them to every call, so that
// what is shown is what will be sent.
package queue

import (
	"slices"
	"strings"

	"cairn/ui/render"
	"cairn/ui/widget"
)

// Actions of the keys.
const (
	Up    = "queue.up"
	Down  = "queue.down"
	Edit  = "queue.edit"
	Drop  = "queue.drop"
	Undo  = "queue.undo"
	Later = "queue.later"
	Soon  = "queue.sooner"
	Steer = "queue.steer"
	Close = "queue.close"
)

// Why a key may be off.
const (
	offClosed = "the queue is not open"
	offFirst  = "it is the first already"
	offLast   = "it is the last already"
	offUndo   = "nothing was dropped"
)

// Model is the mode in which the queue is changed. It is a value, and the zero
// value is closed.
type Model struct {
	open bool
	at   int
	// edits says that the message at is in the box, to be put back from there.
	edits   bool
	dropped []dropped
}

// dropped is a message that was taken out, and from where.
type dropped struct {
	at   int
	text string
}

// Opened is the mode at the last of n messages.
func Opened(n int) Model { return Model{open: true, at: max(n-1, 0)} }

// Open reports whether the mode has the keys.
func (m Model) Open() bool { return m.open }

// Editing is the place of the message that is in the box, ok whether there is one.
func (m Model) Editing() (at int, ok bool) { return m.at, m.edits }

// At is the place of the message that is chosen.
func (m Model) At() int { return m.at }

// Within is the mode with so many messages: it closes with the last.
func (m Model) Within(n int) Model {
	if n == 0 {
		return Model{}
	}
	m.at = min(m.at, n-1)
	return m
}

// Holds reports whether nothing of the queue is to be sent meanwhile: it would not
// be what the person looks at.
func (m Model) Holds() bool { return m.open || m.edits }

// Edit takes the message that is chosen into the box.
func (m Model) Edit() Model {
	m.open, m.edits = false, true
	return m
}

// Back returns to the mode from the box.
func (m Model) Back() Model {
	m.open, m.edits = true, false
	return m
}

// Shifted is the mode after so many messages came before all others.
func (m Model) Shifted(by int) Model {
	if m.Holds() {
		m.at = max(m.at+by, 0)
	}
	return m
}

// Bindings are the keys of the mode, for so many messages. Own replaces keys by
// action.
func (m Model) Bindings(n int, own map[string][]string) []render.Binding {
	off := ""
	if !m.open {
		off = offClosed
	}
	b := func(action, help string, rank int, more string, keys ...string) render.Binding {
		if more == "" || off != "" {
			more = off
		}
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Queue", Rank: rank, Off: more}
	}
	first, last, undo := "", "", ""
	if m.at <= 0 {
		first = offFirst
	}
	if m.at >= n-1 {
		last = offLast
	}
	if len(m.dropped) == 0 {
		undo = offUndo
	}
	return widget.Rebind([]render.Binding{
		b(Edit, "edit", 1, "", "enter", "e"),
		b(Drop, "drop", 2, "", "d", "delete"),
		b(Soon, "sooner", 4, first, "K"),
		b(Later, "later", 4, last, "J"),
		b(Steer, "say it into the turn", 5, "", "s"),
		b(Undo, "bring back", 3, undo, "u", "ctrl+_"),
		b(Up, "message before", 0, first, "k", "up", "alt+up", "ctrl+p"),
		b(Down, "next message", 0, last, "j", "down", "alt+down", "ctrl+n"),
		b(Close, "back", 1, "", "esc", "q"),
	}, own)
}

// Actions are the keys as they are by default.
func Actions() []render.Binding { return Model{open: true}.Bindings(3, nil) }

// Do carries out an action on the messages; it returns new ones. Edit and Close
// are the chat's.
func (m Model) Do(action string, texts []string) (Model, []string) {
	m.at = min(max(m.at, 0), max(len(texts)-1, 0))
	switch action {
	case Up:
		m.at = max(m.at-1, 0)
	case Down:
		m.at = min(m.at+1, max(len(texts)-1, 0))
	case Soon:
		texts, m.at = swapped(texts, m.at, m.at-1)
	case Later:
		texts, m.at = swapped(texts, m.at, m.at+1)
	case Drop:
		if len(texts) == 0 {
			break
		}
		m.dropped = append(m.dropped[:len(m.dropped):len(m.dropped)], dropped{m.at, texts[m.at]})
		texts = slices.Delete(slices.Clone(texts), m.at, m.at+1)
		m.at = min(m.at, max(len(texts)-1, 0))
	case Undo:
		n := len(m.dropped)
		if n == 0 {
			break
		}
		d := m.dropped[n-1]
		m.dropped, m.at = m.dropped[:n-1], min(d.at, len(texts))
		texts = slices.Insert(slices.Clone(texts), m.at, d.text)
	}
	return m, texts
}

func swapped(texts []string, i, j int) ([]string, int) {
	if i < 0 || j < 0 || i >= len(texts) || j >= len(texts) {
		return texts, i
	}
	texts = slices.Clone(texts)
	texts[i], texts[j] = texts[j], texts[i]
	return texts, j
}

// lineMax bounds what of a message is looked at for its line, in bytes.
const lineMax = 1000

// Line is a message on one line, safe to draw: its first line with something on
// it, and whether there is more.
func Line(text, ellipsis string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	cut := len(text) > lineMax
	if cut {
		text = text[:lineMax]
	}
	first, rest, more := strings.Cut(text, "\n")
	line := `"` + render.SafeLine(strings.TrimRight(first, " \t\r"))
	if cut || more && strings.TrimSpace(rest) != "" {
		line += ellipsis
	}
	return line + `"`
}
