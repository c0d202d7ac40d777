package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"cairn/harness"
	"cairn/harness/agent/hook"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
)

// BeforeModel is an [Extension] that sees each request of a turn before it is
// sent, those that repeat a refused one too, and those for a note that is to stand
// for old messages ([model.PurposeCondense]), so that nothing reaches the model past
// it. What it changes is sent and not stored.
type BeforeModel interface {
	// BeforeModel may change the messages, the tools and the context of r, which is
	// its own copy. What is sent must stay legal: each call with its result behind
	// it, ids as they were, and whatever has an [harness.Opaque] exactly as it was;
	// messages may be left out or added. A request that breaks this, or an error,
	// fails the turn with a sentence that names the extension.
	BeforeModel(ctx context.Context, at hook.Place, r *model.Request) error
}

// AfterModel is an [Extension] that sees each reply before it is stored or shown.
// With one, answers do not stream: their text comes at once when it is whole, and
// nothing is kept of an answer that is cut off, so that nothing passes by it.
type AfterModel interface {
	// AfterModel returns the parts of the reply, which are its own copy, as they are
	// to be stored. The calls must be the same by their ids, and whatever has an
	// [harness.Opaque] exactly as it was. Otherwise, or with an error, the turn fails
	// with a sentence that names the extension.
	AfterModel(ctx context.Context, at hook.Place, parts []harness.Part) ([]harness.Part, error)
}

// BeforeTool is an [Extension] that sees each call of a tool before the policy
// judges it and a person is asked.
type BeforeTool interface {
	// BeforeTool returns the call as it is to be judged, shown and run; the message
	// that made it stays as it is. It is called once for a call and again after a
	// resume, and should return the same then, because consent is given to what was
	// shown. An error answers the call with that and does not run it. A call with
	// another id fails the turn with a sentence that names the extension.
	BeforeTool(ctx context.Context, at hook.Place, c harness.ToolCall) (harness.ToolCall, error)
}

// AfterTool is an [Extension] that sees what a tool returned, whole, before it is
// shown, stored or cut to a preview.
type AfterTool interface {
	// AfterTool returns the result as it is to be stored: its Text and Failed may
	// change. It is called for each try of a tool that ran, within the tool's time.
	// With an error the result is withheld and the model is told so; a result with
	// another id fails the turn with a sentence that names the extension.
	AfterTool(ctx context.Context, at hook.Place, c harness.ToolCall, r harness.ToolResult) (harness.ToolResult, error)
}

// extended is what a turn knows of its extensions.
type extended struct {
	// mu is held while one is called.
	mu sync.Mutex
	// calls are those that BeforeTool saw in this stretch, by their id.
	calls map[string]rewritten
}

// rewritten is what came of a call before it is judged.
type rewritten struct {
	call harness.ToolCall
	// no answers the call instead of running it; broken fails the turn.
	no, broken error
}

// What an extension may not do.
var (
	errIDs    = errors.New("it changed the id of a call or result, which must stay as it was")
	errOpaque = errors.New("it changed what the provider signed, which must stay as it was")
	errMarks  = errors.New("it changed or made up a call, its result or what the provider signed; those stay as they were or are left out whole")
)

