// Package agenttest holds the suite of [agent.Store]. The one thing to know: a
// store is judged by what an agent finds when it opens a conversation again, so
// each case closes and opens as a program would.
package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
)

// TestStore tests an [agent.Store]. open opens an empty store, which the test
// that is given to it may close when it ends.
func TestStore(t *testing.T, open func(t *testing.T) agent.Store) {
	t.Parallel()
	for name, test := range map[string]func(*fixture){
		"a conversation that is not there is empty":  testEmpty,
		"records are numbered in order":              testNumbers,
		"a conversation is as it was left":           testReopen,
		"a tail is the end, oldest first":            testTail,
		"what is given and returned is not shared":   testAliases,
		"every kind of record comes back":            testKinds,
		"conversations do not mix":                   testApart,
		"an open conversation is held":               testHeld,
		"a call that is given up writes nothing":     testGivenUp,
		"an agent goes on where it stopped":          testAgent,
		"replaced messages stay, out of the context": testReplace,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&fixture{T: t, Store: open(t)})
		})
	}
}

// fixture is the store of one case.
type fixture struct {
	*testing.T
	agent.Store
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) open(id harness.SessionID) agent.Log {
	f.Helper()
	log, err := f.Open(f.Context(), id)
	f.must(err)
	return log
}

func (f *fixture) tail(log agent.Log, limit int) []harness.Record {
	f.Helper()
	records, err := log.Tail(f.Context(), limit)
	f.must(err)
	return records
}

// same fails unless the records are those wanted, by number and text.
func (f *fixture) same(what string, got, want []harness.Record) {
	f.Helper()
	if g, w := brief(got), brief(want); g != w {
		f.Fatalf("%s: got %s, want %s", what, g, w)
	}
}

func brief(records []harness.Record) string {
	s := ""
	for _, r := range records {
		text := string(r.Data)
		if r.Message != nil {
			text = string(r.Message.Role) + " " + r.Message.Text()
		}
		s += fmt.Sprintf("[%d after %d: %s %s]", r.Seq, r.Prev, r.Kind, text)
	}
	return s
}

// at is when the records of the suite were made.
func at() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func says(m harness.Message) harness.Record {
	return harness.Record{At: at(), Kind: harness.RecordMessage, Message: &m}
}

func testEmpty(f *fixture) {
	log := f.open("x")
	f.same("a new conversation", f.tail(log, 0), nil)
	f.must(log.Close())
	log = f.open("x")
	f.same("one that was opened and left", f.tail(log, 0), nil)
	f.must(log.Close())
}

func testNumbers(f *fixture) {
	log := f.open("x")
	one, err := log.Append(f.Context(), says(harness.UserText("a")), says(harness.AssistantText("b")))
	f.must(err)
	two, err := log.Append(f.Context(), says(harness.UserText("c")))
	f.must(err)
	got := append(one, two...)
	if len(got) != 3 {
		f.Fatalf("%d records came back, want 3", len(got))
	}
	for i, r := range got {
		if r.Seq != i+1 || r.Prev != i {
			f.Errorf("record %d has number %d and follows %d", i+1, r.Seq, r.Prev)
		}
	}
	f.same("all", f.tail(log, 0), got)
	f.must(log.Close())
}

func testReopen(f *fixture) {
	var want []harness.Record
	for n := range 3 {
		log := f.open("x")
		f.same("at the opening", f.tail(log, 0), want)
		added, err := log.Append(f.Context(), says(harness.UserText(fmt.Sprint("message ", n))))
		f.must(err)
		want = append(want, added...)
		f.must(log.Close())
	}
	log := f.open("x")
	got := f.tail(log, 0)
	f.same("at the end", got, want)
	if !got[0].At.Equal(at()) {
		f.Errorf("it was stored at %s, came back as %s", at(), got[0].At)
	}
	f.must(log.Close())
}

func testTail(f *fixture) {
	log := f.open("x")
	for n := range 5 {
		_, err := log.Append(f.Context(), says(harness.UserText(fmt.Sprint(n))))
		f.must(err)
	}
	all := f.tail(log, 0)
	for limit := 1; limit <= 7; limit++ {
		f.same(fmt.Sprint("the last ", limit), f.tail(log, limit), all[max(0, 5-limit):])
	}
	f.must(log.Close())
}

func testAliases(f *fixture) {
	log := f.open("x")
	m := harness.UserText("as it was")
	added, err := log.Append(f.Context(), harness.Record{At: at(), Kind: harness.RecordMessage, Message: &m})
	f.must(err)
	m.Parts[0].Text = "changed by the caller"
	added[0].Message = nil
	read := f.tail(log, 0)
	read[0].Message.Parts[0].Text = "changed by a reader"
	if got := f.tail(log, 0); got[0].Message == nil || got[0].Message.Text() != "as it was" {
		f.Errorf("the record is now %s", brief(got))
	}
	f.must(log.Close())
}

