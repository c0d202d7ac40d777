package browser

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// boxes is how many fields a form has.
const boxes = 3

// box is one field of a form with its label.
type box struct {
	label string
	field widget.Field
	area  bool
}

// form is a fact or a note being written. It is a value, so a draft of it is a
// copy.
type form struct {
	n      int // tells an answer to this form from one to an earlier form
	kind   kind
	id     string // empty for a new thing
	key    string // makes saving a new thing twice save it once
	base   int    // the revision that is being changed
	revive bool   // saving brings it back from the trash first
	of     *idea  // the suggestion that saving accepts, nil for none
	boxes  [boxes]box
	was    [boxes]string
	at     int // the box with the cursor
	saving bool
}

// Indexes of a form's boxes.
const (
	factText, factCategory, factTags = 0, 1, 2
	noteTitle, noteTags, noteBody    = 0, 1, 2
)

func line(label, text string) box { return box{label: label, field: widget.Line(text)} }

func area(label, text string) box { return box{label, widget.Area(text), true} }

// formOf is the form to change an entry, or for a zero entry to make a new one
// of its kind.
func (m Model) formOf(e entry) form {
	f := form{kind: e.kind, id: e.id(), base: e.revision()}
	switch {
	case e.kind == suggestion:
		f.kind, f.id, f.of, f.base = fact, "", e.idea, e.idea.fact.Revision
	case f.id == "":
		f.key = m.c.NewKey()
	}
	if e.kind == note {
		f.boxes = [boxes]box{line("title", e.note.Title), line("tags", widget.Hashed(e.note.Tags)), area("body", e.note.Body)}
	} else {
		f.boxes = [boxes]box{area("text", e.fact.Text), line("category", e.fact.Category), line("tags", widget.Hashed(e.fact.Tags))}
	}
	for i := range f.boxes {
		f.was[i] = f.boxes[i].field.Text()
	}
	return f
}

// draftKey names the draft of a form: the id of what it changes, or the kind
// of what it makes.
func (f form) draftKey() string {
	if f.of != nil {
		return f.of.of.ID
	}
	if f.id == "" {
		return "new " + f.kind.String()
	}
	return f.id
}

// dirty reports whether something was typed that is not saved.
func (f form) dirty() bool {
	return f.changed(0) || f.changed(1) || f.changed(2)
}

// onto is the form with what was typed in it, on top of what is stored now:
// boxes that were not touched show what somebody else made of them.
func (f form) onto(now form) form {
	for i := range f.boxes {
		if !f.changed(i) {
			f.boxes[i] = now.boxes[i]
		}
	}
	f.was, f.base, f.of = now.was, now.base, now.of
	return f
}

// big is the box for long text, which $EDITOR gets.
func (f form) big() int {
	return slices.IndexFunc(f.boxes[:], func(b box) bool { return b.area })
}

// missing says what a form lacks to be saved; empty means nothing.
func (f form) missing() string {
	switch {
	case f.kind == fact && strings.TrimSpace(f.boxes[factText].field.Text()) == "":
		return "A fact needs some text."
	case f.kind == note && strings.TrimSpace(f.boxes[noteTitle].field.Text()) == "":
		return "A note needs a title."
	default:
		return ""
	}
}

func (m Model) formKeys() []render.Binding {
	save := "save"
	if m.form.of != nil {
		save = "accept"
	}
	return []render.Binding{
		{Action: "browser.save", Keys: []string{"ctrl+s"}, Help: save, Group: keyGroup, Rank: 1},
		{Action: "browser.discard", Keys: []string{"esc", "ctrl+c"}, Help: "leave, keep a draft", Group: keyGroup, Rank: 2},
		{Action: "browser.next-field", Keys: []string{"tab"}, Help: "next field", Group: keyGroup, Rank: 3},
		{Action: "browser.previous-field", Keys: []string{"shift+tab"}, Help: "field before", Group: keyGroup},
		{Action: "browser.editor", Keys: []string{"ctrl+g"}, Help: "$EDITOR", Group: keyGroup, Rank: 4},
		{Action: "browser.revert", Keys: []string{"ctrl+r"}, Help: "as it was", Group: keyGroup, Rank: 5},
	}
}

