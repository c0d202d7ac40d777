package agent

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// Documented is a [Log] that knows more of its conversation than the branch on
// screen. [Agent.SaveSession] saves all of that; of any other log the branch.
type Documented interface {
	Log
	// Document returns the conversation with all its branches. What its records
	// hold may be shared with the log and must not be changed.
	Document(ctx context.Context) (snapshot.Document, error)
}

// Keeper is a [Log] that keeps all that belongs to a conversation: an agent
// finds there its usage and cost, task list, extensions, and the configuration
// that it is not given, and saves all of it with each step of a turn.
type Keeper interface {
	Documented
	// Save stores d instead of what Document returned, with the bytes of the
	// artifacts that are new in it. It is on disk when it returns. If somebody
	// else stored something meanwhile it writes nothing and returns
	// [harness.ErrLost].
	Save(ctx context.Context, d snapshot.Document) error
}

// append stores records, with what the model calls behind them used, and takes
// them into the history.
func (a *Agent) append(ctx context.Context, u harness.Usage, records []harness.Record) error {
	d, stored, err := a.store(context.WithoutCancel(ctx), u, records)
	if err != nil {
		return fmt.Errorf("session %s: %w", a.id, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.doc, a.history = d, append(a.history, stored...)
	if len(stored) > 0 {
		a.noted = nil
	}
	return nil
}

// store stores records. It returns them as they are stored, and the document
// that the agent goes on with.
func (a *Agent) store(ctx context.Context, u harness.Usage, records []harness.Record) (d snapshot.Document, stored []harness.Record, err error) {
	d = a.doc
	d.Usage = d.Usage.Add(u)
	if len(records) == 0 {
		return d, nil, nil // what was used is saved when the turn ends
	}
	k, keeps := a.log.(Keeper)
	if a.log == nil || keeps {
		stored = d.Append(append(a.noted, records...)...)
		if keeps {
			err = a.keep(ctx, k, &d, stored)
			stored = bare(stored)
		}
		return d, stored, err
	}
	if stored, err = a.log.Append(ctx, records...); err != nil {
		return d, nil, err
	}
	if len(stored) != len(records) {
		return d, nil, fmt.Errorf("the store took %d records and returned %d", len(records), len(stored))
	}
	return d, stored, nil
}

// keep completes d, in which the records fresh are new, and saves it.
func (a *Agent) keep(ctx context.Context, k Keeper, d *snapshot.Document, fresh []harness.Record) error {
	if err := a.complete(ctx, d, fresh); err != nil {
		return err
	}
	d.Records = bare(d.Records)
	return a.save(ctx, k, d)
}

// save saves d, and then holds no bytes of artifacts any more.
func (a *Agent) save(ctx context.Context, k Keeper, d *snapshot.Document) error {
	if err := k.Save(ctx, *d); err != nil {
		return err
	}
	d.Artifacts = slices.Clone(d.Artifacts)
	for i := range d.Artifacts {
		d.Artifacts[i].Data = nil
	}
	a.kept = beside(*d)
	return nil
}

// settle saves what changed since the last record was stored: the usage of a
// call without an answer, the state of an extension.
func (a *Agent) settle(ctx context.Context) error {
	k, ok := a.log.(Keeper)
	if !ok || len(a.doc.Records) == 0 {
		return nil
	}
	d := a.doc
	if err := a.complete(ctx, &d, nil); err != nil {
		return fmt.Errorf("session %s: %w", a.id, err)
	}
	if reflect.DeepEqual(beside(d), a.kept) {
		return nil
	}
	if err := a.save(context.WithoutCancel(ctx), k, &d); err != nil {
		return fmt.Errorf("session %s: %w", a.id, err)
	}
	a.doc = d
	return nil
}

// beside returns what a document holds beside its records, whenever it was
// saved.
func beside(d snapshot.Document) snapshot.Document {
	d.Records, d.Saved = nil, time.Time{}
	return d
}

// complete adds to d all that the agent knows: its own configuration, the state
// of its extensions, and what the records fresh name.
func (a *Agent) complete(ctx context.Context, d *snapshot.Document, fresh []harness.Record) (err error) {
	d.ID, d.Saved = a.id, a.o.Now()
	if d.Created.IsZero() {
		d.Created = d.Saved
		if len(d.Records) > 0 && !d.Records[0].At.IsZero() {
			d.Created = d.Records[0].At
		}
	}
	c := &d.Config
	c.Model, c.System = cmp.Or(a.o.Info.ID, c.Model), cmp.Or(a.o.System, c.System)
	c.Limits.Steps = cmp.Or(a.o.MaxSteps, c.Limits.Steps)
	a.learnedInto(d)
	if d.Extensions, err = saveExtensions(a.o.Extensions); err != nil {
		return err
	}
	if slices.ContainsFunc(fresh, func(r harness.Record) bool { return plan(r) != "" }) {
		d.Tasks = tasks(d.Branch())
	}
	return a.collect(ctx, d, fresh)
}
