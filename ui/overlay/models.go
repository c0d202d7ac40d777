package overlay

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// ModelLine is a model as it is listed.
type ModelLine struct {
	// Name is "provider/model", and Title what its maker calls it, empty if that is
	// not known.
	Name, Title string
	// Window is in tokens, 0 if unknown. Prices are in USD for a million tokens in
	// and out, and mean nothing unless PriceKnown.
	Window                  int
	InputPrice, OutputPrice float64
	PriceKnown              bool
	// Images, Documents and Reasoning say what it can do beside text.
	Images, Documents, Reasoning bool
	// Local models need no key and cost nothing.
	Local bool
	// Key says where the provider's key is from, empty if there is none.
	Key string
	// NeedsKey says that it cannot be asked before there is one.
	NeedsKey bool
}

// Provider is the part of the name before the slash.
func (l ModelLine) Provider() string {
	provider, _, _ := strings.Cut(l.Name, "/")
	return provider
}

// ModelSource is where models and the keys for them come from. All functions but
// Doubt are called in commands; those that are nil bring nothing.
type ModelSource struct {
	// List returns the models that are known.
	List func(ctx context.Context) ([]ModelLine, error)
	// Found returns the models of the local servers that answer now.
	Found func(ctx context.Context) ([]ModelLine, error)
	// SaveKey keeps a provider's key, which counts from then on, and says in words
	// where. Its error does not hold the key.
	SaveKey func(ctx context.Context, provider, key string) (place string, err error)
	// Doubt is a sentence about why a text is perhaps no key of a provider, empty if
	// nothing speaks against it.
	Doubt func(provider, key string) string
}

// ModelsConfig is what the overlay of models works with.
type ModelsConfig struct {
	ModelSource
	// Recent returns the names of the models that were used last, the last first; it
	// is called in a command. Nil brings none.
	Recent func(ctx context.Context) ([]string, error)
	// Current is the model of the session in front.
	Current string
	// Choose is the model to begin with as if it had been chosen, empty for none.
	Choose string
	// Refused says what was wrong with its key, so that another one is asked for.
	Refused string
	// Theme is required.
	Theme *themes.Theme
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
}

// PickModel asks to open the list of models as if one had been chosen there: it is
// used, or the key that it needs is asked for.
type PickModel struct{ Name string }

func (PickModel) intent() {}

type (
	// modelsListed brings models, those of servers if found is set.
	modelsListed struct {
		at    *ModelsConfig // tells an overlay from an earlier one
		lines []ModelLine
		found bool
		err   error
	}
	// modelsUsed brings the names of those used last.
	modelsUsed struct {
		at    *ModelsConfig
		names []string
		err   error
	}
)

func (modelsListed) overlayMsg() {}
func (modelsUsed) overlayMsg()   {}

// Models is the overlay in which the model of a session is chosen. Where a key is
// missing it asks for it. It is a value: Update returns the next one.
type Models struct {
	ctx context.Context
	c   *ModelsConfig

	lines  []ModelLine
	texts  []sought
	used   []string
	hits   []int
	list   choosing
	reads  int // answers that are still to come
	failed error
	notice string
	// ask asks for a key, nil if none is asked for.
	ask *AskKey

	theme         *themes.Theme
	width, height int
}

// NewModels returns the overlay, which knows nothing until Open.
func NewModels(ctx context.Context, c ModelsConfig) Models {
	if c.Words == nil {
		c.Words = error.Error
	}
	return Models{ctx: ctx, c: &c, theme: c.Theme, list: choosing{field: widget.Line("")}}
}

