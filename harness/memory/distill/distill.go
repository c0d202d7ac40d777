// Package distill reads finished turns with the agent's own model and suggests
// what is worth remembering. The one thing to know: what it finds only waits in
// the inbox; a fact it becomes when a person says so, or in [Auto] if it adds
// what the person said themselves.
package distill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// Mode says what becomes of what is found.
type Mode string

// The modes.
const (
	// Auto keeps additions whose source is the user's own words; the rest waits.
	Auto Mode = "auto"
	// Ask lets everything wait in the inbox.
	Ask Mode = "ask"
	// Off reads nothing.
	Off Mode = "off"
)

// ParseMode reads a mode; the empty text is [Ask].
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case Auto, Ask, Off:
		return m, nil
	case "":
		return Ask, nil
	default:
		return "", fmt.Errorf("%q is no way to distil facts: it is auto, ask or off", text)
	}
}

const (
	// maxCalls bounds the model calls of one reading, maxStartCalls those of one
	// [Distiller.CatchUp].
	maxCalls      = 3
	maxStartCalls = 5
	// recentSessions and recentDays bound what is caught up with.
	recentSessions = 20
	recentDays     = 7
	// listed is how many sessions are looked at for that: lists begin with what is
	// pinned, however old.
	listed = 10 * recentSessions
	// pause is between the sessions that are caught up with.
	pause = time.Second
)

// Distiller reads conversations. Its fields are set before the first use; then it
// is safe for concurrent use.
type Distiller struct {
	Inbox      harness.Inbox
	Facts      harness.Facts
	Transcript harness.Transcript
	Sessions   harness.Sessions
	Owners     harness.Owners
	Mode       Mode
	// Model returns what reads a session, what is known of it, and its name as
	// "provider/model".
	Model func(ctx context.Context, s harness.Session) (model.Model, model.Info, string, error)
	// Run finds the run of a record: what was said in one without memory is never
	// read. Nil knows of none.
	Run func(ctx context.Context, id harness.RunID) (harness.Run, error)
	// Budget keeps the calls within spending limits: one that would pass them is
	// not made, and what it would have read is left for another time. Nil has none.
	Budget *policy.Budget
	// Holder is this process, for the moments in which it holds a session that
	// nobody has open.
	Holder harness.Holder
	Now    func() time.Time
	Log    *slog.Logger
}

// Found is what a reading came to.
type Found struct {
	// Suggested wait in the inbox.
	Suggested []harness.Suggestion
	// Accepted are facts that were kept at once.
	Accepted []harness.Fact
	calls    int
}

func (f *Found) add(other Found) {
	f.Suggested = append(f.Suggested, other.Suggested...)
	f.Accepted = append(f.Accepted, other.Accepted...)
	f.calls += other.calls
}

// Session reads what of the session under l was not read yet, in at most three
// model calls. If nothing is new it asks no model. After an error of the model
// what was read before it is kept, and the rest is read another time.
func (d *Distiller) Session(ctx context.Context, l harness.Lease) (Found, error) {
	return d.read(ctx, l.Session, maxCalls, d.Mode, func(h harness.Harvest) ([]harness.Suggestion, error) {
		// What was paid for is kept, also if the person goes on meanwhile.
		return d.Inbox.Deliver(context.WithoutCancel(ctx), l, h)
	})
}

// CatchUp reads what earlier starts left unread: of the sessions used last that
// nobody has open. It makes a few model calls at most, and holds a session only
// while it stores what it found, which all waits, since nobody is told of it. A
// session that cannot be read now is left for the next start, and keeps no other
// from being read.
func (d *Distiller) CatchUp(ctx context.Context) (Found, error) {
	var all Found
	var failed error
	if d.Mode == Off {
		return all, nil
	}
	sessions, err := d.Sessions.List(ctx, harness.SessionFilter{Limit: listed})
	if err != nil {
		return all, fmt.Errorf("distil what is left: %w", err)
	}
	since := d.Now().AddDate(0, 0, -recentDays)
	slices.SortStableFunc(sessions, func(a, b harness.Session) int { return b.Updated.Compare(a.Updated) })
	for _, s := range sessions[:min(len(sessions), recentSessions)] {
		if s.Owner != nil || s.NoMemory || s.Distilled >= s.Records || s.OpenRun != "" || s.Updated.Before(since) || all.calls >= maxStartCalls {
			continue
		}
		found, err := d.read(ctx, s.ID, maxStartCalls-all.calls, Ask, func(h harness.Harvest) ([]harness.Suggestion, error) {
			return d.deliverFree(ctx, s, h)
		})
		all.add(found)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		failed = errors.Join(failed, err)
		if found.calls > 0 {
			if err := rest(ctx); err != nil {
				return all, err
			}
		}
	}
	return all, failed
}

