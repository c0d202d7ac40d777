package overlay

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/account"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// UsageConfig is what the overlay of what models used works with.
type UsageConfig struct {
	// Ledger has the days; nil if no account is kept.
	Ledger harness.Ledger
	// Sessions has what each session used.
	Sessions harness.Sessions
	// Session is the one that is told apart.
	Session harness.SessionID
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is the clock that says which day is today.
	Now func() time.Time
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name, such as "usage.next"; an empty
	// list leaves an action without a key.
	Keys map[string][]string
}

// usageView is what the bars of the overlay are of.
type usageView int

const (
	viewDays usageView = iota
	viewModels
	viewSessions
	usageViews // how many there are
)

type (
	// tallied brings the account.
	tallied struct {
		at      time.Time // of the opening that asked for it
		account account.Account
		err     error
	}
	// ranked brings the sessions.
	ranked struct {
		at   time.Time
		rows []account.Row
		err  error
	}
)

func (tallied) overlayMsg() {}
func (ranked) overlayMsg()  {}

// Usage is the overlay that shows what models used. It reads the account once,
// and the sessions when they are first asked for: it shows how things were
// when it was opened. It is a value: Update returns the next one.
type Usage struct {
	ctx context.Context
	c   UsageConfig
	at  time.Time // when it was opened

	view    usageView
	account account.Account
	read    bool
	failed  error

	sessions       []account.Row
	asked, listed  bool
	sessionsFailed error

	pane          widget.Pane
	width, height int
}

// NewUsage returns the overlay, which knows nothing until Open.
func NewUsage(ctx context.Context, c UsageConfig) Usage {
	if c.Words == nil {
		c.Words = error.Error
	}
	return Usage{ctx: ctx, c: c}
}

// Open reads the account.
func (u Usage) Open() (Usage, tea.Cmd) {
	u.at = u.c.Now()
	ctx, c, at := u.ctx, u.c, u.at
	return u, func() tea.Msg {
		a, err := account.Read(ctx, c.Ledger, c.Sessions, c.Session, at)
		return tallied{at: at, account: a, err: err}
	}
}

// Title implements [Layer].
func (u Usage) Title() string { return "usage" }

// Cursor implements [Layer]: nothing is typed here.
func (u Usage) Cursor() (x, y int, visible bool) { return 0, 0, false }

// SetTheme changes the colours.
func (u Usage) SetTheme(t *themes.Theme) Usage {
	u.c.Theme = t
	u.pane = u.laid(u.width, u.height)
	return u
}

// Bindings are the keys of the overlay as they are now.
func (u Usage) Bindings() []render.Binding {
	const group = "Usage"
	more, back := 3, 4
	if u.pane.Top()+u.pane.Rest() == 0 {
		more, back = 0, 0
	}
	b := []render.Binding{
		{Action: "usage.close", Keys: []string{"esc", "q", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
		{Action: "usage.next", Keys: []string{"tab", "right", "l"}, Help: "by day, model, session", Group: group, Rank: 2},
		{Action: "usage.previous", Keys: []string{"shift+tab", "left", "h"}, Help: "the other way round", Group: group},
		{Action: "usage.page-down", Keys: []string{"pgdown"}, Help: "more", Group: group, Rank: more},
		{Action: "usage.page-up", Keys: []string{"pgup"}, Help: "back", Group: group, Rank: back},
		{Action: "usage.down", Keys: []string{"down", "j"}, Help: "a line down", Group: group},
		{Action: "usage.up", Keys: []string{"up", "k"}, Help: "a line up", Group: group},
		{Action: "usage.first", Keys: []string{"home", "g"}, Help: "first line", Group: group},
		{Action: "usage.last", Keys: []string{"end", "G"}, Help: "last line", Group: group},
	}
	return widget.Rebind(b, u.c.Keys)
}

// Update handles a key, the wheel, a size, or one of this overlay's messages.
func (u Usage) Update(msg tea.Msg) (Usage, tea.Cmd, Intent) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		u.width, u.height = msg.Width, msg.Height
	case tea.MouseMsg:
		u.pane = u.pane.Wheel(msg)
	case tea.KeyMsg:
		var intent Intent
		if u, cmd, intent = u.onKey(msg); intent != nil {
			return u, nil, intent
		}
	case tallied:
		if msg.at.Equal(u.at) {
			u.read, u.account, u.failed = true, msg.account, msg.err
		}
	case ranked:
		if msg.at.Equal(u.at) {
			u.listed, u.sessions, u.sessionsFailed = true, msg.rows, msg.err
		}
	}
	u.pane = u.laid(u.width, u.height)
	return u, cmd, nil
}

func (u Usage) onKey(k tea.KeyMsg) (Usage, tea.Cmd, Intent) {
	action, _ := widget.Match(u.Bindings(), k)
	page := max(usageRoom(u.height)-1, 1)
	const all = 1 << 20
	switch action {
	case "usage.close":
		return u, nil, Closed{}
	case "usage.next":
		u, cmd := u.turn(1)
		return u, cmd, nil
	case "usage.previous":
		u, cmd := u.turn(-1)
		return u, cmd, nil
	case "usage.down":
		u.pane = u.pane.By(1)
	case "usage.up":
		u.pane = u.pane.By(-1)
	case "usage.page-down":
		u.pane = u.pane.By(page)
	case "usage.page-up":
		u.pane = u.pane.By(-page)
	case "usage.first":
		u.pane = u.pane.By(-all)
	case "usage.last":
		u.pane = u.pane.By(all)
	}
	return u, nil, nil
}

// turn goes to the view by n further, and lists the sessions when they are
// first to be seen.
func (u Usage) turn(n usageView) (Usage, tea.Cmd) {
	u.view = (u.view + n + usageViews) % usageViews
	u.pane = widget.Pane{}
	if u.view != viewSessions || u.asked {
		return u, nil
	}
	u.asked = true
	ctx, sessions, at := u.ctx, u.c.Sessions, u.at
	return u, func() tea.Msg {
		rows, err := account.Sessions(ctx, sessions)
		return ranked{at: at, rows: rows, err: err}
	}
}

// UsageActions are all keys of the overlay of what models used.
func UsageActions() []render.Binding { return Usage{}.Bindings() }
