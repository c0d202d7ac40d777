package agent

import (
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
