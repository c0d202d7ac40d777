package overlay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/account"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// maxSessions bounds the sessions that are shown.
	maxSessions = 100
	// wideFrom is the width from which tokens stand beside the cost.
	wideFrom = 70
	// minBar is the least room in which a bar says something, and maxBar the
	// most it needs, in cells.
	minBar, maxBar = 4, 60
	// sumWidth is the column of what a sum is of.
	sumWidth = len("this session") + 1
)

// usageRoom is how many lines of the body are on screen.
func usageRoom(height int) int {
	switch {
	case height < 3:
		return max(height, 0)
	case height < roomyFrom:
		return height - 2
	default:
		return height - 4
	}
}

// laid is the body as it scrolls in a size.
func (u Usage) laid(width, height int) widget.Pane {
	return u.pane.Show(u.body(width, height), usageRoom(height))
}

// View draws the overlay: exactly height lines, none wider than width.
func (u Usage) View(width, height int) string {
	if width <= 0 || height <= 0 {
		return widget.Frame(nil, width, height)
	}
	t := u.c.Theme
	shown := u.laid(width, height).Lines()
	if height < 3 {
		return widget.Frame(shown, width, height)
	}
	head, foot := u.header(width), widget.Footer(u.Bindings(), t, width)
	if height < roomyFrom {
		return widget.Frame(append(append([]string{head}, shown...), foot), width, height)
	}
	rule := widget.Rule(t, width)
	return widget.Frame(append(append([]string{head, rule}, shown...), rule, foot), width, height)
}

// header names the view, and says what its bars are of.
func (u Usage) header(width int) string {
	t := u.c.Theme
	name := [usageViews]string{"by day", "by model", "by session"}[u.view]
	left := " " + t.Paints.Title.On("Usage") + t.Paints.Muted.On(" "+t.Ornaments.Dot+" "+name)
	rows, read := u.account.Days, u.read
	switch u.view {
	case viewModels:
		rows = u.account.Models
	case viewSessions:
		rows, read = u.sessions, u.listed
	case viewDays, usageViews:
	}
	right := ""
	switch {
	case !read:
		right = "reading"
	case account.ByCost(rows):
		right = "bars are cost"
	case unknown(rows) && width >= wideFrom:
		right = "a cost is unknown: bars are tokens"
	case unknown(rows):
		right = "cost unknown: tokens"
	case used(rows):
		right = "bars are tokens"
	}
	return render.Fit(left, t.Paints.Muted.On(right)+" ", width, t.Ornaments.Ellipsis)
}

func used(rows []account.Row) bool {
	return slices.ContainsFunc(rows, func(r account.Row) bool { return r.Usage != harness.Usage{} })
}

func unknown(rows []account.Row) bool {
	return slices.ContainsFunc(rows, func(r account.Row) bool { return r.Usage != harness.Usage{} && !r.Usage.CostKnown })
}

// body is all that scrolls.
func (u Usage) body(width, height int) []string {
	switch {
	case width <= 0 || height <= 0 || u.c.Theme == nil:
		return nil
	case u.view == viewSessions:
		return u.sessionLines(width)
	case !u.read:
		return nil
	case u.failed != nil:
		return u.sentence(u.failed, width)
	case u.c.Ledger == nil:
		return append(u.text("No account of days and models is kept here.", u.c.Theme.Paints.Muted, width), u.sums(width)...)
	case u.view == viewModels:
		return u.modelLines(width)
	}
	out := u.bars(u.days(width, height), width)
	out = append(append(out, ""), u.sums(width)...)
	if len(u.account.Models) > 0 {
		out = append(out, "", " "+u.c.Theme.Paints.Heading.On(widget.OneLine(fmt.Sprintf("BY MODEL, %d DAYS", account.Days), max(width-2, 0), u.c.Theme.Ornaments.Ellipsis)))
		out = append(out, u.bars(u.account.Models, width)...)
	}
	return out
}

// days are as many of the last days as leave room for the sums, and in a high
// area for the first models, with what they are called.
func (u Usage) days(width, height int) []account.Row {
	const least, fewModels = 3, 3
	room := usageRoom(height) - 1 - len(u.sums(width))
	if n := len(u.account.Models); n > 0 && height >= roomyFrom {
		room -= 2 + min(n, fewModels)
	}
	n := min(max(room, least), len(u.account.Days))
	rows := make([]account.Row, n)
	today := u.at.Local().Format(time.DateOnly)
	for i := range rows {
		rows[i] = account.Row{Name: account.Day(u.account.Days[i].Name, today), Usage: u.account.Days[i].Usage}
	}
	return rows
}

