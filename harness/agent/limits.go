package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/snapshot"
)

const (
	// maxRepeats is how often a stretch of a run asks again within a limit that
	// a refusal taught.
	maxRepeats = 2
	// leastGuess is the smallest window that is remembered though no refusal
	// named it, in tokens. Below it the refusal is likely to mean something else.
	leastGuess = 1_024
)

// learning is what a turn knows of its model's limits beside [Steps.Info].
type learning struct {
	// known was remembered from before; it is read once.
	known harness.LearnedLimits
	read  bool
	// taught is from refusals of this stretch. It counts more than what a person
	// configured: the provider has just refused that.
	taught  harness.LearnedLimits
	repeats int
	// forced is the step for which a refusal forced a condensing.
	forced int
}

// refusal is a request that was refused as too long, and what that taught.
type refusal struct {
	out   memory.Out
	err   error
	guess harness.LearnedLimits
	// guessed says that it named no number.
	guessed bool
}

// over returns info with the limits that refusals taught.
func (l *learning) over(info model.Info) model.Info {
	if !info.OwnWindow {
		info.Window = lesser(info.Window, l.known.Window)
	}
	if !info.OwnMaxOutput {
		info.MaxOutput = lesser(info.MaxOutput, l.known.Reply)
	}
	info.Window = lesser(info.Window, l.taught.Window)
	info.MaxOutput = lesser(info.MaxOutput, l.taught.Reply)
	return info
}

// lesson is what one refusal teaches.
type lesson struct {
	// kept is to be remembered of the model, used is what this stretch goes by.
	kept, used harness.LearnedLimits
	// once bounds the reply of the next request alone.
	once int
	// guessed says that no number was named.
	guessed bool
	text    string
}

// learn reads a refusal of a request of estimate tokens; ok is false if err is
// none that teaches a limit. window is the one that the request was made for.
func learn(err error, estimate, window int) (l lesson, ok bool) {
	e, ok := model.AsError(err)
	if !ok {
		return l, false
	}
	switch {
	case e.Kind == model.KindReplyLimit && e.Once:
		l.once, l.kept.Window = e.Limit, e.Window
		l.used.Window = e.Window
		l.text = fmt.Sprintf("the model's window has room for a reply of %d tokens; asking again within that", e.Limit)
	case e.Kind == model.KindReplyLimit && e.Limit > 0:
		l.kept.Reply, l.used.Reply = e.Limit, e.Limit
		l.text = fmt.Sprintf("the model gives replies of at most %d tokens; asking again within that", e.Limit)
	case e.Kind == model.KindOverflow && e.Limit > 0:
		l.kept.Window, l.used.Window = e.Limit, e.Limit
		if e.Limit >= window {
			// The window was known and the estimate too low.
			l.used.Window = max(1, estimate*3/4)
		}
		l.text = fmt.Sprintf("the model's window has %d tokens; asking again with less", e.Limit)
	case e.Kind == model.KindOverflow:
		l.used.Window = max(1, estimate*3/4)
		if l.guessed = true; l.used.Window >= leastGuess {
			l.kept.Window = l.used.Window
		}
		l.text = "the request is larger than the model's window; asking again with less"
	default:
		return l, false
	}
	return l, true
}

// reason is the lesson in one word, for hooks.
func (l lesson) reason() string {
	if l.once > 0 || l.used.Reply > 0 {
		return "reply_limit"
	}
	return "context_overflow"
}

// long reports whether the request was too long, whatever its reply.
func (l lesson) long() bool { return l.used.Window > 0 && l.once == 0 }

// smallerNow returns the refusal of the request before if out, which is to be sent
// in its place, is no smaller.
func (t *Turn) smallerNow(ctx context.Context, out memory.Out) error {
	r := t.refused
	if t.refused = nil; r == nil {
		return nil
	}
	if !smaller(out, r.out, true, cmp.Or(t.info().Window, model.UnknownWindow)) {
		return r.err
	}
	t.remember(ctx, r.err, r.guess)
	return nil
}

