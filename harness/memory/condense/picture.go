package condense

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/memory"
)

// Source says where a limit of a model is known from.
type Source string

// The sources of limits.
const (
	SourceKnown      Source = "known"
	SourceConfigured Source = "configured"
	SourceLearned    Source = "learned"
	SourceAssumed    Source = "assumed"
)

// Picture is what fills the window of a session's next request. Sizes are in
// tokens, estimated and corrected by what the provider counted before.
type Picture struct {
	// Model is "provider/model".
	Model  string
	Window int
	// Reply is kept for the answer, and Trigger the size at which old messages are
	// condensed.
	Reply, Trigger int
	// WindowFrom and ReplyFrom say where the limits of the model are known from.
	WindowFrom, ReplyFrom Source
	// Used is the size of the request. Its parts are the system prompt, the
	// descriptions of tools, the day with what is recalled, the note that stands for
	// condensed messages, pinned messages from before and among the others, what was
	// said on both sides, what tools returned, and files.
	Used                                  int
	System, Tools, Recalled, Note, Pinned int
	User, Assistant, Results, Files       int
	// Free is what is neither used nor kept for the answer.
	Free int
	// InContext counts the messages that the request has, LeftOut those that the
	// window has no room for, Condensed those that the note stands for, and Pins the
	// pinned ones, Unpinned of which are too large for the window.
	InContext, LeftOut, Condensed, Pins, Unpinned int
	// Cleared counts the results of tools whose text is left out.
	Cleared int
}

// Picture shows what the next request of a session would carry, before what is
// typed.
func (c *Sessions) Picture(ctx context.Context, id harness.SessionID) (Picture, error) {
	t, err := c.talk(ctx, id)
	if err != nil {
		return Picture{}, fmt.Errorf("context of session %s: %w", id, err)
	}
	compose := c.Compose
	if compose == nil {
		compose = new(memory.Composer).Compose
	}
	out, err := compose(ctx, t.in)
	if err != nil {
		return Picture{}, fmt.Errorf("context of session %s: %w", id, err)
	}
	v, err := memory.Look(t.in)
	if err != nil {
		return Picture{}, fmt.Errorf("context of session %s: %w", id, err)
	}
	size := func(n int) int { return int(float64(n)*out.Ratio + 0.5) }
	p := Picture{
		Model: t.name, Window: out.Sent.Window, Reply: memory.Measure(t.in, v).Reply, Trigger: out.Trigger,
		WindowFrom: source(t.in.Info.OwnWindow, t.learned.Window, t.in.Info.Window),
		ReplyFrom:  source(t.in.Info.OwnMaxOutput, t.learned.Reply, t.in.Info.MaxOutput),
		Used:       out.Estimate, System: size(out.Sent.System), Tools: size(out.Sent.Tools), Recalled: size(out.Sent.Recalled),
		Note: size(out.Sent.Note), Pinned: size(out.Sent.Pinned), User: size(out.User), Assistant: size(out.Assistant),
		Results: size(out.Sent.Results), Files: size(out.Sent.Files),
		LeftOut: out.Dropped - v.Before, Pins: len(t.in.Pinned), Unpinned: out.Unpinned, Cleared: out.Sent.Cleared,
	}
	p.Free = max(0, p.Window-p.Reply-p.Used)
	p.InContext = max(0, len(v.Items)+len(v.Pins)-p.LeftOut)
	if v.Condensed != nil {
		p.Condensed = v.Condensed.Messages
	}
	return p, nil
}

// source says where a number is known from.
func source(own bool, learned, number int) Source {
	switch {
	case own:
		return SourceConfigured
	case learned > 0 && learned == number:
		return SourceLearned
	case number > 0:
		return SourceKnown
	default:
		return SourceAssumed
	}
}
