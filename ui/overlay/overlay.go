// Package overlay has what is drawn over a screen, such as the help, the command
// palette and the permissions in force. The one thing to know: an overlay does not
// know what lies under it. It draws itself into the size it is given, and says with
// an [Intent] what the root is to do.
package overlay

import (
	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/screen"
)

// Intent is what the root is to do; nil means nothing.
type Intent interface{ intent() }

// Closed asks to take the overlay away.
type Closed struct{}

// Act asks to take the overlay away and to carry out an action of the screen in
// front, by the name that its binding has, such as "chat.details".
type Act struct{ Action string }

// Command asks to take the overlay away and to carry out a command of the chat as
// it would be typed, such as "/compact the numbers". Fill has it written into the
// box instead, for the person to complete.
type Command struct {
	Text string
	Fill bool
}

// Open asks to take the overlay away and to open a session, at a message if one is
// named.
type Open struct {
	Session harness.SessionID
	Message int
}

// UseModel asks to take the overlay away and to change the model of the session in
// front, named as PROVIDER/NAME. Note is said with it.
type UseModel struct{ Name, Note string }

// UseTheme asks to draw everything in a theme. Keep has it written to the
// configuration and takes the overlay away; without it the theme is only looked at.
// Back takes the overlay away and goes back to the theme that is kept. Make makes
// the theme; without it the one of that name is looked for, and kept.
type UseTheme struct {
	Name string
	Make func(dark bool) *themes.Theme
	Keep bool
	Back bool
}

// Copy asks for text on the clipboard and leaves the overlay open. Say is what to
// tell the person.
type Copy struct{ Text, Say string }

// Say asks to take the overlay away and to show a sentence in the chat.
type Say struct{ Text string }

func (Closed) intent()   {}
func (Act) intent()      {}
func (Command) intent()  {}
func (Open) intent()     {}
func (UseModel) intent() {}
func (UseTheme) intent() {}
func (Copy) intent()     {}
func (Say) intent()      {}

// Layer is an overlay that is open. It is a value: Update and SetTheme return the
// next one. It gets keys while it is the uppermost, sizes and [Msg] always.
type Layer interface {
	// Title names it in its help, such as "permissions".
	Title() string
	Bindings() []render.Binding
	Update(tea.Msg) (Layer, tea.Cmd, Intent)
	SetTheme(*themes.Theme) Layer
	View(width, height int) string
	// Cursor is where the terminal's cursor belongs.
	Cursor() (x, y int, visible bool)
}

// value is an overlay as its own type knows it.
type value[T any] interface {
	Title() string
	Bindings() []render.Binding
	Update(tea.Msg) (T, tea.Cmd, Intent)
	SetTheme(*themes.Theme) T
	View(width, height int) string
	Cursor() (x, y int, visible bool)
}

// Over makes a layer of an overlay.
func Over[T value[T]](v T) Layer { return layer[T]{v} }

type layer[T value[T]] struct{ value[T] }

// Update implements [Layer].
func (l layer[T]) Update(msg tea.Msg) (Layer, tea.Cmd, Intent) {
	v, cmd, want := l.value.Update(msg)
	return layer[T]{v}, cmd, want
}

// Picture implements [screen.Pictured] for overlays that do.
func (l layer[T]) Picture() screen.Picture {
	if p, ok := any(l.value).(screen.Pictured); ok {
		return p.Picture()
	}
	return screen.Picture{}
}

// SetTheme implements [Layer].
func (l layer[T]) SetTheme(t *themes.Theme) Layer { return layer[T]{l.value.SetTheme(t)} }
