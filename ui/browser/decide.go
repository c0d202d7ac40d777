package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// decision is what became of a suggestion, with all that undoing it needs.
type decision struct {
	of            harness.Suggestion
	refused       bool
	before, after entry    // the fact; before is none for an addition
	made          bool     // an addition is a fact that was not there
	forgot        []string // facts that it contradicted
	back          bool     // what accepting it did is undone
}

// decided answers one or more decisions.
type decided struct {
	ids  []string // all that were to be decided
	done []decision
	form int // the form that it was accepted with, 0 for none
	// fails are the errors by the order of ids; the store was asked about each.
	fails []error
}

func (decided) browserMsg() {}

// accepting is what a person wants of a suggestion.
type accepting struct {
	idea
	edit    harness.FactEdit
	replace bool // forget what it contradicts
}

// decide has the store accept suggestions, or refuse one, in turn. They leave
// the list at once and come back if the store says no.
func (m Model) decide(form int, refuse bool, all ...accepting) (Model, tea.Cmd) {
	ids := make([]string, len(all))
	for n, a := range all {
		ids[n] = a.of.ID
	}
	m.deciding++
	if form == 0 {
		m = m.hide(true, ids...)
		m.mode = modeList
	}
	ctx, c, facts := m.ctx, m.c, m.lists[tabFacts]
	m, look := m.look()
	return m, tea.Batch(look, func() tea.Msg {
		out := decided{ids: ids, form: form}
		made := map[string]bool{}
		for _, a := range all {
			d, done, err := settle(ctx, c, a, refuse)
			if _, had := facts.byID(d.after.id()); had || made[d.after.id()] {
				d.made = false
			}
			if done {
				made[d.after.id()] = true
				out.done = append(out.done, d)
			}
			if err != nil {
				out.fails = append(out.fails, err)
			}
		}
		return out
	})
}

// settle decides one suggestion. If done is true it is decided even if there is
// an error, which is about what was to be done besides.
func settle(ctx context.Context, c Config, a accepting, refuse bool) (d decision, done bool, err error) {
	d = decision{of: a.of, refused: refuse}
	if refuse {
		if err := c.Inbox.Refuse(ctx, a.of.ID); err != nil {
			return d, false, fmt.Errorf("refuse %s: %w", a.of.ID, err)
		}
		return d, true, nil
	}
	if a.of.Kind != harness.SuggestAdd {
		f, err := c.Facts.Get(ctx, a.of.Fact)
		if err != nil {
			return d, false, fmt.Errorf("read %s: %w", a.of.Fact, err)
		}
		d.before = ofFact(f)
	}
	f, err := c.Inbox.Accept(ctx, a.of.ID, a.edit)
	if err != nil {
		return d, false, fmt.Errorf("accept %s: %w", a.of.ID, err)
	}
	d.after = ofFact(f)
	d.made = a.of.Kind == harness.SuggestAdd && f.Revision == 1 && f.Accepted && f.Source == a.of.Source
	if !a.replace {
		return d, true, nil
	}
	for _, opposed := range a.against {
		if opposed.ID == f.ID {
			continue
		}
		if err := still(ctx, c, ofFact(opposed)); err != nil {
			return d, true, fmt.Errorf("%s is kept: %w", opposed.ID, err)
		}
		if err := trash(ctx, c, opposed.ID); err != nil {
			return d, true, fmt.Errorf("%s is kept: %w", opposed.ID, err)
		}
		d.forgot = append(d.forgot, opposed.ID)
	}
	return d, true, nil
}

// onDecideKey handles the keys that decide; ok is false for any other.
func (m Model) onDecideKey(action string) (next Model, cmd tea.Cmd, ok bool) {
	i, _ := m.thinking()
	switch action {
	case "browser.accept", "browser.replace":
		m, cmd = m.decide(0, false, accepting{idea: i, replace: action == "browser.replace"})
	case "browser.refuse":
		m, cmd = m.decide(0, true, accepting{idea: i})
	case "browser.amend":
		e, _ := m.selected()
		m = m.write(e)
	case "browser.accept-shown":
		m.asked, m.mode, m.notice = m.askable(), modeConfirm, notice{}
	default:
		return m, nil, false
	}
	return m, cmd, true
}

// acceptForm accepts a suggestion as the form has it.
func (m Model) acceptForm() (Model, tea.Cmd) {
	f := m.form
	text := strings.TrimSpace(f.boxes[factText].field.Text())
	category := first(strings.TrimSpace(f.boxes[factCategory].field.Text()), harness.DefaultCategory)
	tags := widget.Tags(f.boxes[factTags].field.Text())
	var edit harness.FactEdit
	if f.changed(factText) {
		edit.Text = &text
	}
	if f.changed(factCategory) {
		edit.Category = &category
	}
	if f.changed(factTags) {
		edit.Tags = &tags
	}
	m.form.saving = true
	m.notice = notice{}
	return m.decide(f.n, false, accepting{idea: *f.of, edit: edit})
}

