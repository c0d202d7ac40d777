package ui

import (
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/screen"
	"cairn/ui/widget"
)

// MouseUse says what the mouse does. The zero value is the usual: the wheel
// scrolls, the pointer marks text, and a key copies that.
type MouseUse struct {
	// Off leaves the mouse to the terminal.
	Off bool
	// NoWheel and NoSelect take away what it does.
	NoWheel, NoSelect bool
	// Copy copies what is marked at once.
	Copy bool
}

// Mode is what the terminal has to report for it. Whoever opens the screen begins
// in it.
func (u MouseUse) Mode() screen.MouseMode {
	switch {
	case u.Off, u.NoWheel && u.NoSelect:
		return screen.MouseOff
	case u.NoSelect:
		return screen.MouseButtons
	}
	return screen.MouseDrag
}

// The actions of marked text.
const (
	actMouseCopy = "mouse.copy"
	actMouseDrop = "mouse.drop"
)

// againWithin is how soon a click follows another that belongs to it.
const againWithin = 400 * time.Millisecond

// pointer is what is done with the mouse.
type pointer struct {
	use MouseUse
	sel selection
	// held says that the button is down, moved that the pointer went elsewhere
	// meanwhile.
	held, moved bool
	// at, cell and clicks are of the last click; the next one may belong to it.
	at     time.Time
	cell   cell
	clicks int
	// said is told on the last row until a key is pressed.
	said string
}

// MouseActions lists the actions of marked text, with the keys they have by
// default.
func MouseActions() []render.Binding {
	const group = "Marked text"
	return []render.Binding{
		{Action: actMouseCopy, Keys: []string{"ctrl+c"}, Help: "copy what the mouse marked", Group: group},
		{Action: actMouseDrop, Keys: []string{"esc"}, Help: "unmark it; so does any other key", Group: group},
	}
}

// mouseBindings are the keys of marked text, as they are now.
func (m Model) mouseBindings() []render.Binding {
	list := widget.Rebind(MouseActions(), m.deps.Keys)
	for i := range list {
		if !m.term.mouse.sel.on {
			list[i].Off = "nothing is marked"
		}
	}
	return list
}

// pointed takes a report of the mouse: the wheel is for what is under it, and the
// left button marks text. A click that marks nothing is for what is in front when
// the button is let go.
func (m Model) pointed(msg tea.MouseMsg) (tea.Model, tea.Cmd) {
	p := m.term.mouse
	switch {
	case tea.MouseEvent(msg).IsWheel():
		if p.use.NoWheel || p.use.Off {
			return m, nil
		}
		return m.toFront(msg)
	case p.use.Off || p.use.NoSelect:
		return m.toFront(msg)
	case msg.Action == tea.MouseActionPress && msg.Button == tea.MouseButtonLeft:
		return m.pressed(cell{msg.X, msg.Y}), nil
	case msg.Action == tea.MouseActionMotion && p.held:
		return m.dragged(cell{msg.X, msg.Y}), nil
	case msg.Action == tea.MouseActionRelease && p.held:
		return m.released(msg)
	}
	return m, nil
}

// pressed begins to mark, or with a second and third click a word and a line.
func (m Model) pressed(at cell) Model {
	p, now := m.term.mouse, m.deps.Now()
	again := p.clicks > 0 && at == p.cell && now.Sub(p.at) <= againWithin
	if !again {
		p.clicks = 0
	}
	p.clicks = p.clicks%3 + 1
	p.at, p.cell, p.held, p.moved, p.said = now, at, true, false, ""
	p.sel = newSelection(m.drawn(), at, unit(p.clicks))
	m.term.mouse = p
	return m
}

// dragged marks as far as the pointer is now.
func (m Model) dragged(at cell) Model {
	p := &m.term.mouse
	p.moved = p.moved || at != p.cell
	p.sel = p.sel.to(at, m.drawn())
	return m
}

// released ends marking.
func (m Model) released(msg tea.MouseMsg) (tea.Model, tea.Cmd) {
	p := &m.term.mouse
	p.held = false
	if p.moved {
		p.clicks = 0
	} else if p.clicks == 1 {
		p.sel = selection{}
		return m.toFront(msg)
	}
	if p.sel.text() == "" {
		p.sel = selection{}
		return m, nil
	}
	p.sel.on = true
	if p.use.Copy {
		return m.copyMarked(false)
	}
	return m, nil
}

// copyMarked gives what is marked to the clipboard. Done takes the mark away.
func (m Model) copyMarked(done bool) (tea.Model, tea.Cmd) {
	p := &m.term.mouse
	text := p.sel.text()
	p.said = "copied " + harness.Count(utf8.RuneCountInString(text), "character") + ": sent to the terminal's clipboard"
	if done {
		p.sel = selection{}
	}
	return m, clipboard(text)
}

// marked gives a key to what is marked. Any key but those that are for it takes
// the mark away and goes on.
func (m Model) marked(key tea.KeyMsg) (next Model, cmd tea.Cmd, done bool) {
	p := &m.term.mouse
	p.said = ""
	if !p.sel.on {
		return m, nil, false
	}
	switch action, _ := widget.Match(m.mouseBindings(), key); action {
	case actMouseCopy:
		after, cmd := m.copyMarked(true)
		if now, ok := after.(Model); ok {
			return now, cmd, true
		}
	case actMouseDrop:
		p.sel = selection{}
		return m, nil, true
	}
	p.sel = selection{}
	return m, nil, false
}

// toggleMouse gives the mouse to the terminal, or takes it again.
func (m Model) toggleMouse() (tea.Model, tea.Cmd) {
	p := &m.term.mouse
	p.use.Off = !p.use.Off
	p.sel, p.held = selection{}, false
	if p.use.NoWheel && p.use.NoSelect && !p.use.Off {
		p.use.NoWheel, p.use.NoSelect = false, false
	}
	key := widget.KeyFor(m.deps.Keys, "chat.mouse", "ctrl+x o")
	if p.use.Off {
		m.chat = m.chat.Hint("the mouse is the terminal's now: it selects, and the wheel does not scroll; " + key + " takes it back")
	} else {
		m.chat = m.chat.Hint("the mouse is used: " + p.use.words() + "; " + key + " gives it to the terminal")
	}
	return m, screen.Mouse(p.use.Mode())
}

// words say what the mouse does.
func (u MouseUse) words() string {
	switch {
	case u.Mode() == screen.MouseOff:
		return "off"
	case u.NoSelect:
		return "wheel"
	case u.NoWheel:
		return "marks text"
	}
	return "wheel, marks text"
}

// mouseRow is what is told of marked text on the last row, empty for nothing.
func (m Model) mouseRow() string {
	p := m.term.mouse
	if p.said != "" {
		return p.said
	}
	if !p.sel.on || p.held {
		return ""
	}
	dot := " " + m.look.theme.Ornaments.Dot + " "
	return harness.Count(utf8.RuneCountInString(p.sel.text()), "character") + " marked" + dot +
		widget.KeyFor(m.deps.Keys, actMouseCopy, "ctrl+c") + " copy" + dot + "any other key unmarks"
}
