package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"cairn/ui/overlay"
	"cairn/ui/render"
	"cairn/ui/screen"
	"cairn/ui/widget"
)

// terminal is what is known of the terminal, and what is done with its mouse.
type terminal struct {
	able screen.Abilities
	// away says that the person was seen to look elsewhere.
	away bool
	// notified is how they were told before notifications were turned off.
	notified string
	turns    []turnSeen
	mouse    pointer
	inline   inline
	images   showing
	// browse opens an address on its display, nil where that cannot be.
	browse func(ctx context.Context, address string) error
}

// learn takes what the terminal said of itself.
func (m Model) learn(able screen.Abilities) (tea.Model, tea.Cmd) {
	m.term.able = able
	m.chat = m.chat.ShiftEnter(able.ShiftEnter())
	m.parked = slices.Clone(m.parked)
	for i := range m.parked {
		m.parked[i] = m.parked[i].ShiftEnter(able.ShiftEnter())
	}
	return m.useImages()
}

// looked takes whether the person looks at this terminal. When they come back all
// of it is drawn anew: others may have written to it meanwhile.
func (m Model) looked(in bool) (tea.Model, tea.Cmd) {
	back := in && m.term.away
	m.term.away = !in
	if back {
		return m, screen.Redraw
	}
	return m, nil
}

// openKeyTest shows what the terminal sends for keys.
func (m Model) openKeyTest() (tea.Model, tea.Cmd) {
	k := overlay.NewKeyTest(overlay.KeyTestConfig{Bindings: m.chat.Bindings(), Theme: m.look.theme})
	return m.push(overlay.Over(k)), screen.Listen(true)
}

// heard gives what the terminal sent for a key to who shows it.
func (m Model) heard(msg screen.HeardMsg) (tea.Model, tea.Cmd) {
	key := ""
	if msg.Known {
		key = msg.Key.String()
	}
	return m.toLayers(overlay.Heard{Bytes: string(msg.Bytes), Key: key})
}

// helpNotes are the lines below the keys: what this terminal can do, what to do
// about a key that does not work, and where things are kept.
func (m Model) helpNotes() []string {
	notes := []string{
		"Your terminal: " + strings.Join(m.terminalWords(), " "+m.look.theme.Ornaments.Dot+" "),
		"Key not working? /keys test shows what the terminal sends, and what to put in the config.",
	}
	return append(notes, m.deps.HelpNotes...)
}

// terminalWords say what the terminal can do, as far as it told.
func (m Model) terminalWords() []string {
	able := m.term.able
	var words []string
	if able.Name != "" {
		words = append(words, render.SafeLine(able.Name))
	}
	switch {
	case able.KittyKeys:
		words = append(words, "kitty keys yes")
	case able.ModifyOther:
		words = append(words, "xterm keys yes")
	case able.Answered:
		words = append(words, "kitty keys no")
	default:
		words = append(words, "kitty keys unknown: it did not answer")
	}
	if able.Clipboard {
		words = append(words, "OSC 52 yes")
	} else {
		words = append(words, "OSC 52 unknown")
	}
	mouse := "mouse off (" + widget.KeyFor(m.deps.Keys, "chat.mouse", "ctrl+x o") + " turns it on)"
	if use := m.term.mouse.use; use.Mode() != screen.MouseOff {
		mouse = "mouse " + use.words()
	}
	words = append(words, colours(m.look.theme.Profile), fmt.Sprintf("%dx%d", m.size.width, m.size.height), mouse, "images "+m.imagesHow())
	if able.Answered && !able.Graphemes {
		words = append(words, "emoji may be misplaced")
	}
	return words
}

// colours say how many a profile has.
func colours(p termenv.Profile) string {
	switch p {
	case termenv.TrueColor:
		return "truecolor"
	case termenv.ANSI256:
		return "256 colours"
	case termenv.ANSI:
		return "16 colours"
	default:
		return "no colours"
	}
}

// mouseHint lays what is told of marked text over the last row of a view.
func (m Model) mouseHint(view string) string {
	text := m.mouseRow()
	if text == "" || m.size.height < 2 {
		return view
	}
	lines := strings.Split(view, "\n")
	for len(lines) < m.size.height {
		lines = append(lines, "")
	}
	p := m.look.theme.Paints
	lines[m.size.height-1] = render.Fit(p.Strong.On(" "+widget.OneLine(text, max(m.size.width-2, 0), m.look.theme.Ornaments.Ellipsis)), "", m.size.width)
	return strings.Join(lines, "\n")
}