// Open reads what is known of models, and looks for servers.
func (m Models) Open() (Models, tea.Cmd) {
	ctx, c := m.ctx, m.c
	var cmds []tea.Cmd
	for _, from := range []struct {
		list  func(context.Context) ([]ModelLine, error)
		found bool
	}{{c.List, false}, {c.Found, true}} {
		if from.list == nil {
			continue
		}
		cmds = append(cmds, func() tea.Msg {
			lines, err := from.list(ctx)
			return modelsListed{c, lines, from.found, err}
		})
	}
	if c.Recent != nil {
		cmds = append(cmds, func() tea.Msg {
			names, err := c.Recent(ctx)
			return modelsUsed{c, names, err}
		})
	}
	m.reads = len(cmds)
	return m, tea.Batch(cmds...)
}

// Title implements [Layer].
func (m Models) Title() string { return "models" }

// SetTheme changes the colours.
func (m Models) SetTheme(t *themes.Theme) Models {
	m.theme = t
	if m.ask != nil {
		ask := m.ask.SetTheme(t)
		m.ask = &ask
	}
	return m
}

// at is the model that is chosen.
func (m Models) at() (ModelLine, bool) {
	if m.list.at >= len(m.hits) {
		return ModelLine{}, false
	}
	return m.lines[m.hits[m.list.at]], true
}

