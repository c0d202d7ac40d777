package overlay

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// ServersConfig is what the overlay of MCP servers works with.
type ServersConfig struct {
	// Servers is required.
	Servers harness.Servers
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is the clock of ages.
	Now func() time.Time
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
}

// serversID tells one overlay of servers from another.
type serversID struct{ open bool }

type (
	// serversListed brings the servers as they are, and what is closed when they are
	// otherwise.
	serversListed struct {
		of      *serversID
		list    []harness.ServerStatus
		changed <-chan struct{}
	}
	// serverDone says how connecting or switching a server went.
	serverDone struct {
		of   *serversID
		said string
		name string
		err  error
	}
)

func (serversListed) overlayMsg() {}
func (serverDone) overlayMsg()    {}

// Servers is the overlay that lists the MCP servers. It follows what becomes of them
// without looking again and again. It is a value: Update returns the next one.
type Servers struct {
	ctx  context.Context
	stop context.CancelFunc // ends the waiting, not what was begun
	wait context.Context
	c    ServersConfig
	id   *serversID

	list []harness.ServerStatus
	read bool
	// sel is the name of the server at the cursor, which stays with it.
	sel     string
	at, top int
	// open says that the server at the cursor is shown whole, in pane.
	open bool
	pane widget.Pane
	// busy are the servers that something is done with, by name, and what.
	busy map[string]string

	notice        string
	failing       bool
	width, height int
}

// NewServers returns the overlay, which knows no servers until Open.
func NewServers(ctx context.Context, c ServersConfig) Servers {
	if c.Words == nil {
		c.Words = error.Error
	}
	wait, stop := context.WithCancel(ctx)
	return Servers{ctx: ctx, wait: wait, stop: stop, c: c, id: &serversID{true}}
}

// Open reads the servers and follows what becomes of them.
func (s Servers) Open() (Servers, tea.Cmd) {
	return s, s.listed(nil)
}

// listed is the command that lists the servers once they changed.
func (s Servers) listed(changed <-chan struct{}) tea.Cmd {
	ctx, servers, id := s.wait, s.c.Servers, s.id
	return func() tea.Msg {
		if changed != nil {
			select {
			case <-changed:
			case <-ctx.Done():
				return nil
			}
		}
		next := servers.Changed() // before the list: what changes in between is not missed
		return serversListed{id, servers.List(), next}
	}
}

// Title implements [Layer].
func (s Servers) Title() string { return "servers" }

// SetTheme changes the colours.
func (s Servers) SetTheme(t *themes.Theme) Servers {
	s.c.Theme = t
	return s
}

// Actions of the keys of the overlay.
const (
	serversClose  = "servers.close"
	serversBack   = "servers.back"
	serversShow   = "servers.show"
	serversAgain  = "servers.reconnect"
	serversSwitch = "servers.switch"
	serversUp     = "servers.up"
	serversDown   = "servers.down"
	serversPgUp   = "servers.page-up"
	serversPgDown = "servers.page-down"
	serversFirst  = "servers.first"
	serversLast   = "servers.last"
)

// Bindings are the keys of the overlay as they are now.
func (s Servers) Bindings() []render.Binding {
	const group = "MCP servers"
	one, again, turn := "", "", "turn on or off"
	switch x, ok := s.selected(); {
	case !ok:
		one = "no server is listed"
		again = one
	case s.busy[x.Name] != "":
		again = "it is " + s.busy[x.Name] + " already"
	case x.State == harness.ServerOff:
		again, turn = "it is off: "+widget.KeyFor(s.c.Keys, serversSwitch, " ")+" turns it on", "turn on"
	default:
		turn = "turn off here"
	}
	back, show, leave := "no server is shown", one, []string{"esc", "q", "ctrl+c"}
	if s.open {
		back, show, leave = "", "it is shown", []string{"q", "ctrl+c"}
	}
	return widget.Rebind([]render.Binding{
		{Action: serversBack, Keys: []string{"esc", "left", "backspace"}, Help: "back to the list", Foot: "back", Group: group, Rank: 1, Off: back},
		{Action: serversClose, Keys: leave, Help: "close", Group: group, Rank: 1},
		{Action: serversShow, Keys: []string{"enter", "right"}, Help: "show all of it", Foot: "show", Group: group, Rank: 2, Off: show},
		{Action: serversAgain, Keys: []string{"r"}, Help: "connect again", Foot: "reconnect", Group: group, Rank: 3, Off: again},
		{Action: serversSwitch, Keys: []string{" "}, Help: turn, Group: group, Rank: 4, Off: one},
		{Action: serversUp, Keys: []string{"up", "k"}, Help: "up", Group: group},
		{Action: serversDown, Keys: []string{"down", "j"}, Help: "down", Group: group},
		{Action: serversPgUp, Keys: []string{"pgup"}, Help: "a page up", Group: group},
		{Action: serversPgDown, Keys: []string{"pgdown"}, Help: "a page down", Group: group},
		{Action: serversFirst, Keys: []string{"home", "g"}, Help: "first", Group: group},
		{Action: serversLast, Keys: []string{"end", "G"}, Help: "last", Group: group},
	}, s.c.Keys)
}