// surelyOver is how many windows a request has, by the estimate, that is not sent.
// The estimate errs on the high side, so that of a smaller one the provider is to
// say whether it fits.
const surelyOver = 2

// hopeless returns why a request is not sent that no window like the model's holds,
// with all left out of it that may be; empty if it may be sent.
func (t *Turn) hopeless(out memory.Out) string {
	window := t.Steps.Info.Window
	if window <= 0 || out.Estimate <= surelyOver*window {
		return ""
	}
	return fmt.Sprintf("the newest part of the conversation alone has about %d tokens, and with all else the request has %d, where the model's window has %d; send less at once, or choose a model with a larger window",
		out.Sent.Messages, out.Estimate, window)
}

// recallLimits reads once what was learned of the model before. A store that
// cannot tell is no reason to end the turn.
func (t *Turn) recallLimits(ctx context.Context) {
	if t.learning.read || t.Steps.Limits == nil || !strings.Contains(t.Steps.Info.ID, "/") {
		return
	}
	t.learning.read = true
	known, err := t.Steps.Limits.Get(ctx, t.Steps.Info.ID)
	if err != nil {
		t.mend("what was learned of the model's limits is not used: " + err.Error())
		return
	}
	t.learning.known = known
}

// remember keeps what a refusal taught of the model that refused: that of the turn,
// or one that stood in. If only the provider is known, and is another one, nobody
// knows which model it was.
func (t *Turn) remember(ctx context.Context, err error, l harness.LearnedLimits) {
	e, ok := model.AsError(err)
	if !ok || t.Steps.Limits == nil || l == (harness.LearnedLimits{}) {
		return
	}
	id := cmp.Or(e.Model, t.Steps.Info.ID)
	if !strings.Contains(id, "/") || e.Model == "" && e.Provider != "" && !strings.HasPrefix(id, e.Provider+"/") {
		return
	}
	if err := t.Steps.Limits.Learn(ctx, id, l); err != nil {
		t.mend("the model's limits are not remembered: " + err.Error())
	}
}

// mend tells of a recovery with one quiet line.
func (t *Turn) mend(text string) {
	t.Sink.Emit(harness.Event{Type: harness.EventRecovery, Text: text, At: t.Steps.Now()})
}

// again returns the request to make in the place of was, which was refused with
// err; ok is false if there is none: the refusal teaches no limit, something of a
// reply came already, it was asked again often enough, or the request cannot
// become smaller. What the refusal taught is remembered in any case, but a guess
// only if it helps.
func (t *Turn) again(ctx context.Context, c loop.CallModel, was memory.Out, err error) (out memory.Out, ok bool) {
	window := cmp.Or(t.info().Window, model.UnknownWindow)
	l, ok := learn(err, was.Estimate, window)
	if out, ok := t.withoutFiles(ctx, c, was, err, l); ok {
		return out, true
	}
	if !ok || ctx.Err() != nil {
		return was, false
	}
	if l.guessed && fileBytes(was) > 0 {
		// It may be the bytes that are too many: that says nothing of the window.
		l.kept = harness.LearnedLimits{}
	}
	if !l.guessed {
		t.remember(ctx, err, l.kept)
	}
	if t.heard || t.learning.repeats == maxRepeats {
		return was, false
	}
	t.learning.repeats++
	taught := &t.learning.taught
	taught.Window, taught.Reply = lesser(taught.Window, l.used.Window), lesser(taught.Reply, l.used.Reply)
	if c.Condense && l.long() && t.learning.forced != c.Step {
		t.forced, t.learning.forced = true, c.Step
		t.refused = &refusal{out: was, err: err, guessed: l.guessed}
		if l.guessed {
			t.refused.guess = l.kept
		}
		// Whether there is anything to ask with is not known yet.
		known, _, _ := strings.Cut(l.text, ";")
		t.mend(known + "; making room in the conversation")
		t.recovered(l.reason(), t.learning.repeats, was.Request.MaxOutput)
		return was, true
	}
	out, failed := t.compose(ctx, c)
	if failed != nil {
		return was, false
	}
	if l.once > 0 && less(l.once, out.Request.MaxOutput) {
		out.Request.MaxOutput, out.Sent.Reply = l.once, l.once
	}
	if !smaller(out, was, l.long(), cmp.Or(t.info().Window, model.UnknownWindow)) {
		return was, false
	}
	if l.guessed {
		t.remember(ctx, err, l.kept)
	}
	t.mend(l.text)
	t.recovered(l.reason(), t.learning.repeats, out.Request.MaxOutput)
	return out, true
}