// modelLines are the models of all days of the account.
func (u Usage) modelLines(width int) []string {
	if len(u.account.Models) == 0 {
		return u.text(fmt.Sprintf("No model was called in the last %d days.", account.Days), u.c.Theme.Paints.Muted, width)
	}
	return append(append(u.bars(u.account.Models, width), ""), u.sums(width)...)
}

// sessionLines are the sessions of all time.
func (u Usage) sessionLines(width int) []string {
	muted := u.c.Theme.Paints.Muted
	switch {
	case !u.listed:
		return nil
	case u.sessionsFailed != nil:
		return u.sentence(u.sessionsFailed, width)
	case len(u.sessions) == 0:
		return u.text("No model was called in any session.", muted, width)
	}
	out := u.bars(u.sessions[:min(len(u.sessions), maxSessions)], width)
	if more := len(u.sessions) - maxSessions; more > 0 {
		out = append(out, u.text(fmt.Sprintf("and %s that used less: cairn usage --by session lists all", harness.Count(more, "session")), muted, width)...)
	}
	return out
}

func (u Usage) sentence(err error, width int) []string {
	return u.text(u.c.Words(err), u.c.Theme.Paints.Error, width)
}

func (u Usage) text(text string, paint themes.Paint, width int) []string {
	const most = 8
	return told(text, paint, width, most)
}

// sums are what was used in the session, today, and on all days of the account.
func (u Usage) sums(width int) []string {
	rows := []account.Row{{Name: "this session", Usage: u.account.Session}}
	if u.c.Ledger != nil {
		rows = append(rows, account.Row{Name: "today", Usage: u.account.Today}, account.Row{Name: fmt.Sprintf("%d days", account.Days), Usage: u.account.Total})
	}
	const most = 4
	room := max(width-2-sumWidth, 1)
	var out []string
	for _, r := range rows {
		words := account.Words(r.Usage)
		if render.Width(words) > room {
			words = account.Brief(r.Usage)
		}
		name := r.Name
		lines, _ := widget.Lines(words, room, most)
		for _, l := range lines {
			out = append(out, " "+u.c.Theme.Paints.Muted.On(name)+strings.Repeat(" ", max(sumWidth-render.Width(name), 0))+l)
			name = ""
		}
	}
	return out
}

// bars are a line for each row: its name, a bar of its part of the largest, and
// the figures of which the bar is drawn. The bar goes first where the width
// does not hold all.
func (u Usage) bars(rows []account.Row, width int) []string {
	t, byCost := u.c.Theme, account.ByCost(rows)
	largest, namew, figurew := 0.0, 0, 0
	figures := figuresOf(rows, width)
	for i, r := range rows {
		largest = max(largest, account.Size(r.Usage, byCost))
		namew = max(namew, render.Width(widget.OneLine(r.Name, width, t.Ornaments.Ellipsis)))
		figurew = max(figurew, render.Width(figures[i]))
	}
	namew = max(min(namew, width-figurew-minBar-4, 3*width/5), min(namew, width/3))
	room := min(width-namew-figurew-4, maxBar)
	out := make([]string, len(rows))
	for i, r := range rows {
		left := " " + render.Pad(widget.OneLine(r.Name, namew, t.Ornaments.Ellipsis), namew)
		if room >= minBar {
			left += " " + t.Paints.Accent.On(strings.Repeat(t.Ornaments.Full, cells(account.Size(r.Usage, byCost), largest, room)))
		}
		out[i] = render.Fit(left, figures[i]+" ", min(width, namew+max(room, 0)+figurew+4), t.Ornaments.Ellipsis)
	}
	return out
}

// cells is how long the bar of an amount is, of which the largest has room
// cells. What is not nothing is seen.
func cells(amount, largest float64, room int) int {
	if amount <= 0 || largest <= 0 {
		return 0
	}
	return min(max(int(math.Round(amount/largest*float64(room))), 1), room)
}

// figuresOf are the figures of rows: the cost, and beside it the tokens where
// there is room. Where there is none they take the place of an unknown cost.
func figuresOf(rows []account.Row, width int) []string {
	out := make([]string, len(rows))
	costw, tokenw := 0, 0
	for _, r := range rows {
		if r.Usage != (harness.Usage{}) {
			costw, tokenw = max(costw, render.Width(account.Cost(r.Usage))), max(tokenw, render.Width(account.Tokens(r.Usage)))
		}
	}
	for i, r := range rows {
		switch used := r.Usage; {
		case used == harness.Usage{}:
			out[i] = "-"
		case width >= wideFrom:
			out[i] = strings.Repeat(" ", costw-render.Width(account.Cost(used))) + account.Cost(used) + "  " +
				strings.Repeat(" ", tokenw-render.Width(account.Tokens(used))) + account.Tokens(used)
		case used.CostKnown:
			out[i] = account.Cost(used)
		default:
			out[i] = account.Tokens(used)
		}
	}
	return out
}