// rest leaves the model alone for a moment.
func rest(ctx context.Context) error {
	wait := time.NewTimer(pause)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// deliverFree stores a harvest of a session that nobody has open.
func (d *Distiller) deliverFree(ctx context.Context, s harness.Session, h harness.Harvest) ([]harness.Suggestion, error) {
	l, err := d.Owners.Acquire(ctx, s, d.Holder)
	if err != nil {
		return nil, err
	}
	filed, err := d.Inbox.Deliver(ctx, l, h)
	return filed, errors.Join(err, d.Owners.Release(context.WithoutCancel(ctx), l))
}

// read reads the unread part of a session in pieces.
func (d *Distiller) read(ctx context.Context, id harness.SessionID, calls int, mode Mode, deliver func(harness.Harvest) ([]harness.Suggestion, error)) (Found, error) {
	var all Found
	for d.Mode != Off && all.calls < calls {
		s, err := d.Sessions.Get(ctx, id)
		if errors.Is(err, harness.ErrNotFound) {
			return all, nil // nothing was said yet, or it was deleted
		}
		if err != nil {
			return all, fmt.Errorf("distil session %s: %w", id, err)
		}
		if s.NoMemory || s.Distilled >= s.Records {
			return all, nil
		}
		found, more, err := d.piece(ctx, s, mode, deliver)
		all.add(found)
		switch {
		case errors.Is(err, harness.ErrStale), errors.Is(err, harness.ErrLost):
			return all, nil // somebody else read it
		case err != nil:
			if _, held := harness.AsHeld(err); held {
				return all, nil
			}
			return all, fmt.Errorf("distil session %s: %w", id, err)
		case !more:
			return all, nil
		}
	}
	return all, nil
}

// unreadable reports whether the same part would fail again, so that it must not
// stand in the way of what follows.
func unreadable(err error) bool {
	var failed *model.Error
	return errors.As(err, &failed) && (failed.Kind == model.KindOverflow || failed.Kind == model.KindRefused)
}

// piece reads the next part of a session and delivers what it finds.
func (d *Distiller) piece(ctx context.Context, s harness.Session, mode Mode, deliver func(harness.Harvest) ([]harness.Suggestion, error)) (found Found, more bool, err error) {
	unread, err := d.unread(ctx, s)
	if err != nil {
		return found, false, err
	}
	p := cut(s, unread, maxTokens)
	if p.to == s.Distilled {
		return found, false, nil
	}
	var h harness.Harvest
	var held *policy.Held
	if p.worth() {
		m, info, name, err := d.Model(ctx, s)
		if err != nil {
			return found, false, err
		}
		p = cut(s, unread, budget(info))
		h, held, err = d.ask(ctx, m, info, s, p)
		h.Model = cmp.Or(h.Model, name)
		if policy.OverBudget(err) {
			d.Log.Info("a part is left unread", slog.String("session", string(s.ID)), slog.String("reason", err.Error()))
			return found, false, nil
		}
		found.calls++
		if unreadable(err) {
			d.Log.Warn("a part is left unread", slog.String("session", string(s.ID)), slog.String("error", err.Error()))
		} else if err != nil {
			return found, false, err
		}
	}
	h.From, h.To = s.Distilled, p.to
	// What was paid for is booked with what came of it, or by nobody.
	filed, err := deliver(h)
	unseen := 0.0
	if err != nil {
		unseen = h.Usage.Cost
	}
	if err := errors.Join(err, held.Settle(ctx, unseen)); err != nil {
		return found, false, err
	}
	for _, one := range filed {
		if mode == Auto && one.Kind == harness.SuggestAdd && one.Own && len(one.Against) == 0 {
			f, err := d.Inbox.Accept(context.WithoutCancel(ctx), one.ID, harness.FactEdit{})
			if err == nil {
				found.Accepted = append(found.Accepted, f)
				continue
			}
			d.Log.Warn("accept what was distilled", slog.String("suggestion", one.ID), slog.String("error", err.Error()))
		}
		found.Suggested = append(found.Suggested, one)
	}
	return found, p.more, nil
}
