// Package title has the conversation's own model name a conversation after its
// first turn. The one thing to know: a title only ever takes the place of one
// that was made of the first words. The person's own stays, and without a
// usable answer the words do.
package title

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
)

const (
	// patience is how long a title is waited for.
	patience = 20 * time.Second
	// maxTries bounds the calls for one session, and maxTurns how many messages of
	// a person a conversation may have that is still young enough for one.
	maxTries = 2
	maxTurns = 8
	// maxRecords bounds what is read to find the first messages.
	maxRecords = 400
)

// Titler names conversations. Its fields are set before the first use; then it
// is safe for concurrent use.
type Titler struct {
	Sessions   harness.Sessions
	Transcript harness.Transcript
	// Model returns what a session talks to, what is known of it, and its name as
	// "provider/model".
	Model func(ctx context.Context, s harness.Session) (model.Model, model.Info, string, error)
	// Book keeps account of what a call used, also if no title came of it, like
	// Book of [harness.Ledger]. Nil keeps none.
	Book func(ctx context.Context, id harness.SessionID, model string, u harness.Usage) error
	// Budget keeps the calls within spending limits: one that would pass them is
	// not made, and the words stay. Nil has none.
	Budget *policy.Budget
	Log    *slog.Logger

	mu    sync.Mutex
	tried map[harness.SessionID]int
}

// Session gives a session a title by its model, if it still has the one of its
// first words, both sides have said something, and the person not more than 8
// times. It asks once and waits 20 s at most; of several calls for a session the
// third and later ones do nothing. An answer that is no title is logged and is no
// error. Several processes may do so at once.
func (t *Titler) Session(ctx context.Context, id harness.SessionID) error {
	s, err := t.Sessions.Get(ctx, id)
	if errors.Is(err, harness.ErrNotFound) {
		return nil // nothing was said yet, or it was deleted
	}
	if err != nil {
		return fmt.Errorf("title session %s: %w", id, err)
	}
	if s.TitleBy != harness.TitleByWords || s.Records > maxRecords {
		return nil
	}
	records, err := t.Transcript.Tail(ctx, id, s.Head, 0)
	if err != nil {
		return fmt.Errorf("title session %s: %w", id, err)
	}
	first, ok := opening(records)
	if !ok {
		return nil
	}
	m, info, name, err := t.Model(ctx, s)
	if err != nil {
		return fmt.Errorf("title session %s: %w", id, err)
	}
	if !t.begin(id) {
		return nil
	}
	if err := t.name(ctx, s, call{m, info, name}, first); err != nil {
		return fmt.Errorf("title session %s: %w", id, err)
	}
	return nil
}

// begin counts a call; false if there were enough for the session.
func (t *Titler) begin(id harness.SessionID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tried == nil {
		t.tried = map[harness.SessionID]int{}
	}
	if t.tried[id] >= maxTries {
		return false
	}
	t.tried[id]++
	return true
}

// name asks for a title and stores it. What was paid for is booked and kept, also
// if whoever wanted it goes on meanwhile.
func (t *Titler) name(ctx context.Context, s harness.Session, c call, first []said) error {
	doc, err := document(first)
	if err != nil {
		return err
	}
	size := memory.Estimate(harness.UserText(prompt + doc))
	held, err := t.Budget.Hold(ctx, s.ID, c.info, size, c.room())
	if policy.OverBudget(err) {
		t.Log.Info("no title is asked for", slog.String("session", string(s.ID)), slog.String("reason", err.Error()))
		return nil
	}
	if err != nil {
		return err
	}
	asked, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := c.ask(asked, doc)
	if err != nil {
		return errors.Join(err, held.Failed(ctx, err, size, a.heard()))
	}
	ctx = context.WithoutCancel(ctx)
	if t.Book != nil && a.usage.Input+a.usage.Output > 0 {
		if err := t.Book(ctx, s.ID, a.model, a.usage); err != nil {
			return errors.Join(err, held.Settle(ctx, a.usage.Cost)) // no usage tells of it now
		}
	}
	return errors.Join(t.store(ctx, s, a), held.Settle(ctx, 0))
}

// store makes a title of an answer.
func (t *Titler) store(ctx context.Context, s harness.Session, a answer) error {
	if a.text == "" && !a.cut {
		return nil // it has nothing to say, like the model without weights
	}
	title, err := clean(a)
	if err != nil {
		// The words are not logged: they are about a person.
		t.Log.Warn("a title cannot be used", slog.String("session", string(s.ID)), slog.String("error", err.Error()))
		return nil
	}
	_, err = t.Sessions.Edit(ctx, s.ID, harness.SessionEdit{Title: &title, TitleBy: harness.TitleByModel})
	if errors.Is(err, harness.ErrNotFound) {
		return nil // it was deleted meanwhile
	}
	return err
}
