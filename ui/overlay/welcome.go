package overlay

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Pass asks to take the overlay away and to give what was typed to what lies under
// it.
type Pass struct{ Key tea.KeyMsg }

func (Pass) intent() {}

// WelcomeKey is a provider whose key was found. The key itself is nowhere here.
type WelcomeKey struct{ Provider, From string }

// WelcomeServer is a model server of this machine that answers.
type WelcomeServer struct {
	Name, Address string
	Models        int
}

// WelcomePlace says where something is kept.
type WelcomePlace struct{ What, Path, Holds string }

// WelcomeConfig is what the welcome works with. Keys, Servers and Model are called
// in commands, side by side, and are shown as they come; one that is nil shows
// nothing.
type WelcomeConfig struct {
	Keys    func(ctx context.Context) ([]WelcomeKey, error)
	Servers func(ctx context.Context) ([]WelcomeServer, error)
	// Model is the model that answers, named as PROVIDER/NAME, and why.
	Model  func(ctx context.Context) (name, why string, err error)
	Places []WelcomePlace
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Bound replaces the keys of actions by name, such as "welcome.start".
	Bound map[string][]string
}

// What is found comes in messages.
type (
	welcomeKeys struct {
		list []WelcomeKey
		err  error
	}
	welcomeServers struct {
		list []WelcomeServer
		err  error
	}
	welcomeModel struct {
		name, why string
		err       error
	}
)

func (welcomeKeys) overlayMsg()    {}
func (welcomeServers) overlayMsg() {}
func (welcomeModel) overlayMsg()   {}

// Welcome is what a person sees at the very first start. Any key that is not its
// own takes it away and counts as typed. It is a value: Update returns the next one.
type Welcome struct {
	ctx           context.Context
	c             WelcomeConfig
	keys, servers []string // in words; nil is not known yet
	model         []string
	name          string // of the model, empty until it is known
	pane          widget.Pane
	width, height int
}

// NewWelcome returns the welcome, which knows nothing until Open.
func NewWelcome(ctx context.Context, c WelcomeConfig) Welcome {
	if c.Words == nil {
		c.Words = error.Error
	}
	return Welcome{ctx: ctx, c: c}
}

// Open looks for what is shown.
func (w Welcome) Open() (Welcome, tea.Cmd) {
	ctx, c := w.ctx, w.c
	var cmds []tea.Cmd
	if c.Keys != nil {
		cmds = append(cmds, func() tea.Msg {
			list, err := c.Keys(ctx)
			return welcomeKeys{list, err}
		})
	}
	if c.Servers != nil {
		cmds = append(cmds, func() tea.Msg {
			list, err := c.Servers(ctx)
			return welcomeServers{list, err}
		})
	}
	if c.Model != nil {
		cmds = append(cmds, func() tea.Msg {
			name, why, err := c.Model(ctx)
			return welcomeModel{name, why, err}
		})
	}
	return w, tea.Batch(cmds...)
}

// Title implements [Layer].
func (w Welcome) Title() string { return "welcome" }

// Cursor implements [Layer]: nothing is typed here.
func (w Welcome) Cursor() (x, y int, visible bool) { return 0, 0, false }

// SetTheme changes the colours.
func (w Welcome) SetTheme(t *themes.Theme) Welcome {
	w.c.Theme = t
	w.pane = w.laid(w.width, w.height)
	return w
}

// WelcomeActions are all keys of the welcome.
func WelcomeActions() []render.Binding { return Welcome{}.Bindings() }

// Bindings are the keys of the welcome as they are now.
func (w Welcome) Bindings() []render.Binding {
	const group = "Welcome"
	more := 3
	if w.pane.Top()+w.pane.Rest() == 0 {
		more = 0
	}
	return widget.Rebind([]render.Binding{
		{Action: "welcome.start", Keys: []string{"enter", "esc"}, Help: "start", Group: group, Rank: 1},
		{Action: "welcome.model", Keys: []string{"tab"}, Help: "other model", Group: group, Rank: 2},
		{Action: "welcome.page-down", Keys: []string{"pgdown"}, Help: "more", Group: group, Rank: more},
		{Action: "welcome.page-up", Keys: []string{"pgup"}, Help: "back", Group: group},
		{Action: "welcome.down", Keys: []string{"down"}, Help: "a line down", Group: group},
		{Action: "welcome.up", Keys: []string{"up"}, Help: "a line up", Group: group},
	}, w.c.Bound)
}

// Update handles a key, the wheel, a size, or what was found.
func (w Welcome) Update(msg tea.Msg) (Welcome, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		w.width, w.height = msg.Width, msg.Height
	case tea.MouseMsg:
		w.pane = w.pane.Wheel(msg)
	case tea.KeyMsg:
		var intent Intent
		if w, intent = w.onKey(msg); intent != nil {
			return w, nil, intent
		}
	case welcomeKeys:
		w.keys = w.keyWords(msg)
	case welcomeServers:
		w.servers = w.serverWords(msg)
	case welcomeModel:
		w.name, w.model = msg.name, w.modelWords(msg)
	}
	w.pane = w.laid(w.width, w.height)
	return w, nil, nil
}

func (w Welcome) onKey(k tea.KeyMsg) (Welcome, Intent) {
	if k.Paste {
		return w, Pass{k}
	}
	action, _ := widget.Match(w.Bindings(), k)
	page := max(usageRoom(w.height)-1, 1)
	switch action {
	case "welcome.start":
		return w, Closed{}
	case "welcome.model":
		return w, Command{Text: "/model"}
	case "welcome.down":
		w.pane = w.pane.By(1)
	case "welcome.up":
		w.pane = w.pane.By(-1)
	case "welcome.page-down":
		w.pane = w.pane.By(page)
	case "welcome.page-up":
		w.pane = w.pane.By(-page)
	default:
		return w, Pass{k}
	}
	return w, nil
}

// keyWords says which keys were found, and from where, never one of them.
func (w Welcome) keyWords(msg welcomeKeys) []string {
	if msg.err != nil {
		return []string{w.c.Words(msg.err)}
	}
	var all []string
	for _, k := range msg.list {
		all = append(all, k.Provider+" ("+k.From+")")
	}
	if all == nil {
		return []string{"none found; ANTHROPIC_API_KEY, OPENAI_API_KEY and others are looked for"}
	}
	return []string{strings.Join(all, ", ")}
}

// serverWords says which local servers answer.
func (w Welcome) serverWords(msg welcomeServers) []string {
	if msg.err != nil {
		return []string{w.c.Words(msg.err)}
	}
	var all []string
	for _, s := range msg.list {
		all = append(all, s.Name+" at "+s.Address+", "+harness.Count(s.Models, "model"))
	}
	if all == nil {
		return []string{"none answers on this machine"}
	}
	return all
}

// modelWords says which model answers, and why.
func (w Welcome) modelWords(msg welcomeModel) []string {
	if msg.err != nil {
		return []string{w.c.Words(msg.err)}
	}
	return []string{msg.name, msg.why}
}
