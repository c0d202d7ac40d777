package picker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/widget"
)

// item is a session with the folded text that the filter looks at.
type item struct {
	harness.Session
	folded string
}

// key names a row: a session, or a message found in one.
type key struct {
	session harness.SessionID
	message int
}

// group is a heading over the rows from one on.
type group struct {
	from int
	name string
}

// list is the sessions, those of them that the filter lets through, and the
// selected row. Its slices are replaced, never changed.
type list struct {
	trash  bool // of deleted sessions: nothing is hidden and there are no groups
	items  []item
	read   bool  // the list was read once
	failed error // the last reading failed
	// hidden are the sessions deleted here: true while the store is at it,
	// false until a later reading leaves them out by itself.
	hidden map[harness.SessionID]bool

	query  string // folded
	rows   []int  // indexes of items
	hits   []harness.Hit
	groups []group
	at     int  // row: an index of rows, or behind them of hits
	sel    key  // what at is on
	chosen bool // a person moved to it since the query changed
	top    int  // first line on screen
}

// items folds the sessions; it is called outside Update because it reads all
// of them.
func items(sessions []harness.Session) []item {
	out := make([]item, len(sessions))
	for i, s := range sessions {
		out[i] = item{s, widget.Fold(s.Title + " " + string(s.ID) + " " + widget.Hashed(s.Tags))}
	}
	return out
}

// fill takes a new reading of the sessions and keeps the selection. Settled
// says that the reading began after the last change.
func (l list) fill(items []item, settled bool, now time.Time) list {
	l.items, l.read, l.failed = items, true, nil
	if settled {
		busy := map[harness.SessionID]bool{}
		for id, b := range l.hidden {
			if b {
				busy[id] = true
			}
		}
		l.hidden = busy
	}
	return l.match(nil, now)
}

// find changes the query. When it only grew, what was left out stays out.
func (l list) find(query string, now time.Time) list {
	folded := widget.Fold(query)
	var within []int
	if l.rows != nil && strings.HasPrefix(folded, l.query) {
		within = l.rows
	}
	if folded == l.query && l.rows != nil {
		return l
	}
	l.query, l.chosen = folded, false
	return l.match(within, now)
}

// hide leaves a session out before the store has confirmed its deletion.
func (l list) hide(id harness.SessionID, busy bool, now time.Time) list {
	l.hidden = copied(l.hidden)
	l.hidden[id] = busy
	if slices.ContainsFunc(l.hits, func(h harness.Hit) bool { return h.Session == id }) {
		chosen := l.chosen
		l.chosen = true // the place on the screen stays
		l = l.withHits(l.hits)
		l.chosen = chosen
	}
	return l.match(nil, now)
}

// unhide shows it again.
func (l list) unhide(id harness.SessionID, now time.Time) list {
	l.hidden = copied(l.hidden)
	delete(l.hidden, id)
	return l.match(nil, now)
}

func copied(m map[harness.SessionID]bool) map[harness.SessionID]bool {
	if m == nil {
		return map[harness.SessionID]bool{}
	}
	return maps.Clone(m)
}

func (l list) isHidden(id harness.SessionID) bool {
	_, hidden := l.hidden[id]
	return hidden && !l.trash
}

// match fills rows from the items at within, or from all if that is nil.
func (l list) match(within []int, now time.Time) list {
	words := strings.Fields(l.query)
	rows := make([]int, 0, max(len(within), 64))
	try := func(i int) {
		if it := &l.items[i]; widget.Has(it.folded, words) && !l.isHidden(it.ID) {
			rows = append(rows, i)
		}
	}
	if within != nil {
		for _, i := range within {
			try(i)
		}
	} else {
		for i := range l.items {
			try(i)
		}
	}
	l.rows = rows
	l.groups = nil
	if !l.trash {
		l.groups = grouped(l.items, rows, now)
	}
	if len(l.hits) > 0 {
		l.groups = append(l.groups, group{len(rows), "in messages"})
	}
	return l.reselect()
}

