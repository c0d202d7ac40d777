package condense

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// Sessions condenses stored conversations on request, and shows what fills their
// windows. Its fields are set before the first use; then it is safe for
// concurrent use.
type Sessions struct {
	Sessions   harness.Sessions
	Transcript harness.Transcript
	// Request returns what a request of a session carries beside its messages:
	// System, Dir, Now, Tools and MaxOutput. Nil is nothing but the default system
	// prompt.
	Request func(ctx context.Context, s harness.Session) (memory.In, error)
	// Compose builds the request that is shown; nil is that of a
	// [memory.Composer] without anything to recall.
	Compose func(ctx context.Context, in memory.In) (memory.Out, error)
	// Model returns what a session talks to, what is known of it, and its name as
	// "provider/model".
	Model func(ctx context.Context, s harness.Session) (model.Model, model.Info, string, error)
	// Limits has what refusals taught about models; nil is nothing.
	Limits harness.Limits
	// Book keeps account of what a call used, also if no note came of it, like Book
	// of [harness.Ledger]. Nil keeps none.
	Book func(ctx context.Context, id harness.SessionID, model string, u harness.Usage) error
	// Budget keeps the calls within spending limits: one that would pass them is not
	// made, and its error fits [policy.OverBudget]. Nil allows all.
	Budget *policy.Budget
	Now    func() time.Time
}

// Report is what condensing a session came to.
type Report struct {
	// Calls is how many notes were written, Messages how many messages they took
	// out of the context, Cleared how many results of tools were pruned.
	Calls, Messages, Cleared int
	// Characters is the length of the note that stands for all that is condensed.
	Characters int
	// Before and After are the size of the request in tokens.
	Before, After int
	Usage         harness.Usage
	// Model wrote the notes, "provider/model".
	Model string
	// Fruitless says that hardly anything was saved.
	Fruitless bool
}

// Plan tells what it would take to condense a session, as [Estimate] does.
func (c *Sessions) Plan(ctx context.Context, id harness.SessionID, focus string) (Plan, error) {
	t, err := c.talk(ctx, id)
	if err != nil {
		return Plan{}, fmt.Errorf("condense session %s: %w", id, err)
	}
	return Estimate(t.in, t.options(focus, false))
}

// Condense condenses a session: all that is not among its newest messages, in as
// many parts as it takes, or only the results of its tools. Each part is stored at
// once, so that whoever goes on after a crash repeats one at most. tell, if set, is
// told before each call how many were made and how many there will be. The report
// is true of what was stored, with an error, too. A session whose run is under way
// is [harness.ErrBusy].
func (c *Sessions) Condense(ctx context.Context, l harness.Lease, focus string, prune bool, tell func(done, of int)) (Report, error) {
	var r Report
	t, err := c.talk(ctx, l.Session)
	if err != nil {
		return r, fmt.Errorf("condense session %s: %w", l.Session, err)
	}
	if t.session.OpenStatus == harness.RunRunning || t.session.OpenStatus == harness.RunAwaiting {
		return r, fmt.Errorf("condense session %s: %w", l.Session, harness.ErrBusy)
	}
	o := t.options(focus, prune)
	paid := &thrifty{next: t.model, budget: c.Budget, session: l.Session, info: t.in.Info}
	o.Model = paid
	plan, err := Estimate(t.in, o)
	if err != nil {
		return r, err
	}
	for more := true; more; {
		if tell != nil && plan.Calls > 0 {
			tell(r.Calls, max(plan.Calls, r.Calls+1))
		}
		s, err := Next(ctx, t.in, o)
		if errors.Is(err, ErrNothing) && r.Before > 0 {
			break // what is left is not worth a call
		}
		r.Usage = r.Usage.Add(s.Usage)
		booked := c.book(ctx, t, s)
		if booked == nil {
			booked = paid.booked(ctx)
		}
		if err == nil {
			err = c.store(ctx, l, t, s.Condensed)
		}
		if err == nil {
			r.Add(s)
		}
		if err = errors.Join(err, booked); err != nil {
			return r, err
		}
		more = s.More && !s.Fruitless
	}
	return r, nil
}

