// Package browser is the memory browser: facts, notes and the trash, to be
// read, searched, corrected, switched off, forgotten and brought back. The one
// thing to know: what a person typed is never thrown away. A form that is left
// becomes a draft that the same key brings back, a save that fails leaves the
// form as it was, and every change can be undone from the history or the trash.
//
// The root calls Open when the screen comes to the front, sends Changed when
// the store changed, and tea.WindowSizeMsg with the size that View gets.
package browser

import (
	"context"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Config is what the screen works with.
type Config struct {
	// Facts and Notes are the memory; either may be nil, and its tab says so.
	Facts harness.Facts
	Notes harness.Notes
	// Sessions gives the titles of the chats that things come from; nil shows
	// their ids.
	Sessions harness.Sessions
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is the clock of ages; nil means time.Now.
	Now func() time.Time
	// NewKey makes the keys that keep a repeated save from saving twice; nil
	// means harness.NewID.
	NewKey func() string
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name, such as "browser.forget"; an
	// empty list leaves an action without a key.
	Keys map[string][]string
}

// Intent is what the root is to do; nil means nothing. It is one of Open, Edit,
// Help and Back.
type Intent interface{ intent() }

type (
	// Open asks for the chat at the message that something comes from; Message
	// is the record number, 0 if it is not known.
	Open struct {
		Session harness.SessionID
		Message int
	}
	// Edit asks the root to have a text edited in $EDITOR. Name is a file name
	// that tells the editor what it is. The root sends what Done returns back
	// to this screen, with the edited text or the error.
	Edit struct {
		Text, Name string
		Done       func(text string, err error) tea.Msg
	}
	// Help asks for the help overlay with the keys of this screen.
	Help struct{}
	// Back asks for the screen before.
	Back struct{}
)

func (Open) intent() {}
func (Edit) intent() {}
func (Help) intent() {}
func (Back) intent() {}

// Msg is any message that belongs to this screen.
type Msg interface{ browserMsg() }

// Changed tells the screen that the store changed. It is ignored while the
// screen is not in front.
type Changed struct{}

func (Changed) browserMsg() {}

// tab is one of the lists.
type tab int

const (
	tabFacts tab = iota
	tabNotes
	tabTrash
	tabs
)

// mode is what the keys mean now.
type mode int

const (
	modeList mode = iota
	modeFilter
	modeView
	modeForm
	modeHistory
	modeChoose
)

// Model is the screen. It is a value: Update returns the next one.
type Model struct {
	ctx context.Context
	c   Config

	front         bool
	present       harness.SessionID
	width, height int

	tab     tab
	mode    mode
	lists   [tabs]list
	filter  widget.Field
	narrow  narrowed
	order   order
	chooser chooser
	form    form
	drafts  map[string]form // by id, or by kind for new things
	past    past
	page    page // what is read now: one thing, or a revision of it
	notice  notice
	deeds   []deed // what u takes back, last last
	back    string // the id that is to come back once the store has forgotten it
	// merging is the fact that is to become part of another one.
	merging string
	// away says that the screen was left for a source, to come back to as it was.
	away bool

	loading loading
	origin  origin
}

// notice is the line that tells what happened. The next key takes it away, but
// an offer stays while one only moves about.
type notice struct {
	text   string
	failed bool
	stays  bool
}

// New returns the screen, empty until Open.
func New(ctx context.Context, c Config) Model {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // what Config.Now says
	}
	if c.NewKey == nil {
		c.NewKey = harness.NewID
	}
	if c.Words == nil {
		c.Words = error.Error
	}
	return Model{ctx: ctx, c: c, filter: widget.Line("")}
}

// Open brings the screen to the front and reads the memory anew. New notes
// belong to the present session, which may be empty. A form that was being
// filled in is still there. Whoever left for a source comes back to where it
// was.
func (m Model) Open(present harness.SessionID) (Model, tea.Cmd) {
	m.front, m.present, m.notice = true, present, notice{}
	m.origin.of = "" // a chat may have been deleted or brought back since
	if m.away {
		m.away = false
		return m.load()
	}
	if m.mode != modeForm {
		m.mode = modeList
		m = m.showAll()
	}
	return m.load()
}

// OpenFacts is Open at the facts.
func (m Model) OpenFacts(present harness.SessionID) (Model, tea.Cmd) {
	return m.openTab(present, tabFacts)
}

// OpenNotes is Open at the notes.
func (m Model) OpenNotes(present harness.SessionID) (Model, tea.Cmd) {
	return m.openTab(present, tabNotes)
}

func (m Model) openTab(present harness.SessionID, t tab) (Model, tea.Cmd) {
	m.away = false
	m, cmd := m.Open(present)
	if m.mode == modeForm {
		return m, cmd
	}
	m.tab = t
	return m, cmd
}

