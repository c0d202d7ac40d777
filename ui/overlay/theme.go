package overlay

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// ThemeChoice is a theme that can be chosen.
type ThemeChoice struct {
	// Name is what the setting says.
	Name string
	// File is the person's own file, empty for a built-in theme.
	File string
	// Make makes it for a dark or light background; it reads nothing. Nil means that
	// it cannot be used, and Wrong says why.
	Make  func(dark bool) *themes.Theme
	Wrong string
	// Faint are sentences about colours in it that are hard to read.
	Faint []string
}

// ThemesConfig is what the list of themes works with.
type ThemesConfig struct {
	// List reads what themes there are.
	List func(ctx context.Context) []ThemeChoice
	// Current is the name of the one in force.
	Current string
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Keys replaces the keys of actions by name, such as "theme.keep".
	Keys map[string][]string
}

// themesRead brings the themes.
type themesRead struct{ all []ThemeChoice }

func (themesRead) overlayMsg() {}

// Themes is the list of themes, each of which is looked at as soon as the cursor
// is on it. It is a value: Update returns the next one.
type Themes struct {
	ctx context.Context
	c   ThemesConfig

	all           []ThemeChoice
	read          bool
	at, top       int
	width, height int
}

// NewThemes returns the list, which is empty until Open.
func NewThemes(ctx context.Context, c ThemesConfig) Themes { return Themes{ctx: ctx, c: c} }

// Open reads the themes, so that a file that has just been written counts.
func (l Themes) Open() (Themes, tea.Cmd) {
	ctx, list := l.ctx, l.c.List
	return l, func() tea.Msg {
		if list == nil {
			return themesRead{}
		}
		return themesRead{list(ctx)}
	}
}

// Title implements [Layer].
func (l Themes) Title() string { return "theme" }

// Cursor implements [Layer]: nothing is typed here.
func (l Themes) Cursor() (x, y int, visible bool) { return 0, 0, false }

// SetTheme changes the colours.
func (l Themes) SetTheme(t *themes.Theme) Themes {
	l.c.Theme = t
	return l
}

// Bindings are the keys of the list.
func (l Themes) Bindings() []render.Binding {
	const group = "Theme"
	unusable := ""
	if l.read && (len(l.all) == 0 || l.all[l.at].Make == nil) {
		unusable = "this one cannot be used"
	}
	b := []render.Binding{
		{Action: "theme.keep", Keys: []string{"enter"}, Help: "keep it", Group: group, Rank: 1, Off: unusable},
		{Action: "theme.back", Keys: []string{"esc", "q", "ctrl+c"}, Help: "back as it was", Group: group, Rank: 2},
		{Action: "theme.down", Keys: []string{"down", "j", "ctrl+n"}, Help: "next", Group: group, Rank: 3},
		{Action: "theme.up", Keys: []string{"up", "k", "ctrl+p"}, Help: "previous", Group: group, Rank: 4},
		{Action: "theme.first", Keys: []string{"home", "g"}, Help: "first", Group: group},
		{Action: "theme.last", Keys: []string{"end", "G"}, Help: "last", Group: group},
		{Action: "theme.read", Keys: []string{"r"}, Help: "read the files again", Group: group},
	}
	return widget.Rebind(b, l.c.Keys)
}

// Update handles a key, the wheel, a size, or what was read.
func (l Themes) Update(msg tea.Msg) (Themes, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		l.width, l.height = msg.Width, msg.Height
	case themesRead:
		return l.took(msg.all)
	case tea.MouseMsg:
		switch msg.Button {
		case tea.MouseButtonWheelUp:
			return l.to(l.at - 1)
		case tea.MouseButtonWheelDown:
			return l.to(l.at + 1)
		}
	case tea.KeyMsg:
		return l.onKey(msg)
	}
	return l, nil, nil
}

// took takes the themes in, and keeps the cursor where it was: at first on the one
// in force. One whose file was read again is looked at as it is now.
func (l Themes) took(all []ThemeChoice) (Themes, tea.Cmd, Intent) {
	name, again := l.c.Current, l.read
	if again && len(l.all) > 0 {
		name = l.all[l.at].Name
	}
	l.all, l.read, l.at = all, true, 0
	for i, c := range all {
		if c.Name == name {
			l.at = i
		}
	}
	if again && len(all) > 0 && all[l.at].Make != nil {
		return l, nil, UseTheme{Name: all[l.at].Name, Make: all[l.at].Make}
	}
	return l, nil, nil
}

func (l Themes) onKey(k tea.KeyMsg) (Themes, tea.Cmd, Intent) {
	action, off := widget.Match(l.Bindings(), k)
	if off != "" {
		return l, nil, nil
	}
	switch action {
	case "theme.back":
		return l, nil, UseTheme{Back: true}
	case "theme.keep":
		if len(l.all) == 0 {
			return l, nil, nil
		}
		return l, nil, UseTheme{Name: l.all[l.at].Name, Make: l.all[l.at].Make, Keep: true}
	case "theme.down":
		return l.to(l.at + 1)
	case "theme.up":
		return l.to(l.at - 1)
	case "theme.first":
		return l.to(0)
	case "theme.last":
		return l.to(len(l.all) - 1)
	case "theme.read":
		l, cmd := l.Open()
		return l, cmd, nil
	}
	return l, nil, nil
}

// to goes to a theme and has everything drawn in it.
func (l Themes) to(at int) (Themes, tea.Cmd, Intent) {
	at = min(max(at, 0), max(len(l.all)-1, 0))
	if at == l.at || len(l.all) == 0 {
		return l, nil, nil
	}
	l.at = at
	if c := l.all[at]; c.Make != nil {
		return l, nil, UseTheme{Name: c.Name, Make: c.Make}
	}
	return l, nil, nil
}

// ThemeActions are all keys of the list of themes.
func ThemeActions() []render.Binding { return Themes{}.Bindings() }
