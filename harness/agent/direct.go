package agent

import (
	"context"

	"cairn/harness"
	"cairn/harness/loop"
)

// direct is the sink of an agent's own turns: messages go to the agent's log,
// the other records are only applied.
type direct struct {
	a     *Agent
	run   harness.RunID
	see   func(harness.Event)
	state loop.State
	rest  loop.Rested
	usage harness.Usage
	seq   int
}

// Put implements [Sink].
func (d *direct) Put(ctx context.Context, usage harness.Usage, records ...loop.Record) ([]Stored, error) {
	now := d.a.o.Now()
	var messages []harness.Record
	for _, r := range records {
		enc, err := loop.Encode(r)
		if err != nil {
			return nil, err
		}
		if enc.Message != nil {
			messages = append(messages, harness.Record{Run: d.run, At: now, Kind: harness.RecordMessage, Message: enc.Message})
		}
	}
	if err := d.a.append(ctx, usage, messages); err != nil {
		return nil, err
	}
	last := d.a.last(len(messages))
	d.usage = d.usage.Add(usage)
	stored := make([]Stored, 0, len(records))
	for _, r := range records {
		d.seq++
		s := Stored{Seq: d.seq}
		if enc, err := loop.Encode(r); err == nil && enc.Message != nil {
			s.Record, last = last[0], last[1:]
		}
		for _, e := range EventsOf(d.state, r, s, now) {
			d.Emit(e)
		}
		d.state, _ = loop.Step(d.state, r)
		if rest, ok := r.(loop.Rested); ok {
			d.rest = rest
		}
		stored = append(stored, s)
	}
	return stored, nil
}

// last returns the numbers of the last n records.
func (a *Agent) last(n int) []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var seqs []int
	for _, r := range a.history[len(a.history)-n:] {
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

// Emit implements [Sink].
func (d *direct) Emit(e harness.Event) {
	if d.see == nil {
		return
	}
	e.Session, e.Run = d.a.id, d.run
	d.see(e)
}

// Streamed implements [Sink]: half answers of an ordinary turn are not kept.
func (d *direct) Streamed() {}

func (d *direct) result() harness.Result {
	return harness.Result{
		Run: d.run, Session: d.a.id, Status: d.rest.Status, Stop: d.rest.Stop, Error: d.rest.Error,
		Text: d.state.Answer(), Usage: d.usage, Pending: d.state.Pending(), Unasked: d.state.Unasked(),
	}
}
