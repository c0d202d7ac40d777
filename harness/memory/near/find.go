package near

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/harness"
)

// Finder makes searches find what means the same.
type Finder struct {
	// Source is the model, Vectors what it made so far.
	Source  *Source
	Vectors Vectors
	// Patience is how long a search waits for the vector of its question.
	Patience time.Duration
}

// fusedMost bounds how much the vectors add to a search. Of both at least
// fusedLeast are fused, as what is the best of all may be the best of neither.
const fusedMost, fusedLeast = 100, 40

// first are the first of a list, all if limit is 0.
func first[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

// question returns what to ask the vectors; false if they cannot be asked now,
// which is logged where it matters and told to whoever attends.
func (f *Finder) question(ctx context.Context, words string, limit int) (Query, bool) {
	if limit <= 0 || limit > fusedMost {
		limit = fusedMost
	}
	limit = max(limit, fusedLeast)
	space, ok, err := f.Vectors.Space(ctx)
	if err != nil {
		f.note(ctx, err)
		return Query{}, false
	}
	// Vectors of another model say nothing about this one's.
	if !ok || !space.Of(f.Source.Model) {
		missed(ctx, noVectors(f.Source.Model))
		return Query{}, false
	}
	v, err := f.Source.Vector(ctx, words, f.Patience)
	if err != nil {
		missed(ctx, err)
		return Query{}, false
	}
	if len(v) != space.Dims {
		f.note(ctx, fmt.Errorf("%s gives vectors of %d numbers, and those stored have %d; to make them anew: cairn memory index --rebuild", f.Source.Model, len(v), space.Dims))
		return Query{}, false
	}
	return Query{Space: space, Vector: v, Words: words, Floor: space.Floor(), Limit: limit}, true
}

// note logs and tells why the vectors are not asked. A search goes on without them.
func (f *Finder) note(ctx context.Context, err error) {
	missed(ctx, err)
	if ctx.Err() == nil && !errors.Is(err, ErrMoved) {
		f.Source.Log.Warn("words alone are looked for", slog.String("error", err.Error()))
	}
}

// Searcher finds messages by words and by meaning.
type Searcher struct {
	next harness.Searcher
	f    *Finder
}

// Search returns s with what vectors find fused into it.
func (f *Finder) Search(s harness.Searcher) *Searcher { return &Searcher{s, f} }

// Words is the search by words alone, which takes no time and tells nobody.
func (s *Searcher) Words() harness.Searcher { return s.next }

// Search implements [harness.Searcher].
func (s *Searcher) Search(ctx context.Context, query string, limit int) ([]harness.Hit, error) {
	// The question is on its way while the words are looked for.
	type answer struct {
		q  Query
		ok bool
	}
	asked := make(chan answer, 1)
	go func() {
		q, ok := s.f.question(ctx, query, limit)
		asked <- answer{q, ok}
	}()
	more := limit
	if limit > 0 {
		more = max(limit, fusedLeast)
	}
	words, err := s.next.Search(ctx, query, more)
	a := <-asked
	if err != nil || !a.ok {
		return first(words, limit), err
	}
	vectors, err := s.f.Vectors.Messages(ctx, a.q)
	if err != nil {
		s.f.note(ctx, err)
		return first(words, limit), ctx.Err()
	}
	has := phrase(query)
	all := fuse(words, vectors, func(h harness.Hit) string { return fmt.Sprintf("%s/%d", h.Session, h.Message) },
		func(h harness.Hit) bool { return has(h.Excerpt) })
	all = first(all, limit)
	hits := make([]harness.Hit, len(all))
	for i, r := range all {
		hits[i] = r.item
		hits[i].Score = r.score
	}
	return hits, nil
}
