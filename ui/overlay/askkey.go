package overlay

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// AskKeyConfig is what asking for a key works with.
type AskKeyConfig struct {
	// Provider is the one whose key is asked for, and Model what is to be used with
	// it, "provider/model"; empty means that only the key is kept.
	Provider, Model string
	// From says where the provider has a key from already, empty if it has none.
	From string
	// Save and Doubt are as in [ModelSource].
	Save  func(ctx context.Context, provider, key string) (place string, err error)
	Doubt func(provider, key string) string
	// Theme is required.
	Theme *themes.Theme
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
}

// keySaved says where a key went, or why it was not kept.
type keySaved struct {
	asked *asked
	place string
	err   error
}

func (keySaved) overlayMsg() {}

// asked tells one question for a key from another.
type asked struct{ provider string }

// AskKey is the overlay that asks for the key of a provider. The key is never drawn,
// and what was typed is gone with the overlay. It is a value: Update returns the
// next one.
type AskKey struct {
	ctx context.Context
	c   AskKeyConfig
	id  *asked
	key widget.Field
	// notice is why the key was not kept, or what speaks against it; doubted is the
	// text that something spoke against.
	notice  string
	failed  bool
	doubted string
	saving  bool

	width, height int
}

// NewAskKey returns the overlay.
func NewAskKey(ctx context.Context, c AskKeyConfig) AskKey {
	if c.Words == nil {
		c.Words = error.Error
	}
	return AskKey{ctx: ctx, c: c, id: &asked{c.Provider}, key: widget.Line("")}
}

// Title implements [Layer].
func (a AskKey) Title() string { return "key" }

// SetTheme changes the colours.
func (a AskKey) SetTheme(t *themes.Theme) AskKey {
	a.c.Theme = t
	return a
}

// Bindings are the keys of the overlay as they are now.
func (a AskKey) Bindings() []render.Binding {
	const group = "Asking for a key"
	off, help := "", "keep the key"
	switch {
	case a.saving:
		off = "it is being kept"
	case strings.TrimSpace(a.key.Text()) == "":
		off = "paste the key first"
	case a.doubted != "" && a.doubted == a.key.Text():
		help = "keep it all the same"
	}
	return widget.Rebind([]render.Binding{
		{Action: "key.keep", Keys: []string{"enter"}, Help: help, Group: group, Rank: 1, Off: off},
		{Action: "key.clear", Keys: []string{"ctrl+u"}, Help: "clear", Group: group, Rank: 3},
		{Action: "key.close", Keys: []string{"esc", "ctrl+c"}, Help: "back", Group: group, Rank: 2},
	}, a.c.Keys)
}

// Update handles a key, a paste, a size, or that the key is kept.
func (a AskKey) Update(msg tea.Msg) (AskKey, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
	case tea.KeyMsg:
		return a.onKey(msg)
	case keySaved:
		if msg.asked != a.id {
			break
		}
		a.saving = false
		if msg.err != nil {
			a.notice, a.failed = a.c.Words(msg.err), true
			break
		}
		a.key = widget.Line("")
		said := fmt.Sprintf("the key of %s is kept in %s", a.c.Provider, msg.place)
		if a.c.Model == "" {
			return a, nil, Say{Text: said}
		}
		return a, nil, UseModel{Name: a.c.Model, Note: said}
	}
	return a, nil, nil
}

func (a AskKey) onKey(k tea.KeyMsg) (AskKey, tea.Cmd, Intent) {
	action, off := widget.Match(a.Bindings(), k)
	switch {
	case action == "key.close":
		return a, nil, Closed{}
	case a.saving:
		return a, nil, nil
	case action == "key.keep":
		return a.keep()
	case action == "key.clear":
		a.key, a.notice, a.failed = widget.Line(""), "", false
		return a, nil, nil
	case off != "":
		a.notice, a.failed = off, false
		return a, nil, nil
	}
	before := a.key.Text()
	if k.Paste { // what is copied often has a line break or a space around it
		k.Runes = []rune(strings.TrimSpace(string(k.Runes)))
	}
	if a.key, _ = a.key.Key(k); a.key.Text() != before {
		a.notice, a.failed = "", false
	}
	return a, nil, nil
}

