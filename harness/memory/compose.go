package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// Composer builds requests. Its fields are set before the first use; then it
// is safe for concurrent use.
type Composer struct {
	// Facts and Notes are recalled from; nil means that kind is not.
	Facts harness.Facts
	Notes harness.Notes
	// RecallBudget bounds recalled text in tokens; 0 means
	// [DefaultRecallBudget]. With a small window it is an eighth of that.
	RecallBudget int
}

// In is what a request is built from.
type In struct {
	Session harness.SessionID
	// System is the system prompt; empty means [DefaultSystem].
	System string
	// Dir is the working directory, and Now the time, of which the model sees
	// the day.
	Dir string
	Now time.Time
	// History is the branch before this turn, oldest first; it may be only the
	// tail of it. First is the record number of the turn's first message.
	History []harness.Record
	First   int
	// Pinned are the pinned messages of the branch, also those that History is
	// too short for, in the order of the conversation.
	Pinned []harness.Record
	// Condensed is what this turn condensed last, nil if it did not. What that
	// took out of the turn itself is not in Turn any more.
	Condensed *harness.Condensed
	// Turn are the messages after History, stored or not, each once.
	Turn  []harness.Message
	Tools []model.ToolSpec
	Info  model.Info
	// MaxOutput bounds the reply in tokens; 0 means the model's own limit.
	MaxOutput int
}

// Out is a request and what is to be known of it.
type Out struct {
	Request model.Request
	// Used are the ids of the facts and notes in it.
	Used []string
	// Dropped counts the messages given that are not in it.
	Dropped int
	// Cleared counts the tool results whose text was left out of it, because
	// the last turn alone is larger than the window.
	Cleared int
	// Estimate is the request's size in tokens, without the reply, and Sent the
	// same by its parts.
	Estimate int
	Sent     harness.Sent
	// RecallError says why something could not be recalled; the request is
	// whole without it, so a damaged fact does not end a conversation.
	RecallError error
}

// Compose builds the request for the next model call. Its cost depends on the
// window and not on the length of the history. The messages are legal in the
// sense of [Legal].
func (c *Composer) Compose(ctx context.Context, in In) (Out, error) {
	if err := ctx.Err(); err != nil {
		return Out{}, err
	}
	v, err := look(in)
	if err != nil {
		return Out{}, fmt.Errorf("compose request of session %s: %w", in.Session, err)
	}
	items, recallErr := c.recall(ctx, in, tool.Clip(v.question(), maxQuery))
	if err := ctx.Err(); err != nil {
		return Out{}, err
	}
	out := Out{RecallError: recallErr}
	for _, it := range items {
		out.Used = append(out.Used, it.id)
	}
	system := in.System
	if system == "" {
		system = DefaultSystem
	}
	out.Request = model.Request{
		System: system, Context: situation(in, items), Tools: in.Tools, Key: string(in.Session),
	}
	out.Sent = harness.Sent{System: estimateText(system), Recalled: estimateText(out.Request.Context), Tools: estimateTools(in.Tools)}
	fixed := out.Sent.System + out.Sent.Recalled + out.Sent.Tools
	msgs, cleared, dropped := v.fit(windowOf(in.Info) - replyBudget(in.MaxOutput, in.Info) - fixed)
	out.Request.Messages = Repair(own(msgs, in.Info.ID))
	out.Cleared, out.Dropped = cleared, dropped
	for i := range out.Request.Messages {
		out.Sent.Messages += estimate(&out.Request.Messages[i])
	}
	out.Estimate = fixed + out.Sent.Messages
	out.Request.MaxOutput = fitReply(in.MaxOutput, out.Estimate, in.Info)
	out.Sent.Count, out.Sent.Dropped, out.Sent.Cleared, out.Sent.Reply = len(out.Request.Messages), dropped, cleared, out.Request.MaxOutput
	return out, nil
}

// view is the part of the conversation that may be in the context.
type view struct {
	// note stands for what was condensed.
	note *harness.Message
	msgs []*harness.Message
	// before counts messages that a reset or condensing took out.
	before int
}

// look finds the messages of the context: those after the last reset, or those
// that the last condensing kept.
func look(in In) (view, error) {
	floor, note, err := start(in.History)
	if err != nil {
		return view{}, err
	}
	v := view{note: note, msgs: make([]*harness.Message, 0, len(in.History)-floor+len(in.Turn))}
	for i := range in.History {
		r := &in.History[i]
		switch {
		case r.Kind != harness.RecordMessage || r.Message == nil:
		case i < floor:
			v.before++
		default:
			v.msgs = append(v.msgs, r.Message)
		}
	}
	for i := range in.Turn {
		v.msgs = append(v.msgs, &in.Turn[i])
	}
	return v, nil
}

// start returns the index of the first record in the context and the note that
// stands for what was condensed.
func start(history []harness.Record) (int, *harness.Message, error) {
	for i := len(history) - 1; i >= 0; i-- {
		r := &history[i]
		switch r.Kind {
		case harness.RecordReset:
			return i + 1, nil, nil
		case harness.RecordCondensed:
			var c harness.Condensed
			if err := json.Unmarshal(r.Data, &c); err != nil {
				return 0, nil, fmt.Errorf("condensed record %d: %w: %w", r.Seq, harness.ErrDamaged, err)
			}
			note := harness.UserText(c.Note)
			note.Mark = harness.MarkNotice
			for i > 0 && history[i].Seq != c.Kept {
				i--
			}
			return i, &note, nil
		default:
		}
	}
	return 0, nil, nil
}

// question is the text of the user's last message.
func (v view) question() string {
	for i := len(v.msgs) - 1; i >= 0; i-- {
		if opens(v.msgs[i]) {
			return v.msgs[i].Text()
		}
	}
	return ""
}

// fit returns the messages that go into budget tokens, how many results were
// cleared for it, and how many messages were left out.
func (v view) fit(budget int) (msgs []harness.Message, cleared, dropped int) {
	if v.note != nil {
		budget -= estimate(v.note)
		msgs = append(msgs, *v.note)
	}
	n := len(v.msgs)
	kept, fits := window(n, func(i int) *harness.Message { return v.msgs[i] }, budget)
	dropped = v.before + n - kept
	tail := make([]harness.Message, 0, kept)
	for _, m := range v.msgs[n-kept:] {
		tail = append(tail, *m)
	}
	if !fits {
		var left int
		tail, cleared, left = shorten(tail, budget)
		dropped += left
	}
	return append(msgs, tail...), cleared, dropped
}
