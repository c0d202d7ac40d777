// Package picker is the screen that lists the sessions: find one as you type,
// open, rename, pin or delete it. The one thing to know: the selection is kept
// by id, never by row, so whatever other windows do to the list meanwhile, a
// key acts on the session that was under the eye.
//
// The root calls Open when the screen comes to the front, sends Changed when
// the store changed, and tea.WindowSizeMsg with the size that View gets.
package picker

import (
	"context"
	"os"
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
	// Sessions is the only part that must be given.
	Sessions harness.Sessions
	// Transcript shows the last messages beside the list; nil shows only the
	// start of the last one.
	Transcript harness.Transcript
	// Search finds messages under the titles; nil finds titles only.
	Search harness.Searcher
	// Facts lets a person forget what was learned from a chat together with it;
	// nil leaves that out.
	Facts harness.Facts
	// Self tells this process from other holders; a zero PID means this one.
	Self harness.Holder
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is the clock of relative times; nil means time.Now.
	Now func() time.Time
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name, such as "picker.rename"; an
	// empty list leaves an action without a key.
	Keys map[string][]string
}

// Intent is what the root is to do; nil means nothing. It is one of Open,
// NewChat, Help and Back.
type Intent interface{ intent() }

type (
	// Open asks for a session; Message is the record number to go to, 0 for
	// where the session was left.
	Open struct {
		Session harness.SessionID
		Message int
	}
	// NewChat asks for a chat without messages.
	NewChat struct{}
	// Help asks for the help overlay with the keys of this screen.
	Help struct{}
	// Back asks for the screen before.
	Back struct{}
)

func (Open) intent()    {}
func (NewChat) intent() {}
func (Help) intent()    {}
func (Back) intent()    {}

// Msg is any message that belongs to this screen.
type Msg interface{ pickerMsg() }

// Changed tells the screen that the store changed. It is ignored while the
// screen is not in front.
type Changed struct{}

func (Changed) pickerMsg() {}

// Model is the screen. It is a value: Update returns the next one.
type Model struct {
	ctx context.Context
	c   Config

	front   bool
	present harness.SessionID
	running bool
	width   int
	height  int

	trash  bool // the deleted sessions are listed
	list   list
	filter widget.Field
	rename rename
	notice notice
	gone   []gone // what undo brings back, last last

	loading loading
	preview preview
	found   found
}

// notice is the line that tells what happened. The next key takes it away, but
// an offer to undo stays while one only moves about.
type notice struct {
	text   string
	failed bool
	undo   bool
}

// gone is a deleted session that undo can bring back, with the facts that came
// from it.
type gone struct {
	id     harness.SessionID
	title  string
	facts  []string // that may be forgotten too
	forgot []string // that were, and come back with it
	// doubled says which of them stayed forgotten, in sentences.
	doubled []string
	back    bool // undo was asked for before the store had deleted it
}

// New returns the screen, empty until Open.
func New(ctx context.Context, c Config) Model {
	if c.Self.PID == 0 {
		c.Self.PID = os.Getpid()
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // what Config.Now says
	}
	if c.Words == nil {
		c.Words = error.Error
	}
	return Model{ctx: ctx, c: c, filter: widget.Line("")}
}

// Open brings the screen to the front: an empty filter, the present session
// selected and marked, and the list read anew.
func (m Model) Open(present harness.SessionID, running bool) (Model, tea.Cmd) {
	m.front, m.present, m.running = true, present, running
	if m.trash {
		m.trash, m.list = false, list{hidden: m.list.hidden}
		m.loading = loading{n: m.loading.n + 1} // a reading of the trash no longer counts
	}
	m.filter, m.rename, m.notice = widget.Line(""), rename{}, notice{}
	m.found = m.found.reset()
	m.list = m.list.find("", m.today())
	m.list = m.list.selectKey(key{session: present})
	return m.load()
}

// Present tells which session is open in this window and whether a run of it
// is at work.
func (m Model) Present(id harness.SessionID, running bool) Model {
	m.present, m.running = id, running
	return m
}