// keep has the key kept, at the second time if something speaks against it.
func (a AskKey) keep() (AskKey, tea.Cmd, Intent) {
	text := a.key.Text()
	key := strings.TrimSpace(text)
	if a.c.Save == nil {
		a.notice, a.failed = "keys cannot be kept here", true
		return a, nil, nil
	}
	if a.c.Doubt != nil && a.doubted != text {
		if doubt := a.c.Doubt(a.c.Provider, key); doubt != "" {
			a.notice, a.failed, a.doubted = doubt+"; enter again keeps it all the same", false, text
			return a, nil, nil
		}
	}
	a.saving, a.notice = true, ""
	ctx, c, id := a.ctx, a.c, a.id
	return a, func() tea.Msg {
		place, err := c.Save(ctx, c.Provider, key)
		return keySaved{id, place, err}
	}, nil
}

// mask stands for what is typed: how much of it there is, and nothing else.
func (a AskKey) mask(width int) string {
	n := len([]rune(a.key.Text()))
	stars := strings.Repeat("*", min(n, max(width-8, 1)))
	if n > len(stars) {
		return fmt.Sprintf("%s (%d)", stars, n)
	}
	return stars
}

// View draws the overlay: exactly height lines, none wider than width.
func (a AskKey) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	t := a.c.Theme
	a.width, a.height = width, height
	head := render.Fit(" "+t.Paints.Title.On("Key of "+widget.OneLine(a.c.Provider, 40, t.Ornaments.Ellipsis))+
		t.Paints.Muted.On(" "+t.Ornaments.Dot+" "+widget.OneLine(a.c.Model, 60, t.Ornaments.Ellipsis)), "", width, t.Ornaments.Ellipsis)
	field := t.Paints.Accent.On(choosePrompt) + a.mask(width-len(choosePrompt))
	if a.key.Empty() {
		field = render.Truncate(t.Paints.Accent.On(choosePrompt)+t.Paints.Placeholder.On("paste it here; it is not shown"), width, "")
	}
	room := chooseRoom(height)
	return chooseView(t, head, field, a.text(width, room), a.below(width), widget.Footer(a.Bindings(), t, width), width, height)
}

// text says what becomes of the key.
func (a AskKey) text(width, room int) []string {
	t := a.c.Theme
	var out []string
	add := func(text string, paint themes.Paint) { out = append(out, told(text, paint, width, max(room, 1))...) }
	if a.notice != "" {
		paint := t.Paints.Warning
		if a.failed {
			paint = t.Paints.Error
		}
		add(upper(a.notice)+".", paint)
		out = append(out, "")
	}
	if a.c.From != "" {
		add("There is a key from "+a.c.From+"."+stronger(a.c.From), t.Paints.Text)
	}
	add("It goes into the keyring of the system, or into a file that only you can read where there is none. It is sent to "+a.c.Provider+" and to nobody else.", t.Paints.Muted)
	return out
}

// stronger says that a key which is there wins over one that is kept.
func stronger(from string) string {
	if strings.HasPrefix(from, "the ") || strings.HasSuffix(from, ".toml") {
		return " This one takes its place."
	}
	return " It wins over what is kept here."
}

// upper is a sentence with a great letter at its beginning.
func upper(text string) string {
	r := []rune(strings.TrimSuffix(text, "."))
	if len(r) > 0 {
		r[0] = []rune(strings.ToUpper(string(r[0])))[0]
	}
	return string(r)
}

// below says that the key is on its way.
func (a AskKey) below(width int) string {
	if !a.saving {
		return ""
	}
	return widget.Notice(a.c.Theme, "keeping it"+a.c.Theme.Ornaments.Ellipsis, false, width)
}

// Cursor is the cell behind what is typed.
func (a AskKey) Cursor() (x, y int, visible bool) {
	if a.saving {
		return 0, 0, false
	}
	if _, y, visible = chooseCursor(a.key, a.width, a.height); !visible {
		return 0, 0, false
	}
	return min(len(choosePrompt)+render.Width(a.mask(a.width-len(choosePrompt))), a.width-1), y, true
}
