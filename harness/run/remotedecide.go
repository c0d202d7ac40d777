package run

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/loop"
)

// Decide implements [harness.Engine]. The rules of approvals that are to count for
// more than once are stored with the conversation first, as [Local.Decide] does.
func (r *Remote) Decide(ctx context.Context, l harness.Lease, id harness.RunID, ds ...harness.Decision) (harness.RunHandle, error) {
	leave, err := r.sit(ctx, l.Session, "")
	if err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	defer leave()
	h, err := r.decide(ctx, l, id, ds)
	if err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	return h, nil
}

func (r *Remote) decide(ctx context.Context, l harness.Lease, id harness.RunID, ds []harness.Decision) (harness.RunHandle, error) {
	have := r.find(id) // it rests in a moment, or nobody drives it
	m, err := r.mirror(ctx, id)
	if err != nil {
		return nil, err
	}
	if m.info.Status.Closed() {
		return nil, fmt.Errorf("run %s has ended (%s) and waits for nothing: %w", id, m.info.Status, harness.ErrNotFound)
	}
	job, err := r.get(ctx, m)
	if errors.Is(err, harness.ErrNotFound) {
		return nil, fmt.Errorf("run %s is not at %s any more, so there is nothing to decide; drop it to go on: %w", id, r.o.Engine, harness.ErrNotFound)
	}
	if err != nil {
		return nil, r.silent(id, err)
	}
	if _, err := r.catchUp(ctx, l, m); err != nil {
		return nil, err
	}
	base := m.info.Cursor
	info := m.info
	info.Partial = job.Run.Partial
	given, err := r.grant(ctx, info, m.state, ds)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	err = r.free(ctx, id, func() error { return r.o.Backend.Decide(ctx, id, r.o.Here, ds...) })
	if err != nil {
		return nil, errors.Join(err, r.revoke(context.WithoutCancel(ctx), given))
	}
	return r.goOn(ctx, l, m, have, base)
}

// grant stores the rules of decisions that are to count for more than once.
func (r *Remote) grant(ctx context.Context, info harness.Run, s loop.State, ds []harness.Decision) ([]string, error) {
	if !grants(ds) {
		return nil, nil
	}
	if r.o.Tools == nil {
		return nil, errNoGrants
	}
	// A decision that cannot be taken leaves no rule behind.
	if _, _, err := decisions(info, s, ds); err != nil {
		return nil, err
	}
	tools, err := r.o.Tools(ctx, info.Config)
	if err != nil {
		return nil, err
	}
	return r.granter().grant(ctx, info, s, tools, ds)
}

func (r *Remote) revoke(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return r.granter().revoke(ctx, ids)
}

// granter keeps rules as a local engine does.
func (r *Remote) granter() *Local { return NewLocal(Options{Grants: r.o.Grants}) }