func testKinds(f *fixture) {
	call := harness.ToolCall{ID: "r_1_1", Origin: "call_0", Name: "t", Input: json.RawMessage(`{"a":"<&>\u2028"}`)}
	answer := harness.Message{Role: harness.RoleAssistant, Model: "p/m", Mark: harness.MarkInterrupted, Used: []string{"f1"}, Usage: &harness.Usage{Input: 3, CostKnown: true}, Parts: []harness.Part{
		{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "p", Data: json.RawMessage(`{"s":1}`)}},
		{Kind: harness.PartText, Text: "日本 \x00 e\u0301"},
		{Kind: harness.PartCall, Call: &call},
	}}
	result := harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{
		Kind: harness.PartResult, Result: &harness.ToolResult{CallID: call.ID, Name: "t", Text: "ok", Unknown: true},
	}}}
	given := []harness.Record{
		says(harness.UserText("go")), says(answer), says(result),
		{At: at(), Kind: harness.RecordReset},
		{At: at(), Kind: harness.RecordConfig, Data: json.RawMessage(`{"key":"model","new":"p/n"}`)},
	}
	given[1].Run = "r"
	log := f.open("x")
	added, err := log.Append(f.Context(), given...)
	f.must(err)
	f.must(log.Close())
	log = f.open("x")
	got := f.tail(log, 0)
	if len(got) != len(added) {
		f.Fatalf("%d records came back of %d", len(got), len(added))
	}
	for i := range got {
		want, err := json.Marshal(added[i])
		f.must(err)
		have, err := json.Marshal(got[i])
		f.must(err)
		if string(have) != string(want) || got[i].Kind != given[i].Kind {
			f.Errorf("record %d came back as\n%s\nwant\n%s", i+1, have, want)
		}
	}
	f.must(log.Close())
}

func testApart(f *fixture) {
	a, b := f.open("a"), f.open("b")
	_, err := a.Append(f.Context(), says(harness.UserText("of a")))
	f.must(err)
	_, err = b.Append(f.Context(), says(harness.UserText("of b")))
	f.must(err)
	if got := f.tail(a, 0); len(got) != 1 || got[0].Message.Text() != "of a" {
		f.Errorf("conversation a is %s", brief(got))
	}
	f.must(a.Close())
	f.must(b.Close())
}

func testHeld(f *fixture) {
	log := f.open("x")
	second, err := f.Open(f.Context(), "x")
	if _, held := harness.AsHeld(err); !held {
		f.Fatalf("a second opening gives %v, %v; want that it is held", second, err)
	}
	_, err = agent.Open(f.Context(), agent.Session{ID: "x", Store: f.Store}, agent.Options{Model: echo{}})
	if _, held := harness.AsHeld(err); !held {
		f.Errorf("an agent on it gives %v, want that it is held", err)
	}
	f.must(log.Close())
	f.must(f.open("x").Close())
}

func testGivenUp(f *fixture) {
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	log := f.open("x")
	if _, err := log.Append(ctx, says(harness.UserText("late"))); err == nil {
		f.Error("an append on an ended context worked")
	}
	f.same("after that", f.tail(log, 0), nil)
	f.must(log.Close())
}

// echo answers with the number of messages it was sent.
type echo struct{}

// Stream implements [model.Model].
func (echo) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	text := fmt.Sprintf("%d messages", len(r.Messages))
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}, nil
}

func (f *fixture) agent() *agent.Agent {
	f.Helper()
	a, err := agent.Open(f.Context(), agent.Session{ID: "x", Store: f.Store}, agent.Options{Model: echo{}})
	f.must(err)
	return a
}

func testAgent(f *fixture) {
	for n := range 3 {
		a := f.agent()
		if got := len(a.Messages()); got != 2*n {
			f.Errorf("start %d finds %d messages, want %d", n+1, got, 2*n)
		}
		res, err := a.Run(f.Context(), "hello")
		f.must(err)
		if want := fmt.Sprintf("%d messages", 2*n+1); res.Text != want {
			f.Errorf("the model was sent %s, want %s", res.Text, want)
		}
		f.must(a.Close())
	}
}

func testReplace(f *fixture) {
	a := f.agent()
	_, err := a.Run(f.Context(), "old")
	f.must(err)
	f.must(a.SetMessages(f.Context(), []harness.Message{harness.UserText("new"), harness.AssistantText("yes")}))
	f.must(a.Close())
	a = f.agent()
	if got := a.Messages(); len(got) != 2 || got[0].Text() != "new" {
		f.Errorf("in context are %d messages, want the two new ones", len(got))
	}
	f.must(a.Close())
	log := f.open("x")
	if got := f.tail(log, 0); len(got) != 5 {
		f.Errorf("stored are %s, want two old records, the reset and two new ones", brief(got))
	}
	f.must(log.Close())
}
