package overlay

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// roomyFrom is the height from which there are rules and the notes stand still
// at the bottom; in a lower area they are the end of what scrolls.
const roomyFrom = 20

// HelpConfig is what a help overlay shows.
type HelpConfig struct {
	// Title names the screen that is helped with, such as "chat".
	Title string
	// Bindings are the keys that work now, of the screen and of the root.
	Bindings []render.Binding
	// Notes are lines below the keys: what this terminal can do, where things
	// are kept.
	Notes []string
	// Theme is required.
	Theme *themes.Theme
}

// Help is the help overlay. It is a value: Update returns the next one.
type Help struct {
	c             HelpConfig
	filter        widget.Field
	pane          widget.Pane
	width, height int
}

// NewHelp returns the help for the keys as they are now.
func NewHelp(c HelpConfig) Help { return Help{c: c, filter: widget.Line("")} }

// Title implements [Layer].
func (h Help) Title() string { return "help" }

// SetTheme changes the colours.
func (h Help) SetTheme(t *themes.Theme) Help {
	h.c.Theme = t
	return h
}

// Bindings are the keys of the overlay itself.
func (h Help) Bindings() []render.Binding {
	const group = "Help"
	more, back := 2, 3
	if h.pane.Top()+h.pane.Rest() == 0 {
		more, back = 0, 0
	}
	return []render.Binding{
		{Action: "help.close", Keys: []string{"esc", "f1", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
		{Action: "help.page-down", Keys: []string{"pgdown"}, Help: "more", Group: group, Rank: more},
		{Action: "help.page-up", Keys: []string{"pgup"}, Help: "back", Group: group, Rank: back},
		{Action: "help.down", Keys: []string{"down"}, Help: "a line down", Group: group},
		{Action: "help.up", Keys: []string{"up"}, Help: "a line up", Group: group},
		{Action: "help.first", Keys: []string{"home"}, Help: "first line", Group: group},
		{Action: "help.last", Keys: []string{"end"}, Help: "last line", Group: group},
	}
}

// Update handles a key, the wheel or a size.
func (h Help) Update(msg tea.Msg) (Help, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		h.width, h.height = msg.Width, msg.Height
	case tea.MouseMsg:
		h.pane = h.pane.Wheel(msg)
	case tea.KeyMsg:
		var intent Intent
		if h, intent = h.onKey(msg); intent != nil {
			return h, nil, intent
		}
	}
	h.pane = h.laid(h.width, h.height)
	return h, nil, nil
}

func (h Help) onKey(k tea.KeyMsg) (Help, Intent) {
	action, _ := widget.Match(h.Bindings(), k)
	if k.String() == "?" && h.filter.Empty() {
		action = "help.close"
	}
	page := max(h.room(h.width, h.height)-1, 1)
	const all = 1 << 20
	switch action {
	case "help.close":
		return h, Closed{}
	case "help.down":
		h.pane = h.pane.By(1)
	case "help.up":
		h.pane = h.pane.By(-1)
	case "help.page-down":
		h.pane = h.pane.By(page)
	case "help.page-up":
		h.pane = h.pane.By(-page)
	case "help.first":
		h.pane = h.pane.By(-all)
	case "help.last":
		h.pane = h.pane.By(all)
	default:
		before := h.filter.Text()
		if h.filter, _ = h.filter.Key(k); h.filter.Text() != before {
			h.pane = widget.Pane{}
		}
	}
	return h, nil
}

// laid is the body as it scrolls in a size.
func (h Help) laid(width, height int) widget.Pane {
	return h.pane.Show(h.body(width, height), h.room(width, height))
}

// room is how many lines of the body are on screen.
func (h Help) room(width, height int) int {
	switch {
	case height < 3:
		return max(height, 0)
	case height < roomyFrom:
		return height - 2
	default:
		return max(height-4-len(h.notes(width)), 1)
	}
}

// noteLines is how many lines a note may take where it stands still.
const noteLines = 2

func (h Help) notes(width int) []string {
	var out []string
	for _, n := range h.c.Notes {
		out = append(out, told(n, "", width, noteLines)...)
	}
	return out
}

// View draws the overlay: exactly height lines, none wider than width.
func (h Help) View(width, height int) string {
	t := h.c.Theme
	pane := h.laid(width, height)
	shown := pane.Lines()
	head, foot := h.header(width, pane, h.room(width, height)), widget.Footer(h.Bindings(), t, width)
	rule := widget.Rule(t, width)
	switch {
	case height < 3:
		return widget.Frame(shown, width, height)
	case height < roomyFrom:
		return widget.Frame(append(append([]string{head}, shown...), foot), width, height)
	}
	out := append([]string{head, rule}, shown...)
	out = append(out, h.notes(width)...)
	return widget.Frame(append(out, rule, foot), width, height)
}

const filterPrompt = " filter: "

func (h Help) header(width int, pane widget.Pane, room int) string {
	p, dot := h.c.Theme.Paints, " "+h.c.Theme.Ornaments.Dot+" "
	right := "type to filter"
	if lines := pane.Len(); lines > room {
		pages := (lines + room - 1) / room
		page := min((pane.Top()+room-1)/room+1, pages)
		right = fmt.Sprintf("%d of %d%s%s", page, pages, dot, right)
	}
	left := " " + p.Title.On("Help") + p.Muted.On(dot+widget.OneLine(h.c.Title, 30, h.c.Theme.Ornaments.Ellipsis))
	if !h.filter.Empty() {
		text, _, _ := h.filter.Draw(max(width-len(filterPrompt)-1, 1), 1)
		left, right = p.Muted.On(filterPrompt)+strings.Join(text, ""), ""
	}
	return render.Fit(left, p.Muted.On(right)+" ", width, h.c.Theme.Ornaments.Ellipsis)
}

// Cursor is the cell of the caret, shown once something is typed.
func (h Help) Cursor() (x, y int, visible bool) {
	if h.filter.Empty() || h.height < 3 || h.width < len(filterPrompt)+2 {
		return 0, 0, false
	}
	_, x, _ = h.filter.Draw(max(h.width-len(filterPrompt)-1, 1), 1)
	return len(filterPrompt) + x, 0, true
}

// section is a group of keys with its heading.
type section struct {
	name     string
	bindings []render.Binding
}

// idle reports whether no key of the group does anything now.
func (s section) idle() bool {
	return !slices.ContainsFunc(s.bindings, func(b render.Binding) bool { return b.Off == "" })
}

// sections are the keys that the filter lets through, by group in the order in
// which the groups first appear, those that do nothing now last.
func (h Help) sections() []section {
	words := widget.Words(h.filter.Text())
	var out []section
	at := map[string]int{}
	for _, b := range h.c.Bindings {
		if len(b.Keys) == 0 || !widget.Has(widget.Fold(strings.Join(b.Keys, " ")+" "+b.Help+" "+b.Group+" "+b.Action), words) {
			continue
		}
		i, ok := at[b.Group]
		if !ok {
			i = len(out)
			at[b.Group] = i
			out = append(out, section{name: b.Group})
		}
		out[i].bindings = append(out[i].bindings, b)
	}
	slices.SortStableFunc(out, func(a, b section) int {
		switch {
		case a.idle() == b.idle():
			return 0
		case a.idle():
			return 1
		}
		return -1
	})
	return out
}

// body is all that scrolls: the groups in as many columns as the width holds.
func (h Help) body(width, height int) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	columns := max(min((width+2)/39, 3), 1)
	each := (width - 1 - 2*(columns-1)) / columns
	var blocks [][]string
	total := 0
	for _, s := range h.sections() {
		b := h.block(s, max(each, 1), columns == 1 || !h.filter.Empty())
		blocks = append(blocks, b)
		total += len(b)
	}
	var out []string
	for _, l := range h.flow(blocks, columns, total, max(each, 1)) {
		out = append(out, " "+strings.TrimRight(l, " "))
	}
	if len(blocks) == 0 && !h.filter.Empty() {
		out = []string{" " + h.c.Theme.Paints.Muted.On("No key matches.")}
	}
	if height < roomyFrom && h.filter.Empty() && len(h.c.Notes) > 0 {
		out = append(out, "")
		for _, n := range h.c.Notes {
			out = append(out, told(n, "", width, 8)...)
		}
	}
	return out
}

