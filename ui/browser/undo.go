package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// did is what was done.
type did int

const (
	didForget did = iota
	didChange     // before became after
	didMake       // after is new
	didMerge      // other was forgotten, and before became after
	didDecide     // suggestions were decided
)

// deed is something done here that undo takes back.
type deed struct {
	what          did
	id            string
	before, after entry
	other         string
	decisions     []decision
}

// maxDeeds bounds what can be undone.
const maxDeeds = 100

// did remembers a deed. One on the same thing replaces none: they are undone
// one after the other, the last first.
func (m Model) did(d deed) Model {
	from := max(len(m.deeds)-maxDeeds+1, 0)
	m.deeds = append(slices.Clone(m.deeds[from:]), d)
	return m
}

// undone takes the forgetting of a thing from the deeds.
func (m Model) undone(id string) Model {
	m.deeds = slices.DeleteFunc(slices.Clone(m.deeds), func(d deed) bool { return d.what == didForget && d.id == id })
	return m
}

// errNewer means that something was changed after what is to be undone.
var errNewer = errors.New("changed since")

// tookBack answers an undo.
type tookBack struct {
	deed  deed
	entry entry // what is there now
	err   error
}

func (tookBack) browserMsg() {}

// undo takes the last deed back; in the trash the selected thing is restored.
func (m Model) undo() (Model, tea.Cmd) {
	if m.tab == tabTrash && m.mode == modeList {
		return m.restore()
	}
	if len(m.deeds) == 0 {
		return m, nil
	}
	d := m.deeds[len(m.deeds)-1]
	if d.what == didForget {
		return m.recover(d.id)
	}
	m.deeds = m.deeds[:len(m.deeds)-1]
	if d.what == didDecide {
		return m.takeDecisionsBack(d.decisions)
	}
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		e, err := takeBack(ctx, c, d)
		return tookBack{d, e, err}
	}
}

// takeBack undoes a deed in the store, unless something came after it.
func takeBack(ctx context.Context, c Config, d deed) (entry, error) {
	if err := still(ctx, c, d.after); err != nil {
		return entry{}, err
	}
	switch d.what {
	case didMake:
		return d.after, trash(ctx, c, d.id)
	case didMerge:
		other, err := untrash(ctx, c, d.other) // first, because only this can be done twice
		if err != nil {
			return entry{}, err
		}
		now := d.after
		if d.after.revision() != d.before.revision() {
			if now, err = revert(ctx, c, d.before); err != nil {
				return entry{}, err
			}
		}
		if other.id() != d.other {
			err = fmt.Errorf("restore %s: %w: %s says the same", d.other, harness.ErrExists, other.id())
		}
		return now, err
	default:
		return revert(ctx, c, d.before)
	}
}

// still returns errNewer if an entry is no longer as it is given.
func still(ctx context.Context, c Config, e entry) error {
	var now entry
	if e.kind == note {
		n, err := c.Notes.Get(ctx, e.id())
		if err != nil {
			return fmt.Errorf("read %s: %w", e.id(), err)
		}
		now = ofNote(n)
	} else {
		f, err := c.Facts.Get(ctx, e.id())
		if err != nil {
			return fmt.Errorf("read %s: %w", e.id(), err)
		}
		now = ofFact(f)
	}
	if now.revision() != e.revision() || now.state() != e.state() {
		return fmt.Errorf("undo %s: %w", e.id(), errNewer)
	}
	return nil
}

// revert makes an earlier revision the current one, in all that can be edited.
func revert(ctx context.Context, c Config, e entry) (entry, error) {
	if n := e.note; e.kind == note {
		return editNote(ctx, c, n.ID, harness.NoteEdit{Title: &n.Title, Body: &n.Body, Tags: &n.Tags, Pinned: &n.Pinned, State: &n.State})
	}
	f := e.fact
	return editFact(ctx, c, f.ID, harness.FactEdit{Text: &f.Text, Category: &f.Category, Tags: &f.Tags, Pinned: &f.Pinned, State: &f.State})
}

// rebase has earlier deeds undone from now, which is as was, in a new revision.
func (m Model) rebase(was, now entry) Model {
	m.deeds = slices.Clone(m.deeds)
	for i := range m.deeds {
		if d := &m.deeds[i]; d.id == was.id() && d.after.revision() == was.revision() {
			d.after = now
		}
	}
	return m
}

func (m Model) onTookBack(msg tookBack) (Model, tea.Cmd) {
	d := msg.deed
	switch {
	case errors.Is(msg.err, errNewer):
		m.notice = notice{text: fmt.Sprintf("Not undone: %s was changed since. %s shows its history.", d.id, m.key("browser.history", "h")), failed: true}
		return m.load()
	case errors.Is(msg.err, harness.ErrNotFound), errors.Is(msg.err, harness.ErrExists):
		m.notice = m.fail(msg.err)
		return m.load()
	case msg.err != nil:
		m = m.did(d)
		m.notice = m.fail(msg.err)
		return m.load()
	}
	switch d.what {
	case didMake:
		m.notice = notice{text: fmt.Sprintf("%s is in the trash.", d.id)}
	case didMerge:
		m.notice = notice{text: fmt.Sprintf("%s and %s are two again.", d.other, d.id)}
		m = m.show(d.other)
	default:
		m.notice = notice{text: fmt.Sprintf("%s is as it was before: \"%s\"", d.id, m.brief(msg.entry))}
	}
	if d.what != didMake {
		m = m.rebase(d.before, msg.entry).patch(msg.entry)
		m.tab = tabOf(d.id)
		m.lists[tabOf(d.id)] = m.lists[tabOf(d.id)].selectID(d.id)
	}
	return m.load()
}
