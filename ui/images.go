package ui

import (
	"context"
	"log/slog"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/screen"
	"cairn/ui/widget"
)

// showing is what is done with images.
type showing struct {
	// off says that they were turned off here.
	off   bool
	shelf *overlay.Shelf
}

// clear removes what other programs were given of them.
func (s showing) clear(log *slog.Logger) {
	if s.shelf == nil {
		return
	}
	if err := s.shelf.Clear(); err != nil && log != nil {
		log.Warn("images", slog.String("error", err.Error()))
	}
}

// far reports whether the terminal is on another machine.
func (m Model) far() bool {
	get := m.deps.Getenv
	return get != nil && (get("SSH_CONNECTION") != "" || get("SSH_TTY") != "")
}

// images is how images are shown now.
func (m Model) images() chat.Images {
	able := m.term.able
	u := chat.Images{Protocol: able.Images, CellWidth: able.CellWidth, CellHeight: able.CellHeight, Far: m.far()}
	if m.term.images.off {
		u.Protocol = screen.ProtocolNone
	}
	return u
}

// useImages tells all chats how images are shown.
func (m Model) useImages() (Model, tea.Cmd) {
	use := m.images()
	cmds := make([]tea.Cmd, len(m.parked)+2)
	m.chat, cmds[0] = m.chat.UseImages(use)
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i], cmds[i+1] = m.parked[i].UseImages(use)
	}
	m.layers, cmds[len(m.parked)+1] = m.layers.tell(overlay.ImageHow(use))
	return m, tea.Batch(cmds...)
}

// imaged tells whoever shows images what became of some in the terminal.
func (m Model) imaged(msg tea.Msg) (tea.Model, tea.Cmd) {
	tell := func(c chat.Model) (chat.Model, tea.Cmd) {
		switch msg := msg.(type) {
		case screen.ImageMsg:
			return c.ImageThere(msg)
		case screen.ImagesGoneMsg:
			return c.ImagesGone(msg)
		}
		return c, nil
	}
	cmds := make([]tea.Cmd, len(m.parked)+2)
	m.chat, cmds[0] = tell(m.chat)
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i], cmds[i+1] = tell(m.parked[i])
	}
	m.layers, cmds[len(m.parked)+1] = m.layers.tell(msg)
	return m, tea.Batch(cmds...)
}

// openImage shows images alone.
func (m Model) openImage(want chat.Intent) (tea.Model, tea.Cmd) {
	if len(want.Images) == 0 {
		return m, nil
	}
	use := m.images()
	i, cmd := overlay.NewImage(m.ctx, overlay.ImageConfig{
		Items: want.Images, At: want.At, How: overlay.ImageHow(use),
		Dir: m.deps.Dir, Browse: m.term.browse, Shelf: m.term.images.shelf, Theme: m.look.theme, Words: Words, Keys: m.deps.Keys,
	}).Open()
	return m.push(overlay.Over(i)), cmd
}

// Picture implements [screen.Pictured]: what the uppermost overlay paints over its
// cells, unless something else is drawn over those.
func (m Model) Picture() screen.Picture {
	if len(m.layers) == 0 || m.term.mouse.sel.on || m.term.mouse.held {
		return screen.Picture{}
	}
	if p, ok := m.layers.top().(screen.Pictured); ok {
		return p.Picture()
	}
	return screen.Picture{}
}

// imagesSaved says how keeping whether images are shown went.
type imagesSaved struct{ err error }

// toggleImages has images shown, or not, and keeps that.
func (m Model) toggleImages() (tea.Model, tea.Cmd) {
	off := m.deps.Images == screen.ImagesOff
	value := screen.ImagesOff
	switch {
	case off, m.term.images.off:
		value = screen.ImagesAuto
		if !off && m.deps.Images != "" {
			value = m.deps.Images
		}
	}
	m.term.images.off = value == screen.ImagesOff
	if off {
		m.deps.Images = value
	}
	m, cmd := m.useImages()
	words := "images are named only; " + widget.KeyFor(m.deps.Keys, "chat.images", "ctrl+x P") + " shows them again"
	switch {
	case off: // the terminal was not asked for what it can do
		words = "images are shown from the next start on, where the terminal can"
	case value != screen.ImagesOff:
		words = "images are on: " + m.imagesHow()
	}
	m.chat = m.chat.Hint(words)
	save, ctx := m.deps.Save, m.ctx
	if save == nil {
		return m, cmd
	}
	return m, tea.Batch(cmd, func() tea.Msg { return imagesSaved{save(context.WithoutCancel(ctx), "images", value)} })
}

// imagesKept says that it could not be kept.
func (m Model) imagesKept(msg imagesSaved) Model {
	if msg.err != nil {
		m.chat = m.chat.Say("That counts for now, but is not kept: " + Words(msg.err))
	}
	return m
}

// imagesVerb is what turning them on or off is called.
func (m Model) imagesVerb() string {
	if m.term.images.off || m.deps.Images == screen.ImagesOff {
		return "show images"
	}
	return "show no images"
}

// imagesHow says how images are shown.
func (m Model) imagesHow() string {
	switch m.images().Protocol {
	case screen.ProtocolKitty:
		return "yes (kitty)"
	case screen.ProtocolITerm:
		return "by /image (iTerm2)"
	case screen.ProtocolSixel:
		return "by /image (sixel)"
	default:
		return "named only"
	}
}