func (m Model) onDecided(msg decided) (Model, tea.Cmd) {
	m.deciding--
	m = m.show(msg.ids...)
	if len(msg.done) > 0 {
		m = m.did(deed{what: didDecide, decisions: msg.done})
		for _, d := range msg.done {
			m = m.hide(false, d.of.ID)
		}
	}
	mine := msg.form != 0 && msg.form == m.form.n
	if mine {
		m.form.saving = false
	}
	switch {
	case mine && len(msg.done) == 0:
		m = m.notAccepted(msg.fails[0])
	case len(msg.done) == 0:
		m.notice = m.undecidable(msg)
		m.lists[tabInbox] = m.lists[tabInbox].selectID(msg.ids[0])
	default:
		if mine {
			m = m.drop(m.form.draftKey())
			m.mode = modeList
		}
		m.notice = m.decisionWords(msg)
	}
	return m.load()
}

// undecidable says why nothing was decided.
func (m Model) undecidable(msg decided) notice {
	err, id := msg.fails[0], msg.ids[0]
	if n := len(msg.ids); n > 1 {
		return notice{text: fmt.Sprintf("None of the %d was accepted: %s", n, m.c.Words(err)), failed: true}
	}
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return notice{text: fmt.Sprintf("%s no longer waits: it was decided in another window, or its fact is gone.", id), failed: true}
	case errors.Is(err, harness.ErrStale):
		return notice{text: fmt.Sprintf("Not accepted: the fact was changed since %s was suggested.", id), failed: true}
	default:
		return m.fail(err)
	}
}

// notAccepted keeps the form of a suggestion that was not accepted, and says
// what the next ctrl+s will do.
func (m Model) notAccepted(err error) Model {
	i, save := *m.form.of, m.key("browser.save", "ctrl+s")
	gone, stale := errors.Is(err, harness.ErrNotFound), errors.Is(err, harness.ErrStale)
	switch {
	case gone && i.of.Kind == harness.SuggestAdd:
		m.form.key = m.c.NewKey()
		m.notice = notice{text: fmt.Sprintf("%s was decided in another window. %s again saves this as a new fact.", i.of.ID, save), failed: true}
	case gone, stale:
		m.form.id, m.form.base, m.form.revive = i.of.Fact, 0, false
		m.notice = notice{text: fmt.Sprintf("%s or %s was changed elsewhere. %s again saves this as an edit of %s.", i.of.ID, i.of.Fact, save, i.of.Fact), failed: true}
	default:
		m.notice = m.fail(err)
		return m
	}
	m.form.of = nil
	for n := range m.form.was { // all of it is to be saved
		m.form.was[n] = ""
	}
	return m
}

// decisionWords are the line after a decision.
func (m Model) decisionWords(msg decided) notice {
	undo := m.key("browser.undo", "u")
	if len(msg.ids) > 1 {
		out := notice{text: fmt.Sprintf("Accepted %d. %s undoes them all.", len(msg.done), undo), stays: true}
		if n := len(msg.fails); n > 0 {
			out = notice{text: fmt.Sprintf("Accepted %d, %s undoes them; %d not: %s", len(msg.done), undo, n, m.c.Words(msg.fails[0])), failed: true, stays: true}
		}
		return out
	}
	d := msg.done[0]
	said := fmt.Sprintf("%s %s undoes it: \"%s\"", m.outcome(d), undo, m.brief(d.after))
	switch {
	case d.refused:
		said = fmt.Sprintf("Refused %s; it is not suggested again for 30 days. %s brings it back.", d.of.ID, undo)
	case len(msg.fails) > 0:
		return notice{text: fmt.Sprintf("%s %s undoes it. %s", m.outcome(d), undo, m.c.Words(msg.fails[0])), failed: true, stays: true}
	}
	return notice{text: said, stays: true}
}

// outcome is what accepting a suggestion did.
func (m Model) outcome(d decision) string {
	id, forgot := d.after.id(), ""
	if len(d.forgot) > 0 {
		forgot = ", and forgot " + strings.Join(d.forgot, ", ")
	}
	switch {
	case d.of.Kind == harness.SuggestRetire:
		return fmt.Sprintf("Accepted %s: %s is in the trash%s.", d.of.ID, id, forgot)
	case d.of.Kind == harness.SuggestChange:
		return fmt.Sprintf("Accepted %s: %s is v%d now%s.", d.of.ID, id, d.after.revision(), forgot)
	case !d.made:
		return fmt.Sprintf("Accepted %s: %s says this already%s.", d.of.ID, id, forgot)
	default:
		return fmt.Sprintf("Accepted %s as %s%s.", d.of.ID, id, forgot)
	}
}