// SetTheme changes the colours.
func (m Model) SetTheme(t *themes.Theme) Model {
	m.c.Theme = t
	return m
}

// Bindings are the keys of the screen as they are now.
func (m Model) Bindings() []render.Binding {
	const group = "Sessions"
	none, held := "", ""
	s, ok := m.selected()
	switch {
	case m.rename.id != "":
		save := "save the title"
		if m.rename.tags {
			save = "save the tags"
		}
		return m.keyed([]render.Binding{
			{Action: "picker.save", Keys: []string{"enter"}, Help: save, Group: group, Rank: 1},
			{Action: "picker.discard", Keys: []string{"esc", "ctrl+c"}, Help: "leave as it was", Group: group, Rank: 2},
		})
	case !ok && !m.onHit():
		none = "no session is selected"
	case !ok:
		held = "this is a message; choose its session"
	default:
		held = m.mayDelete(s)
	}
	noRow := none
	if noRow == "" && m.onHit() {
		noRow = "this is a message; choose its session"
	}
	trash := "trash"
	if m.trash {
		noRow = first(none, "it is deleted; bring it back first")
		held, trash = noRow, "sessions"
	}
	undo := ""
	if len(m.gone) == 0 {
		undo = "nothing was deleted here"
	}
	open := render.Binding{Action: "picker.open", Keys: []string{"enter"}, Help: "open", Group: group, Rank: 1, Off: none}
	if m.trash {
		open.Help = "bring back"
	}
	if m.list.failed != nil {
		open.Help, open.Off = "try again", ""
	}
	offer := []string{"ctrl+_"}
	if m.notice.undo {
		offer = append(offer, "ctrl+u")
	}
	out := []render.Binding{
		open,
		{Action: "picker.new", Keys: []string{"ctrl+n"}, Help: "new chat", Group: group, Rank: 3},
		{Action: "picker.rename", Keys: []string{"ctrl+r"}, Help: "rename", Group: group, Rank: 4, Off: noRow},
		{Action: "picker.delete", Keys: []string{"ctrl+d"}, Help: "delete", Group: group, Rank: 5, Off: first(none, held)},
		{Action: "picker.undo", Keys: offer, Help: "undo delete", Group: group, Off: undo},
		{Action: "picker.pin", Keys: []string{"ctrl+b"}, Help: "pin", Group: group, Rank: 6, Off: noRow},
		{Action: "picker.tags", Keys: []string{"ctrl+t"}, Help: "tags", Group: group, Rank: 7, Off: noRow},
		{Action: "picker.trash", Keys: []string{"tab"}, Help: trash, Group: group, Rank: 8},
		{Action: "picker.back", Keys: []string{"esc", "ctrl+c"}, Help: "back", Group: group, Rank: 2},
		{Action: "picker.up", Keys: []string{"up", "ctrl+p"}, Help: "up", Group: group},
		{Action: "picker.down", Keys: []string{"down"}, Help: "down", Group: group},
		{Action: "picker.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: group},
		{Action: "picker.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: group},
		{Action: "picker.first", Keys: []string{"home"}, Help: "first", Group: group},
		{Action: "picker.last", Keys: []string{"end"}, Help: "last", Group: group},
		{Action: "picker.help", Keys: []string{"f1"}, Help: "help", Group: group, Rank: 9},
	}
	if m.notice.undo && len(m.lastGone().facts) > 0 { // else ctrl+f moves the cursor
		out = append(out, render.Binding{Action: "picker.forget-facts", Keys: []string{"ctrl+f"}, Help: "forget its facts too", Group: group})
	}
	return m.keyed(out)
}

// lastGone is the session that undo brings back next; zero if there is none.
func (m Model) lastGone() gone {
	if len(m.gone) == 0 {
		return gone{}
	}
	return m.gone[len(m.gone)-1]
}

// keyed puts in the keys of the configuration.
func (m Model) keyed(b []render.Binding) []render.Binding {
	for i := range b {
		if keys, ok := m.c.Keys[b[i].Action]; ok {
			b[i].Keys = slices.Clone(keys)
		}
	}
	return b
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