// Bindings are the keys of the overlay as they are now.
func (m Models) Bindings() []render.Binding {
	if m.ask != nil {
		return m.ask.Bindings()
	}
	const group = "Models"
	off, use, key := "", "use it", ""
	l, ok := m.at()
	switch {
	case !ok:
		off, key = "nothing is found", "nothing is found"
	case l.NeedsKey:
		use = "give its key"
	}
	switch {
	case ok && l.Local:
		key = l.Provider() + " needs no key"
	case m.c.SaveKey == nil:
		key = "keys cannot be kept here"
	}
	return widget.Rebind([]render.Binding{
		{Action: "models.use", Keys: []string{"enter"}, Help: use, Group: group, Rank: 1, Off: off},
		{Action: "models.key", Keys: []string{"ctrl+r"}, Help: "key", Group: group, Rank: 3, Off: key},
		{Action: "models.down", Keys: []string{"down", "ctrl+n"}, Help: "down", Group: group},
		{Action: "models.up", Keys: []string{"up", "ctrl+p"}, Help: "up", Group: group},
		{Action: "models.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: group},
		{Action: "models.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: group},
		{Action: "models.first", Keys: []string{"ctrl+home"}, Help: "first", Group: group},
		{Action: "models.last", Keys: []string{"ctrl+end"}, Help: "last", Group: group},
		{Action: "models.close", Keys: []string{"esc", "ctrl+c"}, Help: "close", Group: group, Rank: 2},
	}, m.c.Keys)
}

// Update handles a key, the wheel, a size, or what was read for this overlay.
func (m Models) Update(msg tea.Msg) (Models, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case modelsListed:
		if msg.at == m.c {
			return m.listed(msg)
		}
		return m, nil, nil
	case modelsUsed:
		if msg.at == m.c { // without them the list is only in another order
			m.used, m.reads = msg.names, m.reads-1
			m = m.found(true)
		}
		return m, nil, nil
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.list = m.list.by(0, len(m.hits), m.room())
	}
	if m.ask != nil {
		return m.asked(msg)
	}
	switch msg := msg.(type) {
	case tea.MouseMsg:
		m.list = m.list.wheel(msg, len(m.hits), m.room())
	case tea.KeyMsg:
		return m.onKey(msg)
	}
	return m, nil, nil
}

// listed takes models that were read.
func (m Models) listed(msg modelsListed) (Models, tea.Cmd, Intent) {
	m.reads--
	if msg.err != nil && !msg.found { // that no server answers is no fault
		m.failed = msg.err
	}
	m.lines, m.texts = slices.Clone(m.lines), slices.Clone(m.texts)
	for _, l := range msg.lines {
		if i := slices.IndexFunc(m.lines, func(x ModelLine) bool { return x.Name == l.Name }); i >= 0 {
			if !msg.found { // what a list says of it is more
				m.lines[i] = l
			}
			continue
		}
		m.lines = append(m.lines, l)
		m.texts = append(m.texts, soughtIn(l.Name, l.Title, strings.Join(able(l), " ")))
	}
	m = m.found(true)
	i := slices.IndexFunc(m.lines, func(l ModelLine) bool { return l.Name == m.c.Choose })
	line := ModelLine{Name: m.c.Choose}
	switch {
	case m.c.Choose == "", i < 0 && (m.c.Refused == "" || msg.found):
		return m, nil, nil
	case i >= 0:
		line = m.lines[i]
	}
	at, refused := *m.c, m.c.Refused
	at.Choose, at.Refused = "", ""
	m.c = &at // what is still to come for the list is not needed any more
	m.reads = 0
	if refused != "" && at.SaveKey != nil {
		m = m.askFor(line)
		m.ask.notice, m.ask.failed = refused, true
		return m, nil, nil
	}
	return m.choose(line)
}

// found looks for what is typed. Those used last come first, then those that can be
// used at once. keep has the chosen one stay so.
func (m Models) found(keep bool) Models {
	was, ok := m.at()
	touched := m.list.at > 0
	m.hits = bestFirst(m.texts, m.list.words(), func(i int) int {
		l := m.lines[i]
		if at := slices.Index(m.used, l.Name); at >= 0 {
			return at
		}
		switch n := len(m.used); {
		case l.Name == m.c.Current:
			return -1
		case l.NeedsKey:
			return n + 1
		default:
			return n
		}
	})
	if keep && ok && touched {
		at := slices.IndexFunc(m.hits, func(i int) bool { return m.lines[i].Name == was.Name })
		m.list.at = max(at, 0)
	}
	m.list = m.list.by(0, len(m.hits), m.room())
	return m
}

func (m Models) onKey(k tea.KeyMsg) (Models, tea.Cmd, Intent) {
	m.notice = ""
	action, off := widget.Match(m.Bindings(), k)
	switch action {
	case "models.close":
		return m, nil, Closed{}
	case "models.use":
		l, _ := m.at()
		return m.choose(l)
	case "models.key":
		l, _ := m.at()
		return m.askFor(l), nil, nil
	}
	if off != "" {
		m.notice = off
		return m, nil, nil
	}
	var done bool
	if m.list, done = m.list.move("models", action, len(m.hits), m.room()); done {
		return m, nil, nil
	}
	before := m.list.field.Text()
	if m.list = m.list.typed(k); m.list.field.Text() != before {
		m = m.found(false)
	}
	return m, nil, nil
}

// choose uses a model, or asks for the key that it needs.
func (m Models) choose(l ModelLine) (Models, tea.Cmd, Intent) {
	switch {
	case l.Name == "":
		return m, nil, nil
	case l.NeedsKey && m.c.SaveKey != nil:
		return m.askFor(l), nil, nil
	}
	return m, nil, UseModel{Name: l.Name}
}

// askFor asks for the key of a model's provider.
func (m Models) askFor(l ModelLine) Models {
	ask := NewAskKey(m.ctx, AskKeyConfig{
		Provider: l.Provider(), Model: l.Name, From: l.Key, Save: m.c.SaveKey, Doubt: m.c.Doubt, Theme: m.theme, Words: m.c.Words, Keys: m.c.Keys,
	})
	ask, _, _ = ask.Update(tea.WindowSizeMsg{Width: m.width, Height: m.height})
	m.ask = &ask
	return m
}

// asked gives a message to what asks for a key.
func (m Models) asked(msg tea.Msg) (Models, tea.Cmd, Intent) {
	ask, cmd, want := m.ask.Update(msg)
	m.ask = &ask
	if _, closed := want.(Closed); closed {
		m.ask = nil
		return m, cmd, nil
	}
	return m, cmd, want
}

// ModelsActions are all keys of the overlay of models and of asking for a key.
func ModelsActions() []render.Binding {
	return append(Models{c: &ModelsConfig{}}.Bindings(), AskKey{}.Bindings()...)
}
