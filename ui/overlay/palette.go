package overlay

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// PaletteItem is one thing that the palette does.
type PaletteItem struct {
	// ID stays the same from one opening to the next, such as "chat.memory".
	ID string
	// Name says what it does; Words are further words that it is found by.
	Name, Words string
	// Right are its keys and the name of its command.
	Right string
	// Off says why it does nothing now; empty means that it works.
	Off string
	// Do is what the root is to do for it.
	Do Intent
}

// PaletteGroup are things of a kind.
type PaletteGroup struct {
	// Name is the plural of what they are, such as "sessions".
	Name  string
	Items []PaletteItem
	// Load brings more of them; it is called in a command. Nil brings none.
	Load func(ctx context.Context) ([]PaletteItem, error)
}

// PaletteConfig is what a palette shows.
type PaletteConfig struct {
	// Title names the screen that it was opened over, such as "chat".
	Title  string
	Groups []PaletteGroup
	// Group is the one to begin with.
	Group int
	// Recent are the items that were chosen before, the last first.
	Recent []string
	// Theme is required.
	Theme *themes.Theme
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
}

// Chosen asks to take the palette away and to do what an item of it does.
type Chosen struct {
	// ID is that of the item, and Do its intent.
	ID string
	Do Intent
}

func (Chosen) intent() {}

// gathered brings the items of a group.
type gathered struct {
	group int
	of    *PaletteGroup // tells a palette from an earlier one
	items []PaletteItem
	err   error
}

func (gathered) overlayMsg() {}

// Palette is the overlay in which everything that can be done is found by its
// words. It is a value: Update returns the next one.
type Palette struct {
	ctx context.Context
	c   PaletteConfig

	groups []paletteGroup
	group  int
	list   choosing
	notice string

	width, height int
}

// paletteGroup is a group with what is looked for in it.
type paletteGroup struct {
	items  []PaletteItem
	texts  []sought
	hits   []int
	loads  bool // more of them are on their way
	failed error
}

// NewPalette returns the palette; Open brings what has to be read.
func NewPalette(ctx context.Context, c PaletteConfig) Palette {
	if c.Words == nil {
		c.Words = error.Error
	}
	c.Groups = slices.Clone(c.Groups)
	p := Palette{ctx: ctx, c: c, group: max(min(c.Group, len(c.Groups)-1), 0), list: choosing{field: widget.Line("")}}
	for _, g := range c.Groups {
		p.groups = append(p.groups, paletteGroup{loads: g.Load != nil}.with(g.Items))
	}
	return p.found()
}

// with is the group with items added.
func (g paletteGroup) with(items []PaletteItem) paletteGroup {
	g.items = append(slices.Clip(g.items), items...)
	g.texts = slices.Clip(g.texts)
	for _, it := range items {
		g.texts = append(g.texts, soughtIn(it.Name, it.Words, it.Right))
	}
	return g
}

// Open reads what has to be read.
func (p Palette) Open() (Palette, tea.Cmd) {
	var cmds []tea.Cmd
	for i := range p.c.Groups {
		g, ctx := &p.c.Groups[i], p.ctx
		if g.Load == nil {
			continue
		}
		cmds = append(cmds, func() tea.Msg {
			items, err := g.Load(ctx)
			return gathered{group: i, of: g, items: items, err: err}
		})
	}
	return p, tea.Batch(cmds...)
}

// found looks in all groups for what is typed.
func (p Palette) found() Palette {
	words := p.list.words()
	p.groups = slices.Clone(p.groups)
	for i := range p.groups {
		g := &p.groups[i]
		g.hits = bestFirst(g.texts, words, func(n int) int {
			if at := slices.Index(p.c.Recent, g.items[n].ID); at >= 0 {
				return at
			}
			return len(p.c.Recent)
		})
	}
	p.list = p.list.by(0, len(p.hits()), p.room())
	return p
}

// hits are the items of the group in front that were found.
func (p Palette) hits() []int {
	if p.group >= len(p.groups) {
		return nil
	}
	return p.groups[p.group].hits
}

