package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"cairn/harness"
	"cairn/storage/index"
)

// Common are the fields that facts and notes share.
type Common struct {
	ID       *string
	Session  *harness.SessionID
	Tags     *[]string
	By       *harness.By
	State    *harness.FactState
	Pinned   *bool
	Created  *time.Time
	Updated  *time.Time
	Revision *int
}

// Kind tells what facts and notes do not share.
type Kind[T any] struct {
	// Name is the kind in words, Prefix begins its ids.
	Name, Prefix string
	Common       func(*T) Common
	// Text is what a search looks at.
	Text     func(T) string
	Category func(T) string
	// Same is what two items that count as one have in common; "" never
	// counts as one.
	Same func(T) string
	// Written is all text of an item that somebody wrote.
	Written func(T) []string
	// Leaves says when an item leaves the store, for the refusal of a secret.
	Leaves string
}

// Facts is the kind of facts.
func Facts() Kind[harness.Fact] {
	return Kind[harness.Fact]{
		Name: "fact", Prefix: "f",
		Common: func(f *harness.Fact) Common {
			return Common{&f.ID, &f.Session, &f.Tags, &f.By, &f.State, &f.Pinned, &f.Created, &f.Updated, &f.Revision}
		},
		Text: func(f harness.Fact) string {
			return strings.Join(append([]string{f.Text, f.Category}, f.Tags...), "\n")
		},
		Category: func(f harness.Fact) string { return f.Category },
		Same:     func(f harness.Fact) string { return SameText(f.Text) },
		Written: func(f harness.Fact) []string {
			return append([]string{f.Text, f.Category, f.Source.Quote, f.Source.Client}, f.Tags...)
		},
		Leaves: "a fact goes out with every request",
	}
}

// Notes is the kind of notes. Two notes are never one.
func Notes() Kind[harness.Note] {
	return Kind[harness.Note]{
		Name: "note", Prefix: "n",
		Common: func(n *harness.Note) Common {
			return Common{&n.ID, &n.Session, &n.Tags, &n.By, &n.State, &n.Pinned, &n.Created, &n.Updated, &n.Revision}
		},
		Text: func(n harness.Note) string {
			return strings.Join(append([]string{n.Title, n.Body}, n.Tags...), "\n")
		},
		Category: func(harness.Note) string { return "" },
		Same:     func(harness.Note) string { return "" },
		Written: func(n harness.Note) []string {
			return append([]string{n.Title, n.Body, n.Source.Quote, n.Source.Client}, n.Tags...)
		},
		Leaves: "a note goes out with every request that recalls it",
	}
}

// SameText returns what all texts have in common that differ only in case,
// white space, Unicode form and final punctuation.
func SameText(text string) string {
	folded := norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	line := strings.Join(strings.Fields(folded), " ")
	return strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
}

// Refuse returns [harness.ErrSecret] for an item that holds a key or a password.
func (k Kind[T]) Refuse(v T) error {
	for _, text := range k.Written(v) {
		if kind, found := harness.Secret(text); found {
			return fmt.Errorf("%w: this holds what looks like %s, and %s; keep that where keys are kept and save without it, or save where to find it", harness.ErrSecret, kind, k.Leaves)
		}
	}
	return nil
}

// Given returns an item that holds what an edit writes and nothing else, so
// that only new text is refused: what was kept before can still be switched off.
func (k Kind[T]) Given(edit func(*T)) T {
	var v T
	edit(&v)
	return v
}

// Doubles reports whether a revision becomes an active item of another text, or
// becomes active, so that it may be the same as one that is active already.
func (k Kind[T]) Doubles(was, next T) bool {
	return *k.Common(&next).State == harness.StateActive &&
		(*k.Common(&was).State != harness.StateActive || k.Same(was) != k.Same(next))
}

// Doubled is the refusal of an edit that would make two of one.
func (k Kind[T]) Doubled(other string) error {
	return fmt.Errorf("%s %s, which is active and says the same, %w; edit that one, or forget one of the two", k.Name, other, harness.ErrExists)
}

// New returns v as it is stored first.
func (k Kind[T]) New(v T, id string, now time.Time) T {
	c := k.Common(&v)
	*c.ID, *c.Revision, *c.Updated = id, 1, now
	if c.Created.IsZero() {
		*c.Created = now
	}
	if *c.State == "" {
		*c.State = harness.StateActive
	}
	if *c.By == "" {
		*c.By = harness.ByYou
	}
	*c.Tags = cleanTags(*c.Tags)
	return v
}

// Revise returns the next revision of v.
func (k Kind[T]) Revise(v T, edit func(*T), now time.Time) T {
	edit(&v)
	c := k.Common(&v)
	*c.Tags, *c.Updated = cleanTags(*c.Tags), now
	*c.Revision++
	return v
}

// EditFact returns what e does to a fact.
func EditFact(e harness.FactEdit) func(*harness.Fact) {
	return func(f *harness.Fact) {
		set(&f.Text, e.Text)
		set(&f.Category, e.Category)
		set(&f.Tags, e.Tags)
		set(&f.Pinned, e.Pinned)
		set(&f.State, e.State)
		if f.Category == "" {
			f.Category = harness.DefaultCategory
		}
	}
}

// EditNote returns what e does to a note.
func EditNote(e harness.NoteEdit) func(*harness.Note) {
	return func(n *harness.Note) {
		set(&n.Title, e.Title)
		set(&n.Body, e.Body)
		set(&n.Tags, e.Tags)
		set(&n.Pinned, e.Pinned)
		set(&n.State, e.State)
	}
}

func set[V any](field, to *V) {
	if to != nil {
		*field = *to
	}
}

// Candidate is an item that a list may show. Changed orders items by their last
// change.
type Candidate[T any] struct {
	Item    T
	Changed int
	own     bool
	score   float64
}

// Select returns the items that pass f, in the order that f asks for.
func (k Kind[T]) Select(items []Candidate[T], f harness.MemoryFilter) []T {
	query := index.NewQuery(f.Query)
	searching := strings.TrimSpace(f.Query) != ""
	var found []Candidate[T]
	for _, c := range items {
		if !k.passes(c.Item, f) {
			continue
		}
		if searching {
			if c.score = query.Score(k.Text(c.Item)); c.score == 0 {
				continue
			}
			c.own = f.Session != "" && *k.Common(&c.Item).Session == f.Session
		}
		found = append(found, c)
	}
	slices.SortStableFunc(found, func(a, b Candidate[T]) int {
		if a.own != b.own {
			if a.own {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Changed, a.Changed))
	})
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	list := make([]T, len(found))
	for i, c := range found {
		list[i] = c.Item
	}
	return list
}

func (k Kind[T]) passes(v T, f harness.MemoryFilter) bool {
	c := k.Common(&v)
	switch f.State {
	case "":
		if *c.State != harness.StateActive {
			return false
		}
	case harness.StateAny:
		if *c.State == harness.StateTrashed {
			return false
		}
	default:
		if *c.State != f.State {
			return false
		}
	}
	if f.Pinned && !*c.Pinned {
		return false
	}
	if f.Category != "" && index.Fold(k.Category(v)) != index.Fold(f.Category) {
		return false
	}
	return f.Tag == "" || slices.ContainsFunc(*c.Tags, func(t string) bool { return index.Fold(t) == index.Fold(f.Tag) })
}
