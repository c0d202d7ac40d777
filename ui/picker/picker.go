// Package picker is the screen that lists the sessions: find one as you type,
// open, fork, rename, pin or delete it. The one thing to know: the selection is
// kept by id, never by row, so whatever other windows do to the list meanwhile,
// a key acts on the session that was under the eye.
//
// The root calls Open when the screen comes to the front, sends Changed when
// the store changed, and tea.WindowSizeMsg with the size that View gets.
package picker

import (
	"context"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/widget"
)

// Config is what the screen works with.
type Config struct {
	// Sessions is the only part that must be given.
	Sessions harness.Sessions
	// Transcript shows the last messages of a session; nil shows only the start
	// of the last one.
	Transcript harness.Transcript
	// Search finds messages under the titles; nil finds titles only.
	Search harness.Searcher
	// Runs tells how runs stand that are kept elsewhere; nil if there are none.
	Runs Runs
	// Facts lets a person forget what was learned from a chat together with it;
	// nil leaves that out.
	Facts harness.Facts
	// Export writes a session to a file and returns where it is. To is what the
	// person typed: a path, whose end may say the format. It must not replace a
	// file. Nil turns the action off.
	Export func(ctx context.Context, id harness.SessionID, to string) (path string, err error)
	// Dir is the directory that the list can be narrowed to, as sessions record
	// it; empty turns that off.
	Dir string
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
// NewChat, Copy, Help and Back.
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
	// Copy asks for Text on the clipboard.
	Copy struct{ Text string }
	// Help asks for the help overlay with the keys of this screen.
	Help struct{}
	// Back asks for the screen before.
	Back struct{}
)

func (Open) intent()    {}
func (NewChat) intent() {}
func (Copy) intent()    {}
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

	window  window
	show    show
	list    list
	filter  widget.Field
	entry   entry
	menu    menu
	notice  notice
	gone    []gone // what undo brings back, last last
	loading loading
	found   found
	preview preview
	// away are the unfinished runs that are kept elsewhere.
	away map[harness.SessionID]harness.Run
}

// window is where the screen is and what is open behind it.
type window struct {
	front         bool
	width, height int
	present       harness.SessionID // open in this window
	running       bool              // a run of it is at work
}

// show is what a person chose to see. All but the trash is kept while the
// program runs.
type show struct {
	trash bool // the deleted sessions are listed
	here  bool // of Config.Dir only
	order order
}

// notice is the line that tells what happened. The next key takes it away, but
// an offer to undo stays while one only moves about, and what was typed for a
// session that is gone while one types on.
type notice struct {
	text   string
	failed bool
	undo   bool
	stays  bool
}

// outlives reports whether the notice stays after a key.
func (n notice) outlives(action string, moves bool) bool {
	if n.stays {
		return moves || action == ""
	}
	return n.undo && (moves || action == "picker.undo" || action == "picker.forget-facts")
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
	return Model{ctx: ctx, c: c, filter: widget.Line(""), found: found{pause: searchPause}}
}

// Open brings the screen to the front: an empty filter, the present session
// selected and marked, and the list read anew.
func (m Model) Open(present harness.SessionID, running bool) (Model, tea.Cmd) {
	m.window.front, m.window.present, m.window.running = true, present, running
	if m.show.trash {
		m.show.trash, m.list = false, m.list.emptied(false)
		m.loading = m.loading.dropped() // a reading of the trash no longer counts
	}
	m.filter, m.entry, m.menu, m.notice = widget.Line(""), entry{n: m.entry.n}, menu{}, notice{}
	m.preview.peek, m.preview.up = false, 0
	m.found = m.found.stop()
	m.list = m.list.withHits(nil).find("", m.today())
	m.list = m.list.selectKey(key{session: present})
	return m.load()
}

// Present tells which session is open in this window and whether a run of it
// is at work.
func (m Model) Present(id harness.SessionID, running bool) Model {
	m.window.present, m.window.running = id, running
	return m
}

// SetTheme changes the colours.
func (m Model) SetTheme(t *themes.Theme) Model {
	m.c.Theme = t
	return m
}

// lastGone is the session that undo brings back next; zero if there is none.
func (m Model) lastGone() gone {
	if len(m.gone) == 0 {
		return gone{}
	}
	return m.gone[len(m.gone)-1]
}
