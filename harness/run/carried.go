package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
)

// errElsewhere means that something needs the store of the run's session.
var errElsewhere = errors.New("the memory is not on this machine; it can be done in the conversation itself")

// After returns what the run carries once these entries happened: with what its
// tools saved, changed and forgot, and with the permissions that were given.
func (c Carried) After(entries []Entry) (Carried, error) {
	m := CarriedMemory(c)
	c.Grants = slices.Clone(c.Grants)
	var s loop.State
	for _, e := range entries {
		for _, effect := range e.Effects {
			m.apply(effect, e.At)
		}
		r, err := recordOf(e)
		if err != nil {
			return c, err
		}
		if g, ok := granted(c.Session.ID, s, r); ok {
			g.At = e.At
			c.Grants = append(c.Grants, g)
		}
		s, _ = loop.Step(s, r)
	}
	c.Facts, c.Notes = m.facts.items, m.notes.items
	return c, nil
}

// granted returns the standing permission that was given with a decision.
func granted(session harness.SessionID, s loop.State, r loop.Record) (g harness.Grant, ok bool) {
	d, ok := r.(loop.Decided)
	if !ok || !d.Approved || d.Rule == "" || d.Scope != harness.ScopeSession && d.Scope != harness.ScopeAlways {
		return g, false
	}
	g = harness.Grant{ID: harness.NewIDPrefix + d.CallID, Session: session, Rule: d.Rule, Tool: s.Tool(d.CallID), By: d.By}
	if d.Scope == harness.ScopeAlways {
		g.Session = ""
	}
	return g, true
}

// CarriedGrants returns the permissions that a run carries. None can be given or
// revoked there.
func CarriedGrants(c Carried) harness.Grants { return carriedGrants(slices.Clone(c.Grants)) }

type carriedGrants []harness.Grant

// List implements [harness.Grants].
func (g carriedGrants) List(_ context.Context, session harness.SessionID) ([]harness.Grant, error) {
	var list []harness.Grant
	for _, have := range g {
		if have.Session == "" || session != "" && have.Session == session {
			list = append(list, have)
		}
	}
	return list, nil
}

// Save implements [harness.Grants].
func (g carriedGrants) Save(context.Context, harness.Grant) (harness.Grant, error) {
	return harness.Grant{}, fmt.Errorf("store a permission: %w", errElsewhere)
}

// Revoke implements [harness.Grants].
func (g carriedGrants) Revoke(context.Context, string) error {
	return fmt.Errorf("revoke a permission: %w", errElsewhere)
}

// CarriedView is the long-term memory as a run carries it along. What tools change
// shows here at once and is left on the run's [Desk]; it cannot be changed by
// anybody else. It is safe for concurrent use.
type CarriedView struct {
	mu    sync.Mutex
	facts shelf[harness.Fact]
	notes shelf[harness.Note]
	keys  map[string]string
}

// CarriedMemory returns the memory that a run carries.
func CarriedMemory(c Carried) *CarriedView {
	return &CarriedView{
		facts: newFactShelf(slices.Clone(c.Facts)), notes: newNoteShelf(slices.Clone(c.Notes)), keys: map[string]string{},
	}
}

// Facts returns the facts of the memory.
func (v *CarriedView) Facts() harness.Facts { return carriedFacts{v} }

// Notes returns the notes of the memory.
func (v *CarriedView) Notes() harness.Notes { return carriedNotes{v} }

// Inbox returns an inbox that takes suggestions along and holds none.
func (v *CarriedView) Inbox() harness.Inbox { return carriedInbox{v} }

