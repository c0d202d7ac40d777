package agent

import (
	"context"
	"encoding/json"
	"fmt"

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
	// numbers are those of the messages in state.
	numbers Numbers
	rest    loop.Rested
	usage   harness.Usage
	seq     int
}

// Put implements [Sink].
func (d *direct) Put(ctx context.Context, usage harness.Usage, records ...loop.Record) ([]Stored, error) {
	now := d.a.o.Now()
	var kept []harness.Record
	keeps := make([]bool, len(records))
	for i, r := range records {
		rec, err := recordOf(r)
		if err != nil {
			return nil, err
		}
		if keeps[i] = rec != nil; keeps[i] {
			rec.Run, rec.At = d.run, now
			kept = append(kept, *rec)
		}
	}
	if err := d.a.append(ctx, usage, kept); err != nil {
		return nil, err
	}
	last := d.a.last(len(kept))
	d.usage = d.usage.Add(usage)
	stored := make([]Stored, 0, len(records))
	for i, r := range records {
		d.seq++
		s := Stored{Seq: d.seq}
		if keeps[i] {
			s.Record, last = last[0], last[1:]
		}
		for _, e := range EventsOf(d.state, r, s, now) {
			d.Emit(e)
		}
		before := d.state
		d.state, _ = loop.Step(d.state, r)
		d.numbers = d.numbers.Step(before, d.state, s.Record)
		if rest, ok := r.(loop.Rested); ok {
			d.rest = rest
		}
		stored = append(stored, s)
	}
	return stored, nil
}

// recordOf returns what a record of a run adds to the conversation, nil if that
// is nothing.
func recordOf(r loop.Record) (*harness.Record, error) {
	enc, err := loop.Encode(r)
	switch {
	case err != nil:
		return nil, err
	case enc.Message != nil:
		return &harness.Record{Kind: harness.RecordMessage, Message: enc.Message}, nil
	case enc.Condensed != nil:
		data, err := json.Marshal(enc.Condensed)
		if err != nil {
			return nil, fmt.Errorf("condensed record: %w", err)
		}
		return &harness.Record{Kind: harness.RecordCondensed, Data: data}, nil
	default:
		return nil, nil //nolint:nilnil // there are records that add nothing
	}
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
