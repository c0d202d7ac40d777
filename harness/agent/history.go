package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/memory"
)

// Messages returns the conversation, oldest first, as a copy.
func (a *Agent) Messages() []harness.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	var msgs []harness.Message
	for _, r := range a.history {
		switch {
		case r.Kind == harness.RecordReset:
			msgs = nil
		case r.Message != nil:
			msgs = append(msgs, clone(*r.Message))
		}
	}
	return msgs
}

// clone returns a copy of m that shares nothing with it that anybody changes.
func clone(m harness.Message) harness.Message {
	m.Parts, m.Used = slices.Clone(m.Parts), slices.Clone(m.Used)
	m.Usage, m.Sent = own(m.Usage), own(m.Sent)
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Call, p.Result, p.File, p.Opaque = own(p.Call), own(p.Result), own(p.File), own(p.Opaque)
		if p.Result != nil {
			p.Result.Files = slices.Clone(p.Result.Files)
		}
	}
	return m
}

func own[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// SetMessages replaces the conversation in context. Nothing stored is deleted:
// a reset record is appended, and msgs after it.
func (a *Agent) SetMessages(ctx context.Context, msgs []harness.Message) error {
	if err := memory.Legal(memory.Repair(msgs)); err != nil {
		return fmt.Errorf("set messages of session %s: %w", a.id, err)
	}
	records := []harness.Record{{At: a.o.Now(), Kind: harness.RecordReset}}
	for _, m := range msgs {
		m = clone(m) // what the caller does with msgs later must not reach the history
		records = append(records, harness.Record{At: a.o.Now(), Kind: harness.RecordMessage, Message: &m})
	}
	done, _, err := a.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := a.append(ctx, harness.Usage{}, records); err != nil {
		return err
	}
	return a.settle(ctx)
}

// pinned returns the pinned messages of the history.
func (a *Agent) pinned(ctx context.Context, history []harness.Record) ([]harness.Record, error) {
	s := harness.Session{ID: a.id}
	for _, r := range history {
		if r.Kind == harness.RecordPin {
			s.PinRecords++
		}
	}
	return memory.Pinned(ctx, past{id: a.id, history: history}, s, harness.Origin{Session: a.id})
}

// past is a history that is all at hand, as [memory.Pinned] reads one.
type past struct {
	harness.Transcript

	id      harness.SessionID
	history []harness.Record
}

// Before implements [harness.Transcript]. Where there is no such record it begins
// at the end.
func (p past) Before(_ context.Context, _ harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	end := p.index(of)
	if end < 0 {
		end = len(p.history)
	}
	if limit == 0 {
		limit = end
	}
	return p.history[max(0, end-limit):end], nil
}

// Record implements [harness.Transcript].
func (p past) Record(_ context.Context, id harness.SessionID, seq int) (harness.Record, error) {
	i := p.index(harness.Origin{Session: id, Record: seq})
	if i < 0 {
		return harness.Record{}, fmt.Errorf("record %d of session %s: %w", seq, id, harness.ErrNotFound)
	}
	return p.history[i], nil
}

func (p past) index(of harness.Origin) int {
	return slices.IndexFunc(p.history, func(r harness.Record) bool {
		return r.Seq == of.Record && cmp.Or(r.In, p.id) == cmp.Or(of.Session, p.id)
	})
}
