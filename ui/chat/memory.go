package chat

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// What a write to memory did, in the words of the engine's events.
const (
	didRemember = "remembered"
	didUpdate   = "updated"
	didForget   = "forgot"
)

// maxWrites bounds the writes that can be undone one after the other.
const maxWrites = 50

// write is one change of memory that was told here.
type write struct {
	did string
	id  string
	// version is the one that an update made, back the one before it. Undoing a
	// later update makes version the newest one's number and leaves back.
	version, back int
}

// writeLine is how an event tells of a write, such as "updated f12 to v3: …".
const writeLine = `^(remembered|updated|forgot) ([fn][0-9]{1,18})(?: to v([0-9]{1,9}))?: `

// writeOf returns the write that an event tells of.
func writeOf(e harness.Event) (write, bool) {
	if e.Type != harness.EventMemory {
		return write{}, false
	}
	parts := regexp.MustCompile(writeLine).FindStringSubmatch(e.Text)
	if parts == nil {
		return write{}, false
	}
	w := write{did: parts[1], id: parts[2]}
	if w.did != didUpdate {
		return w, true
	}
	n, err := strconv.Atoi(parts[3])
	w.version, w.back = n, n-1
	return w, err == nil // what says no version cannot be undone safely
}

// wrote notes a write as the one that is undone next.
func (m Model) wrote(w write) Model {
	m.writes = append(slices.Clone(m.writes), w)
	m.writes = m.writes[max(0, len(m.writes)-maxWrites):]
	return m
}

// noUndo says why no write can be undone now, empty if one can.
func (m Model) noUndo() string {
	if !m.box.Empty() {
		return offText
	}
	if len(m.writes) == 0 {
		return "nothing was written to memory here"
	}
	return ""
}

// undoHint tells the key that undoes, also while the box is not empty.
func (m Model) undoHint(before, does string) string {
	for _, b := range m.Bindings() {
		if b.Action == actUndo && len(b.Keys) > 0 {
			return before + b.Keys[0] + " " + does
		}
	}
	return ""
}

// learnFact saves a fact that the person wrote.
func (m Model) learnFact(text string) (Model, tea.Cmd) {
	text = strings.TrimSpace(text)
	switch {
	case m.deps.Facts == nil:
		m.notice = "memory is off in this chat"
		return m, nil
	case text == "":
		m.notice = "write the fact after it: /remember I prefer table tests"
		return m, nil
	}
	ctx, d, to := m.ctx, m.deps, m.to()
	fact := harness.Fact{Text: text, By: harness.ByYou, State: harness.StateActive, Session: harness.NoSession}
	if m.stored {
		fact.Session = m.session.ID
		from := m.pages.last()
		if q := m.quoted; q.from.Record > 0 {
			from, fact.Source.Quote = q.from, q.text
		}
		fact.Source.Session, fact.Source.Message = cmp.Or(from.Session, m.session.ID), from.Record
	}
	key := harness.NewID()
	return m, func() tea.Msg {
		f, created, err := d.Facts.Save(ctx, fact, key)
		return factMsg{to, f, created, err}
	}
}

// factMsg says how saving a fact went.
type factMsg struct {
	to
	fact    harness.Fact
	created bool
	err     error
}

func (msg factMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case !msg.created:
		m.notice = "known already as " + msg.fact.ID + m.offWords()
	default:
		m = m.wrote(write{did: didRemember, id: msg.fact.ID})
		m.notice = "remembered " + msg.fact.ID + m.undoHint("; ", "forgets it again") + m.offWords()
	}
	return m, nil
}

// undoWrite takes the last write to memory back.
func (m Model) undoWrite() (Model, tea.Cmd) {
	w := m.writes[len(m.writes)-1]
	m.writes = m.writes[: len(m.writes)-1 : len(m.writes)-1]
	if w.id == "" {
		return m.undoTurning(w)
	}
	undo := undoFact
	switch {
	case w.id[0] == 'n' && m.deps.Notes != nil:
		undo = undoNote
	case w.id[0] == 'n' || m.deps.Facts == nil:
		m.notice = "memory is off in this chat"
		return m, nil
	}
	ctx, d, to := m.ctx, m.deps, m.to()
	return m, func() tea.Msg {
		out := undoneMsg{to: to, write: w}
		out.version, out.text, out.err = undo(ctx, d, w)
		return out
	}
}

// undoneMsg says how undoing a write went. The undoing of an update is itself
// a version.
type undoneMsg struct {
	to
	write   write
	version int
	text    string
	err     error
}

func (msg undoneMsg) apply(m Model) (Model, tea.Cmd) {
	if msg.err != nil { // it can be tried again
		return m.wrote(msg.write).trouble(msg.err)
	}
	m.notice = msg.text
	m.writes = slices.Clone(m.writes)
	for i, w := range m.writes {
		if w.id == msg.write.id && msg.version > 0 && w.version == msg.write.back {
			m.writes[i].version = msg.version
		}
	}
	return m, nil
}

// undoFact undoes a write of a fact, and says what came of it and, of an
// update, the version that is now.
func undoFact(ctx context.Context, d Deps, w write) (version int, text string, err error) {
	switch w.did {
	case didRemember:
		return 0, undoneWords(w), d.Facts.Forget(ctx, w.id)
	case didForget:
		f, err := d.Facts.Restore(ctx, w.id)
		if err == nil && f.ID != w.id {
			return 0, w.id + " stays forgotten: " + f.ID + " says the same", nil
		}
		return 0, undoneWords(w), err
	}
	all, err := d.Facts.History(ctx, w.id)
	if err != nil {
		return 0, "", err
	}
	at := slices.IndexFunc(all, func(f harness.Fact) bool { return f.Revision == w.back })
	if now := all[len(all)-1]; at < 0 || now.Revision != w.version || now.State == harness.StateTrashed {
		return 0, changedWords(w), nil
	}
	f, err := d.Facts.Edit(ctx, w.id, harness.FactEdit{Text: &all[at].Text, Category: &all[at].Category, Tags: &all[at].Tags})
	return f.Revision, undoneWords(w), err
}

// undoNote is undoFact for a note.
func undoNote(ctx context.Context, d Deps, w write) (version int, text string, err error) {
	switch w.did {
	case didRemember:
		return 0, undoneWords(w), d.Notes.Forget(ctx, w.id)
	case didForget:
		_, err := d.Notes.Restore(ctx, w.id)
		return 0, undoneWords(w), err
	}
	all, err := d.Notes.History(ctx, w.id)
	if err != nil {
		return 0, "", err
	}
	at := slices.IndexFunc(all, func(n harness.Note) bool { return n.Revision == w.back })
	if now := all[len(all)-1]; at < 0 || now.Revision != w.version || now.State == harness.StateTrashed {
		return 0, changedWords(w), nil
	}
	n, err := d.Notes.Edit(ctx, w.id, harness.NoteEdit{Title: &all[at].Title, Body: &all[at].Body, Tags: &all[at].Tags})
	return n.Revision, undoneWords(w), err
}

func undoneWords(w write) string {
	switch w.did {
	case didRemember:
		return "forgot " + w.id + " again"
	case didForget:
		return w.id + " is remembered again"
	default:
		return w.id + " says again what it said before"
	}
}

// changedWords say that a change was left alone.
func changedWords(w write) string {
	return w.id + " was changed after that, so it is left as it is; the memory browser has all its versions"
}