// grouped are the headings over rows that are sorted pinned first, then last
// used first. A time out of order stays in the group it is found in.
func grouped(items []item, rows []int, now time.Time) []group {
	names := [...]string{"pinned", "today", "this week", "earlier"}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	var groups []group
	last := -1
	for n, i := range rows {
		g := 3
		switch it := &items[i]; {
		case it.Pinned && last <= 0:
			g = 0
		case !it.Updated.Before(midnight):
			g = 1
		case !it.Updated.Before(midnight.AddDate(0, 0, -6)):
			g = 2
		}
		if g > last {
			groups = append(groups, group{n, names[g]})
			last = g
		}
		if last == len(names)-1 {
			break
		}
	}
	return groups
}

// withHits puts found messages below the sessions.
func (l list) withHits(hits []harness.Hit) list {
	if len(l.hits) > 0 {
		l.groups = l.groups[:len(l.groups)-1]
	}
	l.hits = slices.DeleteFunc(slices.Clone(hits), func(h harness.Hit) bool { return l.isHidden(h.Session) })
	if len(l.hits) > 0 {
		l.groups = append(l.groups[:len(l.groups):len(l.groups)], group{len(l.rows), "in messages"})
	}
	if !l.chosen { // a hit of the words typed so far is not to be clung to
		return l.to(0)
	}
	return l.reselect()
}

// reselect puts at on the selected row again, or if it is gone leaves it where
// it was.
func (l list) reselect() list {
	if l.sel.session != "" {
		for n := range l.len() {
			if l.keyAt(n) == l.sel {
				l.at = n
				return l
			}
		}
	}
	return l.to(l.at)
}

// selectKey selects a row by name; if it is not there yet, it is selected when
// a reading brings it.
func (l list) selectKey(k key) list {
	l.sel, l.at, l.top, l.chosen = k, 0, 0, true
	for n := range l.len() {
		if l.keyAt(n) == k {
			l.at = n
		}
	}
	return l
}

// to selects row n or the nearest that there is.
func (l list) to(n int) list {
	l.at = max(min(n, l.len()-1), 0)
	if l.len() > 0 {
		l.sel = l.keyAt(l.at)
	}
	return l
}

func (l list) len() int { return len(l.rows) + len(l.hits) }

func (l list) keyAt(n int) key {
	if n < len(l.rows) {
		return key{session: l.items[l.rows[n]].ID}
	}
	h := l.hits[n-len(l.rows)]
	return key{h.Session, h.Message}
}

// session is the session in row n; ok is false for a message.
func (l list) session(n int) (s harness.Session, ok bool) {
	if n < 0 || n >= len(l.rows) {
		return s, false
	}
	return l.items[l.rows[n]].Session, true
}

// byID is the session of an id as last read.
func (l list) byID(id harness.SessionID) (harness.Session, bool) {
	for i := range l.items {
		if l.items[i].ID == id {
			return l.items[i].Session, true
		}
	}
	return harness.Session{}, false
}

// patch changes one session until the next reading.
func (l list) patch(s harness.Session, now time.Time) list {
	for i := range l.items {
		if l.items[i].ID == s.ID {
			next := slices.Clone(l.items)
			// Lists fill in what an edit does not return.
			s.HasDraft, s.Owner = next[i].HasDraft, next[i].Owner
			next[i] = items([]harness.Session{s})[0]
			l.items = next
			return l.match(nil, now)
		}
	}
	return l
}

// line is the line of row n among rows and headings.
func (l list) line(n int, headings bool) int {
	if !headings {
		return n
	}
	line := n
	for _, g := range l.groups {
		if g.from <= n {
			line++
		}
	}
	return line
}

// lines is the number of rows and headings.
func (l list) lines(headings bool) int {
	if headings {
		return l.len() + len(l.groups)
	}
	return l.len()
}

// lineAt is the row on a line, or the heading.
func (l list) lineAt(line int, headings bool) (row int, heading string) {
	if headings {
		for i := len(l.groups) - 1; i >= 0; i-- {
			switch at := l.groups[i].from + i; {
			case at == line:
				return 0, l.groups[i].name
			case at < line:
				return line - i - 1, ""
			}
		}
	}
	return line, ""
}

// scrolled is the first line of a window of height lines that shows the
// selected row, with its heading if it is the first under one.
func (l list) scrolled(height int, headings bool) int {
	at, n := l.line(l.at, headings), l.lines(headings)
	top := l.top
	if at > 0 && height > 1 {
		if _, heading := l.lineAt(at-1, headings); heading != "" {
			top = widget.Scroll(top, at-1, n, height)
		}
	}
	return widget.Scroll(top, at, n, height)
}
