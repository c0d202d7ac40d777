package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
)

var (
	_ harness.Steerer = (*Local)(nil)
	_ harness.Steerer = (*Router)(nil)
	_ harness.Steerer = (*Remote)(nil)
	_ Steerable       = (*claimed)(nil)
	_ Steerable       = (*queueBackend)(nil)
	_ agent.Hearing   = (*active)(nil)
)

// Steerable is a [Journal], [Queue] or [Backend] of which the runs can be steered.
type Steerable interface {
	// Steer adds an entry of [loop.KindSteered], which changes neither the
	// conversation nor who drives the run, behind the last one of a run, whoever
	// drives it: no lease or claim is asked for. The driver's next append is
	// [harness.ErrStale] then; it reads the entry and tries again. It is on disk
	// when Steer returns nil. [harness.ErrEnded] if the run is closed,
	// [harness.ErrNotFound] if there is none, [errors.ErrUnsupported] if its driver
	// is of a version that would not try again.
	Steer(ctx context.Context, id harness.RunID, e Entry) error
}

// Steers reports whether others than the driver of a run may add the entry: it is
// what somebody said into it, and nothing else.
func (e Entry) Steers() bool {
	return e.Kind == loop.KindSteered && e.Message == nil && e.Condensed == nil && e.Status == "" && e.Usage == (harness.Usage{}) && len(e.Effects) == 0
}

// Steer implements [harness.Steerer].
func (l *Local) Steer(ctx context.Context, id harness.RunID, s harness.Steer) error {
	e, err := steerEntry(l.now, id, s)
	if err != nil {
		return err
	}
	return steerAt(ctx, l.o.Journal, id, e, l.find(id))
}

// SteerAt says something into a run where that is kept, which is a [Steerable] or
// does not support it: [errors.ErrUnsupported].
func SteerAt(ctx context.Context, where any, now time.Time, id harness.RunID, s harness.Steer) error {
	e, err := steerEntry(func() time.Time { return now }, id, s)
	if err != nil {
		return err
	}
	return steerAt(ctx, where, id, e, nil)
}

// steerAt stores what was said into a run where that is kept, and has the stretch
// that is driven here, if there is one, tell of it at once.
func steerAt(ctx context.Context, where any, id harness.RunID, e Entry, a *active) error {
	j, ok := where.(Steerable)
	if !ok {
		return fmt.Errorf("steer run %s: %w", id, errors.ErrUnsupported)
	}
	if a != nil {
		a.saving.Lock()
		defer a.saving.Unlock()
	}
	if err := j.Steer(ctx, id, e); err != nil {
		return fmt.Errorf("steer run %s: %w", id, err)
	}
	if a == nil {
		return nil
	}
	if err := a.listen(context.WithoutCancel(ctx)); err != nil { // it is stored: the next append finds it
		a.local.o.Logger.Warn("hear what was said", slog.String("run", string(id)), slog.String("error", err.Error()))
	}
	return nil
}

// Heard implements [agent.Hearing].
func (a *active) Heard(ctx context.Context) []loop.Record {
	a.saving.Lock()
	defer a.saving.Unlock()
	if _, ok := a.local.o.Journal.(Steerable); !ok {
		return nil
	}
	if err := a.listen(ctx); err != nil && ctx.Err() == nil {
		a.local.o.Logger.Warn("hear what was said", slog.String("run", string(a.info.ID)), slog.String("error", err.Error()))
	}
	heard := a.heard
	a.heard = nil
	return heard
}

// errMoved means that somebody else wrote more than what was said into a run.
var errMoved = fmt.Errorf("another process goes on with it: %w", harness.ErrStale)

// listen takes in what was said into the run since its last entry. The caller holds
// saving.
func (a *active) listen(ctx context.Context) error {
	entries, err := a.local.o.Journal.Read(ctx, a.info.ID, a.info.Cursor)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e Entry) bool { return e.Kind != loop.KindSteered }) {
		return errMoved
	}
	for _, e := range entries {
		r, err := recordOf(e)
		if err != nil {
			return err
		}
		a.follow(e, r)
		a.heard = append(a.heard, r)
	}
	return nil
}

// append adds entries behind the last one, also behind what was said into the run
// meanwhile. What ends the run is not stored while something waits that is not in
// it: [agent.ErrSteered]. The caller holds saving.
func (a *active) append(ctx context.Context, entries []Entry, records []loop.Record) ([]Entry, error) {
	for {
		if a.unheard(records) {
			return nil, agent.ErrSteered
		}
		done, err := a.local.o.Journal.Append(ctx, a.lease, a.info.ID, a.info.Cursor, entries...)
		if !errors.Is(err, harness.ErrStale) {
			return done, err
		}
		if _, ok := a.local.o.Journal.(Steerable); !ok {
			return nil, err
		}
		before := a.info.Cursor
		if e := a.listen(ctx); e != nil || a.info.Cursor == before {
			return nil, err // somebody else drives it, or it has ended
		}
	}
}

// unheard reports whether records end the run although something that was said into
// it waits.
func (a *active) unheard(records []loop.Record) bool {
	end, ok := records[len(records)-1].(loop.Rested)
	if !ok || !end.Status.Closed() {
		return false
	}
	return len(a.after(records).Said()) > 0
}

// after is the state after records.
func (a *active) after(records []loop.Record) loop.State {
	s := a.state
	for _, r := range records {
		s, _ = loop.Step(s, r)
	}
	return s
}

// including returns records that end the run, with what was said into it before
// their last.
func (a *active) including(records []loop.Record) []loop.Record {
	a.saving.Lock()
	defer a.saving.Unlock()
	var said []loop.Record
	for _, w := range a.after(records).Said() {
		said = append(said, loop.Deliver{Steered: w}.Record())
	}
	return slices.Insert(slices.Clone(records), len(records)-1, said...)
}

// saidInto is what was said into a run of state s and waits.
func saidInto(s loop.State) []harness.Steer {
	var all []harness.Steer
	for _, w := range s.Said() {
		all = append(all, harness.Steer{ID: w.ID, Message: w.Message})
	}
	return all
}

// steerEntry returns the entry of what a person says into a run.
func steerEntry(now func() time.Time, id harness.RunID, s harness.Steer) (Entry, error) {
	words := s.Message.Role == harness.RoleUser && len(s.Message.Parts) > 0 && s.ID != ""
	for _, p := range s.Message.Parts {
		words = words && p.Kind == harness.PartText && p.Text != ""
	}
	if !words {
		return Entry{}, fmt.Errorf("steer run %s: what is said into a run needs an id and is a user's message of words alone; make one with harness.UserText", id)
	}
	return entryOf(loop.Steered{ID: s.ID, Message: s.Message}, now())
}
