package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/agent/hook"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/tool/ask"
)

// hookGrace is how long a run that is over waits for its hooks, completeGrace how
// long the extensions have that are told of its end.
const (
	hookGrace     = time.Second
	completeGrace = 5 * time.Second
)

// watch tells hooks of a turn. What it is told of is stored already, or about to
// happen.
type watch struct {
	ctx   context.Context //nolint:containedctx // the values that hooks are given
	queue *hook.Queue
	begun bool
	// step is the iteration under way, 0 if there is none, last the one before.
	step, last int
	// tries counts recoveries by their reason.
	tries map[string]int
}

// on reports whether anybody is told.
func (w *watch) on() bool { return w.queue != nil }

func (w *watch) add(e hook.Event) { w.queue.Add(w.ctx, e) }

// place is where the turn is.
func (t *Turn) place() hook.Place {
	p := hook.Place{Session: t.Session, Run: t.Run, Step: t.watch.step, Attempt: t.Attempt, At: t.Steps.Now()}
	if p.Step == 0 {
		p.Step = t.watch.last
	}
	return p
}

// enter begins a stretch of the turn, for hooks and extensions; it may be called
// again in one. An error is an extension's.
func (t *Turn) enter(ctx context.Context, s loop.State) error {
	w := &t.watch
	if w.begun {
		return nil
	}
	w.begun, w.ctx, w.last = true, context.WithoutCancel(ctx), s.Steps()
	if w.queue == nil {
		w.queue = hook.NewQueue(t.Steps.Hooks, t.Steps.Log)
	}
	if w.on() && !t.Begun {
		w.add(t.started())
	}
	return t.starts(ctx)
}

// started is the event of the stretch's beginning.
func (t *Turn) started() hook.AgentStart {
	e := hook.AgentStart{Place: t.place(), Resumed: t.state.Steps() > 0 || t.Attempt > 0}
	if msgs := t.state.Messages(); len(msgs) > 0 {
		e.Message = copied(msgs[0])
	}
	return e
}

