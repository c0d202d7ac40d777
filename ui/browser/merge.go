package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// merge marks the selected fact, or makes the marked one part of the selected
// one: this keeps its text and gets the tags of both, the marked one goes to
// the trash.
func (m Model) merge() (Model, tea.Cmd) {
	e, _ := m.selected()
	marked, ok := m.lists[tabFacts].byID(m.merging)
	switch {
	case !ok:
		m.merging = e.id()
		m.notice = notice{text: fmt.Sprintf("%s is marked: %s on the fact to keep merges them, on %s unmarks it.",
			e.id(), m.key("browser.merge", "m"), e.id()), stays: true}
		return m, nil
	case marked.id() == e.id():
		m.merging = ""
		m.notice = notice{text: "Nothing is marked now."}
		return m, nil
	}
	m.merging = ""
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		now, err := unite(ctx, c, e.fact, marked.fact)
		return merged{before: e, entry: now, other: marked.id(), err: err}
	}
}

// merged answers a merge.
type merged struct {
	before, entry entry // what stays
	other         string
	err           error
}

func (merged) browserMsg() {}

// unite forgets gone and gives stay its tags, or changes nothing.
func unite(ctx context.Context, c Config, stay, gone harness.Fact) (entry, error) {
	for _, f := range []harness.Fact{stay, gone} {
		if err := still(ctx, c, ofFact(f)); err != nil {
			return entry{}, err
		}
	}
	if err := trash(ctx, c, gone.ID); err != nil {
		return entry{}, err
	}
	var edit harness.FactEdit
	tags := slices.Clone(stay.Tags)
	for _, t := range gone.Tags {
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	if len(tags) > len(stay.Tags) {
		edit.Tags = &tags
	}
	if gone.Pinned && !stay.Pinned {
		edit.Pinned = &gone.Pinned
	}
	if edit == (harness.FactEdit{}) {
		return ofFact(stay), nil
	}
	now, err := editFact(ctx, c, stay.ID, edit)
	if err != nil {
		e, back := untrash(ctx, c, gone.ID)
		if back == nil && e.id() != gone.ID {
			back = fmt.Errorf("%s stays in the trash: %s says the same now", gone.ID, e.id())
		}
		return entry{}, errors.Join(err, back)
	}
	return now, nil
}

func (m Model) onMerged(msg merged) (Model, tea.Cmd) {
	id := msg.before.id()
	switch {
	case errors.Is(msg.err, errNewer):
		m.notice = notice{text: "Not merged: one of them was changed meanwhile.", failed: true}
		return m.load()
	case msg.err != nil:
		m.notice = m.fail(msg.err)
		return m.load()
	}
	m = m.did(deed{what: didMerge, id: id, before: msg.before, after: msg.entry, other: msg.other})
	m = m.hide(false, msg.other).patch(msg.entry)
	m.lists[tabFacts] = m.lists[tabFacts].selectID(id)
	m.notice = notice{text: fmt.Sprintf("Merged %s into %s. %s undoes it; %s is in the trash.",
		msg.other, id, m.key("browser.undo", "u"), msg.other), stays: true}
	return m.load()
}

// byID is the entry with an id.
func (l list) byID(id string) (entry, bool) {
	for i := range l.entries {
		if l.entries[i].id() == id {
			return l.entries[i], true
		}
	}
	return entry{}, false
}