// selected is the server at the cursor; false if there is none.
func (s Servers) selected() (harness.ServerStatus, bool) {
	if s.at < 0 || s.at >= len(s.list) {
		return harness.ServerStatus{}, false
	}
	return s.list[s.at], true
}

// Update handles a key, the wheel, a size, or one of this overlay's messages.
func (s Servers) Update(msg tea.Msg) (Servers, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var want Intent
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case tea.KeyMsg:
		s, cmd, want = s.onKey(msg)
	case tea.MouseMsg:
		switch msg.Button {
		case tea.MouseButtonWheelUp:
			s = s.move(serversUp, 3)
		case tea.MouseButtonWheelDown:
			s = s.move(serversDown, 3)
		default:
		}
	case serversListed:
		if msg.of == s.id {
			s = s.took(msg.list)
			cmd = s.listed(msg.changed)
		}
	case serverDone:
		if msg.of == s.id {
			s = s.done(msg)
		}
	}
	s.top = widget.Scroll(s.top, s.at, len(s.list), s.rows(s.height))
	if s.open {
		s.pane = s.pane.Show(s.details(s.width), s.paneRows(s.height))
	}
	return s, cmd, want
}

// took takes the list. The cursor stays with its server.
func (s Servers) took(list []harness.ServerStatus) Servers {
	s.list, s.read = list, true
	if i := slices.IndexFunc(list, func(x harness.ServerStatus) bool { return x.Name == s.sel }); i >= 0 {
		s.at = i
		return s
	}
	s.open = false
	return s.to(s.at)
}

// to puts the cursor at row n or the nearest that there is.
func (s Servers) to(n int) Servers {
	s.at = max(min(n, len(s.list)-1), 0)
	x, _ := s.selected()
	s.sel = x.Name
	return s
}

func (s Servers) onKey(k tea.KeyMsg) (Servers, tea.Cmd, Intent) {
	action, off := widget.Match(s.Bindings(), k)
	s.notice, s.failing = "", false
	switch action {
	case serversClose:
		s.stop()
		return s, nil, Closed{}
	case serversBack:
		s.open = false
	case serversShow:
		s.open, s.pane = true, widget.Pane{}
	case serversAgain:
		x, _ := s.selected()
		s, cmd := s.begin(x.Name, "being connected", "the server "+x.Name+" is connected again", func(ctx context.Context) error {
			return s.c.Servers.Reconnect(ctx, x.Name)
		})
		return s, cmd, nil
	case serversSwitch:
		x, _ := s.selected()
		on, doing, said := x.State == harness.ServerOff, "being turned off", "the server "+x.Name+" is off until cairn is started again"
		if on {
			doing, said = "being turned on", "the server "+x.Name+" is on until cairn is left"
		}
		s, cmd := s.begin(x.Name, doing, said, func(ctx context.Context) error { return s.c.Servers.Switch(ctx, x.Name, on) })
		return s, cmd, nil
	case "":
		if off != "" {
			s.notice, s.failing = upper(off)+".", true
		}
	default:
		s = s.move(action, 1)
	}
	return s, nil, nil
}

// move moves the cursor, or what is shown of a server.
func (s Servers) move(action string, n int) Servers {
	page := max(s.rows(s.height)-1, 1)
	if s.open {
		page = max(s.paneRows(s.height)-1, 1)
	}
	const all = 1 << 20
	by := map[string]int{serversUp: -n, serversDown: n, serversPgUp: -page, serversPgDown: page, serversFirst: -all, serversLast: all}[action]
	if s.open {
		s.pane = s.pane.By(by)
		return s
	}
	return s.to(s.at + by)
}

// begin does something with a server.
func (s Servers) begin(name, doing, said string, do func(context.Context) error) (Servers, tea.Cmd) {
	busy := map[string]string{name: doing}
	for k, v := range s.busy {
		if k != name {
			busy[k] = v
		}
	}
	s.busy = busy
	ctx, id := s.ctx, s.id
	return s, func() tea.Msg {
		if err := do(ctx); err != nil {
			return serverDone{id, said, name, fmt.Errorf("the server %s: %w", name, err)}
		}
		return serverDone{of: id, said: said, name: name}
	}
}

// done ends what was done with a server.
func (s Servers) done(msg serverDone) Servers {
	busy := map[string]string{}
	for k, v := range s.busy {
		if k != msg.name {
			busy[k] = v
		}
	}
	s.busy = busy
	s.notice, s.failing = upper(msg.said)+".", false
	if msg.err != nil {
		s.notice, s.failing = s.c.Words(msg.err), true
	}
	return s
}

// ServersActions are all keys of the overlay of servers.
func ServersActions() []render.Binding {
	return Servers{}.Bindings()
}
