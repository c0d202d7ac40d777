package model

import (
	"context"
	"sync"
	"time"

	"cairn/harness"
)

// Cooldown is how long a member of a [Fallback] is passed over.
const Cooldown = 60 * time.Second

// Member is one model of a [Fallback].
type Member struct {
	Model Model
	Info  Info
}

// Fallback asks the first of several models that does not fail in a way that
// another one may not: overload, a broken connection, a limit, used-up credit.
// Each such failure is a strike. A member with SwitchAfter of them is passed over
// for a while, and the next one is asked within the same call. Any other failure
// is returned at once, since it would meet the next model, too, or is a mistake
// that somebody has to mend.
//
// The one thing to know: it moves on only as long as nothing of the reply was to
// be seen. Later the failure is returned, as one that another attempt may mend:
// [Retry], which is around it, says so, voids the text, and finds the next member
// in front. So there is one place that voids text, and nobody sees a text change
// its author without a word. Members make one attempt, because the next member is
// better than a wait.
type Fallback struct {
	// Members are asked in order. Passed over are those that do not read the files
	// of the newest message, and those with a window that is certainly too small:
	// the conversation would be condensed for the sake of a model that only stands
	// in.
	Members []Member
	// SwitchAfter is the number of strikes; 0 means 1.
	SwitchAfter int
	// Cooldown is how long a member is passed over, unless its server asks for
	// more; 0 means [Cooldown]. If all are, all are asked.
	Cooldown time.Duration
	// Health keeps the strikes, which fallbacks with the same models may share;
	// nil means own ones.
	Health *Health
	// Now is the clock; nil means the real one.
	Now func() time.Time

	own Health
}

// Stream implements [Model]. Before it moves on it emits DeltaRetry, which names
// the next member, and DeltaReset.
func (f *Fallback) Stream(ctx context.Context, r Request, emit func(Delta)) (Reply, error) {
	order := f.order(r)
	if len(order) == 0 {
		return Reply{}, &Error{Kind: KindConfig, Message: "no model is configured"}
	}
	var failed *Error
	lost := false
	for n, m := range order {
		var seen watched
		reply, err := m.Model.Stream(ctx, r, seen.through(emit))
		if err == nil {
			f.health().well(m.Info.ID)
			reply.Usage.Incomplete = reply.Usage.Incomplete || lost
			return reply, nil
		}
		// What a reply that broke off costs is never told.
		lost = lost || seen.began
		e, ok := AsError(err)
		if !ok || ctx.Err() != nil || !elsewhere(e) {
			return Reply{}, err
		}
		if !f.struck(m, e) {
			return Reply{}, err
		}
		failed = sooner(failed, e)
		if n == len(order)-1 {
			break
		}
		if seen.text {
			return Reply{}, soon(e)
		}
		emit(Delta{Kind: DeltaRetry, Attempt: n + 2, Err: e, Model: order[n+1].Info.ID})
		emit(Delta{Kind: DeltaReset, Attempt: n + 2})
	}
	return Reply{}, failed
}

// Next returns the id of the member that a request would go to.
func (f *Fallback) Next(r Request) string {
	if order := f.order(r); len(order) > 0 {
		return order[0].Info.ID
	}
	return ""
}

// watched tells what came of a reply before it failed.
type watched struct {
	// text says that something of it was to be seen, began that anything came.
	text, began bool
}

func (w *watched) through(emit func(Delta)) func(Delta) {
	return func(d Delta) {
		w.text = w.text || d.Kind == DeltaText || d.Kind == DeltaThinking
		w.began = w.began || w.text || d.Kind == DeltaProgress
		emit(d)
	}
}

// elsewhere reports whether another model may do better.
func elsewhere(e *Error) bool { return e.Retry || Passes(e.Kind) || e.Kind == KindQuota }

// sooner returns the failure that another attempt mends sooner.
func sooner(a, b *Error) *Error {
	switch {
	case a == nil, b.Retry && !a.Retry:
		return b
	case a.Retry == b.Retry && b.RetryAfter <= a.RetryAfter:
		return b
	}
	return a
}

// soon is a failure that another member mends, without the wait that the one
// which failed asks for.
func soon(e *Error) *Error {
	s := *e
	s.Retry, s.RetryAfter = true, 0
	return &s
}

// struck counts a strike and reports whether the member is passed over now.
func (f *Fallback) struck(m Member, e *Error) bool {
	cooldown := f.Cooldown
	if cooldown == 0 {
		cooldown = Cooldown
	}
	return f.health().strike(m.Info.ID, max(f.SwitchAfter, 1), f.now().Add(max(cooldown, e.RetryAfter)))
}

// order returns the members to ask: those not cooling, or all if all are, of
// those that the request is for.
func (f *Fallback) order(r Request) []Member {
	now, size := f.now(), leastTokens(r)
	var all, ready []Member
	for _, m := range f.Members {
		if !m.reads(r) || m.Info.Window > 0 && size > m.Info.Window {
			continue
		}
		all = append(all, m)
		if f.health().ready(m.Info.ID, now) {
			ready = append(ready, m)
		}
	}
	switch {
	case len(ready) > 0:
		return ready
	case len(all) > 0:
		return all
	}
	return f.Members
}

// reads reports whether the member reads the files of the person's newest
// message. A line stands for older ones; see [Known].
func (m Member) reads(r Request) bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == harness.RoleUser {
			return m.Info.reads(r.Messages[i])
		}
	}
	return true
}

// tokenBytes is more than the bytes of a token in almost any text.
const tokenBytes = 6

// leastTokens is how many tokens a request has at least, about.
func leastTokens(r Request) int {
	n := len(r.System) + len(r.Context)
	for _, t := range r.Tools {
		n += len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Input)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
		}
	}
	return n / tokenBytes
}

func (f *Fallback) health() *Health {
	if f.Health != nil {
		return f.Health
	}
	return &f.own
}

func (f *Fallback) now() time.Time {
	if f.Now == nil {
		return time.Now() //nolint:forbidigo // the real clock, where none is given
	}
	return f.Now()
}

// Health remembers how models did, by "provider/model". The zero value knows of
// no failure. It is safe for concurrent use.
type Health struct {
	mu sync.Mutex
	// strikes are the failures since the last success, cooling is until when a
	// model is passed over.
	strikes map[string]int
	cooling map[string]time.Time
}

// strike counts a failure. With enough of them the model is passed over until
// then, which it reports.
func (h *Health) strike(id string, enough int, until time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.strikes == nil {
		h.strikes, h.cooling = map[string]int{}, map[string]time.Time{}
	}
	h.strikes[id]++
	if h.strikes[id] < enough {
		return false
	}
	h.cooling[id] = until
	return true
}

// well forgets the failures of a model that answered.
func (h *Health) well(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.strikes, id)
	delete(h.cooling, id)
}

// ready reports whether a model is not passed over.
func (h *Health) ready(id string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !now.Before(h.cooling[id])
}
