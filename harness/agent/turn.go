package agent

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/agent/hook"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// DefaultReply bounds a reply, in tokens, of models that could give more.
const DefaultReply = 32_000

// Steps are the parts with which commands of the loop are carried out. A [Turn]
// needs all but Used, Limits, Budget, Hooks and Log; an [Agent] and the engine of package run fill in what is
// left out.
type Steps struct {
	Model model.Model
	// Info is what is known of the model; Info.ID names it in messages.
	Info model.Info
	// Tools are those the model is offered; an empty set is none.
	Tools  *tool.Set
	Policy policy.Policy
	// Compose builds the request of each model call.
	Compose func(ctx context.Context, in memory.In) (memory.Out, error)
	// Used, if set, is told which facts and notes an answer was given.
	Used func(ctx context.Context, ids []string)
	// Limits remembers what refusals taught about models; nil means that it is
	// known within the stretch of the run only.
	Limits harness.Limits
	// Budget keeps the turn's model calls within spending limits; nil means that
	// there are none. A call that it does not allow fails the run with
	// [KindSpending].
	Budget *policy.Budget
	// Hooks observe the turn; see package hook. What goes wrong with them is told
	// to Log, nil for nobody.
	Hooks []hook.Func
	// Extensions change what happens in the turn. Who makes the Steps has installed
	// them, and takes them down.
	Extensions []Extension
	// Ready, if set, is called before the first step of a stretch and may wait for
	// what is still on its way, such as servers that have some of the Tools. waits is
	// told what is waited for, lacks what the turn has to do without. It returns when
	// ctx ends.
	Ready func(ctx context.Context, waits, lacks func(text string))
	Log   *slog.Logger
	Now   func() time.Time
}

// Stored says where a record went: its number in the run's journal and, if it
// carries a message, that message's number in the conversation.
type Stored struct {
	Seq    int
	Record int
}

// A Sink keeps what a turn produces. It is called from one goroutine.
type Sink interface {
	// Put makes records durable in one transaction before it returns, and
	// tells the watchers. usage belongs to the last of them.
	Put(ctx context.Context, usage harness.Usage, records ...loop.Record) ([]Stored, error)
	// Emit shows an event that is for the eye only.
	Emit(e harness.Event)
	// Streamed tells that the half answer changed ([Turn.Partial]), after each
	// piece. The sink decides when that goes to disk.
	Streamed()
}

// Turn carries out the commands of one run.
type Turn struct {
	Steps   Steps
	Session harness.SessionID
	Run     harness.RunID
	Dir     string
	// First is the record number of the user's message.
	First int
	// History is the branch before the turn, oldest first; it may be a tail.
	// Pinned are the pinned messages of the branch, see [memory.Pinned].
	History []harness.Record
	Pinned  []harness.Record
	// Condensed is what a person condensed while the run rested, which the state that
	// Drive is given first does not know of; nil if that is nothing.
	Condensed *harness.Condensed
	// Numbers are those of the messages in the state that Drive is given first.
	Numbers Numbers
	// Attempt is the number of model attempts made before this stretch.
	Attempt int
	Sink    Sink
	// Told is what was told of the session by other turns of the process; nil is
	// nothing.
	Told *Told
	// Begun says that this goes on with a stretch of which hooks were told the start.
	Begun bool
	// Soft, if set, ends before Drive's context: model calls stop with it at
	// once, a tool that runs may finish. It must be derived from that context.
	Soft context.Context

	state   loop.State
	half    half
	pending []loop.Record
	// sent says that a model call is under way, heard that something of a reply
	// came in it: what it costs is told at its end only.
	sent, heard bool
	learning    learning
	// forced says that condensing comes next whatever the estimate says, refused
	// what the next request has to be smaller than.
	forced  bool
	refused *refusal
	// bare says that the files from before the turn are only named from now on.
	bare   bool
	watch  watch
	ext    extended
	single single
}

