package overlay

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// keysKept is how many keys a test remembers.
	keysKept = 200
	// leader begins the sequences of two keys.
	leader = "ctrl+x"
	// leavesBy is the key that ends the test when it comes twice.
	leavesBy = "esc"
)

// KeyTestConfig is what a test of keys needs.
type KeyTestConfig struct {
	// Bindings are those of the screen whose actions are named.
	Bindings []render.Binding
	// Theme is required.
	Theme *themes.Theme
}

// Heard tells what the terminal sent for a key, before the key itself. Key is what
// is made of it, empty if nothing is.
type Heard struct{ Bytes, Key string }

func (Heard) overlayMsg() {}

// KeysTested asks to take the overlay away and to tell no more of what keys send.
type KeysTested struct{}

func (KeysTested) intent() {}

// struck is a key of the test.
type struck struct {
	bytes, key string
	// paste is how many characters were pasted, for what is no key.
	paste int
}

// KeyTest shows for each key what the terminal sends, how it is named, what it
// does, and how to bind it. It is a value: Update returns the next one.
type KeyTest struct {
	c      KeyTestConfig
	keys   []struck // the newest first
	told   bool     // the newest was told of, and its key is still to come
	pane   widget.Pane
	width  int
	height int
}

// NewKeyTest returns a test of keys.
func NewKeyTest(c KeyTestConfig) KeyTest { return KeyTest{c: c} }

// Title implements [Layer].
func (KeyTest) Title() string { return "keys test" }

// Bindings are none: every key is tested.
func (KeyTest) Bindings() []render.Binding { return nil }

// SetTheme changes the colours.
func (k KeyTest) SetTheme(t *themes.Theme) KeyTest {
	k.c.Theme = t
	return k
}

// Cursor is nowhere.
func (KeyTest) Cursor() (x, y int, visible bool) { return 0, 0, false }

// Update handles a key, what was sent for it, the wheel or a size.
func (k KeyTest) Update(msg tea.Msg) (KeyTest, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		k.width, k.height = msg.Width, msg.Height
	case tea.MouseMsg:
		k.pane = k.pane.Wheel(msg)
	case Heard:
		k = k.add(struck{bytes: msg.Bytes, key: msg.Key})
		k.told = msg.Key != ""
	case tea.KeyMsg:
		switch {
		case msg.Paste:
			k = k.add(struck{paste: len(msg.Runes)})
		case !k.told || k.keys[0].key != msg.String():
			k = k.add(struck{key: msg.String()})
		}
		k.told = false
		if len(k.keys) > 1 && k.keys[0].key == leavesBy && k.keys[1].key == leavesBy {
			return k, nil, KeysTested{}
		}
	}
	k.pane = k.pane.Show(k.body(k.width), usageRoom(k.height))
	return k, nil, nil
}

func (k KeyTest) add(s struck) KeyTest {
	k.keys = append([]struck{s}, k.keys[:min(len(k.keys), keysKept-1)]...)
	k.pane = widget.Pane{}
	return k
}

// View draws the overlay: exactly height lines, none wider than width.
func (k KeyTest) View(width, height int) string {
	t := k.c.Theme
	shown := k.pane.Show(k.body(width), usageRoom(height)).Lines()
	if height < 3 {
		return widget.Frame(shown, width, height)
	}
	dot := " " + t.Ornaments.Dot + " "
	head := render.Fit(" "+t.Paints.Title.On("Keys")+t.Paints.Muted.On(dot+"what this terminal sends"), "", width)
	foot := render.Fit(" "+t.Paints.Key.On(leavesBy+" "+leavesBy)+" leave", "", width)
	for len(shown) < usageRoom(height) {
		shown = append(shown, "")
	}
	if height < roomyFrom {
		return widget.Frame(append(append([]string{head}, shown...), foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, shown...), rule, foot), width, height)
}

// body is the newest key in full, then the earlier ones in a line each.
func (k KeyTest) body(width int) []string {
	p := k.c.Theme.Paints
	if width <= 2 {
		return nil
	}
	if len(k.keys) == 0 {
		return prose("Press a key. Nothing is done but to show it: what the terminal sends, what cairn takes it for, and what that does.", width)
	}
	var out []string
	row := func(name, text string, paint themes.Paint) {
		const label = 8
		for i, l := range render.Wrap(render.SafeLine(text), max(width-label-2, 1)) {
			head := strings.Repeat(" ", label)
			if i == 0 {
				head = p.Muted.On(name) + strings.Repeat(" ", label-len(name))
			}
			out = append(out, " "+head+paint.On(l))
		}
	}
	s := k.keys[0]
	if s.paste > 0 {
		row("paste", fmt.Sprintf("%d characters; a paste is never a key", s.paste), "")
	} else {
		row("sent", sent(s.bytes), "")
		row("key", named(s), p.Key)
		action, does := k.does(0)
		row("does", does, "")
		if s.key != "" {
			row("bind", "in the config, below [keys]: "+bind(action, k.full(0)), p.Code)
		}
	}
	if len(k.keys) > 1 {
		out = append(out, "", " "+p.Muted.On("before"))
	}
	for i := 1; i < len(k.keys); i++ {
		_, does := k.does(i)
		text := fmt.Sprintf("%-14s %-22s %s", named(k.keys[i]), visible(k.keys[i].bytes), does)
		if n := k.keys[i].paste; n > 0 {
			text = fmt.Sprintf("paste of %d characters", n)
		}
		out = append(out, " "+widget.OneLine(text, width-2, k.c.Theme.Ornaments.Ellipsis))
	}
	return out
}

// full is a key as it is bound: with the one that begins a sequence before it.
func (k KeyTest) full(i int) string {
	key := k.keys[i].key
	if i+1 < len(k.keys) && k.keys[i+1].key == leader && key != leader {
		return leader + " " + key
	}
	return key
}

// does is the action of a key, empty if it has none, and what it does in words.
func (k KeyTest) does(i int) (action, words string) {
	s := k.keys[i]
	if s.key == "" {
		return "", "nothing: cairn does not know it"
	}
	for _, key := range []string{k.full(i), s.key} {
		for _, b := range k.c.Bindings {
			for _, bound := range b.Keys {
				if bound != key {
					continue
				}
				words = b.Help + " (" + b.Action + ")"
				if b.Off != "" {
					words += ", but not now: " + b.Off
				}
				return b.Action, words
			}
		}
	}
	switch {
	case s.key == leader:
		return "", "begins the sequences of two keys"
	case utf8.RuneCountInString(s.key) == 1:
		return "", "types itself"
	}
	return "", "nothing: no action of the chat has it"
}