// withoutFiles returns the request without the files from before the turn, if it
// may be they that the provider refused: without that no request of the
// conversation would be answered from then on.
func (t *Turn) withoutFiles(ctx context.Context, c loop.CallModel, was memory.Out, err error, l lesson) (out memory.Out, ok bool) {
	e, is := model.AsError(err)
	if !is || e.Kind != model.KindBadRequest && !l.guessed || t.bare || t.heard || ctx.Err() != nil || fileBytes(was) == 0 {
		return was, false
	}
	t.bare = true
	if out, err = t.compose(ctx, c); err != nil || fileBytes(out) == fileBytes(was) {
		t.bare = false
		return was, false
	}
	t.mend("the request was refused; asking again without the files of earlier messages")
	t.recovered("refused_files", 1, out.Request.MaxOutput)
	return out, true
}

// fileBytes is how many bytes of files a request has.
func fileBytes(out memory.Out) int {
	n := 0
	for _, m := range out.Request.Messages {
		for _, p := range m.Parts {
			for _, f := range p.Files() {
				n += len(f.Data)
			}
		}
	}
	return n
}

// smaller reports whether out asks for less than was. Of a request that is too
// long for a window, a smaller reply helps only if all of it then fits.
func smaller(out, was memory.Out, long bool, window int) bool {
	reply := out.Request.MaxOutput
	if out.Estimate < was.Estimate {
		return true
	}
	return out.Estimate == was.Estimate && less(reply, was.Request.MaxOutput) && (!long || out.Estimate+reply <= window)
}

// less compares reply budgets, of which 0 has no bound.
func less(a, b int) bool { return a > 0 && (b <= 0 || a < b) }

// ownLimits is what an agent knows of the limits of its models: those of
// [Options.Limits], or else those that its own turns learned. It is saved with the
// conversation.
type ownLimits struct{ a *Agent }

// Get implements [harness.Limits].
func (r ownLimits) Get(ctx context.Context, id string) (harness.LearnedLimits, error) {
	if r.a.o.Limits == nil {
		r.a.mu.Lock()
		defer r.a.mu.Unlock()
		return r.a.learned[id], nil
	}
	l, err := r.a.o.Limits.Get(ctx, id)
	if err == nil {
		r.note(id, l)
	}
	return l, err
}

// Learn implements [harness.Limits].
func (r ownLimits) Learn(ctx context.Context, id string, l harness.LearnedLimits) error {
	r.note(id, l)
	if r.a.o.Limits == nil {
		return nil
	}
	return r.a.o.Limits.Learn(ctx, id, l)
}

func (r ownLimits) note(id string, l harness.LearnedLimits) {
	r.a.mu.Lock()
	defer r.a.mu.Unlock()
	known := r.a.learned[id]
	if r.a.learned == nil {
		r.a.learned = map[string]harness.LearnedLimits{}
	}
	r.a.learned[id] = harness.LearnedLimits{Window: cmp.Or(l.Window, known.Window), Reply: cmp.Or(l.Reply, known.Reply)}
}

// learnedInto adds what was learned to a document.
func (a *Agent) learnedInto(d *snapshot.Document) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := maps.Clone(d.Learned)
	for id, l := range a.learned {
		if l == (harness.LearnedLimits{}) {
			continue
		}
		if all == nil {
			all = map[string]snapshot.Learned{}
		}
		all[id] = snapshot.Learned{Window: cmp.Or(l.Window, all[id].Window), Reply: cmp.Or(l.Reply, all[id].Reply)}
	}
	d.Learned = all
}