// write opens the form of the selected entry, or of a new one; a draft of it
// comes back.
func (m Model) write(e entry) Model {
	f := m.formOf(e)
	m.notice = notice{}
	if d, ok := m.drafts[f.draftKey()]; ok {
		m.notice = notice{text: "Your unsaved text is back. " + m.key("browser.revert", "ctrl+r") + " shows it as it was."}
		if d.base != f.base {
			m.notice.text = fmt.Sprintf("Your unsaved text is back; %s was changed meanwhile, now v%d.", first(f.id, e.suggested().Fact), f.base)
		}
		f = d.onto(f)
	}
	m.form.n++
	f.n, f.saving = m.form.n, false
	m.form, m.mode = f, modeForm
	return m.resize()
}

// resize tells the fields the size they are drawn in.
func (m Model) resize() Model {
	for _, p := range m.formLayout(m.width, m.height) {
		b := &m.form.boxes[p.box]
		b.field = b.field.Resize(p.width, p.height)
	}
	return m
}

func (m Model) onFormKey(k tea.KeyMsg, action string) (Model, tea.Cmd, Intent) {
	if m.form.saving {
		return m, nil, nil
	}
	switch action {
	case "browser.save":
		m, cmd := m.save()
		return m, cmd, nil
	case "browser.discard":
		return m.leaveForm(), nil, nil
	case "browser.next-field":
		m.form.at = (m.form.at + 1) % boxes
	case "browser.previous-field":
		m.form.at = (m.form.at + boxes - 1) % boxes
	case "browser.revert":
		for i := range m.form.boxes {
			if b := &m.form.boxes[i]; b.field.Text() != m.form.was[i] {
				b.field = b.field.Replace(m.form.was[i])
			}
		}
		m.notice = notice{text: "This is as it was. ^_ in a field brings back what you typed there."}
	case "browser.editor":
		return m, nil, m.outside()
	default:
		b := &m.form.boxes[m.form.at]
		if f, used := b.field.Key(k); used {
			b.field = f
			break
		}
		switch k.String() { // at a line, as in any form
		case "enter", "down":
			m.form.at = min(m.form.at+1, boxes-1)
		case "up":
			m.form.at = max(m.form.at-1, 0)
		}
	}
	return m.resize(), nil, nil
}

// leaveForm goes back to the list. What was typed becomes a draft.
func (m Model) leaveForm() Model {
	m.mode = modeList
	if !m.form.dirty() {
		m = m.drop(m.form.draftKey())
		m.notice = notice{}
		return m
	}
	m = m.keep(m.form)
	again := m.key("browser.edit", "e")
	switch {
	case m.form.of != nil:
		again = m.key("browser.amend", "e")
	case m.form.id == "":
		again = m.key("browser.new", "n")
	}
	m.notice = notice{text: "Not saved. " + again + " brings your text back."}
	return m
}

// editedOutside is what $EDITOR gave back.
type editedOutside struct {
	n    int
	text string
	err  error
}

func (editedOutside) browserMsg() {}

// outside is the intent to have the long text edited in $EDITOR.
func (m Model) outside() Intent {
	n, name := m.form.n, m.form.draftKey()
	return Edit{
		Text: m.form.boxes[m.form.big()].field.Text(),
		Name: strings.ReplaceAll(name, " ", "-") + ".md",
		Done: func(text string, err error) tea.Msg { return editedOutside{n, text, err} },
	}
}

func (m Model) onEditedOutside(msg editedOutside) Model {
	switch {
	case msg.n != m.form.n || m.mode != modeForm:
		m.notice = notice{text: "The form was left meanwhile; the editor's text was not taken.", failed: true}
	case msg.err != nil:
		m.notice = m.fail(fmt.Errorf("nothing was changed: %w", msg.err))
	case strings.TrimSpace(msg.text) == "":
		m.notice = notice{text: "The editor left no text, so nothing was changed.", failed: true}
	default:
		b := &m.form.boxes[m.form.big()]
		if text := strings.TrimSuffix(msg.text, "\n"); text != b.field.Text() {
			b.field = b.field.Replace(text)
		} else {
			m.notice = notice{text: "Nothing was changed in the editor."}
		}
		m.form.at = m.form.big()
		m = m.resize()
	}
	return m
}

