package overlay

import (
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// maxCopied is the most that is given to the clipboard of a terminal, in
	// bytes.
	maxCopied = 1 << 20
	// gutterFrom is the width from which lines are numbered.
	gutterFrom = 30
	// markWidth is the column of the mark of what was found.
	markWidth = 2
	// wheelRows is how far one notch of the wheel scrolls.
	wheelRows = 3
)

// PagerConfig is what a pager shows.
type PagerConfig struct {
	// Title and Text are foreign text of any size.
	Title, Text string
	// Note is said until the first key, such as that a part is missing.
	Note string
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Keys replaces the keys of actions by name, such as "pager.close".
	Keys map[string][]string
}

// Pager shows a long text by the rows of the screen. It lays out only what is
// looked at, also of a single line of megabytes. It is a value: Update returns
// the next one.
type Pager struct {
	c    PagerConfig
	roll *roll
	top  int // the first row on screen

	finding bool
	field   widget.Field
	query   string
	hit     int // where the query was found last, -1 for nowhere
	note    string

	width, height int
}

// NewPager returns the pager at the beginning of the text.
func NewPager(c PagerConfig) Pager {
	return Pager{c: c, roll: newRoll(c.Text, 1), hit: -1, note: c.Note, field: widget.Line("")}
}

// SetTheme changes the colours.
func (p Pager) SetTheme(t *themes.Theme) Pager {
	p.c.Theme = t
	return p
}

// PagerActions are all keys of the pager.
func PagerActions() []render.Binding { return Pager{}.Bindings() }

