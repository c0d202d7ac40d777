package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// errNoStore is said where a store was forgotten.
var errNoStore = errors.New("there is no store; snapshot.Open gives one")

// SaveSession saves the conversation in store, in the place of what was saved
// under its id before, and returns that id. [LoadSession] goes on from there.
//
// Saved are the messages with the whole log behind them, as [Documented] has it,
// configuration, usage with its cost, task list, artifacts, the state of the
// extensions, and the limits that were learned. Not saved are tools, grants,
// connections and keys. If the bytes of an artifact are nowhere to be found the
// error is a [snapshot.ErrArtifacts] that lists them, and nothing is written.
//
// While a run or another save is active it is refused with [harness.ErrBusy],
// and so is a run meanwhile.
func (a *Agent) SaveSession(ctx context.Context, store snapshot.Store) (harness.SessionID, error) {
	if store == nil {
		return "", fmt.Errorf("save session %s: %w", a.id, errNoStore)
	}
	done, ctx, err := a.begin(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	d, err := a.document(ctx)
	if err != nil {
		return "", fmt.Errorf("save session %s: %w", a.id, err)
	}
	if k, ok := a.log.(Keeper); ok {
		// The same document goes to the agent's own store, which may be this one:
		// the agent then finds what it expects there.
		own := d
		if err := a.save(ctx, k, &own); err != nil {
			return "", fmt.Errorf("save session %s: %w", a.id, err)
		}
		a.doc = own
	}
	return snapshot.Save(ctx, store, d)
}

// document returns all that belongs to the conversation, with the bytes of its
// artifacts.
func (a *Agent) document(ctx context.Context) (d snapshot.Document, err error) {
	d = a.doc
	switch l := a.log.(type) {
	case nil, Keeper:
	case Documented:
		switch d, err = l.Document(ctx); {
		case errors.Is(err, harness.ErrNotFound):
			d = snapshot.Document{} // nothing was said yet
		case err != nil:
			return d, err
		}
		d.Usage = more(d.Usage, used(d.Records))
	default:
		if d.Records, err = a.branch(); err != nil {
			return d, err
		}
		if n := len(d.Records); n > 0 {
			d.Head = d.Records[n-1].Seq
		}
	}
	d.Entitle()
	if tasks := tasks(d.Branch()); tasks != nil {
		d.Tasks = tasks
	}
	if err := a.complete(ctx, &d, d.Records); err != nil {
		return d, err
	}
	d.Records = bare(d.Records)
	return d, a.fill(ctx, &d)
}

// branch returns the history as a log of its own.
func (a *Agent) branch() ([]harness.Record, error) {
	if slices.ContainsFunc(a.history, func(r harness.Record) bool { return r.In != "" }) {
		return snapshot.Join(a.history, nil)
	}
	return slices.Clone(a.history), nil
}

// used sums what the messages and notes in records say that they used. Calls that
// came to nothing are in no record.
func used(records []harness.Record) (u harness.Usage) {
	for _, r := range records {
		var c harness.Condensed
		switch {
		case r.Message != nil && r.Message.Usage != nil:
			u = u.Add(*r.Message.Usage)
		case r.Kind == harness.RecordCondensed && json.Unmarshal(r.Data, &c) == nil && c.Usage != nil:
			u = u.Add(*c.Usage)
		}
	}
	return u
}

// more returns the one of two counts of the same calls that knows of more.
func more(u, v harness.Usage) harness.Usage {
	if v.Input+v.Output > u.Input+u.Output {
		return v
	}
	return u
}

// LoadSession returns an agent that goes on with what [Agent.SaveSession] saved,
// with the tools of o. Like one of [New] it keeps nothing by itself: save it
// again, or open the session with [Snapshots] instead. The id is sanitised as
// [harness.ParseSessionID] does.
//
// The fields of o that are configuration, Info.ID, System and MaxSteps, take
// what was saved where they are zero and must equal it where they are not:
// otherwise the error is a [snapshot.ErrConfig] that names the field. So it is
// with Facts and Notes for a session that was to do without memory. To go on
// with another configuration, change the one in the snapshot: [snapshot.Load],
// then [snapshot.Save]. Each extension that has saved state must be in o, or the
// error is a [snapshot.ErrExtensions] that lists those missing. Artifacts go to
// the Artifacts of the tools, if there are any. Limits that were learned of the
// model count where they are stricter than Info. Checksums are verified
// ([harness.ErrDamaged]), a later version is [harness.ErrNewer].
//
// A call that was under way at the save is not resumed.
func LoadSession(ctx context.Context, id string, store snapshot.Store, o Options) (*Agent, error) {
	if store == nil {
		return nil, fmt.Errorf("load session %q: %w", id, errNoStore)
	}
	a, err := prepare(o)
	if err != nil {
		return nil, err
	}
	d, err := snapshot.Load(ctx, store, id, a.want())
	if err != nil {
		return nil, err
	}
	a.id = d.ID
	if err := a.adopt(ctx, &d); err != nil {
		return nil, fmt.Errorf("load session %s: %w", a.id, err)
	}
	if err := a.install(ctx); err != nil {
		return nil, fmt.Errorf("load session %s: %w", a.id, err)
	}
	if err := a.restore(d); err != nil {
		return nil, fmt.Errorf("load session %s: %w", a.id, errors.Join(err, a.uninstall(ctx)))
	}
	return a, nil
}

// want is the configuration that was given explicitly.
func (a *Agent) want() snapshot.Want {
	w := a.need()
	if a.o.Info.ID != "" {
		w.Model = &a.o.Info.ID
	}
	if a.o.System != "" {
		w.System = &a.o.System
	}
	w.Limits.Steps = a.o.MaxSteps
	return w
}

// need is what must fit a saved conversation in any case.
func (a *Agent) need() snapshot.Want {
	var w snapshot.Want
	for _, e := range a.o.Extensions {
		w.Extensions = append(w.Extensions, e.Name())
	}
	if a.o.Facts != nil || a.o.Notes != nil {
		w.NoMemory = new(bool)
	}
	return w
}

// restore goes on from a document, with the configuration in it that the agent
// was not given. Another model than before is noted in the conversation with its
// next record.
func (a *Agent) restore(d snapshot.Document) error {
	if was, now := d.Config.Model, a.o.Info.ID; was != "" && now != "" && was != now && len(d.Records) > 0 {
		data, err := json.Marshal(harness.ConfigChange{Key: "model", Old: was, New: now})
		if err != nil {
			return err
		}
		a.noted = []harness.Record{{At: a.o.Now(), Kind: harness.RecordConfig, Data: data}}
	}
	if a.o.Info.ID == "" {
		a.o.Info.ID = d.Config.Model
	}
	if a.o.System == "" {
		a.o.System = d.Config.System
	}
	if a.o.MaxSteps == 0 {
		a.o.MaxSteps = d.Config.Limits.Steps
	}
	learned := d.Learned[a.o.Info.ID]
	a.o.Info.Window = lesser(a.o.Info.Window, learned.Window)
	a.o.Info.MaxOutput = lesser(a.o.Info.MaxOutput, learned.Reply)
	a.doc, a.history = d, d.Branch()
	return loadExtensions(a.o.Extensions, d)
}

// lesser returns the stricter of two limits, of which 0 is unknown.
func lesser(a, b int) int {
	if a <= 0 || b <= 0 {
		return max(a, b)
	}
	return min(a, b)
}
