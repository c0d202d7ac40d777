package ui

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/overlay"
	"cairn/ui/render"
)

// look is the theme with its renderer. Both go together.
type look struct {
	dark bool // the background it is for
	// now is the theme that is drawn, kept the one to go back to: they differ while
	// one is only looked at.
	now, kept dress

	theme    *themes.Theme
	markdown *render.Markdown
}

// dress is a theme for every background.
type dress struct {
	name  string
	makes func(dark bool) *themes.Theme
}

func newLook(d Deps, dark bool) *look {
	chosen := dress{d.ThemeName, d.Theme}
	l := look{dark: dark, kept: chosen}
	return l.wearing(chosen, dark)
}

// wearing is a look in a theme for a background.
func (l look) wearing(d dress, dark bool) *look {
	t := d.makes(dark)
	l.now, l.dark, l.theme = d, dark, t
	l.markdown = render.NewMarkdown(t)
	return &l
}

// restyle takes the theme for the terminal's background.
func (m Model) restyle(dark bool) Model {
	if dark == m.look.dark {
		return m
	}
	return m.wear(m.look.wearing(m.look.now, dark))
}

// wear has everything drawn in a look. What is read, selected or streams stays
// where it is.
func (m Model) wear(l *look) Model {
	m.look = l
	m.chat = m.chat.Restyle(m.chatDeps())
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i] = m.parked[i].Restyle(m.chatDeps())
	}
	m.lists.picker = m.lists.picker.SetTheme(l.theme)
	m.lists.browser = m.lists.browser.SetTheme(l.theme)
	m.lists.runs = m.lists.runs.SetTheme(l.theme)
	m.layers = m.layers.restyled(l.theme)
	return m
}

// openThemes lists the themes over what is in front.
func (m Model) openThemes() (tea.Model, tea.Cmd) {
	l, cmd := overlay.NewThemes(m.ctx, overlay.ThemesConfig{
		List: m.deps.Themes, Current: m.look.kept.name, Theme: m.look.theme, Keys: m.deps.Keys,
	}).Open()
	return m.push(overlay.Over(l)), cmd
}

// useTheme looks at a theme, keeps it, or goes back to the one before.
func (m Model) useTheme(want overlay.UseTheme) (tea.Model, tea.Cmd) {
	switch {
	case want.Back:
		return m.wear(m.look.wearing(m.look.kept, m.look.dark)), nil
	case want.Make == nil:
		return m, m.findTheme(want.Name)
	}
	chosen := dress{want.Name, want.Make}
	l := m.look.wearing(chosen, m.look.dark)
	if !want.Keep {
		return m.wear(l), nil
	}
	l.kept = chosen
	return m.wear(l), m.saveTheme(want.Name)
}

// themeFound brings a theme that was asked for by name, themeSaved how keeping one
// went.
type (
	themeFound struct {
		name   string
		choice overlay.ThemeChoice
		known  bool
	}
	themeSaved struct {
		name string
		err  error
	}
)

// findTheme reads the theme of a name, which is then kept.
func (m Model) findTheme(name string) tea.Cmd {
	ctx, list := m.ctx, m.deps.Themes
	return func() tea.Msg {
		if list == nil {
			return themeFound{name: name}
		}
		for _, c := range list(ctx) {
			if c.Name == name {
				return themeFound{name: name, choice: c, known: true}
			}
		}
		return themeFound{name: name}
	}
}

// saveTheme writes the theme into the person's configuration.
func (m Model) saveTheme(name string) tea.Cmd {
	save := m.deps.Save
	if save == nil {
		return nil
	}
	ctx := m.ctx
	return func() tea.Msg {
		return themeSaved{name, save(context.WithoutCancel(ctx), "theme", name)}
	}
}

// themed goes on with a theme that was found or saved.
func (m Model) themed(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case themeFound:
		switch {
		case !msg.known:
			m.chat = m.chat.Say("There is no theme " + render.SafeLine(msg.name) + "; /theme lists them.")
		case msg.choice.Make == nil:
			m.chat = m.chat.Say("The theme " + render.SafeLine(msg.name) + " cannot be used: " + render.SafeLine(msg.choice.Wrong))
		default:
			return m.useTheme(overlay.UseTheme{Name: msg.choice.Name, Make: msg.choice.Make, Keep: true})
		}
	case themeSaved:
		if msg.err != nil {
			m.chat = m.chat.Say("The theme " + render.SafeLine(msg.name) + " is used now, but not kept: " + Words(msg.err))
			return m, nil
		}
		m.chat = m.chat.Hint("the theme is " + render.SafeLine(msg.name) + " from now on")
	}
	return m, nil
}
