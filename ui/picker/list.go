package picker

import (
	"maps"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/widget"
)

// key names a row: a session, or a message found in one.
type key struct {
	session harness.SessionID
	message int
}

// list is the sessions, those of them that the filter lets through, and the
// selected row. Its slices are replaced, never changed.
type list struct {
	book
	trash  bool   // of deleted sessions: nothing is hidden and there are no groups
	dir    string // only sessions of this directory, empty for all
	read   bool   // the list was read once
	failed error  // the last reading failed
	// hidden are the sessions deleted here: true while the store is at it,
	// false until a later reading leaves them out by itself.
	hidden map[harness.SessionID]bool

	query  query
	rows   []int // indexes of items
	hits   []harness.Hit
	groups []group
	at     int  // row: an index of rows, or behind them of hits
	sel    key  // what at is on
	chosen bool // a person moved to it since the query changed
	top    int  // first line on screen
}

// emptied is a list of which nothing was read yet, of the trash or of the
// others.
func (l list) emptied(trash bool) list {
	return list{hidden: l.hidden, dir: l.dir, trash: trash}
}

// fill takes a new reading of the sessions and keeps the selection. Settled
// says that the reading began after the last change.
func (l list) fill(b book, settled bool, now time.Time) list {
	before := l.book
	l.book, l.read, l.failed = b, true, nil
	if settled {
		busy := map[harness.SessionID]bool{}
		for id, b := range l.hidden {
			if b {
				busy[id] = true
			}
		}
		l.hidden = busy
	}
	l.hits = slices.DeleteFunc(slices.Clone(l.hits), func(h harness.Hit) bool {
		_, was := before.place[h.Session]
		_, is := b.place[h.Session]
		return was && !is // it was deleted in another window
	})
	return l.match(nil, now)
}

// find changes the query. When it only grew, what was left out stays out.
func (l list) find(text string, now time.Time) list {
	q := parseQuery(text)
	if q.text == l.query.text && l.rows != nil {
		return l
	}
	var within []int
	if l.rows != nil && strings.HasPrefix(q.text, l.query.text) {
		within = l.rows
	}
	l.query, l.chosen = q, false
	return l.match(within, now)
}

// in narrows the list to the sessions of a directory, or not if it is empty.
func (l list) in(dir string, now time.Time) list {
	l.dir = dir
	return l.match(nil, now).withHits(l.hits)
}

// sort changes the order.
func (l list) sort(o order, now time.Time) list {
	l.book = l.sorted(o)
	return l.match(nil, now)
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
	rows := make([]int, 0, max(len(within), 64))
	try := func(i int) {
		if it := &l.items[i]; (l.dir == "" || it.Dir == l.dir) && l.query.has(it) && !l.isHidden(it.ID) {
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
		l.groups = l.grouped(rows, now)
	}
	if len(l.hits) > 0 {
		l.groups = append(l.groups, group{len(rows), "in messages"})
	}
	return l.reselect()
}

// narrowed reports whether found messages may be of sessions that the filter
// keeps out by their directory or tags.
func (l list) narrowed() bool { return l.dir != "" || l.query.tagged() }

// allows reports whether messages of a session may be shown.
func (l list) allows(id harness.SessionID) bool {
	i, known := l.place[id]
	switch {
	case l.isHidden(id):
		return false
	case !l.narrowed():
		return true
	default:
		return known && (l.dir == "" || l.items[i].Dir == l.dir) && l.query.hasTags(&l.items[i])
	}
}

// withHits puts found messages below the sessions.
func (l list) withHits(hits []harness.Hit) list {
	if len(l.hits) > 0 {
		l.groups = l.groups[:len(l.groups)-1]
	}
	l.hits = slices.DeleteFunc(slices.Clone(hits), func(h harness.Hit) bool { return !l.allows(h.Session) })
	l.hits = l.hits[:min(len(l.hits), searchLimit)]
	if len(l.hits) > 0 {
		l.groups = append(l.groups[:len(l.groups):len(l.groups)], group{len(l.rows), "in messages"})
	}
	if !l.chosen { // a hit of the words typed so far is not to be clung to
		return l.to(0)
	}
	return l.reselect()
}

// stillHits keeps the found messages that hold the words of the query now, so
// that none is shown that other words found.
func (l list) stillHits() list {
	return l.withHits(slices.DeleteFunc(slices.Clone(l.hits), func(h harness.Hit) bool {
		return len(l.query.words) == 0 || !widget.Has(widget.Fold(h.Excerpt), l.query.words)
	}))
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

// selected is the key of the selected row; false if there is no row.
func (l list) selected() (key, bool) {
	if l.len() == 0 {
		return key{}, false
	}
	return l.keyAt(l.at), true
}

// session is the session in row n; ok is false for a message.
func (l list) session(n int) (s harness.Session, ok bool) {
	if n < 0 || n >= len(l.rows) {
		return s, false
	}
	return l.items[l.rows[n]].Session, true
}

// patch changes one session until the next reading.
func (l list) patch(s harness.Session, now time.Time) list {
	b, ok := l.with(s)
	if !ok {
		return l
	}
	l.book = b
	return l.match(nil, now)
}
