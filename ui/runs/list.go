package runs

import (
	"slices"

	"cairn/harness"
	"cairn/ui/widget"
)

// item is a run with what is known around it.
type item struct {
	run   harness.Run
	title string
	// owner has the session open now, nil if nobody.
	owner *harness.Holder
	// records is the number of the session's last record.
	records int
	// unread is why what the run waits for is not known.
	unread error
}

// list is the runs and the selected one, which is kept by its id. Its slices
// are replaced, never changed.
type list struct {
	items  []item
	open   int // how many of them have not ended; these are the first
	read   bool
	failed error
	at     int
	sel    harness.RunID
	top    int // first line on screen
}

// fill takes a new reading and keeps the selection.
func (l list) fill(items []item) list {
	l.items, l.read, l.failed, l.open = items, true, nil, 0
	for _, it := range items {
		if !it.run.Status.Closed() {
			l.open++
		}
	}
	if i := slices.IndexFunc(items, func(it item) bool { return it.run.ID == l.sel }); i >= 0 {
		l.at = i
		return l
	}
	return l.to(l.at)
}

// to selects row n or the nearest that there is.
func (l list) to(n int) list {
	l.at = max(min(n, len(l.items)-1), 0)
	l.sel = ""
	if len(l.items) > 0 {
		l.sel = l.items[l.at].run.ID
	}
	return l
}

// selected is the run under the cursor.
func (l list) selected() (item, bool) {
	if l.at >= len(l.items) {
		return item{}, false
	}
	return l.items[l.at], true
}

// pending is what the selected run waits for in a call, nil if it does not.
func (l list) pending(call string) *harness.Pending {
	it, ok := l.selected()
	if !ok {
		return nil
	}
	for i := range it.run.Pending {
		if it.run.Pending[i].Call.ID == call {
			return &it.run.Pending[i]
		}
	}
	return nil
}

// groups are the headings with the rows that they stand before.
func (l list) groups() map[int]string {
	out := map[int]string{}
	if l.open > 0 {
		out[0] = "unfinished"
	}
	if l.open < len(l.items) {
		out[l.open] = "recent"
	}
	return out
}

// line is the line of row n, among headings if there are any.
func (l list) line(n int, headings bool) int {
	if !headings {
		return n
	}
	line := n
	for from := range l.groups() {
		if from <= n {
			line++
		}
	}
	return line
}

// lines is the number of rows and headings.
func (l list) lines(headings bool) int {
	if headings {
		return len(l.items) + len(l.groups())
	}
	return len(l.items)
}

// scrolled is the first line of a window of height lines that shows the
// selected row, with its heading if it is the first under one.
func (l list) scrolled(height int, headings bool) int {
	at, n, top := l.line(l.at, headings), l.lines(headings), l.top
	if headings && height > 1 && l.groups()[l.at] != "" {
		top = widget.Scroll(top, at-1, n, height)
	}
	return widget.Scroll(top, at, n, height)
}
