package condense

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// prompt is what the model is told.
//
//go:embed prompt.md
var prompt string

const (
	// thinking is the room for the reasoning of models that may reason.
	thinking = 4_000
	// replyShare is the part of the window that an answer may take at most.
	replyShare = 4
	// maxBytes is how much of an answer is listened to for each token it may have.
	maxBytes = 16
	// maxFocus bounds what a person asks to keep, in characters.
	maxFocus = 1_000
)

// errEndless means that a model goes on without end.
var errEndless = errors.New("the answer does not end")

// note is what came of a call.
type note struct {
	text, model string
	// long says that it is as long as what it stands for.
	long  bool
	usage harness.Usage
}

// reply is the room for the answer, in tokens: twice what is asked for, as models
// count badly and a note that is cut is none.
func (j *job) reply() int {
	n := 2 * j.noteRoom()
	if j.o.Info.Reasoning || !j.o.Info.PriceKnown {
		n += thinking // one that nobody knows may think, too
	}
	if j.o.Info.MaxOutput > 0 {
		n = min(n, j.o.Info.MaxOutput)
	}
	return max(1, min(n, windowOf(j.o.Info)/replyShare))
}

// document is what the model reads.
func (j *job) document(history string) string {
	var b strings.Builder
	if c := j.before(); c != nil && strings.TrimSpace(c.Note) != "" {
		fmt.Fprintf(&b, "<note>\n%s\n</note>\n\n", memory.Bounded(strings.TrimSpace(memory.Neutral(c.Note)), 2*j.noteRoom()))
	}
	fmt.Fprintf(&b, "<history>\n%s</history>\n\n", history)
	if focus := strings.TrimSpace(j.o.Focus); focus != "" {
		fmt.Fprintf(&b, "<focus>\n%s\n</focus>\n\n", short(memory.Neutral(focus), maxFocus))
	}
	// A word is a token and a half or so, also with headings and paths.
	fmt.Fprintf(&b, "Write the note now, in at most %d words.", j.noteRoom()*6/10)
	return b.String()
}

// ask has the note written.
func (j *job) ask(ctx context.Context, p part) (note, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	room := j.reply()
	heard := 0
	reply, err := j.o.Model.Stream(ctx, model.Request{
		System: prompt, Messages: []harness.Message{harness.UserText(j.document(p.text))},
		MaxOutput: room, Purpose: model.PurposeCondense, Key: j.o.Key,
	}, func(d model.Delta) {
		if heard += len(d.Text); heard > maxBytes*(room+thinking) {
			stop(errEndless)
		}
	})
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errEndless) {
			err = cause
		}
		n := note{}
		if heard > 0 || !model.Free(err) && !policy.OverBudget(err) {
			// What it used is not known, which leaves a known cost known.
			n.usage = harness.Usage{Incomplete: true, CostKnown: true}
		}
		return n, fmt.Errorf("%w: %w", ErrSummary, err)
	}
	n := note{model: reply.Model, usage: reply.Usage}
	if n.model == "" {
		n.model = j.o.Info.ID
	}
	n.usage = j.o.Info.Of(n.model).Cost(n.usage)
	n.text, err = usable(reply)
	if err != nil {
		return n, err
	}
	size := memory.Estimate(harness.UserText(n.text))
	was := p.text
	if c := j.before(); c != nil {
		was += c.Note
	}
	n.long = size >= memory.Estimate(harness.UserText(was))
	n.text = memory.Bounded(n.text, j.noteRoom())
	return n, nil
}

// usable returns the note in a reply. Whatever is not certainly a whole note is an
// error: it would take the place of what was really said.
func usable(reply model.Reply) (string, error) {
	m := harness.Message{Parts: reply.Parts}
	text := strings.TrimSpace(memory.Neutral(m.Text()))
	switch {
	case len(m.Calls()) > 0:
		return "", fmt.Errorf("%w: the model called a tool instead", ErrSummary)
	case reply.Stop == harness.StopLength:
		return "", fmt.Errorf("%w: it was cut at its token budget", ErrSummary)
	case reply.Stop != harness.StopEnd && reply.Stop != harness.StopOther && reply.Stop != "":
		return "", fmt.Errorf("%w: the reply was stopped (%s)", ErrSummary, reply.Stop)
	case text == "" && strings.TrimSpace(m.Thinking()) != "":
		return "", fmt.Errorf("%w: the reply has reasoning only", ErrSummary)
	case text == "":
		return "", fmt.Errorf("%w: the reply is empty", ErrSummary)
	}
	return text, nil
}