// Reasons not to save at once.
var (
	// errMoved means that somebody else changed it since the form was opened.
	errMoved = errors.New("changed meanwhile")
	// errTrashed means that somebody else forgot it.
	errTrashed = errors.New("in the trash")
)

// saved answers a save.
type saved struct {
	n       int
	entry   entry // what is stored now, also for errMoved and errTrashed
	before  entry // what was stored before, none for what is new
	created bool
	err     error
}

func (saved) browserMsg() {}

// save stores the form. It stays open until the store has answered.
func (m Model) save() (Model, tea.Cmd) {
	if missing := m.form.missing(); missing != "" {
		m.notice = notice{text: missing, failed: true}
		return m, nil
	}
	if m.form.of != nil {
		return m.acceptForm()
	}
	if m.form.id != "" && !m.form.dirty() {
		m.mode = modeList
		m.notice = notice{text: "Nothing was changed."}
		return m, nil
	}
	m.form.saving = true
	m.notice = notice{}
	ctx, c, f, present := m.ctx, m.c, m.form, m.present
	return m, func() tea.Msg {
		out := saved{n: f.n}
		if f.kind == note {
			out.before, out.entry, out.err = saveNote(ctx, c.Notes, f, present)
			out.created = true
		} else {
			out.before, out.entry, out.created, out.err = saveFact(ctx, c.Facts, f)
		}
		return out
	}
}

func (m Model) onSaved(msg saved) (Model, tea.Cmd) {
	mine := msg.n == m.form.n
	if mine {
		m.form.saving = false
	}
	if msg.err != nil {
		m = m.notSaved(msg, mine)
		return m.load()
	}
	e := msg.entry
	if mine {
		m.mode = modeList
		if msg.created {
			m = m.drop(m.form.draftKey())
		} else {
			m = m.keep(m.form)
		}
	}
	undo := m.key("browser.undo", "u")
	m.notice = notice{text: fmt.Sprintf("Saved %s as v%d. %s undoes it.", e.id(), e.revision(), undo), stays: true}
	switch {
	case !msg.created:
		m.notice = notice{text: fmt.Sprintf("%s says this already, so nothing was added; %s brings your text back: \"%s\"", e.id(), m.key("browser.new", "n"), m.brief(e)), failed: true}
	case msg.before.state() == harness.StateTrashed:
		m = m.did(deed{what: didMake, id: e.id(), after: e})
	case msg.before.id() == "":
		m.notice = notice{text: fmt.Sprintf("Saved %s. %s undoes it.", e.id(), undo), stays: true}
		m = m.did(deed{what: didMake, id: e.id(), after: e})
	default:
		m = m.did(deed{what: didChange, id: e.id(), before: msg.before, after: e})
	}
	m.tab = tabOf(e.id())
	if !m.passes(m.tab)(&e) {
		m = m.showAll()
	}
	m = m.patch(e)
	m.lists[m.tab] = m.lists[m.tab].selectID(e.id())
	return m.load()
}

// notSaved says why the text is not stored and what the next ctrl+s will do.
func (m Model) notSaved(msg saved, mine bool) Model {
	switch {
	case !mine:
		m.notice = m.fail(msg.err)
	case errors.Is(msg.err, errMoved):
		m.form = m.form.onto(m.formOf(msg.entry))
		m.notice = notice{text: fmt.Sprintf("Changed elsewhere; %s again saves yours over it: \"%s\"", m.key("browser.save", "ctrl+s"), m.brief(msg.entry)), failed: true}
	case errors.Is(msg.err, errTrashed):
		m.form.base, m.form.revive = msg.entry.revision(), true
		m.notice = notice{text: fmt.Sprintf("%s was forgotten elsewhere. %s again brings it back with this text.", m.form.id, m.key("browser.save", "ctrl+s")), failed: true}
	case errors.Is(msg.err, harness.ErrNotFound) && m.form.id != "":
		m.notice = notice{text: fmt.Sprintf("%s was deleted elsewhere. %s again saves this as a new %s.", m.form.id, m.key("browser.save", "ctrl+s"), m.form.kind), failed: true}
		m.form.id, m.form.key, m.form.base = "", m.c.NewKey(), 0
	default:
		m.notice = m.fail(msg.err)
	}
	return m
}
