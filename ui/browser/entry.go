package browser

import (
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/widget"
)

// kind tells facts, notes and suggestions.
type kind int

const (
	fact kind = iota
	note
	suggestion
)

// String names the kind.
func (k kind) String() string {
	return [...]string{fact: "fact", note: "note", suggestion: "suggestion"}[k]
}

// kindOf tells the kind from an id.
func kindOf(id string) kind {
	switch {
	case strings.HasPrefix(id, "n"):
		return note
	case strings.HasPrefix(id, "i"):
		return suggestion
	default:
		return fact
	}
}

// entry is a fact, a note or a suggestion: which of the fields holds it says
// kind. Of a suggestion, fact is what it would make, under the id of the
// suggestion.
type entry struct {
	kind    kind
	fact    harness.Fact
	note    harness.Note
	idea    *idea
	opposed string // the suggestion that stands against a fact
	folded  string // what the filter looks at
}

func ofFact(f harness.Fact) entry {
	text := strings.Join([]string{f.ID, f.Text, f.Category, widget.Hashed(f.Tags), f.Source.Quote}, " ")
	return entry{kind: fact, fact: f, folded: widget.Fold(text)}
}

func ofNote(n harness.Note) entry {
	text := strings.Join([]string{n.ID, n.Title, widget.Hashed(n.Tags), n.Body}, " ")
	return entry{kind: note, note: n, folded: widget.Fold(text)}
}

func (e entry) id() string {
	if e.kind == note {
		return e.note.ID
	}
	return e.fact.ID
}

// title is the text of a fact or the title of a note; it is not safe yet.
func (e entry) title() string {
	if e.kind == note {
		return e.note.Title
	}
	return e.fact.Text
}

// text is what is read: a note's body below its title.
func (e entry) text() string {
	if e.kind == note {
		return e.note.Title + "\n\n" + e.note.Body
	}
	return e.fact.Text
}

func (e entry) tags() []string {
	if e.kind == note {
		return e.note.Tags
	}
	return e.fact.Tags
}

func (e entry) pinned() bool {
	if e.kind == note {
		return e.note.Pinned
	}
	return e.fact.Pinned
}

func (e entry) state() harness.FactState {
	if e.kind == note {
		return e.note.State
	}
	return e.fact.State
}

func (e entry) source() harness.Source {
	if e.kind == note {
		return e.note.Source
	}
	return e.fact.Source
}

func (e entry) by() harness.By {
	if e.kind == note {
		return e.note.By
	}
	return e.fact.By
}

func (e entry) created() time.Time {
	if e.kind == note {
		return e.note.Created
	}
	return e.fact.Created
}

func (e entry) updated() time.Time {
	if e.kind == note {
		return e.note.Updated
	}
	return e.fact.Updated
}

func (e entry) revision() int {
	if e.kind == note {
		return e.note.Revision
	}
	return e.fact.Revision
}

// noSource says why there is no message to go to; empty means there is one.
func (e entry) noSource() string {
	switch src := e.source(); {
	case src.Gone:
		return "the chat it comes from was deleted for good"
	case src.Session == "" || src.Session == harness.NoSession:
		return "it comes from no message"
	default:
		return ""
	}
}

// staleAfter is how long a fact may go unused before it is called stale.
const staleAfter = 180 * 24 * time.Hour

// word is what is special about an entry, in one word.
func (e entry) word(now time.Time) string {
	switch {
	case e.kind == suggestion:
		return e.idea.word()
	case e.state() == harness.StateOff:
		return "off"
	case e.pinned():
		return "pinned"
	case e.kind == fact && e.state() == harness.StateActive && now.Sub(later(e.fact.LastUsed, e.fact.Updated)) > staleAfter:
		return "stale"
	default:
		return ""
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// list is the entries of a tab and the selected one. Its slices are replaced,
// never changed.
type list struct {
	read    []entry // as the store gave them
	entries []entry // sorted
	rows    []int   // indexes of the entries that the filter lets through
	at      int
	sel     string // the id that at is on
	top     int
}

// match chooses the rows anew.
func (l list) match(passes func(*entry) bool) list {
	l.rows = make([]int, 0, len(l.entries))
	for i := range l.entries {
		if passes(&l.entries[i]) {
			l.rows = append(l.rows, i)
		}
	}
	for n, i := range l.rows {
		if l.entries[i].id() == l.sel {
			l.at = n
			return l
		}
	}
	return l.to(l.at)
}

// selectID selects an entry by id; if it is not there yet, it is selected when
// a reading brings it.
func (l list) selectID(id string) list {
	l.sel = id
	for n, i := range l.rows {
		if l.entries[i].id() == id {
			l.at = n
		}
	}
	return l
}

// to selects row n or the nearest that there is.
func (l list) to(n int) list {
	l.at = max(min(n, len(l.rows)-1), 0)
	if len(l.rows) > 0 {
		l.sel = l.entries[l.rows[l.at]].id()
	}
	return l
}

func (l list) selected() (entry, bool) {
	if l.at >= len(l.rows) {
		return entry{}, false
	}
	return l.entries[l.rows[l.at]], true
}