// half is the half answer that is under way: written by the stream, read by
// whoever saves it.
type half struct {
	mu             sync.Mutex
	attempt        int
	text, thinking []byte
	at             time.Time
}

// Partial returns the half answer that is under way, nil if there is none. It
// may be called from any goroutine.
func (t *Turn) Partial() *harness.Partial {
	h := &t.half
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.text)+len(h.thinking) == 0 {
		return nil
	}
	return &harness.Partial{Attempt: h.attempt, Text: string(h.text), Thinking: string(h.thinking), At: h.at}
}

// reset forgets the half answer: it was stored whole, or is void.
func (h *half) reset(attempt int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attempt, h.text, h.thinking = attempt, h.text[:0], h.thinking[:0]
}

// add appends a piece and returns the offset at which it stands.
func (h *half) add(thinking bool, s string, at time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	to := &h.text
	if thinking {
		to = &h.thinking
	}
	offset := len(*to)
	*to, h.at = append(*to, s...), at
	return offset
}

// Lost returns the usage to book when the turn was stopped from outside: that
// of a model call under way never arrives.
func (t *Turn) Lost() harness.Usage { return Unseen(t.sent) }

// Unseen returns the usage to book for a call whose usage never arrived, and
// none if there was no such call. It leaves a known cost known: that something
// is missing is said by Incomplete.
func Unseen(called bool) harness.Usage { return harness.Usage{Incomplete: called, CostKnown: called} }

// State returns where the loop is.
func (t *Turn) State() loop.State { return t.state }

// Drive carries the run on from state s until it rests. It returns an error
// only if ctx ended or a record could not be stored; every failure of the turn
// itself is in the final state.
func (t *Turn) Drive(ctx context.Context, s loop.State) error {
	if err := t.resume(ctx, s); err != nil {
		return t.failed(ctx, err)
	}
	cmd := s.Next()
	if !over(cmd) {
		t.ready(t.Soft) //nolint:contextcheck // waiting stops when the turn is to rest
	}
	for !t.single.over(cmd) {
		if err := t.Soft.Err(); err != nil && !over(cmd) {
			return err
		}
		cmd = t.heed(ctx, cmd)
		var err error
		switch c := cmd.(type) {
		case loop.Done:
			return nil
		case loop.CallModel:
			err = t.callModel(t.Soft, c) //nolint:contextcheck // an answer stops when the turn is to rest
		case loop.Judge:
			t.later(t.judge(ctx, c.Call).record)
		case loop.Exec:
			err = t.exec(ctx, c.Calls)
		case loop.Settle:
			err = t.put(ctx, harness.Usage{}, loop.Ended{Message: loop.Result(c.Call, c.Text, true, c.Unknown)})
		case loop.Note:
			err = t.put(ctx, harness.Usage{}, loop.Noted{Reason: c.Reason, Message: c.Notice()})
		case loop.Deliver:
			err = t.put(ctx, harness.Usage{}, c.Record())
		case loop.Rest:
			err = spokenTo(t.ends(ctx, c))
		default:
			return fmt.Errorf("run %s: no step for %T", t.Run, cmd)
		}
		if err != nil {
			return err
		}
		cmd = t.state.Next()
	}
	return nil
}

// over reports whether the turn is complete but for the record that says so: a
// stop comes too late then.
func over(cmd loop.Command) bool {
	switch c := cmd.(type) {
	case loop.Done:
		return true
	case loop.Rest:
		return c.Status == harness.RunCompleted
	default:
		return false
	}
}

// later applies a record that has no effect outside; it is stored together
// with the next one that has, which saves a sync.
func (t *Turn) later(r loop.Record) {
	t.pending = append(t.pending, r)
	t.state, _ = loop.Step(t.state, r)
}

