package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// undecided answers the undo of decisions.
type undecided struct {
	left []decision // not undone, as far as they are
	back []string   // suggestions that wait again
	// notes are about what did not become as it was.
	notes []string
	was   []entry // facts as they were changed
	now   []entry // and as they are again
	err   error
}

func (undecided) browserMsg() {}

// takeDecisionsBack undoes the decisions of a deed, the last one first.
func (m Model) takeDecisionsBack(all []decision) (Model, tea.Cmd) {
	m.deciding++
	ctx, c := m.ctx, m.c
	return m, func() tea.Msg {
		out := undecided{left: slices.Clone(all)}
		for len(out.left) > 0 && out.err == nil {
			d := &out.left[len(out.left)-1]
			out.err = undecide(ctx, c, d, &out)
			if errors.Is(out.err, errNewer) { // never undone over what somebody did since
				out.notes = append(out.notes, d.after.id()+" was changed since and stays")
				out.err = nil
			}
			if out.err == nil {
				out.left = out.left[:len(out.left)-1]
			}
		}
		return out
	}
}

// undecide undoes what one decision did and puts its suggestion back. What is
// done of it is noted in d, so that it can be tried again.
func undecide(ctx context.Context, c Config, d *decision, out *undecided) error {
	if !d.refused && !d.back {
		if err := uncarry(ctx, c, *d, out); err != nil {
			return err
		}
		d.back = true
	}
	for len(d.forgot) > 0 {
		if err := untrashed(ctx, c, d.forgot[0], out); err != nil {
			return err
		}
		d.forgot = d.forgot[1:]
	}
	id := d.of.ID
	_, err := c.Inbox.Reopen(ctx, id)
	if err == nil {
		_, err = c.Inbox.Get(ctx, id)
	}
	switch {
	case errors.Is(err, harness.ErrNotFound): // its fact is in the trash, or too long ago
		note := id + " is not suggested again"
		if d.made {
			note = fmt.Sprintf("%s is in the trash, so %s", d.after.id(), note)
		}
		out.notes = append(out.notes, note)
	case err != nil:
		return fmt.Errorf("reopen %s: %w", id, err)
	default:
		out.back = append(out.back, id)
	}
	return nil
}

// uncarry undoes what accepting a suggestion did to its fact.
func uncarry(ctx context.Context, c Config, d decision, out *undecided) error {
	if d.of.Kind == harness.SuggestAdd && !d.made {
		return nil // it was there before
	}
	if err := still(ctx, c, d.after); err != nil {
		return err
	}
	switch d.of.Kind {
	case harness.SuggestAdd:
		return trash(ctx, c, d.after.id())
	case harness.SuggestRetire:
		return untrashed(ctx, c, d.after.id(), out)
	default:
		if d.after.revision() == d.before.revision() {
			return nil
		}
		now, err := revert(ctx, c, d.before)
		if err == nil {
			out.was, out.now = append(out.was, d.before), append(out.now, now)
		}
		return err
	}
}

// untrashed brings a fact back, and says so if another one is active in its
// place. One that is no longer in the trash needs nothing.
func untrashed(ctx context.Context, c Config, id string, out *undecided) error {
	e, err := untrash(ctx, c, id)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return nil
	case err != nil:
		return err
	case e.id() != id:
		out.notes = append(out.notes, fmt.Sprintf("%s stays in the trash: %s says the same now", id, e.id()))
	}
	return nil
}

func (m Model) onUndecided(msg undecided) (Model, tea.Cmd) {
	m.deciding--
	if len(msg.left) > 0 {
		m = m.did(deed{what: didDecide, decisions: msg.left})
	}
	for i := range msg.was {
		m = m.rebase(msg.was[i], msg.now[i]).patch(msg.now[i])
	}
	m = m.show(msg.back...)
	said := "Undone."
	switch n := len(msg.back); n {
	case 0:
	case 1:
		said = fmt.Sprintf("Undone: %s waits in the inbox again.", msg.back[0])
	default:
		said = fmt.Sprintf("Undone: %d wait in the inbox again.", n)
	}
	for _, note := range msg.notes {
		said += " " + note + "."
	}
	m.notice = notice{text: said, failed: len(msg.notes) > 0}
	if msg.err != nil {
		m.notice = m.fail(msg.err)
	}
	if len(msg.back) > 0 && m.mode != modeForm {
		if m.mode != modeFilter {
			m.mode = modeList
		}
		m.tab = tabInbox
		m.lists[tabInbox] = m.lists[tabInbox].selectID(msg.back[len(msg.back)-1])
	}
	return m.load()
}