// Bindings are the keys of the pager as they are now.
func (p Pager) Bindings() []render.Binding {
	const group = "Pager"
	searched := ""
	if p.query == "" {
		searched = "nothing is searched for"
	}
	return widget.Rebind([]render.Binding{
		{Action: "pager.close", Keys: []string{"esc", "q", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
		{Action: "pager.find", Keys: []string{"/"}, Help: "search", Group: group, Rank: 2},
		{Action: "pager.next", Keys: []string{"n"}, Help: "next match", Group: group, Rank: 3, Off: searched},
		{Action: "pager.previous", Keys: []string{"N"}, Help: "match before", Group: group, Rank: 4, Off: searched},
		{Action: "pager.page-down", Keys: []string{"pgdown", " "}, Help: "page down", Group: group, Rank: 5},
		{Action: "pager.page-up", Keys: []string{"pgup", "b"}, Help: "page up", Group: group, Rank: 6},
		{Action: "pager.copy", Keys: []string{"y"}, Help: "copy all", Group: group, Rank: 7},
		{Action: "pager.first", Keys: []string{"home", "g"}, Help: "beginning", Group: group, Rank: 8},
		{Action: "pager.last", Keys: []string{"end", "G"}, Help: "end", Group: group, Rank: 9},
		{Action: "pager.down", Keys: []string{"down", "j", "enter"}, Help: "a row down", Group: group},
		{Action: "pager.up", Keys: []string{"up", "k"}, Help: "a row up", Group: group},
		{Action: "pager.half-down", Keys: []string{"ctrl+d", "ctrl+pgdown"}, Help: "half a page down", Group: group},
		{Action: "pager.half-up", Keys: []string{"ctrl+u", "ctrl+pgup"}, Help: "half a page up", Group: group},
	}, p.c.Keys)
}

// Update handles a key, the wheel or a size.
func (p Pager) Update(msg tea.Msg) (Pager, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		end := p.height > 0 && p.top > 0 && p.top >= p.lowest()
		p.width, p.height = msg.Width, msg.Height
		p.roll = p.roll.wide(p.width - p.gutter())
		if p.top = p.within(p.roll.row(p.top)); end {
			p.top = p.lowest()
		}
	case tea.MouseMsg:
		switch msg.Button {
		case tea.MouseButtonWheelDown:
			p = p.by(wheelRows)
		case tea.MouseButtonWheelUp:
			p = p.by(-wheelRows)
		default:
		}
	case tea.KeyMsg:
		return p.onKey(msg)
	}
	return p, nil
}

func (p Pager) onKey(k tea.KeyMsg) (Pager, Intent) {
	if p.finding {
		return p.searchKey(k), nil
	}
	p.note = ""
	page := max(usageRoom(p.height)-1, 1)
	action, off := widget.Match(p.Bindings(), k)
	switch action {
	case "pager.close":
		return p, Closed{}
	case "pager.copy":
		return p.copied()
	case "pager.find":
		p.finding, p.field = true, widget.Line("")
	case "pager.next":
		p = p.seek(1)
	case "pager.previous":
		p = p.seek(-1)
	case "pager.down":
		p = p.by(1)
	case "pager.up":
		p = p.by(-1)
	case "pager.page-down":
		p = p.by(page)
	case "pager.page-up":
		p = p.by(-page)
	case "pager.half-down":
		p = p.by(max(page/2, 1))
	case "pager.half-up":
		p = p.by(-max(page/2, 1))
	case "pager.first":
		p.top = 0
	case "pager.last":
		p.top = p.lowest()
	default:
		p.note = off
	}
	return p, nil
}

// searchKey handles a key while what to search for is written.
func (p Pager) searchKey(k tea.KeyMsg) Pager {
	switch k.String() {
	case "esc", "ctrl+c":
		p.finding = false
	case "enter":
		p.finding = false
		if text := p.field.Text(); text != "" {
			p.query, p.hit = text, -1
		}
		p = p.seek(1)
	default:
		p.field, _ = p.field.Key(k)
	}
	return p
}

// seek goes to the next place of the query, or to the one before. From the last
// one it goes on at the other end.
func (p Pager) seek(by int) Pager {
	if p.query == "" {
		return p
	}
	from, before, size := p.hit+1, p.hit, len(p.c.Text)
	if p.hit < 0 {
		from, before = p.top, p.top
	}
	around := ""
	if by > 0 {
		if p.hit = p.roll.find(p.query, from, size); p.hit < 0 {
			p.hit, around = p.roll.find(p.query, 0, from), "on from the beginning"
		}
	} else {
		if p.hit = p.roll.findLast(p.query, before); p.hit < 0 {
			p.hit, around = p.roll.findLast(p.query, size), "on from the end"
		}
	}
	if p.note = around; p.hit < 0 {
		p.note = "\"" + widget.Head(p.query, 200) + "\" is not in it"
		return p
	}
	row := p.roll.row(p.hit)
	if at := p.top; row < at || row > p.bottom() {
		for range usageRoom(p.height) / 3 { // with what is before it
			if up, ok := p.roll.prev(row); ok {
				row = up
			}
		}
		p.top = p.within(row)
	}
	return p
}

// copied asks for the text on the clipboard, of a very large one for what is on
// screen.
func (p Pager) copied() (Pager, Intent) {
	text, what := p.c.Text, "all of it"
	if len(text) > maxCopied {
		text, what = p.c.Text[p.top:p.roll.end(p.bottom())], "what is on screen: all of it is too large for a clipboard"
	}
	p.note = "copied " + what + " (" + harness.Count(len([]rune(text)), "character") + "), sent to the terminal's clipboard"
	return p, Copy{Text: text, Say: p.note}
}

// by scrolls down by n rows, or up if n is negative.
func (p Pager) by(n int) Pager {
	for ; n > 0; n-- {
		at, ok := p.roll.next(p.top)
		if !ok {
			break
		}
		p.top = at
	}
	for ; n < 0; n++ {
		at, ok := p.roll.prev(p.top)
		if !ok {
			break
		}
		p.top = at
	}
	p.top = p.within(p.top)
	return p
}

// within is a row to be the first one, so that none is empty below the last.
func (p Pager) within(row int) int { return min(row, p.lowest()) }

// lowest is the first row when the last one is at the bottom.
func (p Pager) lowest() int {
	row := p.roll.last()
	for range usageRoom(p.height) - 1 {
		up, ok := p.roll.prev(row)
		if !ok {
			break
		}
		row = up
	}
	return row
}

// bottom is the last row on screen.
func (p Pager) bottom() int {
	row := p.top
	for range usageRoom(p.height) - 1 {
		down, ok := p.roll.next(row)
		if !ok {
			break
		}
		row = down
	}
	return row
}

// gutter is the width of the numbers of lines and the mark of what was found.
func (p Pager) gutter() int {
	switch {
	case p.width < gutterFrom:
		return 0
	case p.roll.lines < 2:
		return markWidth
	}
	return len(strconv.Itoa(p.roll.lines)) + markWidth
}

// View draws the pager: exactly height lines, none wider than width.
func (p Pager) View(width, height int) string {
	if width <= 0 || height <= 0 || p.c.Theme == nil {
		return widget.Frame(nil, width, height)
	}
	if width != p.width || height != p.height {
		p, _ = p.Update(tea.WindowSizeMsg{Width: width, Height: height})
	}
	rows, t := p.drawn(), p.c.Theme
	switch {
	case height < 3:
		return widget.Frame(rows, width, height)
	case height < roomyFrom:
		return widget.Frame(append(append([]string{p.header()}, rows...), p.footer()), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{p.header(), rule}, rows...), rule, p.footer()), width, height)
}

