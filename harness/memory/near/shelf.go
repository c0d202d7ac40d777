package near

import (
	"cmp"
	"context"
	"slices"
	"time"

	"cairn/harness"
)

// Facts are facts that are found by words and by meaning.
type Facts struct {
	harness.Facts
	f *Finder
}

// Facts returns s with what vectors find fused into its lists that have a query.
func (f *Finder) Facts(s harness.Facts) *Facts { return &Facts{s, f} }

// List implements [harness.Facts].
func (s *Facts) List(ctx context.Context, f harness.MemoryFilter) ([]harness.Fact, error) {
	return list(ctx, s.f, shelf[harness.Fact]{
		kind: "f", list: s.Facts.List,
		id:   func(x harness.Fact) string { return x.ID },
		text: func(x harness.Fact) string { return x.Text },
		own:  func(x harness.Fact, id harness.SessionID) bool { return x.Session == id },
	}, f)
}

// Notes are notes that are found by words and by meaning.
type Notes struct {
	harness.Notes
	f *Finder
}

// Notes returns s with what vectors find fused into its lists that have a query.
func (f *Finder) Notes(s harness.Notes) *Notes { return &Notes{s, f} }

// List implements [harness.Notes].
func (s *Notes) List(ctx context.Context, f harness.MemoryFilter) ([]harness.Note, error) {
	return list(ctx, s.f, shelf[harness.Note]{
		kind: "n", list: s.Notes.List,
		id:   func(x harness.Note) string { return x.ID },
		text: func(x harness.Note) string { return x.Title + "\n" + x.Body },
		own:  func(x harness.Note, id harness.SessionID) bool { return x.Session == id },
	}, f)
}

// Within returns the stores of a turn, which wait for a vector no longer than
// patience, if they are stores of this package; others are returned as they are.
func Within(facts harness.Facts, notes harness.Notes, patience time.Duration) (harness.Facts, harness.Notes) {
	if s, ok := facts.(*Facts); ok {
		facts = s.f.within(patience).Facts(s.Facts)
	}
	if s, ok := notes.(*Notes); ok {
		notes = s.f.within(patience).Notes(s.Notes)
	}
	return facts, notes
}

func (f *Finder) within(patience time.Duration) *Finder {
	other := *f
	other.Patience = patience
	return &other
}

// shelf is a kind of items.
type shelf[T any] struct {
	kind string
	list func(context.Context, harness.MemoryFilter) ([]T, error)
	id   func(T) string
	text func(T) string
	own  func(T, harness.SessionID) bool
}

// list is what words find with what the vectors find fused in.
func list[T any](ctx context.Context, f *Finder, s shelf[T], filter harness.MemoryFilter) ([]T, error) {
	if filter.Query == "" {
		return s.list(ctx, filter)
	}
	more := filter
	if filter.Limit > 0 {
		more.Limit = max(filter.Limit, fusedLeast)
	}
	words, err := s.list(ctx, more)
	if err != nil {
		return nil, err
	}
	q, ok := f.question(ctx, filter.Query, filter.Limit)
	if !ok {
		return first(words, filter.Limit), ctx.Err()
	}
	found, err := f.Vectors.Items(ctx, s.kind, q)
	if err != nil || len(found) == 0 {
		if err != nil {
			f.note(ctx, err)
		}
		return first(words, filter.Limit), ctx.Err()
	}
	// What else the filter asks for is looked at by whoever has the items.
	rest := filter
	rest.Query, rest.Limit = "", 0
	all, err := s.list(ctx, rest)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]T, len(all))
	for _, x := range all {
		byID[s.id(x)] = x
	}
	var vectors []T
	for _, it := range found {
		if x, ok := byID[it.ID]; ok {
			vectors = append(vectors, x)
		}
	}
	has := phrase(filter.Query)
	fused := fuse(words, vectors, s.id, func(x T) bool { return has(s.text(x)) })
	if filter.Session != "" {
		slices.SortStableFunc(fused, func(a, b ranked[T]) int {
			return cmp.Compare(truth(s.own(b.item, filter.Session)), truth(s.own(a.item, filter.Session)))
		})
	}
	fused = first(fused, filter.Limit)
	out := make([]T, len(fused))
	for i, r := range fused {
		out[i] = r.item
	}
	return out, nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
