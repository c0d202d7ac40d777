package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// tidy is a model that wants to delete a file and says what came of it.
type tidy struct{}

// Stream implements [model.Model].
func (tidy) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == harness.RoleTool {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: last.Parts[0].Result.Text}}, Stop: harness.StopEnd}, nil
	}
	call := harness.ToolCall{Name: "delete", Input: json.RawMessage(`{"path":"old.log"}`)}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
}

type deleteIn struct {
	Path string `json:"path" jsonschema:"the file"`
}

func del(_ context.Context, _ tool.Call, in deleteIn) (string, error) {
	return in.Path + " is gone", nil
}

// program is one start of a program: an engine, and the right to a session.
func program(ctx context.Context, st *mem.Store) (*run.Local, harness.Lease, error) {
	remove, err := tool.New("delete", "Delete a file.", del)
	tools := new(tool.Set)
	err = errors.Join(err, tools.Add(remove))
	engine := run.NewLocal(run.Options{
		Journal: st.Journal(), Transcript: st.Transcript(), Engine: mem.Engine,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: tidy{}, Tools: tools}, nil
		},
	})
	lease, acquired := st.Owners().Acquire(ctx, harness.Session{ID: "tidy"}, harness.Holder{Purpose: "example"})
	return engine, lease, errors.Join(err, acquired)
}

// A run waits for a person for as long as it takes, and the program may end
// meanwhile: the next one shows the same call, and a yes is to exactly that.
func Example_approval() {
	ctx := context.Background()
	st := mem.New(nil) // with bolt.Open the second program may be another process

	engine, lease, err := program(ctx, st)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := engine.Start(ctx, harness.StartRequest{Lease: lease, Message: harness.UserText("Tidy up.")})
	if err != nil {
		fmt.Println(err)
		return
	}
	seen := 0 // the last journal entry that this program has told of
	for e := range h.Events(ctx, 0) {
		seen = max(seen, e.Seq)
	}
	id := h.ID()
	fmt.Println(engine.Close(ctx), st.Owners().Release(ctx, lease))

	engine, lease, err = program(ctx, st)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := engine.Get(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range r.Pending {
		fmt.Printf("%s: %s %s\n", r.Status, p.Call.Name, p.Call.Input)
		if h, err = engine.Approve(ctx, lease, id, p, "ada"); err != nil {
			fmt.Println(err)
			return
		}
	}
	for e := range h.Events(ctx, seen) {
		if e.Seq > 0 {
			fmt.Println("  ", e.Type)
		}
	}
	res, err := h.Wait(ctx)
	fmt.Println(res.Status, res.Text, err)
	fmt.Println(engine.Close(ctx), st.Owners().Release(ctx, lease))
	// Output:
	// <nil> <nil>
	// awaiting_input: delete {"path":"old.log"}
	//    decided
	//    tool_start
	//    tool_result
	//    message
	//    run_result
	// completed old.log is gone <nil>
	// <nil> <nil>
}
