package cli

import (
	"cmp"
	"context"

	"cairn/harness/memory/near"
	"cairn/harness/policy"
)

// byMeaning returns a store whose searches also find what means the same, if a model
// for that is configured. Ephemeral chats and those without memory tell it nothing.
func (a *app) byMeaning(c Config, st Store) (Store, error) {
	if c.Embedding == "" || st.Vectors == nil || c.NoMemory || a.flags.ephemeral {
		return st, nil
	}
	setup, err := a.setup()
	if err != nil {
		return st, err
	}
	s := &near.Source{
		Model: c.Embedding,
		Open: func(ctx context.Context) (near.Embedder, error) {
			return setup.Environment().Embedder(ctx, c.Embedding)
		},
		Budget: &policy.Budget{Spending: st.Spending, Limits: c.Spending, Holder: a.holder(), Now: a.s.Now},
		// What is booked beside a session counts for the day alone.
		Book:    st.Ledger.Book,
		Secrets: setup.Redactor(), Now: a.s.Now, Log: setup.Log,
	}
	f := &near.Finder{Source: s, Vectors: st.Vectors, Patience: cmp.Or(a.wire.SearchPatience, near.Patience)}
	st.Meaning = s
	if st.Search != nil {
		st.Search = f.Search(st.Search)
	}
	if st.Facts != nil {
		st.Facts = f.Facts(st.Facts)
	}
	if st.Notes != nil {
		st.Notes = f.Notes(st.Notes)
	}
	return st, nil
}

// telling is a command that looks for words. If a search of it went by words alone
// although a model is configured, that is told on standard error afterwards: there
// may be more than was found.
func (a *app) telling(do func(context.Context, []string) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		var m near.Missed
		if err := do(m.Attend(ctx), args); err != nil {
			return err
		}
		if why := m.Err(); why != nil {
			a.notice("searched by words only: %s", a.words(why))
		}
		return nil
	}
}