// Only opens the screen at some facts and notes and leaves out all others,
// until the person wants to see them. They are shown in the order of their ids
// here. What names them, such as "used in an answer"; say is what is said
// first, which may be empty.
func (m Model) Only(present harness.SessionID, ids []string, what, say string) (Model, tea.Cmd) {
	t := tabFacts
	if len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return kindOf(id) == fact }) {
		t = tabNotes
	}
	m, cmd := m.openTab(present, t)
	if m.mode == modeForm {
		m.notice = notice{text: "Save or leave this first."}
		return m, cmd
	}
	m.narrow = narrowed{ids: append([]string{}, ids...), what: what}
	m.order = byRank
	m.notice = notice{text: say, stays: true}
	m = m.resort()
	if len(ids) > 0 {
		m.lists[t].at = 0
		m.lists[t] = m.lists[t].selectID(ids[0])
	}
	return m, cmd
}

// Inspect opens the screen at a fact or note, by id.
func (m Model) Inspect(present harness.SessionID, id string) (Model, tea.Cmd) {
	m.away = false
	m, cmd := m.Open(present)
	if m.mode == modeForm {
		return m, cmd
	}
	m.tab = tabFacts
	if kindOf(id) == note {
		m.tab = tabNotes
	}
	m.lists[m.tab] = m.lists[m.tab].selectID(id)
	return m, cmd
}

// SetTheme changes the colours.
func (m Model) SetTheme(t *themes.Theme) Model {
	m.c.Theme = t
	return m.laid()
}

// Bindings are the keys of the screen as they are now.
func (m Model) Bindings() []render.Binding {
	help := render.Binding{Action: "browser.help", Keys: []string{"?", "f1"}, Help: "help", Group: keyGroup, Rank: 11}
	if m.mode == modeForm || m.mode == modeFilter {
		help.Keys = []string{"f1"}
	}
	var b []render.Binding
	switch m.mode {
	case modeForm:
		b = m.formKeys()
	case modeHistory:
		b = m.historyKeys()
	case modeFilter:
		b = m.filterKeys()
	case modeView:
		b = m.viewKeys()
	case modeChoose:
		b = m.chooseKeys()
	default:
		b = m.listKeys()
	}
	b = append(b, help)
	for i := range b {
		if keys, ok := m.c.Keys[b[i].Action]; ok {
			b[i].Keys = slices.Clone(keys)
		}
	}
	return b
}

// key is the key of an action as a sentence names it.
func (m Model) key(action, usual string) string { return widget.KeyFor(m.c.Keys, action, usual) }

const keyGroup = "Memory"

func (m Model) filterKeys() []render.Binding {
	return []render.Binding{
		{Action: "browser.keep-filter", Keys: []string{"enter"}, Help: "keep the filter", Group: keyGroup, Rank: 1},
		{Action: "browser.clear-filter", Keys: []string{"esc", "ctrl+c"}, Help: "show all", Group: keyGroup, Rank: 2},
		{Action: "browser.up", Keys: []string{"up"}, Help: "up", Group: keyGroup},
		{Action: "browser.down", Keys: []string{"down"}, Help: "down", Group: keyGroup},
	}
}

