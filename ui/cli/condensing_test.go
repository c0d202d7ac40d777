package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/memory/condense"
	"cairn/harness/model"
	"cairn/harness/policy"
)

// noting is a model that writes notes. It says how many it wrote.
type noting struct{ asked *int }

func (m noting) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	*m.asked++
	if strings.Contains(fmt.Sprint(r.Messages), "sulking") {
		return model.Reply{}, &model.Error{Kind: model.KindNetwork, Message: "the line is down"}
	}
	return model.Reply{
		Parts: []harness.Part{{Kind: harness.PartText, Text: fmt.Sprintf("## Facts\nnote %d \x1b[2J says that the port is 8080", *m.asked)}},
		Stop:  harness.StopEnd, Usage: harness.Usage{Input: 900, Output: 90},
	}, nil
}

// condenser condenses with a model of a small window.
func (w *scriptWorld) condenser(c ChatSetup) Condenser {
	return &condense.Sessions{
		Sessions: w.store.Sessions(), Transcript: w.store.Transcript(), Now: w.now, Book: w.store.Ledger().Book,
		Budget: &policy.Budget{Spending: w.store.Spending(), Limits: c.Setup.Config.Spending, Now: w.now},
		Model: func(context.Context, harness.Session) (model.Model, model.Info, string, error) {
			return noting{&w.asked}, model.Info{ID: "openai/gpt-test", Window: 8_000, MaxOutput: 1_000, PriceKnown: true, InputPrice: 1, OutputPrice: 10}, "openai/gpt-test", nil
		},
		Request: func(_ context.Context, s harness.Session) (memory.In, error) {
			return memory.In{Session: s.ID, Now: w.now()}, nil
		},
	}
}

// talks is the command talks: it leaves a session with so many turns, each with a
// word in it.
func talks(ts *testscript.TestScript, _ bool, args []string) {
	ctx, w := context.Background(), world(ts)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lease, err := w.store.Owners().Acquire(ctx, harness.Session{ID: harness.SessionID(args[0])}, harness.Holder{PID: 1})
	ts.Check(err)
	for i := range n {
		user, answer := harness.UserText(fmt.Sprint("question ", i, " ", args[2])), harness.AssistantText(fmt.Sprint("answer ", i, " ", strings.Repeat("abc ", 200)))
		_, err = w.store.Transcript().Append(ctx, lease, harness.Record{Kind: harness.RecordMessage, At: w.now(), Message: &user},
			harness.Record{Kind: harness.RecordMessage, At: w.now(), Message: &answer})
		ts.Check(err)
	}
	ts.Check(w.store.Owners().Release(ctx, lease))
}

// keeps is the command keeps: it leaves a result in a session that is too long for
// it, and its id in $SUM.
func keeps(ts *testscript.TestScript, _ bool, args []string) {
	sum, err := world(ts).store.Artifacts().Put(context.Background(), harness.SessionID(args[0]), []byte(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Setenv("SUM", sum)
	ts.Setenv("SHORT", sum[:12])
}