// drawn are the rows on screen.
func (p Pager) drawn() []string {
	t, gutter, room := p.c.Theme, p.gutter(), usageRoom(p.height)
	rows := make([]string, room)
	hit := -1
	if p.hit >= 0 {
		hit = p.roll.row(p.hit)
	}
	row, ok := p.top, true
	for i := range rows {
		if !ok {
			break
		}
		rows[i] = p.roll.draw(row, p.query, t.Paints.Match)
		if gutter > 0 {
			rows[i] = p.margin(row, row == hit, gutter) + rows[i]
		}
		row, ok = p.roll.next(row)
	}
	return rows
}

// margin is what stands before a row: the number of a line where it begins.
func (p Pager) margin(row int, hit bool, width int) string {
	t, number, mark := p.c.Theme, "", " "
	if from, _ := p.roll.line(row); from == row && p.roll.lines > 1 {
		number = strconv.Itoa(p.roll.number(row))
	}
	if hit {
		mark = ">"
	}
	return t.Paints.Muted.On(fmt.Sprintf("%*s", width-markWidth, number)) + t.Paints.Accent.On(mark) + " "
}

func (p Pager) header() string {
	t := p.c.Theme
	dot := " " + t.Ornaments.Dot + " "
	right := fmt.Sprintf("line %s of %s", harness.Grouped(p.roll.number(p.top)), harness.Grouped(p.roll.lines))
	if p.roll.lines == 1 {
		right = "one line"
	}
	switch end := p.roll.end(p.bottom()); {
	case len(p.c.Text) == 0:
		right = "empty"
	case p.top == 0 && end >= len(strings.TrimSuffix(p.c.Text, "\n")):
		right += dot + "all"
	case end >= len(strings.TrimSuffix(p.c.Text, "\n")):
		right += dot + "end"
	default:
		right += dot + strconv.Itoa(int(int64(p.top)*100/int64(len(p.c.Text)))) + "%"
	}
	left := " " + t.Paints.Title.On(widget.OneLine(p.c.Title, p.width, t.Ornaments.Ellipsis))
	return render.Fit(left, t.Paints.Muted.On(right)+" ", p.width, t.Ornaments.Ellipsis)
}

const findPrompt = " search: "

func (p Pager) footer() string {
	t := p.c.Theme
	switch {
	case p.finding:
		text, _, _ := p.field.Draw(max(p.width-len(findPrompt)-1, 1), 1)
		return t.Paints.Muted.On(findPrompt) + strings.Join(text, "")
	case p.note != "":
		return widget.Notice(t, p.note, false, p.width)
	}
	return widget.Footer(p.Bindings(), t, p.width)
}

// Cursor is the cell of the caret, shown while what to search for is written.
func (p Pager) Cursor() (x, y int, visible bool) {
	if !p.finding || p.height < 3 || p.width < len(findPrompt)+2 {
		return 0, 0, false
	}
	_, x, _ = p.field.Draw(max(p.width-len(findPrompt)-1, 1), 1)
	return len(findPrompt) + x, p.height - 1, true
}
