package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
)

// doing is a model that does what it is told: a line "call TOOL ARGUMENT" of
// the last message is a call; the answer to results repeats them.
type doing struct{}

func (doing) Stream(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	reply := model.Reply{Stop: harness.StopEnd, Model: "openai/test"}
	if last.Role != harness.RoleUser {
		var got []string
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Result != nil {
					got = append(got, p.Result.Text)
				}
			}
		}
		text := "results: " + strings.Join(got, " | ")
		emit(model.Delta{Kind: model.DeltaText, Text: text})
		reply.Parts = []harness.Part{{Kind: harness.PartText, Text: text}}
		return reply, nil
	}
	for i, line := range strings.Split(strings.NewReplacer(`\e`, "\x1b", `\r`, "\r", " and ", "\n").Replace(last.Text()), "\n") {
		words := strings.SplitN(line, " ", 3)
		if words[0] != "call" {
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartText, Text: line})
			continue
		}
		key := map[string]string{"run_command": "command", "ask_user": "question", "deploy": "to"}[words[1]]
		input, err := json.Marshal(map[string]string{key: words[2]})
		if err != nil {
			return reply, err
		}
		reply.Stop = harness.StopTools
		reply.Parts = append(reply.Parts, harness.Part{
			Kind: harness.PartCall, Call: &harness.ToolCall{Origin: fmt.Sprintf("c%d", i), Name: words[1], Input: input},
		})
	}
	return reply, nil
}

// tools are one that runs a command (it only repeats it), one that asks, and one
// that hangs the first time.
func (w *scriptWorld) tools() (*tool.Set, error) {
	command := tool.Tool{
		Name: "run_command", Description: "runs a command", Permission: tool.Ask, Schema: []byte(`{"type":"object"}`),
		Touches: func(c tool.Call) ([]tool.Access, error) {
			return []tool.Access{{Kind: tool.AccessRun, Command: argument(c)}}, nil
		},
		Propose: func(_ context.Context, c tool.Call) (harness.Proposal, error) {
			return harness.Proposal{Kind: harness.ProposalCommand, Body: argument(c), About: []string{"in /src"}}, nil
		},
		Run: func(_ context.Context, c tool.Call) (string, error) { return "ran " + argument(c), nil },
	}
	deploy := tool.Tool{
		Name: "deploy", Description: "deploys", Permission: tool.Allow, Schema: []byte(`{"type":"object"}`),
		Run: func(ctx context.Context, c tool.Call) (string, error) {
			if w.deployed.Add(1) > 1 {
				return "deployed to " + argument(c), nil
			}
			w.hangs <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		},
	}
	set := new(tool.Set)
	return set, errors.Join(set.Add(command), set.Add(deploy), ask.Register(set))
}

// argument is the only argument of a call.
func argument(c tool.Call) string {
	var args map[string]string
	if json.Unmarshal(c.Input, &args) != nil {
		return ""
	}
	for _, v := range args {
		return v
	}
	return ""
}

// deciding is the engine of the program itself, with the rules of a start.
func (w *scriptWorld) deciding(s Setup) (harness.Engine, error) {
	set, err := w.tools()
	if err != nil {
		return nil, err
	}
	p := s.Config.Permissions
	rules := policy.Rules{
		Allow: p.Allow, Ask: p.Ask, Deny: p.Deny, Grants: w.store.Grants(), Interactive: s.Interactive, Mode: p.Mode,
	}
	spend := &policy.Budget{Spending: w.store.Spending(), Limits: s.Config.Spending, Now: w.now}
	return run.NewLocal(run.Options{
		Journal: w.store.Journal(), Transcript: w.store.Transcript(), Grants: w.store.Grants(), Engine: "memory", Now: w.now,
		Steps: func(_ context.Context, c harness.RunConfig) (agent.Steps, error) {
			info := model.Info{ID: c.Model}
			if s.Config.Spending.Any() {
				info = s.Environment().Catalogue.Info(c.Model)
			}
			return agent.Steps{
				Model: doing{}, Info: info, Tools: set, Budget: spend, Now: w.now, Policy: rules,
				Compose: (&memory.Composer{}).Compose,
			}, nil
		},
	}), nil
}

// begin starts a turn in a session and returns the engine, the run and the right
// to the session.
func (w *scriptWorld) begin(ts *testscript.TestScript, id, text string) (harness.Engine, harness.RunHandle, harness.Lease) {
	ctx := context.Background()
	w.decides = true
	lease, err := w.store.Owners().Acquire(ctx, harness.Session{ID: harness.SessionID(id)}, harness.Holder{PID: 1})
	ts.Check(err)
	engine, err := w.deciding(Setup{Interactive: true})
	ts.Check(err)
	h, err := engine.Start(ctx, harness.StartRequest{
		Lease: lease, Message: harness.UserText(text), Config: harness.RunConfig{Agent: "cairn@1", Model: "openai/test"},
		Dir: ts.MkAbs("."),
	})
	ts.Check(err)
	ts.Setenv("RUN", string(h.ID()))
	return engine, h, lease
}

// waiting leaves a session with a run that waits for decisions. The calls that
// wait are $CALL1, $CALL2 and so on, and $DIGEST is that of the first.
func waiting(ts *testscript.TestScript, _ bool, args []string) {
	w, ctx := world(ts), context.Background()
	engine, h, lease := w.begin(ts, args[0], args[1])
	res, err := h.Wait(ctx)
	ts.Check(err)
	if len(res.Pending) == 0 {
		ts.Fatalf("the run waits for nothing: %+v", res)
	}
	for i, p := range res.Pending {
		ts.Setenv(fmt.Sprintf("CALL%d", i+1), p.Call.ID)
	}
	ts.Setenv("DIGEST", res.Pending[0].Digest)
	ts.Check(engine.Close(ctx))
	ts.Check(w.store.Owners().Release(ctx, lease))
}

// crash leaves a session with a run whose program died while a tool ran.
func crash(ts *testscript.TestScript, _ bool, args []string) {
	w, ctx := world(ts), context.Background()
	w.deployed.Store(0)
	w.hangs = make(chan struct{}, 1)
	engine, h, _ := w.begin(ts, args[0], args[1])
	<-w.hangs
	w.store.Abandon()
	ts.Defer(func() {
		// The dead program's engine finds that its run is another's now.
		_ = engine.Cancel(ctx, h.ID())
		_ = engine.Close(ctx)
	})
}
