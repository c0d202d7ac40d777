package picker

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/widget"
)

// order is how the list is sorted, below what is pinned.
type order int

const (
	byUse order = iota // as the store lists them
	byCreated
	byTitle
	orders // how many there are
)

func (o order) String() string {
	switch o {
	case byCreated:
		return "newest first"
	case byTitle:
		return "by title"
	default:
		return "last used first"
	}
}

// item is a session with the folded text that the filter looks at.
type item struct {
	harness.Session
	folded string
	tags   []string
}

// book is the sessions as they were read last, sorted. It is replaced, never
// changed.
type book struct {
	items []item
	order order
	place map[harness.SessionID]int   // index in items
	forks map[harness.SessionID][]int // the forks of a session
}

// newBook folds and sorts the sessions; it is called outside Update because it
// looks at all of them. What was folded for the book before is not folded again.
func newBook(sessions []harness.Session, o order, before book) book {
	items := make([]item, len(sessions))
	for i, s := range sessions {
		if n, ok := before.place[s.ID]; ok && before.items[n].Title == s.Title && slices.Equal(before.items[n].Tags, s.Tags) {
			items[i] = item{s, before.items[n].folded, before.items[n].tags}
			continue
		}
		items[i] = newItem(s)
	}
	b := book{items: items}
	if o != byUse {
		b = b.sorted(o)
	}
	return b.indexed()
}

func newItem(s harness.Session) item {
	it := item{Session: s, folded: widget.Fold(s.Title + " " + string(s.ID) + " " + widget.Hashed(s.Tags))}
	for _, t := range s.Tags {
		it.tags = append(it.tags, widget.Fold(t))
	}
	return it
}

// sorted is the book in another order. Sessions that are equal in it stay in
// the one they had.
func (b book) sorted(o order) book {
	// A session is large: they are sorted by their numbers and moved once.
	numbers := make([]int, len(b.items))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(i, j int) int {
		x, y := &b.items[i], &b.items[j]
		if x.Pinned != y.Pinned {
			if x.Pinned {
				return -1
			}
			return 1
		}
		switch o {
		case byCreated:
			return y.Created.Compare(x.Created)
		case byTitle:
			return strings.Compare(x.folded, y.folded)
		default:
			return cmp.Or(y.Updated.Compare(x.Updated), strings.Compare(string(x.ID), string(y.ID)))
		}
	})
	items := make([]item, len(numbers))
	for to, from := range numbers {
		items[to] = b.items[from]
	}
	b.items, b.order = items, o
	return b.indexed()
}

func (b book) indexed() book {
	b.place, b.forks = make(map[harness.SessionID]int, len(b.items)), map[harness.SessionID][]int{}
	for i := range b.items {
		it := &b.items[i]
		b.place[it.ID] = i
		if p := it.Parent; p != nil {
			b.forks[p.Session] = append(b.forks[p.Session], i)
		}
	}
	return b
}

// with is the book with one session changed, at the place it has.
func (b book) with(s harness.Session) (book, bool) {
	i, ok := b.place[s.ID]
	if !ok {
		return b, false
	}
	b.items = slices.Clone(b.items)
	// Lists fill in what an edit does not return.
	s.HasDraft, s.Owner = b.items[i].HasDraft, b.items[i].Owner
	b.items[i] = newItem(s)
	return b, true
}

// byID is the session of an id as last read.
func (b book) byID(id harness.SessionID) (harness.Session, bool) {
	if i, ok := b.place[id]; ok {
		return b.items[i].Session, true
	}
	return harness.Session{}, false
}

// group is a heading over the rows from one on.
type group struct {
	from int
	name string
}

// grouped are the headings over rows of the book. A time out of order stays in
// the group it is found in.
func (b book) grouped(rows []int, now time.Time) []group {
	names := [...]string{"pinned", "today", "this week", "earlier"}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	week := midnight.AddDate(0, 0, -6)
	var groups []group
	last := -1
	for n, i := range rows {
		g, it := 3, &b.items[i]
		at := it.Updated
		if b.order == byCreated {
			at = it.Created
		}
		switch {
		case it.Pinned && last <= 0:
			g = 0
		case b.order == byTitle:
		case !at.Before(midnight):
			g = 1
		case !at.Before(week):
			g = 2
		}
		if g > last {
			name := names[g]
			if g == 3 && b.order == byTitle {
				name = b.order.String()
			}
			groups = append(groups, group{n, name})
			last = g
		}
		if last == len(names)-1 {
			break
		}
	}
	return groups
}
