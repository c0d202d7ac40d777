package bolt

import (
	"context"
	"errors"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var (
	_ harness.Facts = (*Facts)(nil)
	_ harness.Notes = (*Notes)(nil)
)

// Facts returns the view that implements [harness.Facts].
func (d *DB) Facts() *Facts {
	return &Facts{shelf[harness.Fact]{
		d: d, name: "facts", kind: rules.Facts(),
		count: func(c *counters) *int { return &c.Facts },
		last:  func(c *counters) *int { return &c.LastFact },
	}}
}

// Notes returns the view that implements [harness.Notes].
func (d *DB) Notes() *Notes {
	return &Notes{shelf[harness.Note]{
		d: d, name: "notes", kind: rules.Notes(),
		count: func(c *counters) *int { return &c.Notes },
		last:  func(c *counters) *int { return &c.LastNote },
	}}
}

// Facts keeps the facts of a file.
type Facts struct{ v shelf[harness.Fact] }

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
	return f.v.d.update(ctx, "count the use of facts", func(t *tx) error {
		for _, id := range ids {
			if err := f.use(t, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// use counts a use of a fact that is there.
func (f *Facts) use(t *tx, id string) error {
	have, err := f.v.find(t, id)
	if errors.Is(err, harness.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	have.Item.Uses++
	have.Item.LastUsed = t.now
	return f.v.rewrite(t, have)
}

// Notes keeps the notes of a file.
type Notes struct{ v shelf[harness.Note] }

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
