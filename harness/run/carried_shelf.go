package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"cairn/harness"
)

// shelf is the facts or notes that a run carries, oldest change first.
type shelf[T any] struct {
	items []T
	of    func(*T) shelved
	// recent are those that the run changed, with a number that grows.
	recent map[string]int
}

// shelved is what facts and notes have in common.
type shelved struct {
	id       string
	session  harness.SessionID
	category string
	tags     []string
	state    harness.FactState
	pinned   bool
	updated  time.Time
	// text is what is searched; same is what makes two of them one.
	text, same string
}

func newFactShelf(items []harness.Fact) shelf[harness.Fact] {
	return shelf[harness.Fact]{items: items, recent: map[string]int{}, of: func(f *harness.Fact) shelved {
		return shelved{
			f.ID, f.Session, f.Category, f.Tags, f.State, f.Pinned, f.Updated,
			strings.Join(append([]string{f.Text, f.Category}, f.Tags...), " "), f.Text,
		}
	}}
}

func newNoteShelf(items []harness.Note) shelf[harness.Note] {
	return shelf[harness.Note]{items: items, recent: map[string]int{}, of: func(n *harness.Note) shelved {
		return shelved{
			n.ID, n.Session, "", n.Tags, n.State, n.Pinned, n.Updated,
			strings.Join(append([]string{n.Title, n.Body}, n.Tags...), " "), "",
		}
	}}
}

func (s *shelf[T]) add(item T) {
	s.items = append(s.items, item)
	s.touch(&item)
}

func (s *shelf[T]) touch(item *T) { s.recent[s.of(item).id] = s.changes() }

// changes is a number above those of all changes.
func (s *shelf[T]) changes() int {
	most := 0
	for _, n := range s.recent {
		most = max(most, n)
	}
	return most + 1
}

func (s *shelf[T]) find(id string) (*T, bool) {
	for i := range s.items {
		if id != "" && s.of(&s.items[i]).id == id {
			return &s.items[i], true
		}
	}
	return nil, false
}

// change changes an item; ok is false if there is none of the id.
func (s *shelf[T]) change(id string, edit func(*T)) (now T, ok bool) {
	have, ok := s.find(id)
	if !ok {
		return now, false
	}
	edit(have)
	s.touch(have)
	return *have, true
}

// same returns the active fact of the same text with another id.
func (s *shelf[T]) same(text, id string) (*T, bool) {
	for i := range s.items {
		c := s.of(&s.items[i])
		if c.id != id && c.state == harness.StateActive && c.same != "" && sameText(c.same) == sameText(text) {
			return &s.items[i], true
		}
	}
	return nil, false
}

// sameText returns what all texts have in common that differ only in case, white
// space, Unicode form and final punctuation.
func sameText(text string) string {
	folded := norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	return strings.TrimRightFunc(strings.Join(strings.Fields(folded), " "), func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
}

func get[T any](ctx context.Context, v *CarriedView, s *shelf[T], kind, id string) (item T, err error) {
	if err := ctx.Err(); err != nil {
		return item, fmt.Errorf("read %s %s: %w", kind, id, context.Cause(ctx))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	have, ok := s.find(id)
	if !ok {
		if !strings.HasPrefix(id, harness.NewIDPrefix) {
			looked(ctx)
		}
		return item, fmt.Errorf("read %s %s: %w", kind, id, harness.ErrNotFound)
	}
	return *have, nil
}

// list returns matching items: those of the session first, then by how well they
// match, then last changed first.
func list[T any](ctx context.Context, v *CarriedView, s *shelf[T], f harness.MemoryFilter) ([]T, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list the memory: %w", context.Cause(ctx))
	}
	looked(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	type match struct {
		item    T
		own     bool
		score   int
		recent  int
		updated time.Time
	}
	var found []match
	query := searched(f.Query)
	for i := range slices.Backward(s.items) {
		c := s.of(&s.items[i])
		if !c.passes(f) {
			continue
		}
		m := match{item: s.items[i], recent: s.recent[c.id], updated: c.updated}
		if strings.TrimSpace(f.Query) != "" {
			if m.score = hits(query, words(c.text)); m.score == 0 {
				continue
			}
			m.own = f.Session != "" && c.session == f.Session
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b match) int {
		if a.own != b.own {
			if a.own {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.recent, a.recent), b.updated.Compare(a.updated))
	})
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	items := make([]T, len(found))
	for i, m := range found {
		items[i] = m.item
	}
	return items, nil
}

func (c shelved) passes(f harness.MemoryFilter) bool {
	switch f.State {
	case "":
		if c.state != harness.StateActive {
			return false
		}
	case harness.StateAny:
		if c.state == harness.StateTrashed {
			return false
		}
	default:
		if c.state != f.State {
			return false
		}
	}
	if f.Pinned && !c.pinned || f.Category != "" && plain(c.category) != plain(f.Category) {
		return false
	}
	return f.Tag == "" || slices.ContainsFunc(c.tags, func(t string) bool { return plain(t) == plain(f.Tag) })
}

// plain returns a text without case and accents.
func plain(text string) string {
	marked := norm.NFKD.String(cases.Fold().String(text))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, marked)
}

// words returns the words of a text.
func words(text string) []string {
	return strings.FieldsFunc(plain(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// idle are words that mean nothing by themselves.
const idle = " a an and are as at be by do does for from had has have how i if in is it its me my of on or so that the their they this to us was we were what when where which who why will with you your "

// searched returns the words of a query that mean something, all of them if none
// does.
func searched(query string) []string {
	all := words(query)
	var some []string
	for _, w := range all {
		if !strings.Contains(idle, " "+w+" ") && !slices.Contains(some, w) {
			some = append(some, w)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// minStem is the least beginning, in bytes, that two forms of a word share, and
// maxEnding the longest ending by which they may differ.
const (
	minStem   = 3
	maxEnding = 3
)

// hits counts the words of a query that a text has in some form.
func hits(query, text []string) (n int) {
	for _, q := range query {
		if slices.ContainsFunc(text, func(w string) bool { return alike(q, w) }) {
			n++
		}
	}
	return n
}

func alike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= minStem && len(b)-len(a) <= maxEnding && strings.HasPrefix(b, a)
}

// secret refuses text that holds a key or a password.
func secret(kind string, texts ...string) error {
	for _, text := range texts {
		if what, found := harness.Secret(text); found {
			return fmt.Errorf("save a %s: %w: this holds what looks like %s; save it without that", kind, harness.ErrSecret, what)
		}
	}
	return nil
}

func editFact(f *harness.Fact, e harness.FactEdit) {
	set(&f.Text, e.Text)
	set(&f.Category, e.Category)
	set(&f.Tags, e.Tags)
	set(&f.Pinned, e.Pinned)
	set(&f.State, e.State)
}

func editNote(n *harness.Note, e harness.NoteEdit) {
	set(&n.Title, e.Title)
	set(&n.Body, e.Body)
	set(&n.Tags, e.Tags)
	set(&n.Pinned, e.Pinned)
	set(&n.State, e.State)
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}
