package run

import (
	"context"

	"cairn/harness"
)

// said is how much of the streamed text was shown.
type said struct {
	// attempt is the one under way; those up to answered are whole messages.
	attempt, answered int
	// text and thinking are the bytes of it that were shown.
	text, thinking int
}

// show tells of what this process sees as it comes. Text that was shown, or is part
// of a message by now, is not repeated.
func (f *following) show(e harness.Event) {
	switch e.Type {
	case harness.EventText, harness.EventThinking:
		if e.Attempt <= f.said.answered {
			return
		}
		if e.Attempt > f.said.attempt {
			f.said = said{attempt: e.Attempt, answered: f.said.answered}
		}
		if e.Attempt < f.said.attempt {
			return
		}
		shown := &f.said.text
		if e.Type == harness.EventThinking {
			shown = &f.said.thinking
		}
		known := *shown - e.Offset
		if known >= len(e.Text) && known > 0 {
			return
		}
		if known > 0 {
			e.Text, e.Offset = e.Text[known:], *shown
		}
		*shown = e.Offset + len(e.Text)
	case harness.EventReset:
		if e.Attempt <= f.said.attempt {
			return
		}
		f.said = said{attempt: e.Attempt, answered: f.said.answered}
	default:
	}
	f.emit(e)
}

// drain shows what is there of the live events: it comes before what is stored.
func (f *following) drain() {
	for f.live != nil {
		select {
		case e, ok := <-f.live:
			if !ok {
				f.live = nil
				return
			}
			f.show(e)
		default:
			return
		}
	}
}

// partial shows what is new in the streamed text of a run that is driven elsewhere,
// and reports whether there was something.
func (f *following) partial(p *harness.Partial) bool {
	if p == nil || p.Attempt <= f.said.answered || p.Attempt < f.said.attempt {
		return false
	}
	again := p.Attempt == f.said.attempt && (len(p.Text) < f.said.text || len(p.Thinking) < f.said.thinking)
	if p.Attempt > f.said.attempt || again {
		if f.said.attempt > f.said.answered && f.said.text+f.said.thinking > 0 {
			f.emit(harness.Event{Type: harness.EventReset, Attempt: p.Attempt})
		}
		f.said = said{attempt: p.Attempt, answered: f.said.answered}
	}
	thinking := f.grown(harness.EventThinking, p.Thinking, &f.said.thinking)
	text := f.grown(harness.EventText, p.Text, &f.said.text)
	return text || thinking
}

// grown shows the text after what was shown of it.
func (f *following) grown(kind harness.EventType, text string, shown *int) bool {
	if len(text) <= *shown {
		return false
	}
	f.emit(harness.Event{Type: kind, Attempt: f.said.attempt, Offset: *shown, Text: text[*shown:]})
	*shown = len(text)
	return true
}

// ID implements [harness.RunHandle].
func (f *following) ID() harness.RunID { return f.id }

// Wait implements [harness.RunHandle]. Of a run that was left it returns how it
// stood, and an error that is [harness.ErrClosed].
func (f *following) Wait(ctx context.Context) (harness.Result, error) { return f.stream.wait(ctx) }

// Events implements [harness.RunHandle].
func (f *following) Events(ctx context.Context, after int) <-chan harness.Event {
	out := make(chan harness.Event, 16)
	go func() {
		defer close(out)
		if after < f.base && !f.replay(ctx, after, out) {
			return
		}
		f.stream.pipe(ctx, place{after: after}, out)
	}()
	return out
}

// replay sends the events of the entries past number after that were there before
// the run was followed.
func (f *following) replay(ctx context.Context, after int, out chan<- harness.Event) bool {
	read := f.r.o.Backend.Read
	if f.hands {
		read = f.r.o.Home.Read
	}
	entries, err := read(ctx, f.id, 0)
	if err != nil {
		f.r.o.Logger.Error("replay", attrs(f.id, err)...)
		return false
	}
	entries = entries[:min(f.base, len(entries))]
	if !f.hands {
		for i := range entries {
			entries[i].Record = 0
		}
	}
	events, err := eventsOf(f.m.info.Session, f.id, entries, after)
	if err != nil {
		f.r.o.Logger.Error("replay", attrs(f.id, err)...)
		return false
	}
	for _, e := range events {
		select {
		case out <- e:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