// moving are the keys that every list here has.
func moving() []render.Binding {
	return []render.Binding{
		{Action: "browser.up", Keys: []string{"up", "k"}, Help: "up", Group: keyGroup},
		{Action: "browser.down", Keys: []string{"down", "j"}, Help: "down", Group: keyGroup},
		{Action: "browser.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: keyGroup},
		{Action: "browser.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: keyGroup},
		{Action: "browser.first", Keys: []string{"home", "g"}, Help: "first", Group: keyGroup},
		{Action: "browser.last", Keys: []string{"end", "G"}, Help: "last", Group: keyGroup},
	}
}

// acting are the keys that act on the selected thing.
func (m Model) acting() []render.Binding {
	e, ok := m.selected()
	none := ""
	if !ok {
		none = "nothing is selected"
	}
	trashed := none
	if ok && e.state() == harness.StateTrashed {
		trashed = "it is in the trash: " + m.key("browser.undo", "u") + " brings it back"
	}
	single := ""
	if ok && e.kind == note {
		single = "notes are not merged"
	}
	pin, off := "pin", "off"
	if e.pinned() {
		pin = "unpin"
	}
	if e.state() == harness.StateOff {
		off = "on"
	}
	return []render.Binding{
		{Action: "browser.edit", Keys: []string{"e"}, Help: "edit", Group: keyGroup, Rank: 1, Off: trashed},
		{Action: "browser.pin", Keys: []string{"p"}, Help: pin, Group: keyGroup, Rank: 5, Off: trashed},
		{Action: "browser.off", Keys: []string{"o"}, Help: off, Group: keyGroup, Rank: 6, Off: trashed},
		{Action: "browser.forget", Keys: []string{"d"}, Help: "forget", Group: keyGroup, Rank: 4, Off: trashed},
		{Action: "browser.merge", Keys: []string{"m"}, Help: "merge", Group: keyGroup, Rank: 15, Off: first(trashed, single)},
		{Action: "browser.external", Keys: []string{"E"}, Help: "$EDITOR", Group: keyGroup, Rank: 16, Off: trashed},
		{Action: "browser.history", Keys: []string{"h"}, Help: "history", Group: keyGroup, Rank: 7, Off: none},
		{Action: "browser.source", Keys: []string{"enter"}, Help: "its source", Group: keyGroup, Rank: 8, Off: first(none, m.unreachable(e))},
	}
}

func (m Model) listKeys() []render.Binding {
	undo := ""
	switch _, ok := m.selected(); {
	case m.tab == tabTrash && !ok:
		undo = "nothing is selected"
	case m.tab != tabTrash:
		undo = m.nothingDone()
	}
	undoHelp, undoRank := "undo", 9
	if m.tab == tabTrash {
		undoHelp, undoRank = "restore", 1
	}
	add := ""
	if !m.has(m.newKind()) {
		add = "this memory is off"
	}
	none := ""
	if _, ok := m.selected(); !ok {
		none = "nothing is selected"
	}
	uncategorised, unfiltered, all := "", "", 2
	if m.tab == tabNotes {
		uncategorised = "notes have no category"
	}
	if !m.filtering(m.tab) {
		unfiltered, all = "everything is shown", 0
	}
	out := append(m.acting(),
		render.Binding{Action: "browser.new", Keys: []string{"n"}, Help: "new " + m.newKind().String(), Group: keyGroup, Rank: 2, Off: add},
		render.Binding{Action: "browser.undo", Keys: []string{"u", "ctrl+_"}, Help: undoHelp, Group: keyGroup, Rank: undoRank, Off: undo},
		render.Binding{Action: "browser.view", Keys: []string{"v", "right"}, Help: "read", Group: keyGroup, Rank: 10, Off: none},
		render.Binding{Action: "browser.filter", Keys: []string{"/"}, Help: "search", Group: keyGroup, Rank: 3},
		render.Binding{Action: "browser.category", Keys: []string{"c"}, Help: "category", Group: keyGroup, Rank: 12, Off: uncategorised},
		render.Binding{Action: "browser.tag", Keys: []string{"t"}, Help: "tag", Group: keyGroup, Rank: 13},
		render.Binding{Action: "browser.sort", Keys: []string{"s"}, Help: "sort", Group: keyGroup, Rank: 14},
		render.Binding{Action: "browser.show-all", Keys: []string{"x"}, Help: "show all", Group: keyGroup, Rank: all, Off: unfiltered},
		render.Binding{Action: "browser.facts", Keys: []string{"1"}, Help: "facts", Group: keyGroup},
		render.Binding{Action: "browser.notes", Keys: []string{"2"}, Help: "notes", Group: keyGroup},
		render.Binding{Action: "browser.trash", Keys: []string{"3"}, Help: "trash", Group: keyGroup},
		render.Binding{Action: "browser.next", Keys: []string{"tab"}, Help: "next tab", Group: keyGroup},
		render.Binding{Action: "browser.previous", Keys: []string{"shift+tab"}, Help: "tab before", Group: keyGroup},
		render.Binding{Action: "browser.back", Keys: []string{"esc", "ctrl+c"}, Help: "back", Group: keyGroup, Rank: 3},
	)
	return append(out, moving()...)
}

func (m Model) viewKeys() []render.Binding {
	out := append(m.acting(),
		render.Binding{Action: "browser.undo", Keys: []string{"u", "ctrl+_"}, Help: "undo", Group: keyGroup, Rank: 9, Off: m.nothingDone()},
		render.Binding{Action: "browser.leave", Keys: []string{"esc", "left", "v", "ctrl+c"}, Help: "back to the list", Group: keyGroup, Rank: 3})
	return append(out, moving()...)
}

// nothingDone says why there is nothing to undo; empty means there is something.
func (m Model) nothingDone() string {
	if len(m.deeds) == 0 {
		return "there is nothing to undo"
	}
	return ""
}

// newKind is what n makes here: a note among notes, else a fact.
func (m Model) newKind() kind {
	if m.tab == tabNotes || m.c.Facts == nil && m.c.Notes != nil {
		return note
	}
	return fact
}

// has reports whether the memory of a kind is there.
func (m Model) has(k kind) bool {
	if k == note {
		return m.c.Notes != nil
	}
	return m.c.Facts != nil
}

// keep makes a draft of a form, drop forgets it.
func (m Model) keep(f form) Model {
	next := maps.Clone(m.drafts)
	if next == nil {
		next = map[string]form{}
	}
	next[f.draftKey()] = f
	m.drafts = next
	return m
}

func (m Model) drop(draftKey string) Model {
	m.drafts = maps.Clone(m.drafts)
	delete(m.drafts, draftKey)
	return m
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