// Over tells hooks and extensions how the stretch ended, and waits a moment for
// the hooks. Whoever drives the turn calls it once the end is stored, or cannot
// be. A turn that was not driven has nothing to tell.
func (t *Turn) Over(ctx context.Context, res harness.Result) {
	if !t.watch.begun {
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.iterated()
	res.Pending, res.Unasked = slices.Clone(res.Pending), slices.Clone(res.Unasked)
	e := hook.AgentEnd{Place: t.place(), Result: res}
	if res.Status.Closed() || res.Status == harness.RunFailed {
		t.completes(ctx, e)
	}
	if !t.watch.on() {
		return
	}
	t.watch.add(e)
	ctx, cancel := context.WithTimeout(ctx, hookGrace)
	defer cancel()
	t.watch.queue.Wait(ctx)
}

// iterates begins an iteration, unless it is the one under way.
func (t *Turn) iterates(step int) {
	w := &t.watch
	if !w.on() || w.step == step {
		return
	}
	t.iterated()
	w.step = step
	w.add(hook.IterationStart{Place: t.place()})
}

// iterated ends the iteration under way.
func (t *Turn) iterated() {
	w := &t.watch
	if !w.on() || w.step == 0 {
		return
	}
	w.add(hook.IterationEnd{Place: t.place()})
	w.last, w.step = w.step, 0
}

// asks tells of a request that is about to be sent.
func (t *Turn) asks(out memory.Out) {
	if !t.watch.on() {
		return
	}
	t.watch.add(hook.LLMRequest{
		Place: t.place(), Model: t.state.Config().Model, System: out.Request.System, MaxOutput: out.Request.MaxOutput,
		Messages: len(out.Request.Messages), Tools: len(out.Request.Tools), Estimate: out.Estimate,
		PrefixKey: prefixKey(t.state.Config().Model, out.Request),
	})
}

// prefixKey stands for what a request begins with.
func prefixKey(id string, r model.Request) string {
	h := sha256.New()
	write := func(part []byte) {
		fmt.Fprintf(h, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	write([]byte(id))
	write([]byte(r.System))
	for _, s := range r.Tools {
		write([]byte(s.Name))
		write([]byte(s.Description))
		write(s.Schema)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// heardOf tells of news that came with a reply.
func (t *Turn) heardOf(d model.Delta) {
	if d.Kind != model.DeltaRetry || !t.watch.on() {
		return
	}
	from := t.state.Config().Model
	var why *harness.RunError
	if d.Err != nil {
		from = cmp.Or(d.Err.Model, from)
		why = &harness.RunError{Kind: string(d.Err.Kind), Text: d.Err.Error()}
	}
	t.watch.add(hook.Retry{
		Place: t.place(), Kind: hook.RetryModel, What: from, Attempt: d.Attempt - 1, Next: d.Attempt, Wait: d.Wait, Error: why,
	})
	if d.Model != "" {
		t.watch.add(hook.Fallback{Place: t.place(), From: from, To: d.Model, Error: why})
	}
}

// recovered tells of a recovery that no record tells of.
func (t *Turn) recovered(reason string, tries, reply int) {
	if t.watch.on() {
		t.watch.add(hook.Recovery{Place: t.place(), Reason: reason, Tries: tries, MaxOutput: reply})
	}
}

// saw tells of a record that was stored; the state is the one before it.
func (t *Turn) saw(r loop.Record) {
	if !t.watch.on() {
		return
	}
	switch r := r.(type) {
	case loop.Answered:
		t.watch.add(t.response(r))
	case loop.Began:
		t.watch.add(hook.ToolCallStart{Place: t.place(), Call: copiedCall(t.state.Call(r.CallID))})
	case loop.Ended:
		t.sawResults(r.Message)
	case loop.Noted:
		t.noted(r.Reason)
	case loop.Condensed:
		t.watch.add(condensed(t.place(), r.Condensed))
	case loop.Uncondensed:
		t.recovered("uncondensed", 0, 0)
	case loop.Rested:
		if r.Status == harness.RunFailed && r.Error != nil {
			t.watch.add(hook.Error{Place: t.place(), Error: *r.Error})
		}
	}
}

// noted tells of a message that the loop adds.
func (t *Turn) noted(reason string) {
	if t.watch.tries == nil {
		t.watch.tries = map[string]int{}
	}
	t.watch.tries[reason]++
	t.recovered(reason, t.watch.tries[reason], 0)
	if reason != loop.ReasonRepetition {
		return
	}
	e := hook.Repetition{Place: t.place()}
	for _, m := range slices.Backward(t.state.Messages()) {
		if calls := m.Calls(); len(calls) > 0 {
			e.Tool = calls[len(calls)-1].Name
			break
		}
	}
	t.watch.add(e)
}

// condensed is the event of a condensing.
func condensed(at hook.Place, c harness.Condensed) hook.ContextCondensed {
	return hook.ContextCondensed{
		Place: at, Dropped: c.Dropped, Cleared: c.Cleared, SummaryChars: utf8.RuneCountInString(c.Note),
		Summarized: c.Dropped > 0 && c.Note != "", Before: c.Before, After: c.After,
	}
}

func (t *Turn) response(r loop.Answered) hook.LLMResponse {
	e := hook.LLMResponse{Place: t.place(), Stop: r.Stop, Usage: r.Usage}
	if r.Message != nil {
		m := copied(*r.Message)
		e.Message, e.Model = &m, m.Model
	}
	return e
}

// sawResults tells of the results in a message, and of the task lists that they
// set.
func (t *Turn) sawResults(m harness.Message) {
	for _, p := range m.Parts {
		if p.Result == nil {
			continue
		}
		call := t.state.Call(p.Result.CallID)
		if call.Name == "" {
			call.Name = p.Result.Name
		}
		t.watch.add(hook.ToolCallEnd{Place: t.place(), Call: copiedCall(call), Result: *p.Result})
		if p.Result.Name != ask.TodosTool || p.Result.Failed {
			continue
		}
		if list, err := ask.Todos(call.Input); err == nil {
			t.watch.add(todos(t.place(), list))
		}
	}
}

// todos is the event of a new task list.
func todos(at hook.Place, list []ask.Todo) hook.TodosUpdated {
	e := hook.TodosUpdated{Place: at, Total: len(list)}
	for _, item := range list {
		e.Todos = append(e.Todos, hook.Todo{Text: item.Text, Status: string(item.Status)})
		switch item.Status {
		case ask.TodoCompleted:
			e.Completed++
		case ask.TodoInProgress:
			e.InProgress++
		default:
		}
	}
	return e
}

// kept tells that records were stored, the last of them with the status that the
// turn has now.
func (t *Turn) kept(stored []Stored, records []loop.Record) {
	if !t.watch.on() || len(stored) == 0 || len(stored) != len(records) {
		return
	}
	last := len(records) - 1
	e := hook.Checkpoint{Place: t.place(), Seq: stored[last].Seq, Status: t.state.Status()}
	if enc, err := loop.Encode(records[last]); err == nil {
		e.Phase = enc.Kind
	}
	t.watch.add(e)
}

// copied returns a message that shares nothing with m.
func copied(m harness.Message) harness.Message {
	m = clone(m)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Call != nil {
			*p.Call = copiedCall(*p.Call)
		}
		for _, f := range p.Files() {
			f.Data = bytes.Clone(f.Data)
		}
		if p.Opaque != nil {
			p.Opaque.Data = bytes.Clone(p.Opaque.Data)
		}
	}
	return m
}

func copiedCall(c harness.ToolCall) harness.ToolCall {
	c.Input = bytes.Clone(c.Input)
	return c
}