// each calls f for the extensions of type E, in order, until one fails.
func each[E any](t *Turn, doing string, f func(E) error) error {
	for _, x := range t.Steps.Extensions {
		e, ok := x.(E)
		if !ok {
			continue
		}
		t.ext.mu.Lock()
		err := guard(x, doing, func() error { return f(e) })
		t.ext.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// has reports whether an extension of the turn is of type E.
func has[E any](t *Turn) bool {
	return slices.ContainsFunc(t.Steps.Extensions, func(x Extension) bool { _, ok := x.(E); return ok })
}

// starts tells the extensions that a stretch begins.
func (t *Turn) starts(ctx context.Context) error {
	if !has[TurnStarter](t) {
		return nil
	}
	e := t.started()
	return each(t, "failed at the start of the turn", func(x TurnStarter) error { return x.OnTurnStart(ctx, e) })
}

// ends has the extensions agree to the end of a completed turn, and stores it.
func (t *Turn) ends(ctx context.Context, c loop.Rest) error {
	if c.Status == harness.RunCompleted && has[TurnEnder](t) {
		e := hook.AgentEnd{Place: t.place(), Result: harness.Result{
			Run: t.Run, Session: t.Session, Status: c.Status, Stop: c.Stop, Text: t.state.Answer(), Unasked: t.state.Unasked(),
		}}
		if err := each(t, "failed at the end of the turn", func(x TurnEnder) error { return x.OnTurnEnd(ctx, e) }); err != nil {
			return t.failed(ctx, err)
		}
	}
	return t.put(ctx, harness.Usage{}, loop.Rested{Status: c.Status, Stop: c.Stop, Error: c.Error})
}

// completes tells the extensions that the turn is over.
func (t *Turn) completes(ctx context.Context, e hook.AgentEnd) {
	ctx, cancel := context.WithTimeout(ctx, completeGrace)
	defer cancel()
	for _, x := range t.Steps.Extensions {
		c, ok := x.(TurnCompleter)
		if !ok {
			continue
		}
		t.ext.mu.Lock()
		err := guard(x, "failed behind the end of the turn", func() error { c.OnTurnComplete(ctx, e); return nil })
		t.ext.mu.Unlock()
		if err != nil && t.Steps.Log != nil {
			t.Steps.Log.WarnContext(ctx, "turn is over", slog.String("run", string(t.Run)), slog.Any("error", err))
		}
	}
}

// before has the extensions change a request.
func (t *Turn) before(ctx context.Context, out memory.Out) (memory.Out, error) {
	if !has[BeforeModel](t) {
		return out, nil
	}
	size := sizeOf(out.Request)
	err := each(t, "failed before a model call", func(x BeforeModel) error {
		r := copiedRequest(out.Request)
		if err := x.BeforeModel(ctx, t.place(), &r); err != nil {
			return err
		}
		if err := fits(out.Request, r); err != nil {
			return err
		}
		out.Request = r
		return nil
	})
	if err != nil {
		return out, err
	}
	more := sizeOf(out.Request) - size
	out.Estimate, out.Sent.Messages, out.Sent.Count = out.Estimate+more, out.Sent.Messages+more, len(out.Request.Messages)
	return out, nil
}

// copiedRequest returns a request that shares nothing with r.
func copiedRequest(r model.Request) model.Request {
	r.Messages, r.Tools = slices.Clone(r.Messages), slices.Clone(r.Tools)
	for i := range r.Messages {
		r.Messages[i] = copied(r.Messages[i])
	}
	for i := range r.Tools {
		r.Tools[i].Schema = bytes.Clone(r.Tools[i].Schema)
	}
	return r
}

// sizeOf is what a request costs in tokens, but for its system prompt.
func sizeOf(r model.Request) int {
	n := memory.Estimate(harness.UserText(r.Context))
	for _, m := range r.Messages {
		n += memory.Estimate(m)
	}
	for _, s := range r.Tools {
		n += memory.Estimate(harness.UserText(s.Name + s.Description + string(s.Schema)))
	}
	return n
}

// fits checks what an extension made of a request.
func fits(was, r model.Request) error {
	switch {
	case r.System != was.System || r.Key != was.Key || r.Purpose != was.Purpose || r.MaxOutput != was.MaxOutput:
		return errors.New("it changed more of the request than messages, tools and context")
	case len(r.Messages) == 0:
		return errors.New("it left no message to send")
	case r.Messages[len(r.Messages)-1].Role == harness.RoleAssistant:
		return errors.New("it left the request without anything to answer")
	}
	if err := memory.Legal(r.Messages); err != nil {
		return err
	}
	return marked(was.Messages, r.Messages)
}

// marked checks that of the messages with calls and signed parts none was made up
// or changed: those that are left are among those that were there, in order.
func marked(was, now []harness.Message) error {
	all := marksOf(was)
	for _, mark := range marksOf(now) {
		at := slices.Index(all, mark)
		if at < 0 {
			return errMarks
		}
		all = all[at+1:]
	}
	return nil
}

// marksOf returns what must not change in messages, one text for each that has
// something.
func marksOf(msgs []harness.Message) []string {
	var all []string
	for i := range msgs {
		if mark := markOf(msgs[i].Parts); mark != "" {
			all = append(all, string(msgs[i].Role)+mark)
		}
	}
	return all
}

// markOf stands for the ids in parts and for what is signed of them.
func markOf(parts []harness.Part) string {
	var b bytes.Buffer
	for _, p := range parts {
		switch {
		case p.Opaque != nil:
			raw, err := json.Marshal(p)
			if err != nil {
				raw = fmt.Appendf(nil, "%+v", p) // an opaque that is no JSON, told apart all the same
			}
			fmt.Fprintf(&b, "signed %s\n", raw)
		case p.Call != nil:
			fmt.Fprintf(&b, "call %q %q %q\n", p.Call.ID, p.Call.Origin, p.Call.Name)
		case p.Result != nil:
			fmt.Fprintf(&b, "result %q %q\n", p.Result.CallID, p.Result.Name)
		}
	}
	return b.String()
}

// whole reports whether an answer is shown only once it is whole.
func (t *Turn) whole() bool { return has[AfterModel](t) }

// after has the extensions change a reply, whose text is shown then.
func (t *Turn) after(ctx context.Context, reply model.Reply) (model.Reply, error) {
	if !t.whole() {
		return reply, nil
	}
	err := each(t, "failed after a model call", func(x AfterModel) error {
		parts, err := x.AfterModel(ctx, t.place(), copied(harness.Message{Parts: reply.Parts}).Parts)
		if err != nil {
			return err
		}
		if !slices.Equal(callIDs(reply.Parts), callIDs(parts)) {
			return errIDs
		}
		if !reflect.DeepEqual(signed(reply.Parts), signed(parts)) {
			return errOpaque
		}
		reply.Parts = parts
		return nil
	})
	if err != nil {
		return reply, err
	}
	if text := (harness.Message{Parts: reply.Parts}).Text(); text != "" {
		t.Sink.Emit(harness.Event{Type: harness.EventText, Session: t.Session, Run: t.Run, Attempt: t.Attempt, Text: text, At: t.Steps.Now()})
	}
	return reply, nil
}

// callIDs are the ids of the calls in a reply.
func callIDs(parts []harness.Part) []string {
	var all []string
	for _, c := range (harness.Message{Parts: parts}).Calls() {
		all = append(all, c.ID, c.Origin)
	}
	return all
}

// signed are the parts that have to go back as they came.
func signed(parts []harness.Part) []harness.Part {
	var all []harness.Part
	for _, p := range parts {
		if p.Opaque != nil {
			all = append(all, p)
		}
	}
	return all
}

// spoilt fails the turn over a reply that is whole, with what it used.
func (t *Turn) spoilt(ctx context.Context, u harness.Usage, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.sent = false
	return t.put(ctx, u, loop.Rested{Status: harness.RunFailed, Stop: harness.StopError, Error: Failure(err)})
}
