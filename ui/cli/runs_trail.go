package cli

import (
	"context"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/run"
	"cairn/ui/render"
)

// trail is how far a run was printed.
type trail struct {
	app *app
	src runSource
	// after is the number of the last entry.
	after int
	// attempt streamed text and thinking of so many bytes; open says that the text
	// on the screen has no end of its line yet.
	attempt, text, thinking int
	open                    bool
}

// entries prints what a run did after the last one that was printed.
func (t *trail) entries(ctx context.Context, r harness.Run) error {
	if r.Cursor <= t.after {
		return nil
	}
	entries, err := t.src.read(ctx)
	if err != nil || len(entries) == 0 {
		return err
	}
	after := t.after
	t.after = max(entries[len(entries)-1].Seq, after)
	if !t.app.flags.json {
		steps, err := stepsOf(entries)
		for _, s := range steps {
			if s.Seq > after {
				t.endLine()
				t.app.out.line("%3d  %s  %s", s.Seq, t.app.when(s.At), render.SafeLine(s.Text))
			}
		}
		return err
	}
	events, err := run.EventsOf(r, entries, after)
	for _, e := range events {
		if err := t.app.out.object(e); err != nil {
			return err
		}
	}
	if err == nil && t.after > after {
		err = t.rested(r, entries)
	}
	return err
}

// rested prints the result of a run whose last entry says that it rests.
func (t *trail) rested(r harness.Run, entries []run.Entry) error {
	var s loop.State
	rests := false
	for _, e := range entries {
		one, err := loop.Decode(loop.Encoded{Kind: e.Kind, Data: e.Data, Message: e.Message})
		if err != nil {
			return fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		s, _ = loop.Step(s, one)
		_, rests = one.(loop.Rested)
	}
	if !rests {
		return nil
	}
	last := entries[len(entries)-1]
	res := run.ResultOf(r, s)
	return t.app.out.object(harness.Event{Type: harness.EventResult, Session: r.Session, Run: r.ID, Seq: last.Seq, Outcome: &res, At: last.At})
}

// streamed prints what is new in the text of an answer that is no message yet.
func (t *trail) streamed(r harness.Run) error {
	p := r.Partial
	if p == nil || p.Attempt < t.attempt {
		return nil
	}
	if p.Attempt > t.attempt || len(p.Text) < t.text || len(p.Thinking) < t.thinking {
		if t.attempt > 0 && t.app.flags.json {
			if err := t.event(r, harness.Event{Type: harness.EventReset, Attempt: p.Attempt}); err != nil {
				return err
			}
		}
		t.endLine()
		t.attempt, t.text, t.thinking = p.Attempt, 0, 0
	}
	text, thinking := p.Text[t.text:], p.Thinking[t.thinking:]
	from := *t
	t.text, t.thinking = len(p.Text), len(p.Thinking)
	if !t.app.flags.json {
		if text != "" {
			t.app.out.text(render.Safe(text))
			t.open = !strings.HasSuffix(text, "\n")
		}
		return t.app.out.err
	}
	for _, e := range []harness.Event{
		{Type: harness.EventThinking, Attempt: p.Attempt, Offset: from.thinking, Text: thinking, At: p.At},
		{Type: harness.EventText, Attempt: p.Attempt, Offset: from.text, Text: text, At: p.At},
	} {
		if e.Text == "" {
			continue
		}
		if err := t.event(r, e); err != nil {
			return err
		}
	}
	return nil
}

// event prints an event of a run.
func (t *trail) event(r harness.Run, e harness.Event) error {
	e.Session, e.Run = r.Session, r.ID
	return t.app.out.object(e)
}

// endLine ends the line of streamed text.
func (t *trail) endLine() {
	if t.open {
		t.app.out.line("")
	}
	t.open = false
}
