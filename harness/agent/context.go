package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
)

// Condense makes room in the conversation on request, as far as it goes: what tools
// returned is pruned, and the agent's model writes notes that stand for all but the
// newest messages, in as many calls as that takes. focus is what they are to keep
// above all; it may be empty. Nothing that is stored changes: a record is added that
// says what enters the context from here on. Pinned messages stay in it.
//
// The report is true of what was stored, with an error, too; without anything to
// condense it is zero. While a run is active it is [harness.ErrBusy].
func (a *Agent) Condense(ctx context.Context, focus string) (condense.Report, error) {
	return a.condense(ctx, condense.Options{Focus: focus, Asked: true})
}

// PruneToolResults leaves the text of all but the newest results of tools out of the
// context, in favour of a line each. It takes no model call; see [Agent.Condense] for
// the rest.
func (a *Agent) PruneToolResults(ctx context.Context) (condense.Report, error) {
	return a.condense(ctx, condense.Options{Prune: true})
}

func (a *Agent) condense(ctx context.Context, o condense.Options) (r condense.Report, err error) {
	done, ctx, err := a.begin(ctx)
	if err != nil {
		return r, err
	}
	defer done()
	t := a.aside(ctx)
	in := t.in(loop.CallModel{})
	in.System = a.config().System
	if in.Pinned, err = a.pinned(ctx, a.history); err != nil {
		return r, fmt.Errorf("session %s: %w", a.id, err)
	}
	o.Info, o.Key = t.info(), string(a.id)
	for more := true; more; {
		in.History = a.history
		s := &summariser{turn: t}
		o.Model = s
		step, err := condense.Next(ctx, in, o)
		if errors.Is(err, condense.ErrNothing) {
			break
		}
		r.Usage = r.Usage.Add(s.usage(step))
		if err := errors.Join(err, a.condensed(ctx, s, step, err == nil)); err != nil {
			return r, errors.Join(err, a.settle(ctx))
		}
		r.Add(step)
		more = step.More && !step.Fruitless
	}
	return r, a.settle(ctx)
}

// aside is a turn without a run, for what is asked of the model beside the
// conversation.
func (a *Agent) aside(ctx context.Context) *Turn {
	t := &Turn{Steps: a.Steps(), Session: a.id, Dir: a.o.Dir, Sink: &direct{a: a}}
	t.watch = watch{ctx: context.WithoutCancel(ctx), queue: a.hooks}
	t.recallLimits(ctx)
	return t
}

// condensed stores a condensing, if it is one, and what it used in any case.
func (a *Agent) condensed(ctx context.Context, s *summariser, step condense.Step, ok bool) error {
	usage := s.usage(step)
	var records []harness.Record
	if ok {
		step.Condensed.Asked = true
		data, err := json.Marshal(step.Condensed)
		if err != nil {
			return fmt.Errorf("session %s: write a condensing: %w", a.id, err)
		}
		records = append(records, harness.Record{At: a.o.Now(), Kind: harness.RecordCondensed, Data: data})
	}
	if err := a.append(ctx, usage, records); err != nil {
		return err
	}
	s.stored(ctx, usage)
	if ok && s.turn.watch.on() {
		s.turn.watch.add(condensed(s.turn.place(), step.Condensed))
	}
	return nil
}

// Pin keeps a message in the context word for word, whatever is condensed. of is its
// record, as [harness.Event.Record] and [Agent.Records] number it; without a session it
// is in the agent's own log. One that is pinned already changes nothing, and a record
// that is no message of the conversation is [harness.ErrNotFound]. While a run is
// active it is [harness.ErrBusy].
func (a *Agent) Pin(ctx context.Context, of harness.Origin) error { return a.pin(ctx, of, true) }

// Unpin lets a pinned message be condensed again; see [Agent.Pin].
func (a *Agent) Unpin(ctx context.Context, of harness.Origin) error { return a.pin(ctx, of, false) }

func (a *Agent) pin(ctx context.Context, of harness.Origin, on bool) error {
	done, ctx, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if of.Session == a.id {
		of.Session = ""
	}
	is := func(r harness.Record) bool {
		return r.Kind == harness.RecordMessage && r.Seq == of.Record && r.In == of.Session
	}
	if !slices.ContainsFunc(a.history, is) {
		return fmt.Errorf("pin record %d of session %s: no such message: %w", of.Record, cmp.Or(of.Session, a.id), harness.ErrNotFound)
	}
	pinned, err := a.pinned(ctx, a.history)
	if err != nil {
		return fmt.Errorf("session %s: %w", a.id, err)
	}
	if slices.ContainsFunc(pinned, is) == on {
		return nil
	}
	data, err := json.Marshal(harness.Pin{Message: of.Record, In: of.Session, Off: !on})
	if err != nil {
		return fmt.Errorf("pin record %d of session %s: %w", of.Record, a.id, err)
	}
	if err := a.append(ctx, harness.Usage{}, []harness.Record{{At: a.o.Now(), Kind: harness.RecordPin, Data: data}}); err != nil {
		return err
	}
	return a.settle(ctx)
}

// Records returns the messages of the conversation as they are stored, oldest first,
// also those that are not in the context any more, as copies.
func (a *Agent) Records() []harness.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []harness.Record
	for _, r := range a.history {
		if r.Kind == harness.RecordMessage && r.Message != nil {
			m := copied(*r.Message)
			r.Message = &m
			all = append(all, r)
		}
	}
	return all
}

// Pinned returns the pinned messages, oldest first.
func (a *Agent) Pinned(ctx context.Context) ([]harness.Record, error) {
	a.mu.Lock()
	history := a.history
	a.mu.Unlock()
	records, err := a.pinned(ctx, history)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", a.id, err)
	}
	for i := range records {
		m := copied(*records[i].Message)
		records[i].Message = &m
	}
	return records, nil
}

// files are the artifacts of an agent's conversation, for its requests.
type files struct{ a *Agent }

// Get implements [memory.Files].
func (f files) Get(ctx context.Context, _ harness.SessionID, sha256 string) ([]byte, error) {
	return f.a.artifact(ctx, sha256)
}

var _ memory.Files = files{}