// apply makes a change that an entry holds. What cannot be carried out is left out,
// as at home.
func (v *CarriedView) apply(e harness.Effect, at time.Time) {
	id := ""
	if len(e.IDs) > 0 {
		id = e.IDs[0]
	}
	switch {
	case e.Kind == harness.EffectSaveFact && e.Fact != nil:
		f := *e.Fact
		f.ID, f.Revision, f.Updated = harness.NewIDPrefix+e.Key, 1, at
		v.keys[e.Key] = f.ID
		v.facts.add(f)
	case e.Kind == harness.EffectSaveNote && e.Note != nil:
		n := *e.Note
		n.ID, n.Revision, n.Updated = harness.NewIDPrefix+e.Key, 1, at
		v.keys[e.Key] = n.ID
		v.notes.add(n)
	case e.Kind == harness.EffectEditFact && e.FactEdit != nil:
		_, _ = v.facts.change(id, func(f *harness.Fact) {
			editFact(f, *e.FactEdit)
			f.Revision, f.Updated = f.Revision+1, at
		})
	case e.Kind == harness.EffectEditNote && e.NoteEdit != nil:
		_, _ = v.notes.change(id, func(n *harness.Note) {
			editNote(n, *e.NoteEdit)
			n.Revision, n.Updated = n.Revision+1, at
		})
	case e.Kind == harness.EffectForgetFact:
		_, _ = v.facts.change(id, func(f *harness.Fact) { f.State = harness.StateTrashed })
	case e.Kind == harness.EffectForgetNote:
		_, _ = v.notes.change(id, func(n *harness.Note) { n.State = harness.StateTrashed })
	}
}

