package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// The places at which the demonstration kills its process, in the order of a run.
const (
	atModel  = "before-model"
	atStream = "while-streaming"
	atTool   = "before-tool"
	inTool   = "in-tool"
	afterIt  = "after-tool"
	atPerson = "awaiting"
)

// demoPlaces are the places with what a process has done there.
func demoPlaces() [][2]string {
	return [][2]string{
		{atModel, "before the model was asked: the message is on disk, and nothing else"},
		{atStream, "while the answer streams: a part of its text was seen, and the message is not whole"},
		{atTool, "after the model asked for the call and before the tool began"},
		{inTool, "in the tool: the line is in the file, and nobody noted that the call ended"},
		{afterIt, "after the call's result was on disk and before the model read it"},
		{atPerson, "while the call waits for an approval"},
	}
}

const (
	// demoTool is the tool of the demonstration.
	demoTool = "append_line"
	// demoSaid is what its model says before it calls the tool, and demoDone after.
	demoSaid = "I will add a line to the file, which must happen once and not twice."
	demoDone = "The line is in the file."
	// demoLook is how often it looks whether streamed text is on disk.
	demoLook = 50 * time.Millisecond
)

// play is the model, the tool and the policy of the demonstration in one process.
type play struct {
	// file gets a line for each call.
	file string
	// at is where the process is to die; empty is nowhere. asks says that the call
	// needs an approval.
	at   string
	asks bool
	// out is told of the place: whoever reads it kills the process.
	out io.Writer
	// partial is the streamed text that is on disk.
	partial func(ctx context.Context) (string, error)
}

// reach stays at the place where the process is to die until it does.
func (p *play) reach(ctx context.Context, place string) error {
	if place != p.at {
		return nil
	}
	if _, err := fmt.Fprintf(p.out, "%s%s\n", demoMark, place); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// demoMark begins the line that says that the place is reached.
const demoMark = "at: "

// steps replaces what carries out runs.
func (p *play) steps(s agent.Steps) (agent.Steps, error) {
	permission := tool.Allow
	if p.asks {
		permission = tool.Ask
	}
	type in struct {
		Line string `json:"line"`
	}
	t, err := tool.New(demoTool, "Add a line to the file of the demonstration.", func(ctx context.Context, _ tool.Call, i in) (string, error) {
		if err := appendLine(p.file, i.Line); err != nil {
			return "", err
		}
		return "added", p.reach(ctx, inTool)
	}, tool.WithPermission(permission), tool.WithReplay(tool.Manual), tool.WithPropose(func(_ context.Context, c tool.Call) (harness.Proposal, error) {
		return harness.Proposal{Kind: harness.ProposalCall, Subject: "the file of the demonstration", Body: string(c.Input)}, nil
	}))
	if err != nil {
		return s, err
	}
	set := new(tool.Set)
	if err := set.Add(t); err != nil {
		return s, err
	}
	s.Model, s.Tools, s.Policy, s.Budget = p, set, demoPolicy{p}, nil
	return s, nil
}

// appendLine adds a line to a file, on disk when it returns.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return cmp.Or(err, f.Sync(), f.Close())
}

// demoPolicy judges as a tool itself says.
type demoPolicy struct{ p *play }

// Judge implements [policy.Policy].
func (d demoPolicy) Judge(ctx context.Context, c tool.Call, t tool.Tool, call harness.ToolCall) policy.Verdict {
	v := policy.Rules{Interactive: true}.Judge(ctx, c, t, call)
	if err := d.p.reach(ctx, atTool); err != nil {
		return policy.Verdict{Permission: tool.Deny, Reason: err.Error()}
	}
	return v
}

// Stream implements [model.Model]: it says a sentence and calls the tool, and says
// another one once it has the result.
func (p *play) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	said, place := demoSaid, atModel
	if called(r.Messages) {
		said, place = demoDone, afterIt
	}
	if err := p.reach(ctx, place); err != nil {
		return model.Reply{}, err
	}
	words := strings.SplitAfter(said, " ")
	for i, w := range words {
		if i == len(words)/2 && place == atModel && p.at == atStream {
			if err := p.flushed(ctx, strings.Join(words[:i], "")); err != nil {
				return model.Reply{}, err
			}
			if err := p.reach(ctx, atStream); err != nil {
				return model.Reply{}, err
			}
		}
		emit(model.Delta{Kind: model.DeltaText, Text: w})
	}
	parts := []harness.Part{{Kind: harness.PartText, Text: said}}
	stop := harness.StopEnd
	if place == atModel {
		stop = harness.StopTools
		parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: "demo", Name: demoTool, Input: []byte(`{"line":"one line"}`)}})
	}
	return model.Reply{Parts: parts, Stop: stop, Model: demoModel, Usage: harness.Usage{CostKnown: true}}, nil
}

// flushed waits until the text that was streamed so far is on disk.
func (p *play) flushed(ctx context.Context, said string) error {
	for {
		switch text, err := p.partial(ctx); {
		case err != nil:
			return err
		case strings.HasPrefix(text, said):
			return nil
		}
		if !sleep(ctx, demoLook) {
			return ctx.Err()
		}
	}
}

// demoModel names the model of the demonstration: it needs no key.
const demoModel = "offline/cairn"

// called reports whether the last thing that was said is the result of a call.
func called(messages []harness.Message) bool {
	if len(messages) == 0 {
		return false
	}
	for _, part := range messages[len(messages)-1].Parts {
		if part.Result != nil {
			return true
		}
	}
	return false
}
