package screen

import (
	"os/exec"

	tea "github.com/charmbracelet/bubbletea"
)

// PasteMsg is one whole bracketed paste, however long, with CRLF and CR turned
// into LF and bytes that are not UTF-8 replaced by U+FFFD. Other control
// characters are as they came: the receiver decides how to show them.
type PasteMsg string

// BackgroundMsg tells whether the terminal's background is dark. It comes
// before the first frame when COLORFGBG says so, within a second of the start
// when the terminal answers in time, and else never.
type BackgroundMsg struct{ Dark bool }

// Abilities are what the terminal has said of itself. The zero value is a terminal
// that has not answered: everything is then used that does no harm where it is
// unknown, and nothing is promised.
type Abilities struct {
	// Answered says that the terminal answered at all.
	Answered bool
	// Name is how it calls itself, such as "kitty 0.36.1"; empty if it does not.
	Name string
	// KittyKeys says that keys arrive unambiguously in the manner of kitty, and
	// ModifyOther that they do in the manner of xterm: shift+enter can be told from
	// enter.
	KittyKeys, ModifyOther bool
	// Synchronized says that frames are shown whole (mode 2026), and Graphemes that
	// characters of several code points are measured as one (mode 2027).
	Synchronized, Graphemes bool
	// Scheme says that it tells when its background changes (mode 2031).
	Scheme bool
	// Clipboard says that it takes text for the clipboard (OSC 52). Few terminals
	// tell, so false does not mean that it does not.
	Clipboard bool
	// Graphics says that it shows images in the manner of kitty, and Sixel that it
	// does in that of DEC. Images is how they are shown to the person, which the
	// environment and the configuration have a say in.
	Graphics, Sixel bool
	Images          Protocol
	// CellWidth and CellHeight are the size of a cell in pixels, 0 if it is not known.
	CellWidth, CellHeight int
}

// ShiftEnter reports whether shift+enter is known to arrive as another key than
// enter.
func (a Abilities) ShiftEnter() bool { return a.KittyKeys || a.ModifyOther }

// AbilitiesMsg tells what the terminal said of itself so far. It comes when an
// answer changed what is known; from a terminal that does not answer only with what
// is known without one.
type AbilitiesMsg Abilities

// FocusMsg tells whether the person looks at this terminal.
type FocusMsg struct{ In bool }

// HeardMsg tells what the terminal sent for a key, before the key itself comes. It
// comes only after [Listen].
type HeardMsg struct {
	Bytes []byte
	// Key is what is made of them, if Known says that anything is.
	Key   tea.KeyMsg
	Known bool
}

// Cursorer is what a model implements to have the terminal's own cursor shown,
// usually at the caret of a text field: input methods and screen readers
// follow it. X and y are cells from the top left of the model's view.
type Cursorer interface {
	Cursor() (x, y int, visible bool)
}

// Messages from the commands below to the program that draws.
type (
	frameMsg   struct{}
	redrawMsg  struct{}
	suspendMsg struct{}
	controlMsg []byte
	mouseMsg   MouseMode
	listenMsg  bool
	execMsg    struct {
		cmd  *exec.Cmd
		done func(error) tea.Msg
	}
	execDoneMsg struct {
		err  error
		done func(error) tea.Msg
	}
)

// Redraw is a command that draws every cell anew, for a terminal that somebody
// else has written to.
func Redraw() tea.Msg { return redrawMsg{} }

// Exec is a command that hands the terminal to cmd, such as an editor, and
// takes it back when cmd has ended. The model goes on getting messages in the
// meantime; only drawing and reading keys rest. Done, which may be nil, makes
// the message that reports the end.
//
// Bubble Tea's own ExecProcess must not be used on a Screen: it does not know
// who owns the terminal.
func Exec(cmd *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg { return execMsg{cmd, done} }
}

// Control is a command that writes a control sequence of our own making, such
// as a clipboard write, between two frames. It must never carry foreign text
// that was not encoded.
func Control(sequence []byte) tea.Cmd {
	return func() tea.Msg { return controlMsg(sequence) }
}

// Listen is a command that has what keys send told by a [HeardMsg], or ends that.
func Listen(on bool) tea.Cmd {
	return func() tea.Msg { return listenMsg(on) }
}

// MouseMode is what the terminal reports of the mouse. While it reports anything,
// it selects text itself only with shift held.
type MouseMode int

// The modes. Nothing is ever reported of a pointer that moves with no button held.
const (
	MouseOff MouseMode = iota
	// MouseButtons is the wheel and the buttons.
	MouseButtons
	// MouseDrag is that, and where the pointer goes while a button is held.
	MouseDrag
)

// sequence is what puts a mode in force, from any other.
func (m MouseMode) sequence() string {
	switch m {
	case MouseButtons:
		return mouseOff + mouseOn
	case MouseDrag:
		return mouseOff + mouseDrag
	default:
		return mouseOff
	}
}

// Mouse is a command that has the terminal report the mouse in a mode.
func Mouse(mode MouseMode) tea.Cmd {
	return func() tea.Msg { return mouseMsg(mode) }
}