// change makes a change for the tool that ctx belongs to and leaves it on the desk.
func (v *CarriedView) change(ctx context.Context, op string, make func(*deskCall) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	call := callOf(ctx)
	if call == nil {
		return fmt.Errorf("%s: %w", op, errElsewhere)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := make(call); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

type carriedFacts struct{ v *CarriedView }

// Save implements [harness.Facts].
func (c carriedFacts) Save(ctx context.Context, f harness.Fact, key string) (stored harness.Fact, created bool, err error) {
	if f.Category == "" {
		f.Category = harness.DefaultCategory
	}
	if err := secret("fact", append([]string{f.Text, f.Category}, f.Tags...)...); err != nil {
		return stored, false, err
	}
	err = c.v.change(ctx, "save a fact", func(call *deskCall) error {
		if have, ok := c.v.facts.find(c.v.keys[key]); ok && key != "" {
			stored = *have
			return nil
		}
		if have, ok := c.v.facts.same(f.Text, ""); ok {
			stored = *have
			return nil
		}
		if f.State == "" {
			f.State = harness.StateActive
		}
		kept := f
		f.ID, f.Revision, created = harness.NewIDPrefix+call.add(harness.Effect{Kind: harness.EffectSaveFact, Fact: &kept}), 1, true
		stored = f
		c.v.facts.add(f)
		c.v.remember(key, f.ID)
		return nil
	})
	return stored, created, err
}

func (v *CarriedView) remember(key, id string) {
	if key != "" {
		v.keys[key] = id
	}
}

// Edit implements [harness.Facts].
func (c carriedFacts) Edit(ctx context.Context, id string, e harness.FactEdit) (stored harness.Fact, err error) {
	given := harness.Fact{}
	editFact(&given, e)
	if err := secret("fact", append([]string{given.Text, given.Category}, given.Tags...)...); err != nil {
		return stored, err
	}
	err = c.v.change(ctx, "edit fact "+id, func(call *deskCall) error {
		was, ok := c.v.facts.find(id)
		if !ok {
			looked(ctx)
			return harness.ErrNotFound
		}
		next := *was
		editFact(&next, e)
		if was.State == harness.StateTrashed && next.State == harness.StateTrashed {
			return harness.ErrNotFound
		}
		if other, ok := c.v.facts.same(next.Text, id); ok && next.State == harness.StateActive {
			return fmt.Errorf("%s says the same: %w", other.ID, harness.ErrExists)
		}
		next.Revision++
		call.add(harness.Effect{Kind: harness.EffectEditFact, IDs: []string{id}, FactEdit: &e})
		*was, stored = next, next
		c.v.facts.touch(was)
		return nil
	})
	return stored, err
}

// Get implements [harness.Facts].
func (c carriedFacts) Get(ctx context.Context, id string) (harness.Fact, error) {
	return get(ctx, c.v, &c.v.facts, "fact", id)
}

// List implements [harness.Facts].
func (c carriedFacts) List(ctx context.Context, f harness.MemoryFilter) ([]harness.Fact, error) {
	return list(ctx, c.v, &c.v.facts, f)
}

// Forget implements [harness.Facts].
func (c carriedFacts) Forget(ctx context.Context, id string) error {
	return c.v.change(ctx, "forget fact "+id, func(call *deskCall) error {
		if _, ok := c.v.facts.change(id, func(f *harness.Fact) { f.State = harness.StateTrashed }); !ok {
			looked(ctx)
			return harness.ErrNotFound
		}
		call.add(harness.Effect{Kind: harness.EffectForgetFact, IDs: []string{id}})
		return nil
	})
}

// Restore implements [harness.Facts].
func (c carriedFacts) Restore(_ context.Context, id string) (harness.Fact, error) {
	return harness.Fact{}, fmt.Errorf("restore fact %s: %w", id, errElsewhere)
}

// History implements [harness.Facts]: a run carries the present version only.
func (c carriedFacts) History(ctx context.Context, id string) ([]harness.Fact, error) {
	f, err := c.Get(ctx, id)
	looked(ctx)
	return []harness.Fact{f}, err
}

// Used implements [harness.Facts]: the entry of the answer says what was used.
func (c carriedFacts) Used(context.Context, ...string) error { return nil }

type carriedNotes struct{ v *CarriedView }

// Save implements [harness.Notes].
func (c carriedNotes) Save(ctx context.Context, n harness.Note, key string) (stored harness.Note, err error) {
	if err := secret("note", append([]string{n.Title, n.Body}, n.Tags...)...); err != nil {
		return stored, err
	}
	err = c.v.change(ctx, "save a note", func(call *deskCall) error {
		if have, ok := c.v.notes.find(c.v.keys[key]); ok && key != "" {
			stored = *have
			return nil
		}
		if n.State == "" {
			n.State = harness.StateActive
		}
		kept := n
		n.ID, n.Revision = harness.NewIDPrefix+call.add(harness.Effect{Kind: harness.EffectSaveNote, Note: &kept}), 1
		stored = n
		c.v.notes.add(n)
		c.v.remember(key, n.ID)
		return nil
	})
	return stored, err
}

// Edit implements [harness.Notes].
func (c carriedNotes) Edit(ctx context.Context, id string, e harness.NoteEdit) (stored harness.Note, err error) {
	given := harness.Note{}
	editNote(&given, e)
	if err := secret("note", append([]string{given.Title, given.Body}, given.Tags...)...); err != nil {
		return stored, err
	}
	err = c.v.change(ctx, "edit note "+id, func(call *deskCall) error {
		was, ok := c.v.notes.find(id)
		if !ok {
			looked(ctx)
			return harness.ErrNotFound
		}
		next := *was
		editNote(&next, e)
		if was.State == harness.StateTrashed && next.State == harness.StateTrashed {
			return harness.ErrNotFound
		}
		next.Revision++
		call.add(harness.Effect{Kind: harness.EffectEditNote, IDs: []string{id}, NoteEdit: &e})
		*was, stored = next, next
		c.v.notes.touch(was)
		return nil
	})
	return stored, err
}

// Get implements [harness.Notes].
func (c carriedNotes) Get(ctx context.Context, id string) (harness.Note, error) {
	return get(ctx, c.v, &c.v.notes, "note", id)
}

// List implements [harness.Notes].
func (c carriedNotes) List(ctx context.Context, f harness.MemoryFilter) ([]harness.Note, error) {
	return list(ctx, c.v, &c.v.notes, f)
}

// Forget implements [harness.Notes].
func (c carriedNotes) Forget(ctx context.Context, id string) error {
	return c.v.change(ctx, "forget note "+id, func(call *deskCall) error {
		if _, ok := c.v.notes.change(id, func(n *harness.Note) { n.State = harness.StateTrashed }); !ok {
			looked(ctx)
			return harness.ErrNotFound
		}
		call.add(harness.Effect{Kind: harness.EffectForgetNote, IDs: []string{id}})
		return nil
	})
}

// Restore implements [harness.Notes].
func (c carriedNotes) Restore(_ context.Context, id string) (harness.Note, error) {
	return harness.Note{}, fmt.Errorf("restore note %s: %w", id, errElsewhere)
}

// History implements [harness.Notes]: a run carries the present version only.
func (c carriedNotes) History(ctx context.Context, id string) ([]harness.Note, error) {
	n, err := c.Get(ctx, id)
	looked(ctx)
	return []harness.Note{n}, err
}
