package uitest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"cairn/harness"
	"cairn/harness/model"  //nolint:depguard // a world is what stands behind the screens
	"cairn/harness/policy" //nolint:depguard // a world is what stands behind the screens
	"cairn/harness/tool"   //nolint:depguard // a world is what stands behind the screens
)

// asking has tools ask that want to, and offers the world's rules.
type asking struct{ w *World }

// Judge implements [policy.Policy].
func (a asking) Judge(ctx context.Context, c tool.Call, t tool.Tool, call harness.ToolCall) policy.Verdict {
	if t.Touches != nil { // the real rules can tell what it would do
		return policy.Rules{Grants: a.w.Store.Grants(), Interactive: true}.Judge(ctx, c, t, call)
	}
	v := policy.Rules{Interactive: true}.Judge(ctx, c, t, call)
	if v.Permission == tool.Ask {
		v.Rule = ""
		v.Session, v.Always = a.w.Rules[t.Name][0], a.w.Rules[t.Name][1]
	}
	return v
}

// Ran is the list of the calls that a world's tools were really run with.
type Ran struct {
	mu    sync.Mutex
	calls []string
	hangs bool
}

// Hang has calls not end from now on, until they are stopped.
func (r *Ran) Hang() { r.set(true) }

// Work has calls end at once again.
func (r *Ran) Work() { r.set(false) }

func (r *Ran) set(hangs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hangs = hangs
}

// Calls are the inputs so far, in order.
func (r *Ran) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.calls...)
}

// add notes a call and says whether it is not to end.
func (r *Ran) add(input string) (hangs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, input)
	return r.hangs
}

// Asking gives the model a tool that asks before it runs, and shows p. It
// returns what it was run with.
func (w *World) Asking(name string, p harness.Proposal) *Ran {
	w.tb.Helper()
	ran := new(Ran)
	t, err := tool.New(name, "a tool of the test", func(ctx context.Context, c tool.Call, _ map[string]any) (string, error) {
		if ran.add(string(c.Input)) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "ran", nil
	}, tool.WithPermission(tool.Ask))
	if err == nil {
		t.Propose = func(context.Context, tool.Call) (harness.Proposal, error) { return p, nil }
		err = w.Tools.Add(t)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
	return ran
}

// Shell gives the model the tool run_command, judged by the real rules. It runs
// nothing and says so; it returns what it was called with.
func (w *World) Shell() *Ran {
	w.tb.Helper()
	ran := new(Ran)
	type in struct {
		Command string `json:"command"`
	}
	text := func(c tool.Call) (string, error) {
		var i in
		err := json.Unmarshal(c.Input, &i)
		return i.Command, err
	}
	t, err := tool.New("run_command", "runs a command", func(_ context.Context, c tool.Call, i in) (string, error) {
		ran.add(i.Command)
		return "(no output)\nexit code 0", nil
	}, tool.WithPermission(tool.Ask), tool.WithTouches(func(c tool.Call) ([]tool.Access, error) {
		command, err := text(c)
		return []tool.Access{{Kind: tool.AccessRun, Command: command}}, err
	}), tool.WithPropose(func(_ context.Context, c tool.Call) (harness.Proposal, error) {
		command, err := text(c)
		return harness.Proposal{Kind: harness.ProposalCommand, Body: command}, err
	}))
	if err == nil {
		err = w.Tools.Add(t)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
	return ran
}

// CallsAll asks for several calls in one reply, each a name and an input.
func CallsAll(calls ...[2]string) Answer {
	return func(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Reply, error) {
		if err := wait(ctx, Pause); err != nil {
			return model.Reply{}, err
		}
		parts := make([]harness.Part, len(calls))
		for i, c := range calls {
			parts[i] = harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: fmt.Sprintf("c%d", i+1), Name: c[0], Input: []byte(c[1])}}
		}
		return reply(harness.StopTools, parts...), nil
	}
}
