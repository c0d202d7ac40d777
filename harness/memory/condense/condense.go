// Package condense makes room in a conversation: it prunes what tools returned
// long ago and has the conversation's own model write a note that stands for the
// oldest messages. The one thing to know: nothing that is stored changes. What it
// makes is one [harness.Condensed] that says by itself how what is before it enters
// the context, and without a usable note it makes none.
package condense

import (
	"context"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
)

// The errors of this package, beside those of models and stores.
var (
	// ErrNothing means that there is nothing to condense.
	ErrNothing = errors.New("there is nothing to condense")
	// ErrSummary means that no usable note came: the call failed, or its answer
	// was empty, cut, refused, or no shorter than what it was to stand for.
	ErrSummary = errors.New("no usable note was written")
)

// MaxUnasked is how many calls are made without asking a person first.
const MaxUnasked = 2

// LargeError says that more calls would be needed than are made unasked.
type LargeError struct{ Plan Plan }

// Error implements error with a sentence that says what to do.
func (e *LargeError) Error() string {
	cost := ""
	if e.Plan.CostKnown && e.Plan.Cost > 0 {
		cost = " and about " + harness.Dollars(e.Plan.Cost)
	}
	return fmt.Sprintf("condensing the older messages takes at least %d calls with %d tokens%s, so it is done only on request: /compact",
		e.Plan.Calls, e.Plan.Tokens, cost)
}

// FixedError says that what every request carries leaves no room for a
// conversation, so that condensing would not help. Sizes are in tokens.
type FixedError struct {
	// System, Tools and Recalled are in every request, Message is the newest
	// message.
	System, Tools, Recalled, Message int
	Window, Reply                    int
}

// Error implements error with a sentence that gives the sizes.
func (e *FixedError) Error() string {
	return fmt.Sprintf("condensing does not help: of the window of %d tokens, the system prompt takes %d, the tools %d, recalled memory %d and the newest message %d, and %d are kept for the reply; use fewer tools, a shorter system prompt or a model with a larger window",
		e.Window, e.System, e.Tools, e.Recalled, e.Message, e.Reply)
}

// Options say how to condense.
type Options struct {
	// Model writes the note, Info is what is known of it.
	Model model.Model
	Info  model.Info
	// Focus is what a person asked to keep.
	Focus string
	// Asked says that a person asked, or that the provider refused the size: then
	// it is done below the trigger, too, more is taken out, and the number of calls
	// is not limited here.
	Asked bool
	// Prune only prunes, all but the newest results.
	Prune bool
	// Key is that of the session, for prompt caching.
	Key string
}

// Plan is what condensing would take and bring.
type Plan struct {
	// Calls is how many notes are to be written, Tokens what they take, in and
	// out, and Messages how many messages they stand for.
	Calls, Tokens, Messages int
	// More says that there are older messages, which were not given: all of it takes
	// more than that.
	More bool
	// Cost is in USD and means nothing unless CostKnown.
	Cost      float64
	CostKnown bool
	// Before and After are the size of the request in tokens.
	Before, After int
}

// Step is one condensing that was made.
type Step struct {
	// Condensed is to be stored. Its Asked is for whoever stores it to set: a refusal
	// of the provider is no wish of a person.
	Condensed harness.Condensed
	// Turn is how many of the first messages of In.Turn it took out.
	Turn int
	// Usage is that of the call, and Model who answered it, "provider/model", empty
	// if that is not known. They are set with [ErrSummary], too.
	Usage harness.Usage
	Model string
	// More says that the part to be condensed was too large for one call.
	More bool
	// Fruitless says that it saved less than a tenth, of the request or of the part
	// that was too large for more: another one would not help.
	Fruitless bool
}

// Estimate tells what condensing takes. The errors are those of [Next] before its
// call, but for [*LargeError].
func Estimate(in memory.In, o Options) (Plan, error) {
	j, err := begin(in, o)
	if err != nil {
		return Plan{}, err
	}
	return j.plan()
}

// Next condenses once, with one call of the model at most: it prunes, and if that
// is not enough has a note written that stands for the oldest messages, as many as
// fit into one request, and for the note before. Without an error the condensing
// is to be stored; with one there is none, and everything is as it was. Errors are
// [ErrNothing], [*FixedError], [*LargeError], [ErrSummary] and damage in what is
// stored.
func Next(ctx context.Context, in memory.In, o Options) (Step, error) {
	j, err := begin(in, o)
	if err != nil {
		return Step{}, err
	}
	plan, err := j.plan()
	if err != nil {
		return Step{}, err
	}
	if plan.Calls == 0 {
		s := j.step(0, "", "", plan)
		s.Fruitless = !o.Prune && s.Condensed.After >= j.size.Trigger
		return s, nil
	}
	// A note that stood for messages that it was not shown would hide them.
	if plan.Calls > MaxUnasked && !o.Asked || j.v.Gap {
		return Step{}, &LargeError{plan}
	}
	p, err := j.part(0, j.target())
	if err != nil {
		return Step{}, err
	}
	note, err := j.ask(ctx, p)
	if err != nil {
		return Step{Usage: note.usage, Model: note.model}, fmt.Errorf("condense session %s: %w", in.Session, err)
	}
	s := j.step(p.to, note.text, note.model, plan)
	s.Usage, s.Model, s.Condensed.Usage = note.usage, note.model, &note.usage
	if s.Condensed.After >= s.Condensed.Before {
		return Step{Usage: note.usage, Model: note.model}, fmt.Errorf("condense session %s: %w: it is no shorter than what it stands for", in.Session, ErrSummary)
	}
	s.More = p.to < j.target() && (o.Asked || s.Condensed.After >= j.size.Trigger)
	s.Fruitless = note.long || s.Condensed.Before-s.Condensed.After < j.held(p.to, s)/10
	return s, nil
}