// put stores records, and those that were kept for later before them.
func (t *Turn) put(ctx context.Context, u harness.Usage, records ...loop.Record) error {
	all := append(t.pending, records...)
	stored, err := t.Sink.Put(ctx, u, all...)
	if err != nil {
		return err
	}
	t.pending = nil
	for i, r := range records {
		t.saw(r)
		before := t.state
		t.state, _ = loop.Step(t.state, r)
		t.Numbers = t.Numbers.Step(before, t.state, stored[len(stored)-len(records)+i].Record)
	}
	t.single.put(all)
	t.kept(stored, all)
	return nil
}

// callModel asks the model, or first condenses what would be asked. A refusal
// that teaches a limit is followed by a smaller request at once.
func (t *Turn) callModel(ctx context.Context, c loop.CallModel) error {
	t.iterates(c.Step)
	t.recallLimits(ctx)
	out, err := t.compose(ctx, c)
	if err != nil {
		return t.failed(ctx, err)
	}
	if stored, err := t.condense(ctx, c, out); stored || err != nil {
		return err
	}
	if err := t.smallerNow(ctx, out); err != nil {
		return t.failed(ctx, err)
	}
	if why := t.hopeless(out); why != "" {
		return t.overflows(ctx, why)
	}
	t.lacks(out)
	for {
		if out, err = t.before(ctx, out); err != nil {
			return t.failed(ctx, err)
		}
		reply, call, err := t.ask(ctx, out)
		if err == nil {
			return t.answered(ctx, c, call, out, reply)
		}
		if call == nil {
			return t.failed(ctx, err)
		}
		next, ok := t.again(ctx, c, out, err)
		if !ok {
			return t.failed(ctx, err)
		}
		if t.sent, out = false, next; t.forced {
			return nil // condensing comes first
		}
	}
}

// lacks tells what a request is without that a person may expect in it.
func (t *Turn) lacks(out memory.Out) {
	if out.RecallError != nil {
		t.mend("nothing was recalled: " + out.RecallError.Error())
	}
	if t.Told.news(t.Session, toldUnpinned, out.Unpinned) {
		t.mend(harness.Count(out.Unpinned, "pinned message") + " too large for the model's window: left out of the request")
	}
}

// ask makes one model call. It was not made if there is no charge.
func (t *Turn) ask(ctx context.Context, out memory.Out) (model.Reply, *charge, error) {
	call, err := t.charge(ctx, out.Estimate, out.Request.MaxOutput)
	if err != nil {
		return model.Reply{}, nil, err
	}
	t.Attempt++
	t.half.reset(t.Attempt)
	t.sent, t.heard = true, false
	t.asks(out)
	reply, err := call.stream(ctx, t.Steps.Model, out.Request, t.delta)
	if err != nil {
		call.failed(ctx, err)
	}
	return reply, call, err
}

// info is what is known of the model by now.
func (t *Turn) info() model.Info { return t.learning.over(t.Steps.Info) }

// compose builds the request of a model call.
func (t *Turn) compose(ctx context.Context, c loop.CallModel) (memory.Out, error) {
	return t.Steps.Compose(ctx, t.in(c))
}

// in is what the request of a model call is built from.
func (t *Turn) in(c loop.CallModel) memory.In {
	in := memory.In{
		Session: t.Session, System: t.state.Config().System, Dir: t.Dir, Now: t.Steps.Now(),
		Question: t.state.Question(), History: t.History, First: t.First, Pinned: t.Pinned, Condensed: t.state.Condensed(),
		Turn: t.state.Messages(), TurnRecords: t.Numbers.of(t.state), Info: t.info(), MaxOutput: t.reply(c.Grow), Grow: c.Grow, Bare: t.bare,
	}
	if t.Condensed != nil {
		out := t.condensedBefore()
		in.Condensed, in.Turn, in.TurnRecords = t.Condensed, in.Turn[out:], in.TurnRecords[out:]
	}
	if t.Steps.Tools != nil && !c.NoTools {
		in.Tools = t.Steps.Tools.Specs()
	}
	return in
}

