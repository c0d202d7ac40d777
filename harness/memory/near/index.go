package near

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cairn/harness/model/embed"
	"cairn/harness/policy"
)

const (
	// batch is how many windows are embedded by one call.
	batch = 48
	// rest is between two calls of what goes on in the background, retry how long
	// it waits after something went wrong.
	rest  = 250 * time.Millisecond
	retry = 5 * time.Minute
)

// Indexer makes the vectors that are missing.
type Indexer struct {
	Source *Source
	Store  Store
	// Rest is the pause between two calls; 0 is none.
	Rest time.Duration
	// Tell is told how many windows got a vector so far, after each call. Nil
	// tells nobody.
	Tell func(windows int)
}

// Background returns an indexer that takes its time.
func Background(s *Source, store Store) *Indexer {
	return &Indexer{Source: s, Store: store, Rest: rest}
}

// unrelated are sentences that have nothing to do with one another. How alike a
// model finds them tells from where on it finds something alike.
var unrelated = []string{ //nolint:gochecknoglobals // a table that nobody changes
	"The ferry to the northern islands does not run in winter.",
	"Knead the dough for ten minutes and let it rise overnight.",
	"The function returns an error when the buffer is too small.",
	"Her grandmother learned the violin at the age of sixty.",
	"Quarterly revenue fell short of what the analysts expected.",
	"Frogs breathe through their skin while they are under water.",
	"The left back tyre loses pressure after every long drive.",
	"Please sign the lease before the end of the month.",
}

// Update makes all vectors that are missing, anew if there are only those of
// another model, and returns how many it made. What was made before it is broken
// off is kept, and the next one goes on there.
func (x *Indexer) Update(ctx context.Context) (int, error) {
	n, err := x.update(ctx)
	if errors.Is(err, ErrMoved) {
		err = nil // who began anew goes on
	}
	if err != nil {
		return n, fmt.Errorf("make vectors with %s: %w", x.Source.Model, err)
	}
	return n, nil
}

// Rebuild makes all vectors anew.
func (x *Indexer) Rebuild(ctx context.Context) (int, error) {
	if _, err := x.begin(ctx); err != nil {
		return 0, fmt.Errorf("make vectors with %s: %w", x.Source.Model, err)
	}
	return x.Update(ctx)
}

func (x *Indexer) update(ctx context.Context) (made int, err error) {
	space, ok, err := x.Store.Space(ctx)
	if err != nil {
		return 0, err
	}
	if !ok || !space.Of(x.Source.Model) {
		if space, err = x.begin(ctx); err != nil {
			return 0, err
		}
	}
	if err := x.Store.Tidy(ctx); err != nil {
		return 0, err
	}
	cut := Guard(x.Source.Secrets)
	defer func() { err = errors.Join(err, x.Store.Done(context.WithoutCancel(ctx))) }()
	for ctx.Err() == nil {
		parts, err := x.Store.Next(ctx, space, batch, cut)
		if err != nil || len(parts) == 0 {
			return made, err
		}
		n, err := x.fill(ctx, space, parts)
		if err != nil {
			return made, err
		}
		if err := x.Store.Put(ctx, space, parts); err != nil {
			return made, err
		}
		if made += n; x.Tell != nil {
			x.Tell(made)
		}
		if n > 0 {
			if err := sleep(ctx, x.Rest); err != nil {
				return made, err
			}
		}
	}
	return made, context.Cause(ctx)
}

// begin asks the model what its vectors are like, and begins anew.
func (x *Indexer) begin(ctx context.Context) (Space, error) {
	s := Space{Model: x.Source.Model, Version: Version}
	vectors, err := x.Source.embed(ctx, unrelated, embed.Document)
	if err != nil {
		return s, err
	}
	s.Dims = len(vectors[0])
	sum, n := 0.0, 0
	for i, a := range vectors {
		for _, b := range vectors[:i] {
			for k := range a {
				sum += float64(a[k]) * float64(b[k])
			}
			n++
		}
	}
	s.Unrelated = sum / float64(n)
	return s, x.Store.Begin(ctx, s)
}

// fill gives the windows of parts their vectors and returns how many there are.
func (x *Indexer) fill(ctx context.Context, s Space, parts []Part) (int, error) {
	var windows []*Window
	for i := range parts {
		for j := range parts[i].Windows {
			windows = append(windows, &parts[i].Windows[j])
		}
	}
	for from := 0; from < len(windows); from += embed.MaxTexts {
		some := windows[from:min(from+embed.MaxTexts, len(windows))]
		texts := make([]string, len(some))
		for i, w := range some {
			texts[i] = x.Source.Secrets.Redact(w.Text)
		}
		vectors, err := x.Source.embed(ctx, texts, embed.Document)
		if err != nil {
			return 0, err
		}
		for i, v := range vectors {
			if len(v) != s.Dims {
				return 0, fmt.Errorf("it gives vectors of %d numbers now and gave %d before; to make all anew: cairn memory index --rebuild", len(v), s.Dims)
			}
			some[i].Vector = v
		}
	}
	return len(windows), nil
}

// Run makes what is missing, and again whenever quiet returns, until ctx ends: quiet
// waits for a change of the store and for a moment in which nobody writes. What goes
// wrong is logged and tried again later.
func (x *Indexer) Run(ctx context.Context, quiet func(ctx context.Context)) {
	for ctx.Err() == nil {
		n, err := x.Update(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrBusy):
			if sleep(ctx, time.Minute) != nil {
				return
			}
			continue
		case policy.OverBudget(err):
			x.Source.Log.Info("vectors have to wait", slog.String("reason", err.Error()))
		case err != nil:
			x.Source.Log.Warn("vectors are not made", slog.String("error", err.Error()))
		case n > 0:
			x.Source.Log.Info("vectors were made", slog.String("model", x.Source.Model), slog.Int("vectors", n))
		}
		if err != nil && sleep(ctx, retry) != nil {
			return
		}
		quiet(ctx)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