// at is the item that is chosen.
func (p Palette) at() (PaletteItem, bool) {
	hits := p.hits()
	if p.list.at >= len(hits) {
		return PaletteItem{}, false
	}
	return p.groups[p.group].items[hits[p.list.at]], true
}

// Title implements [Layer].
func (p Palette) Title() string { return "palette" }

// SetTheme changes the colours.
func (p Palette) SetTheme(t *themes.Theme) Palette {
	p.c.Theme = t
	return p
}

// Bindings are the keys of the palette as they are now.
func (p Palette) Bindings() []render.Binding {
	const group = "Palette"
	off := "nothing is found"
	if it, ok := p.at(); ok {
		off = it.Off
	}
	return widget.Rebind([]render.Binding{
		{Action: "palette.run", Keys: []string{"enter"}, Help: "run", Group: group, Rank: 1, Off: off},
		{Action: "palette.down", Keys: []string{"down", "ctrl+n"}, Help: "down", Group: group},
		{Action: "palette.up", Keys: []string{"up", "ctrl+p"}, Help: "up", Group: group},
		{Action: "palette.next", Keys: []string{"tab"}, Help: "next group", Group: group, Rank: 2},
		{Action: "palette.previous", Keys: []string{"shift+tab"}, Help: "group before", Group: group},
		{Action: "palette.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: group},
		{Action: "palette.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: group},
		{Action: "palette.first", Keys: []string{"ctrl+home"}, Help: "first", Group: group},
		{Action: "palette.last", Keys: []string{"ctrl+end"}, Help: "last", Group: group},
		{Action: "palette.close", Keys: []string{"esc", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
	}, p.c.Keys)
}

// Update handles a key, the wheel, a size, or what was read for this palette.
func (p Palette) Update(msg tea.Msg) (Palette, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
		p.list = p.list.by(0, len(p.hits()), p.room())
	case tea.MouseMsg:
		p.list = p.list.wheel(msg, len(p.hits()), p.room())
	case tea.KeyMsg:
		var intent Intent
		p, intent = p.onKey(msg)
		return p, nil, intent
	case gathered:
		if msg.group < len(p.c.Groups) && msg.of == &p.c.Groups[msg.group] {
			p.groups = slices.Clone(p.groups)
			g := p.groups[msg.group].with(msg.items)
			g.loads, g.failed = false, msg.err
			p.groups[msg.group] = g
			p = p.found()
		}
	}
	return p, nil, nil
}

func (p Palette) onKey(k tea.KeyMsg) (Palette, Intent) {
	p.notice = ""
	action, off := widget.Match(p.Bindings(), k)
	switch action {
	case "palette.close":
		return p, Closed{}
	case "palette.run":
		if it, ok := p.at(); ok {
			return p, Chosen{ID: it.ID, Do: it.Do}
		}
		return p, nil
	case "palette.next":
		return p.turn(1), nil
	case "palette.previous":
		return p.turn(-1), nil
	}
	if off != "" {
		p.notice = off
		return p, nil
	}
	var done bool
	if p.list, done = p.list.move("palette", action, len(p.hits()), p.room()); done {
		return p, nil
	}
	before := p.list.field.Text()
	if p.list = p.list.typed(k); p.list.field.Text() != before {
		p = p.found()
		// What is found elsewhere only is shown there.
		if next, ok := p.elsewhere(1); ok && len(p.hits()) == 0 {
			p.group, p.list.at, p.list.top = next, 0, 0
		}
	}
	return p, nil
}

// turn goes to the next group, or that before, in which something is found.
func (p Palette) turn(by int) Palette {
	if next, ok := p.elsewhere(by); ok {
		p.group, p.list.at, p.list.top = next, 0, 0
	}
	return p
}

// elsewhere is the next group but this in which something is found.
func (p Palette) elsewhere(by int) (group int, ok bool) {
	n := len(p.groups)
	for i := 1; i < n; i++ {
		g := ((p.group+by*i)%n + n) % n
		if len(p.groups[g].hits) > 0 {
			return g, true
		}
	}
	return 0, false
}

// PaletteActions are all keys of the palette.
func PaletteActions() []render.Binding { return Palette{}.Bindings() }