// condensedBefore is how many of the state's first messages a person condensed
// while the run rested.
func (t *Turn) condensedBefore() int {
	if t.Condensed == nil || t.Condensed.In != "" && t.Condensed.In != t.Session {
		return 0
	}
	n := 0
	for _, number := range t.Numbers.of(t.state) {
		if number == 0 || number >= t.Condensed.Kept {
			break
		}
		n++
	}
	return n
}

// answered stores an answer.
func (t *Turn) answered(ctx context.Context, c loop.CallModel, call *charge, out memory.Out, reply model.Reply) error {
	name := reply.Model
	if name == "" {
		name = t.state.Config().Model
	}
	usage := t.Steps.Info.Of(name).Cost(reply.Usage)
	reply, err := t.after(ctx, reply)
	if err != nil {
		defer call.answered(ctx, usage)
		return t.spoilt(ctx, usage, err)
	}
	m := loop.Name(t.Run, c.Step, name, reply.Parts, usage, out.Used)
	if m != nil {
		m.Sent = &out.Sent
	}
	err = t.put(ctx, usage, loop.Answered{Message: m, Stop: reply.Stop, Usage: usage, Attempt: t.Attempt})
	if err != nil {
		return err
	}
	call.answered(ctx, usage)
	t.sent = false
	t.half.reset(t.Attempt)
	if t.Steps.Used != nil && len(out.Used) > 0 {
		t.Steps.Used(ctx, out.Used)
	}
	return nil
}

// reply is the budget of a reply in tokens, doubled grow times up to the
// model's own limit; 0 leaves it to the model.
func (t *Turn) reply(grow int) int {
	most := t.info().MaxOutput
	if most <= 0 {
		return 0
	}
	return min(min(most, DefaultReply)<<min(grow, loop.MaxTruncations), most)
}

// delta takes in a piece of the reply. Text of a voided attempt is dropped
// here, on the screen and on disk alike.
func (t *Turn) delta(d model.Delta) {
	t.heard = t.heard || d.Kind == model.DeltaText || d.Kind == model.DeltaThinking || d.Kind == model.DeltaProgress
	t.heardOf(d)
	if t.whole() && (d.Kind == model.DeltaText || d.Kind == model.DeltaThinking) {
		return
	}
	e := harness.Event{Session: t.Session, Run: t.Run, Attempt: t.Attempt, At: t.Steps.Now()}
	switch d.Kind {
	case model.DeltaText:
		e.Type, e.Text, e.Offset = harness.EventText, d.Text, t.half.add(false, d.Text, e.At)
	case model.DeltaThinking:
		e.Type, e.Text, e.Offset = harness.EventThinking, d.Text, t.half.add(true, d.Text, e.At)
	case model.DeltaReset:
		t.Attempt++
		t.half.reset(t.Attempt)
		e.Type, e.Attempt = harness.EventReset, t.Attempt
	case model.DeltaRetry:
		e = retried(e, d)
	case model.DeltaWaiting:
		e.Type, e.Wait = harness.EventWaiting, seconds(d.Wait)
	default:
		return
	}
	t.Sink.Emit(e)
	t.Sink.Streamed()
}

// retried tells that a call is made again, and with which model if with another one.
func retried(e harness.Event, d model.Delta) harness.Event {
	e.Type, e.Wait = harness.EventRetry, seconds(d.Wait)
	if d.Model != "" {
		e.Text = "asking " + d.Model + " instead"
	}
	if d.Err != nil {
		e.Error = &harness.RunError{Kind: string(d.Err.Kind), Text: d.Err.Error()}
	}
	return e
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// failed ends the stretch with err as data. The half answer stays for whoever
// resumes. An end of ctx is the caller's to explain.
func (t *Turn) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	usage := Unseen(t.sent && (t.heard || !model.Free(err)))
	t.sent = false
	return t.put(ctx, usage, loop.Rested{
		Status: harness.RunFailed, Stop: harness.StopError, Error: Failure(err),
	})
}
