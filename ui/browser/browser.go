// Package browser is the memory browser: facts, notes, the inbox of what the
// model would like to remember, and the trash, to be read, searched, corrected,
// switched off, accepted or refused, forgotten and brought back. The one
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
	// Inbox is what was suggested and waits to be decided. Without it, or without
	// Facts, there is no tab of it.
	Inbox harness.Inbox
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
	tabInbox
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
	modeConfirm
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
	// deciding counts the decisions that the store is still at.
	deciding int
	// asked are the suggestions that a yes accepts.
	asked []*idea
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

// OpenInbox is Open at the inbox, or at the facts if there is none.
func (m Model) OpenInbox(present harness.SessionID) (Model, tea.Cmd) {
	if !m.hasInbox() {
		return m.openTab(present, tabFacts)
	}
	return m.openTab(present, tabInbox)
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

// Inspect opens the screen at a fact, a note or a suggestion, by id.
func (m Model) Inspect(present harness.SessionID, id string) (Model, tea.Cmd) {
	m.away = false
	m, cmd := m.Open(present)
	if m.mode == modeForm {
		return m, cmd
	}
	m.tab = tabOf(id)
	m.lists[m.tab] = m.lists[m.tab].selectID(id)
	return m, cmd
}

// SetTheme changes the colours.
func (m Model) SetTheme(t *themes.Theme) Model {
	m.c.Theme = t
	return m.laid()
}

// Actions are the keys of the screen in all its states, for the names that the
// configuration may use.
func Actions() []render.Binding {
	var m Model
	actions := m.Bindings()
	for _, keys := range [][]render.Binding{m.formKeys(), m.historyKeys(), m.filterKeys(), m.viewKeys(), m.chooseKeys(), m.confirmKeys()} {
		for _, b := range keys {
			if !slices.ContainsFunc(actions, func(a render.Binding) bool { return a.Action == b.Action }) {
				actions = append(actions, b)
			}
		}
	}
	return actions
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
	case modeConfirm:
		b = m.confirmKeys()
	default:
		b = m.listKeys()
	}
	b = append(b, help)
	return widget.Rebind(b, m.c.Keys)
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
