package browser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cairn/ui/widget"
)

// narrowed is what the lists are narrowed to besides the words of the filter.
// The zero value is everything.
type narrowed struct {
	category, tag string   // empty for all
	ids           []string // only these, best first; nil for all
	what          string   // what the ids are
}

// any reports whether something may be left out.
func (n narrowed) any() bool { return n.category != "" || n.tag != "" || n.ids != nil }

// in is what of it counts in a tab: notes have no category, and suggestions are
// in no list of facts and notes.
func (n narrowed) in(t tab) narrowed {
	switch t {
	case tabNotes:
		n.category = ""
	case tabInbox:
		n.ids = nil
	default:
	}
	return n
}

// order is how a list is sorted.
type order int

const (
	byChange   order = iota // last changed first
	byAge                   // newest first
	byUse                   // most used first
	byCategory              // categories, or the titles of notes, by letters
	byRank                  // as the ids that the list is narrowed to
	orders
)

// word is what the order is called in a tab.
func (o order) word(t tab) string {
	switch {
	case o == byCategory && t == tabNotes:
		return "by title"
	case o == byChange && t == tabInbox:
		return "newest first"
	}
	return [orders]string{"last changed first", "newest first", "most used first", "by category", "best match first"}[o]
}

// nextOrder is the order after the present one that makes sense in the tab.
func (m Model) nextOrder() order {
	o := m.order
	for {
		o = (o + 1) % orders
		if o == byRank && m.narrow.ids == nil || o == byUse && m.tab == tabNotes || m.tab == tabInbox && o != byChange && o != byCategory {
			continue
		}
		return o
	}
}

// sorted is entries in an order, which are given last changed first.
func sorted(entries []entry, o order, ids []string) []entry {
	var less func(a, b int) int
	switch o {
	case byAge:
		less = func(a, b int) int { return entries[b].created().Compare(entries[a].created()) }
	case byUse:
		less = func(a, b int) int { return cmp.Compare(entries[b].fact.Uses, entries[a].fact.Uses) }
	case byCategory:
		headings := make([]string, len(entries))
		for i := range entries {
			headings[i] = entries[i].heading()
		}
		less = func(a, b int) int { return strings.Compare(headings[a], headings[b]) }
	case byRank:
		rank := make(map[string]int, len(ids))
		for i, id := range ids {
			rank[id] = i - len(ids) // what is not among them comes last
		}
		less = func(a, b int) int { return cmp.Compare(rank[entries[a].id()], rank[entries[b].id()]) }
	default:
		return entries
	}
	at := make([]int, len(entries)) // sorted in place of entries, which are large
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, less)
	out := make([]entry, len(entries))
	for i, from := range at {
		out[i] = entries[from]
	}
	return out
}

// heading is what an entry is filed under: the category of a fact, the title of
// a note.
func (e entry) heading() string {
	if e.kind == note {
		return widget.Fold(e.note.Title)
	}
	return widget.Fold(e.fact.Category)
}

// passes returns what a tab shows: what was not forgotten a moment ago and goes
// with the words and with what the lists are narrowed to.
func (m Model) passes(t tab) func(*entry) bool {
	words, hidden, n := widget.Words(m.filter.Text()), m.hidden(t), m.narrow.in(t)
	var only map[string]bool
	if n.ids != nil {
		only = make(map[string]bool, len(n.ids))
		for _, id := range n.ids {
			only[id] = true
		}
	}
	category, tag := n.category, widget.Fold(n.tag)
	return func(e *entry) bool {
		switch {
		case hidden[e.id()] || only != nil && !only[e.id()]:
			return false
		case category != "" && e.fact.Category != category:
			return false
		case tag != "" && !slices.ContainsFunc(e.tags(), func(own string) bool { return widget.Fold(own) == tag }):
			return false
		}
		return widget.Has(e.folded, words)
	}
}

// filtering reports whether a tab may leave something out.
func (m Model) filtering(t tab) bool {
	return m.narrow.in(t).any() || !m.filter.Empty()
}

// chips say what a tab is narrowed to, in words.
func (m Model) chips(t tab) string {
	var parts []string
	n := m.narrow.in(t)
	if n.ids != nil {
		parts = append(parts, n.what)
	}
	if n.category != "" {
		parts = append(parts, "category "+m.oneLine(n.category, 20))
	}
	if n.tag != "" {
		parts = append(parts, "#"+m.oneLine(n.tag, 20))
	}
	return strings.Join(parts, " "+m.c.Theme.Ornaments.Dot+" ")
}

// showAll takes every filter away.
func (m Model) showAll() Model {
	m.filter, m.narrow = widget.Line(""), narrowed{}
	if m.order == byRank {
		m.order = byChange
	}
	return m.resort()
}

// resort sorts the lists anew.
func (m Model) resort() Model {
	for t := range m.lists {
		m.lists[t].entries = sorted(m.lists[t].read, m.order, m.narrow.ids)
	}
	return m.match()
}

// sortNext takes the next order.
func (m Model) sortNext() Model {
	m.order = m.nextOrder()
	m.notice = notice{text: fmt.Sprintf("Sorted: %s.", m.order.word(m.tab))}
	return m.resort()
}