// flow puts the blocks into columns of about one height, in reading order.
func (h Help) flow(blocks [][]string, columns, total, each int) []string {
	target := (total + columns - 1) / columns
	cols := make([][]string, columns)
	widths := make([]int, columns)
	for i := range widths {
		widths[i] = each
	}
	c := 0
	for _, b := range blocks {
		if c < columns-1 && len(cols[c]) > 0 && len(cols[c])+len(b)/2 > target {
			c++
		}
		if len(cols[c]) > 0 {
			cols[c] = append(cols[c], "")
		}
		cols[c] = append(cols[c], b...)
	}
	return render.Columns("  ", widths, cols...)
}

// block is one group: a heading, then each key with what it does. Nothing is
// cut: what is too long goes on in the next line. Why tells why a key does nothing
// now, and not only that.
func (h Help) block(s section, width int, why bool) []string {
	p := h.c.Theme.Paints
	out := []string{p.Heading.On(widget.OneLine(strings.ToUpper(s.name), width, h.c.Theme.Ornaments.Ellipsis))}
	keyw := min(17, max(width*2/5, 1))
	for _, b := range s.bindings {
		keys := render.SafeLine(strings.Join(names(b.Keys), " "))
		help, paint := b.Help, themes.Paint("")
		if b.Off != "" {
			help, paint = help+" (not now)", p.Disabled
			if why {
				help = b.Help + " (not now: " + b.Off + ")"
			}
		}
		helpLines := render.Wrap(render.SafeLine(help), max(width-keyw-1, 1))
		if render.Width(keys) > keyw {
			for _, l := range render.Wrap(keys, width) {
				out = append(out, p.Key.On(l))
			}
			keys = ""
		}
		for i, l := range helpLines {
			if i > 0 {
				keys = ""
			}
			out = append(out, p.Key.On(keys)+strings.Repeat(" ", keyw+1-render.Width(keys))+paint.On(l))
		}
	}
	return out
}

// names are keys as a person reads them.
func names(keys []string) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		switch k {
		case " ":
			k = "space"
		case "pgdown":
			k = "pgdn"
		case "ctrl+pgdown":
			k = "ctrl+pgdn"
		}
		out[i] = k
	}
	return out
}