// Add takes a condensing that was stored into the report, but for what it used.
func (r *Report) Add(s Step) {
	if r.Before == 0 {
		r.Before = s.Condensed.Before
	}
	if s.Condensed.Dropped > 0 {
		r.Calls++
		r.Model = s.Condensed.Model
	}
	r.Messages, r.Cleared = r.Messages+s.Condensed.Dropped, r.Cleared+s.Condensed.Cleared
	r.Characters = utf8.RuneCountInString(s.Condensed.Note)
	r.After, r.Fruitless = s.Condensed.After, s.Fruitless
}

// book keeps account of a call. It was paid for, also if whoever wanted it goes on
// meanwhile.
func (c *Sessions) book(ctx context.Context, t *talk, s Step) error {
	if c.Book == nil || s.Usage == (harness.Usage{}) {
		return nil
	}
	if err := c.Book(context.WithoutCancel(ctx), t.session.ID, cmp.Or(s.Model, t.name), s.Usage); err != nil {
		return fmt.Errorf("book the condensing of session %s: %w", t.session.ID, err)
	}
	return nil
}

// store adds a condensing to the session, and to what is known of it here.
func (c *Sessions) store(ctx context.Context, l harness.Lease, t *talk, condensed harness.Condensed) error {
	condensed.Asked = true
	data, err := json.Marshal(condensed)
	if err != nil {
		return fmt.Errorf("write a condensing: %w", err)
	}
	// What was paid for is kept, also if nobody waits any more.
	stored, err := c.Transcript.Append(context.WithoutCancel(ctx), l, harness.Record{At: c.Now(), Kind: harness.RecordCondensed, Data: data})
	if err != nil {
		return fmt.Errorf("condense session %s: %w", l.Session, err)
	}
	t.in.History = append(t.in.History, stored...)
	return nil
}

// talk is a session with the model that it talks to.
type talk struct {
	session harness.Session
	model   model.Model
	name    string
	in      memory.In
	learned harness.LearnedLimits
}

// talk reads a session as far back as it is not condensed.
func (c *Sessions) talk(ctx context.Context, id harness.SessionID) (*talk, error) {
	s, err := c.Sessions.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &talk{session: s}
	var info model.Info
	if t.model, info, t.name, err = c.Model(ctx, s); err != nil {
		return nil, err
	}
	if c.Limits != nil && info.ID != "" {
		if t.learned, err = c.Limits.Get(ctx, info.ID); err != nil {
			return nil, fmt.Errorf("limits of %s: %w", info.ID, err)
		}
	}
	if c.Request != nil {
		if t.in, err = c.Request(ctx, s); err != nil {
			return nil, err
		}
	}
	t.in.Session, t.in.Info = id, within(info, t.learned)
	if t.in.History, err = memory.LoadAll(ctx, c.Transcript, id, 0); err != nil {
		return nil, err
	}
	t.in.Pinned, err = memory.Pinned(ctx, c.Transcript, s, harness.Origin{})
	return t, err
}

// within returns info with what refusals taught, which only ever narrows what is
// known otherwise, and of which a number that a person configured is free.
func within(info model.Info, l harness.LearnedLimits) model.Info {
	lesser := func(known, learned int) int {
		if known <= 0 || learned > 0 && learned < known {
			return learned
		}
		return known
	}
	if !info.OwnWindow {
		info.Window = lesser(info.Window, l.Window)
	}
	if !info.OwnMaxOutput {
		info.MaxOutput = lesser(info.MaxOutput, l.Reply)
	}
	return info
}

// options are those of a condensing that a person asked for.
func (t *talk) options(focus string, prune bool) Options {
	return Options{
		Model: t.model, Info: t.in.Info, Focus: focus, Asked: !prune, Prune: prune, Key: string(t.session.ID),
	}
}
