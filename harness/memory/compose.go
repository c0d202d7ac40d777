package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	// Artifacts has the bytes of files that are stored apart; nil means that such
	// files are only named.
	Artifacts Files

	cache cache
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
	// Question is what is recalled for where no message of the user is in the context
	// any more, as this turn condensed its own.
	Question string
	// Turn are the messages after History, stored or not, each once. TurnRecords
	// are their record numbers, 0 or missing where they are not known.
	Turn        []harness.Message
	TurnRecords []int
	Tools       []model.ToolSpec
	Info        model.Info
	// MaxOutput bounds the reply in tokens; 0 means the model's own limit. Grow is
	// how often it was doubled because a reply was cut: then more of the window is
	// kept for it.
	MaxOutput int
	Grow      int
	// Bare leaves the files of History and the images of all results out and names
	// them, because the provider refused a request that had them.
	Bare bool
}

// Out is a request and what is to be known of it.
type Out struct {
	Request model.Request
	// Used are the ids of the facts and notes in it.
	Used []string
	// Dropped counts the messages given that are not in it, Unpinned the pinned
	// ones among them, for which the window is too small.
	Dropped  int
	Unpinned int
	// Cleared counts the tool results whose text was left out of it, because
	// the last turn alone is larger than the window.
	Cleared int
	// Estimate is the request's size in tokens, without the reply, corrected by
	// what the provider counted before. Full is the size it would have if nothing
	// were left out of what was given; of a history far larger than the window it
	// tells only that it is. A request whose Full reaches Trigger is to be condensed.
	Estimate, Full, Trigger int
	// Sent has the size by its parts, not corrected; Ratio is what corrects it.
	Sent  harness.Sent
	Ratio float64
	// User and Assistant are parts of Sent.Messages: what was said on both sides,
	// without what is pinned.
	User, Assistant int
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
	v, err := look(in, windowOf(in.Info)*lookShare/100)
	if err != nil {
		return Out{}, fmt.Errorf("compose request of session %s: %w", in.Session, err)
	}
	items, recallErr := c.recall(ctx, in, tool.Clip(cmp.Or(v.question(), in.Question), maxQuery))
	if err := ctx.Err(); err != nil {
		return Out{}, err
	}
	out := Out{RecallError: recallErr}
	for _, it := range items {
		out.Used = append(out.Used, it.id)
	}
	about := situation(in, items)
	m := measure(in, v, about)
	s := m.choose(v)
	if block := s.leftOut(m); block != "" {
		about = strings.TrimPrefix(about+"\n"+block, "\n")
		m.recalled = estimateText(about)
	}
	out.Request = model.Request{
		System: systemOf(in), Context: about, Tools: in.Tools, Key: string(in.Session),
		Messages: Repair(own(s.messages(), in.Info.ID)),
	}
	if err := c.fill(ctx, in.Session, out.Request.Messages); err != nil {
		return Out{}, err
	}
	out.account(in, m, s)
	return out, nil
}

// systemOf is the system prompt of the request.
func systemOf(in In) string {
	if in.System == "" {
		return DefaultSystem
	}
	return in.System
}

// account tells what the request carries.
func (out *Out) account(in In, m sizes, s selection) {
	out.Sent = harness.Sent{System: m.system, Recalled: m.recalled, Tools: m.tools}
	for i := range out.Request.Messages {
		out.Sent.Messages += estimate(&out.Request.Messages[i])
	}
	out.Ratio = m.ratio
	out.Estimate = m.corrected(m.fixed() + out.Sent.Messages)
	out.Full, out.Trigger = m.corrected(m.full), m.trigger
	out.Request.MaxOutput = fitReply(in.MaxOutput, out.Estimate, in.Info)
	out.Cleared, out.Dropped, out.Unpinned = s.cleared, s.dropped, s.unpinned
	s.split(out)
	out.Sent.Count, out.Sent.Dropped, out.Sent.Cleared, out.Sent.Reply = len(out.Request.Messages), s.dropped, s.cleared+s.pruned, out.Request.MaxOutput
	out.Sent.Window, out.Sent.Trigger = m.window, m.trigger
}

// question is the text of the user's last message.
func (v View) question() string {
	for _, it := range slices.Backward(v.Items) {
		if opens(it.Message) {
			return it.Message.Text()
		}
	}
	return ""
}
