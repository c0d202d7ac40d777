package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/hook"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// clerk is a model that looks a customer up and repeats what it found.
type clerk struct{}

// Stream implements [model.Model].
func (clerk) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == harness.RoleTool {
		return spoken("I found " + last.Parts[0].Result.Text + "."), nil
	}
	call := harness.ToolCall{Name: "look_up", Input: json.RawMessage(`{"name":"Ada"}`)}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
}

// spoken is an answer in words.
func spoken(text string) model.Reply {
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}
}

type lookUpIn struct {
	Name string `json:"name" jsonschema:"whose record"`
}

// office has one tool.
func office() (*tool.Set, error) {
	lookUp, err := tool.New("look_up", "Look a customer up.", func(_ context.Context, _ tool.Call, in lookUpIn) (string, error) {
		return in.Name + ", card 4111 1111 1111 1111", nil
	}, tool.WithPermission(tool.Allow))
	if err != nil {
		return nil, err
	}
	set := new(tool.Set)
	return set, set.Add(lookUp)
}

// A hook sees each stage of a run, in order, and changes nothing.
func ExampleAgent_hooks() {
	tools, err := office()
	if err != nil {
		fmt.Println(err)
		return
	}
	watch := func(_ context.Context, e hook.Event) {
		switch e := e.(type) {
		case hook.LLMRequest:
			fmt.Printf("step %d: a request of %d messages\n", e.Step, e.Messages)
		case hook.ToolCallEnd:
			fmt.Printf("step %d: %s ran\n", e.Step, e.Call.Name)
		case hook.AgentEnd:
			fmt.Println("the run is", e.Result.Status)
		default:
		}
	}
	a, err := agent.New(agent.Options{Model: clerk{}, Tools: tools, Hooks: []hook.Func{watch}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := a.Run(context.Background(), "Who is Ada?"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// step 1: a request of 1 messages
	// step 1: look_up ran
	// step 2: a request of 3 messages
	// the run is completed
}

// redactor is middleware that lets no card number through: not to the model, not
// to the screen and not to the disk.
type redactor struct{}

var cards = regexp.MustCompile(`\d{4}( \d{4}){3}`)

// Name implements [agent.Extension].
func (redactor) Name() string { return "redactor" }

// Save implements [agent.Extension]: there is no state.
func (redactor) Save() (json.RawMessage, error) { return nil, nil }

// Load implements [agent.Extension].
func (redactor) Load(json.RawMessage) error { return nil }

// AfterTool implements [agent.AfterTool].
func (redactor) AfterTool(_ context.Context, _ hook.Place, _ harness.ToolCall, r harness.ToolResult) (harness.ToolResult, error) {
	r.Text = cards.ReplaceAllString(r.Text, "[card]")
	return r, nil
}

// BeforeModel implements [agent.BeforeModel].
func (redactor) BeforeModel(_ context.Context, _ hook.Place, r *model.Request) error {
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[j]
			p.Text = cards.ReplaceAllString(p.Text, "[card]")
		}
	}
	return nil
}

// Middleware stands between the model and the tools.
func ExampleAfterTool() {
	tools, err := office()
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := agent.New(agent.Options{Model: clerk{}, Tools: tools, Extensions: []agent.Extension{redactor{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := a.Run(context.Background(), "Whose card is 4111 1111 1111 1111?")
	fmt.Println(res.Text, err)
	for _, m := range a.Messages() {
		for _, p := range m.Parts {
			if p.Result != nil {
				fmt.Println("stored:", p.Result.Text)
			}
		}
	}
	// Output:
	// I found Ada, card [card]. <nil>
	// stored: Ada, card [card]
}

// tally is an extension that counts turns and has the model know of it.
type tally struct {
	mu    sync.Mutex
	Turns int `json:"turns"`
}

// Name implements [agent.Extension].
func (*tally) Name() string { return "tally" }

// Save implements [agent.Extension].
func (t *tally) Save() (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return json.Marshal(t)
}

// Load implements [agent.Extension].
func (t *tally) Load(state json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return json.Unmarshal(state, t)
}

// Install implements [agent.Installer].
func (*tally) Install(_ context.Context, h *agent.Host) error {
	h.AddSystem("You are told which turn this is.")
	return nil
}

// OnTurnEnd implements [agent.TurnEnder].
func (t *tally) OnTurnEnd(context.Context, hook.AgentEnd) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Turns++
	return nil
}

// BeforeModel implements [agent.BeforeModel].
func (t *tally) BeforeModel(_ context.Context, _ hook.Place, r *model.Request) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Context += fmt.Sprintf("\nThis is turn %d.", t.Turns+1)
	return nil
}

// lastLine is a model that repeats the end of what it is told of the situation.
type lastLine struct{}

// Stream implements [model.Model].
func (lastLine) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	return spoken(r.Context[strings.LastIndexByte(r.Context, '\n')+1:]), nil
}

// What an extension knows is saved and loaded with the conversation.
func ExampleTurnEnder() {
	ctx := context.Background()
	store := newOwnSnapshots()
	a, err := agent.New(agent.Options{Model: lastLine{}, Extensions: []agent.Extension{new(tally)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		res, err := a.Run(ctx, "Go on.")
		fmt.Println(res.Text, err)
	}
	id, err := a.SaveSession(ctx, store)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := agent.LoadSession(ctx, string(id), store, agent.Options{Model: lastLine{}, Extensions: []agent.Extension{new(tally)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := again.Run(ctx, "Go on.")
	fmt.Println(res.Text, err)
	// Output:
	// This is turn 1. <nil>
	// This is turn 2. <nil>
	// This is turn 3. <nil>
}

// historian is a model that writes a note when it is asked to condense.
type historian struct{}

// Stream implements [model.Model].
func (historian) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if r.Purpose == model.PurposeCondense {
		return spoken("The migration is planned for May."), nil
	}
	return spoken(fmt.Sprintf("I was sent %d messages.\n%s", len(r.Messages), strings.Repeat("And so on and so forth. ", 100))), nil
}

// A conversation is condensed on request. What is pinned stays in the context word
// for word, and all of it stays readable.
func ExampleAgent_Condense() {
	ctx := context.Background()
	a, err := agent.New(agent.Options{Model: historian{}, Info: model.Info{ID: "own/historian", Window: 64_000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 12 {
		if _, err := a.Run(ctx, fmt.Sprintf("Step %d of the plan?", i+1)); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := a.Pin(ctx, harness.Origin{Record: 1}); err != nil {
		fmt.Println(err)
		return
	}
	report, err := a.Condense(ctx, "dates")
	fmt.Println(report.Calls, "note,", report.After < report.Before/2, err)
	res, err := a.Run(ctx, "And now?")
	text, _, _ := strings.Cut(res.Text, "\n")
	fmt.Println(text, err)
	fmt.Println(len(a.Messages()), "messages are readable")
	// Output:
	// 1 note, true <nil>
	// I was sent 5 messages. <nil>
	// 26 messages are readable
}

// What tools returned long ago makes room without a call of the model.
func ExampleAgent_PruneToolResults() {
	ctx := context.Background()
	lookUp, err := tool.New("look_up", "Look a customer up.", func(context.Context, tool.Call, lookUpIn) (string, error) {
		return strings.Repeat("a line of the record\n", 500), nil
	}, tool.WithPermission(tool.Allow))
	tools := new(tool.Set)
	if err := errors.Join(err, tools.Add(lookUp)); err != nil {
		fmt.Println(err)
		return
	}
	a, err := agent.New(agent.Options{Model: clerk{}, Tools: tools, Info: model.Info{ID: "own/clerk", Window: 64_000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 10 {
		if _, err := a.Run(ctx, "Who is Ada?"); err != nil {
			fmt.Println(err)
			return
		}
	}
	report, err := a.PruneToolResults(ctx)
	fmt.Println(report.Cleared > 0, report.Calls, report.After < report.Before, err)
	// Output:
	// true 0 true <nil>
}
