package mem

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Owners = (*Owners)(nil)

// Owners gives the sessions of a store to one writer at a time.
type Owners struct{ st *Store }

// Acquire implements [harness.Owners].
func (v *Owners) Acquire(ctx context.Context, meta harness.Session, h harness.Holder) (harness.Lease, error) {
	return v.take(ctx, "open session "+string(meta.ID), meta, h, false)
}

// Force implements [harness.Owners].
func (v *Owners) Force(ctx context.Context, meta harness.Session, h harness.Holder) (harness.Lease, error) {
	return v.take(ctx, "take over session "+string(meta.ID), meta, h, true)
}

func (v *Owners) take(ctx context.Context, op string, meta harness.Session, h harness.Holder, force bool) (harness.Lease, error) {
	h = v.st.fill(h)
	var lease harness.Lease
	err := v.st.change(ctx, op, func() error {
		if err := rules.CheckSessionID(meta.ID); err != nil {
			return err
		}
		s := v.st.sessions[meta.ID]
		if s != nil && s.info.Deleted != nil {
			return fmt.Errorf("%w in the trash; restore it, or use another id", harness.ErrExists)
		}
		if holder := v.st.owner(meta.ID); holder != nil && !force {
			return &harness.HeldError{Session: meta.ID, Holder: *holder}
		}
		o := v.st.owners[meta.ID]
		if o == nil {
			o = &ownership{}
			v.st.owners[meta.ID] = o
		}
		*o = ownership{generation: o.generation + 1, holder: h, alive: true}
		if s != nil {
			s.info.Generation = o.generation
		}
		lease = harness.Lease{Session: meta.ID, Generation: o.generation, Holder: h, Meta: meta}
		return nil
	})
	return lease, err
}

// Ask implements [harness.Owners].
func (v *Owners) Ask(ctx context.Context, id harness.SessionID, h harness.Holder) error {
	h = v.st.fill(h)
	return v.st.change(ctx, "ask for session "+string(id), func() error {
		if err := rules.CheckSessionID(id); err != nil {
			return err
		}
		if o := v.st.owners[id]; o != nil {
			o.asked = &h
		}
		return nil
	})
}

// Asked implements [harness.Owners].
func (v *Owners) Asked(ctx context.Context, l harness.Lease) (harness.Holder, bool, error) {
	if err := ctx.Err(); err != nil {
		return harness.Holder{}, false, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	o := v.st.owners[l.Session]
	switch {
	case o == nil || o.generation != l.Generation:
		return harness.Holder{}, false, fmt.Errorf("look who wants session %s: %w", l.Session, harness.ErrLost)
	case o.asked == nil:
		return harness.Holder{}, false, nil
	}
	return *o.asked, true, nil
}

// Release implements [harness.Owners].
func (v *Owners) Release(ctx context.Context, l harness.Lease) error {
	return v.st.change(ctx, "give back session "+string(l.Session), func() error {
		if o := v.st.owners[l.Session]; o != nil && o.generation == l.Generation {
			o.alive, o.asked = false, nil
		}
		return nil
	})
}
