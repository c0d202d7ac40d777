package mem

import (
	"context"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

// Facts returns the view that implements [harness.Facts].
func (st *Store) Facts() *Facts {
	return &Facts{view[harness.Fact]{st, &st.facts, rules.Facts()}}
}

// Notes returns the view that implements [harness.Notes].
func (st *Store) Notes() *Notes {
	return &Notes{view[harness.Note]{st, &st.notes, rules.Notes()}}
}

// Facts keeps the facts of a store.
type Facts struct{ v view[harness.Fact] }

// Save implements [harness.Facts].
func (f *Facts) Save(ctx context.Context, fact harness.Fact, key string) (harness.Fact, bool, error) {
	if fact.Category == "" {
		fact.Category = harness.DefaultCategory
	}
	return f.v.save(ctx, fact, key)
}

// Edit implements [harness.Facts].
func (f *Facts) Edit(ctx context.Context, id string, e harness.FactEdit) (harness.Fact, error) {
	return f.v.edit(ctx, id, rules.EditFact(e))
}

// Get implements [harness.Facts].
func (f *Facts) Get(ctx context.Context, id string) (harness.Fact, error) { return f.v.get(ctx, id) }

// List implements [harness.Facts].
func (f *Facts) List(ctx context.Context, filter harness.MemoryFilter) ([]harness.Fact, error) {
	return f.v.list(ctx, filter)
}

// Forget implements [harness.Facts].
func (f *Facts) Forget(ctx context.Context, id string) error { return f.v.forget(ctx, id) }

// Restore implements [harness.Facts].
func (f *Facts) Restore(ctx context.Context, id string) (harness.Fact, error) {
	return f.v.restore(ctx, id)
}

// History implements [harness.Facts].
func (f *Facts) History(ctx context.Context, id string) ([]harness.Fact, error) {
	return f.v.history(ctx, id)
}

// Used implements [harness.Facts]. Ids that name no fact are passed over.
func (f *Facts) Used(ctx context.Context, ids ...string) error {
	return f.v.st.change(ctx, "count the use of facts", func() error {
		for _, id := range ids {
			f.use(id)
		}
		return nil
	})
}

// use counts a use of a fact that is there.
func (f *Facts) use(id string) {
	if have := f.v.shelf.items[id]; have != nil {
		have.item.Uses++
		have.item.LastUsed = f.v.st.now()
	}
}

// Notes keeps the notes of a store.
type Notes struct{ v view[harness.Note] }

// Save implements [harness.Notes].
func (n *Notes) Save(ctx context.Context, note harness.Note, key string) (harness.Note, error) {
	stored, _, err := n.v.save(ctx, note, key)
	return stored, err
}

// Edit implements [harness.Notes].
func (n *Notes) Edit(ctx context.Context, id string, e harness.NoteEdit) (harness.Note, error) {
	return n.v.edit(ctx, id, rules.EditNote(e))
}

// Get implements [harness.Notes].
func (n *Notes) Get(ctx context.Context, id string) (harness.Note, error) { return n.v.get(ctx, id) }

// List implements [harness.Notes].
func (n *Notes) List(ctx context.Context, f harness.MemoryFilter) ([]harness.Note, error) {
	return n.v.list(ctx, f)
}

// Forget implements [harness.Notes].
func (n *Notes) Forget(ctx context.Context, id string) error { return n.v.forget(ctx, id) }

// Restore implements [harness.Notes].
func (n *Notes) Restore(ctx context.Context, id string) (harness.Note, error) {
	return n.v.restore(ctx, id)
}

// History implements [harness.Notes].
func (n *Notes) History(ctx context.Context, id string) ([]harness.Note, error) {
	return n.v.history(ctx, id)
}
