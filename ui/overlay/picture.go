package overlay

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Picture is what fills the context window of a session's next request.
// Sizes are in tokens, estimated.
type Picture struct {
	// Model is "provider/model".
	Model string
	// Window is how much the model takes, 0 if that is not known; From says where
	// that is known from: "known" is the catalogue, others are "configured",
	// "learned" and "assumed".
	Window int
	From   string
	// Trigger is the size of a request at which old messages are condensed; 0 is
	// never.
	Trigger int
	// The parts of a request. Reply is the room that is kept for the answer.
	System, Tools, Recalled, Note, Pinned, Yours, Answers, Results, Files, Reply int
	// In counts the messages that are in the context, Condensed those that the
	// note stands for, Dropped those left out because the window is full, Cleared
	// the results of tools whose text is left out.
	In, Condensed, Dropped, Cleared int
	// Last is the last condensing on the branch, nil if there was none or it is
	// not known, and At its time.
	Last *harness.Condensed
	At   time.Time
	// Pins are the messages that stay whatever is condensed.
	Pins []Pinned
}

// Pinned is a message that stays in the context.
type Pinned struct {
	// Message is its number, In the session in whose log it is, empty for the
	// session's own.
	Message int
	In      harness.SessionID
	// Text is how it begins. It is foreign text.
	Text string
}

// Used is the size of the request without the room for the answer.
func (p Picture) Used() int {
	return p.System + p.Tools + p.Recalled + p.Note + p.Pinned + p.Yours + p.Answers + p.Results + p.Files
}

// Free is what is left of the window, 0 if that is not known.
func (p Picture) Free() int { return max(p.Window-p.Used()-p.Reply, 0) }

// ContextConfig is what the overlay of what fills the window works with.
type ContextConfig struct {
	Picture Picture
	// Lines are said below, such as what the last request was given. They are
	// foreign text.
	Lines []string
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is when it was opened.
	Now time.Time
	// Keys replaces the keys of actions by name, such as "context.close".
	Keys map[string][]string
}

// Context is the overlay that shows what fills the window. It shows how things
// were when it was opened. It is a value: Update returns the next one.
type Context struct {
	c             ContextConfig
	pane          widget.Pane
	width, height int
}

// NewContext returns the overlay.
func NewContext(c ContextConfig) Context { return Context{c: c} }

// SetTheme changes the colours.
func (c Context) SetTheme(t *themes.Theme) Context {
	c.c.Theme = t
	c.pane = c.laid(c.width, c.height)
	return c
}

// Bindings are the keys of the overlay as they are now.
func (c Context) Bindings() []render.Binding {
	const group = "Context"
	more, back := 2, 3
	if c.pane.Top()+c.pane.Rest() == 0 {
		more, back = 0, 0
	}
	b := []render.Binding{
		{Action: "context.close", Keys: []string{"esc", "q", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
		{Action: "context.page-down", Keys: []string{"pgdown"}, Help: "more", Group: group, Rank: more},
		{Action: "context.page-up", Keys: []string{"pgup"}, Help: "back", Group: group, Rank: back},
		{Action: "context.down", Keys: []string{"down", "j"}, Help: "a line down", Group: group},
		{Action: "context.up", Keys: []string{"up", "k"}, Help: "a line up", Group: group},
		{Action: "context.first", Keys: []string{"home", "g"}, Help: "first line", Group: group},
		{Action: "context.last", Keys: []string{"end", "G"}, Help: "last line", Group: group},
	}
	return widget.Rebind(b, c.c.Keys)
}

// Update handles a key, the wheel or a size.
func (c Context) Update(msg tea.Msg) (Context, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.width, c.height = msg.Width, msg.Height
	case tea.MouseMsg:
		c.pane = c.pane.Wheel(msg)
	case tea.KeyMsg:
		var intent Intent
		if c, intent = c.onKey(msg); intent != nil {
			return c, intent
		}
	}
	c.pane = c.laid(c.width, c.height)
	return c, nil
}

func (c Context) onKey(k tea.KeyMsg) (Context, Intent) {
	action, _ := widget.Match(c.Bindings(), k)
	page := max(usageRoom(c.height)-1, 1)
	const all = 1 << 20
	switch action {
	case "context.close":
		return c, Closed{}
	case "context.down":
		c.pane = c.pane.By(1)
	case "context.up":
		c.pane = c.pane.By(-1)
	case "context.page-down":
		c.pane = c.pane.By(page)
	case "context.page-up":
		c.pane = c.pane.By(-page)
	case "context.first":
		c.pane = c.pane.By(-all)
	case "context.last":
		c.pane = c.pane.By(all)
	}
	return c, nil
}

// ContextActions are all keys of the overlay of what fills the window.
func ContextActions() []render.Binding { return Context{}.Bindings() }
