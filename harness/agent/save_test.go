package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
	"cairn/harness/tool/ask"
)

// counter is an extension that counts.
type counter struct {
	name string
	mu   sync.Mutex
	n    int
}

func (c *counter) Name() string { return c.name }

func (c *counter) Save() (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n < 0 {
		return nil, errors.New("it counts below nothing")
	}
	if c.n == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]int{"n": c.n})
}

func (c *counter) Load(state json.RawMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s struct{ N int }
	if err := json.Unmarshal(state, &s); err != nil {
		return err
	}
	if s.N > 1000 {
		return errors.New("it counts too high")
	}
	c.n = s.N
	return nil
}

// memoryStore is a fresh snapshot store.
func memoryStore(t *testing.T) snapshot.Store {
	t.Helper()
	s, err := snapshot.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newAgent(t *testing.T, o agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// saved saves a and returns the id and what is then stored.
func saved(t *testing.T, a *agent.Agent, s snapshot.Store, extensions ...string) snapshot.Document {
	t.Helper()
	id, err := a.SaveSession(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := snapshot.Load(t.Context(), s, string(id), snapshot.Want{Extensions: extensions})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func run(t *testing.T, a *agent.Agent, text string) harness.Result {
	t.Helper()
	res, err := a.Run(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// priced is a model of which the price is known.
func priced() model.Info {
	return model.Info{ID: "test/echo", PriceKnown: true, InputPrice: 10, OutputPrice: 20}
}

func TestSavedSessionGoesOn(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	c := &counter{name: "count", n: 7}
	o := agent.Options{Model: answering(echo), Info: priced(), System: "Be short.", MaxSteps: 9, Extensions: []agent.Extension{c, &counter{name: "idle"}}}
	a := newAgent(t, o)
	run(t, a, "This project analyzes invoices.")
	d := saved(t, a, s, "count")
	if d.ID != a.SessionID() || d.Title != "This project analyzes invoices." || len(d.Records) != 2 || d.Head != 2 || d.Created.IsZero() {
		t.Errorf("saved is %+v", d)
	}
	if c := d.Config; c.Model != "test/echo" || c.System != "Be short." || c.Limits.Steps != 9 {
		t.Errorf("the configuration is %+v", c)
	}
	if u := d.Usage; u.Input != 3 || u.Output != 2 || !u.CostKnown || u.Cost != 7e-5 {
		t.Errorf("the usage is %+v", u)
	}
	if len(d.Extensions) != 1 || string(d.Extensions["count"]) != `{"n":7}` {
		t.Errorf("the extensions are %v", d.Extensions)
	}

	again := &counter{name: "count"}
	var asked model.Request
	b, err := agent.LoadSession(t.Context(), strings.ToUpper(string(d.ID)), s, agent.Options{
		Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			asked = r
			return echo(ctx, r, emit)
		}),
		Extensions: []agent.Extension{again},
	})
	if err != nil {
		t.Fatal(err)
	}
	if again.n != 7 || b.SessionID() != d.ID || len(b.Messages()) != 2 {
		t.Errorf("loaded are session %s, %d messages and %d", b.SessionID(), len(b.Messages()), again.n)
	}
	if res := run(t, b, "What does it analyze?"); res.Text != "iii: What does it analyze?" || asked.System != "Be short." {
		t.Errorf("it answers %q to the system prompt %q", res.Text, asked.System)
	}
	again.n++
	next := saved(t, b, s, "count")
	if len(next.Records) != 4 || next.Records[3].Prev != 3 || next.Usage.Input != 6 || next.Config != d.Config || next.Title != d.Title ||
		!next.Created.Equal(d.Created) || string(next.Extensions["count"]) != `{"n":8}` || next.Records[3].Message.Model != "test/echo" {
		t.Errorf("saved again it is %+v", next)
	}
}

func TestSaveIsRefusedWhileARunIsActiveAndAfterClose(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	begun, release := make(chan struct{}), make(chan struct{})
	a := newAgent(t, agent.Options{Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		close(begun)
		<-release
		return echo(ctx, r, emit)
	})})
	ended := make(chan error)
	go func() {
		_, err := a.Run(t.Context(), "go")
		ended <- err
	}()
	<-begun
	if id, err := a.SaveSession(t.Context(), s); !errors.Is(err, harness.ErrBusy) || id != "" {
		t.Errorf("during a run it gives %q, %v", id, err)
	}
	if keys, err := s.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("stored is %q, %v", keys, err)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	saved(t, a, s)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.SaveSession(t.Context(), s); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("closed, it gives %v", err)
	}
}

func TestReplacedMessagesAreSavedWithWhatWasBefore(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	a := newAgent(t, agent.Options{Model: answering(echo)})
	run(t, a, "old")
	msgs := []harness.Message{harness.UserText("new"), harness.AssistantText("yes")}
	if err := a.SetMessages(t.Context(), msgs); err != nil {
		t.Fatal(err)
	}
	if d := saved(t, a, s); len(d.Records) != 5 || d.Records[2].Kind != harness.RecordReset || d.Title != "old" {
		t.Errorf("saved is %+v", d)
	}
	b, err := agent.LoadSession(t.Context(), string(a.SessionID()), s, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Messages(); len(got) != 2 || got[0].Text() != "new" {
		t.Errorf("in context are %+v", got)
	}
	if res := run(t, b, "more"); !strings.HasPrefix(res.Text, "iii:") {
		t.Errorf("the model is sent %q", res.Text)
	}
}

func TestBranchesAreSavedAndGoOnFromTheHead(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	d := snapshot.Document{ID: "tree", Learned: map[string]snapshot.Learned{"p/m": {Window: 64_000}}}
	say := func(m harness.Message) { d.Append(harness.Record{Kind: harness.RecordMessage, Message: &m}) }
	say(harness.UserText("a"))
	say(harness.AssistantText("b"))
	say(harness.UserText("left"))
	d.Head = 2
	say(harness.UserText("right"))
	say(harness.AssistantText("yes"))
	if _, err := snapshot.Save(t.Context(), s, d); err != nil {
		t.Fatal(err)
	}
	a, err := agent.LoadSession(t.Context(), "tree", s, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	if res := run(t, a, "go on"); !strings.HasPrefix(res.Text, "iiiii:") {
		t.Errorf("the model is sent %q", res.Text)
	}
	got := saved(t, a, s)
	if len(got.Records) != 7 || got.Records[2].Message.Text() != "left" || got.Records[5].Prev != 5 || got.Head != 7 || got.Learned["p/m"].Window != 64_000 {
		t.Errorf("saved is %+v", got)
	}
}

// planner is a model that sets a list of todos, then answers.
func planner(list string) answering {
	return func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if r.Messages[len(r.Messages)-1].Role != harness.RoleUser {
			return echo(ctx, r, emit)
		}
		return model.Reply{Stop: harness.StopTools, Parts: []harness.Part{{
			Kind: harness.PartCall, Call: &harness.ToolCall{Origin: "1", Name: ask.TodosTool, Input: json.RawMessage(list)},
		}}}, nil
	}
}

func TestTaskListIsSaved(t *testing.T) {
	t.Parallel()
	set := new(tool.Set)
	if err := ask.Register(set); err != nil {
		t.Fatal(err)
	}
	s := memoryStore(t)
	list := `{"todos":[{"text":"count","status":"completed"},{"text":"sum  up"}]}`
	a := newAgent(t, agent.Options{Model: planner(list), Tools: set})
	run(t, a, "plan")
	want := []snapshot.Task{{Text: "count", Status: "completed"}, {Text: "sum up", Status: "pending"}}
	if d := saved(t, a, s); fmt.Sprint(d.Tasks) != fmt.Sprint(want) {
		t.Errorf("the tasks are %+v", d.Tasks)
	}
	b, err := agent.LoadSession(t.Context(), string(a.SessionID()), s, agent.Options{Model: planner(`{"todos":[{"text":""}]}`), Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	run(t, b, "a list that the tool refuses")
	if d := saved(t, b, s); fmt.Sprint(d.Tasks) != fmt.Sprint(want) {
		t.Errorf("after a refused list the tasks are %+v", d.Tasks)
	}
}

// writeOnly is Artifacts from which nothing can be read.
type writeOnly struct{ to snapshot.Artifacts }

func (w writeOnly) Put(ctx context.Context, id harness.SessionID, data []byte) (string, error) {
	return w.to.Put(ctx, id, data)
}

// verbose returns a set with a tool whose result is too long for a conversation,
// and a model that calls it.
func verbose(t *testing.T, kept tool.Artifacts) (*tool.Set, answering) {
	t.Helper()
	set := &tool.Set{Artifacts: kept}
	read, err := tool.New("read", "Reads.", func(context.Context, tool.Call, struct{}) (string, error) {
		return strings.Repeat("a line of a long result\n", 1000), nil
	}, tool.WithPermission(tool.Allow))
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Add(read); err != nil {
		t.Fatal(err)
	}
	return set, func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if r.Messages[len(r.Messages)-1].Role != harness.RoleUser {
			return echo(ctx, r, emit)
		}
		return model.Reply{Stop: harness.StopTools, Parts: []harness.Part{{
			Kind: harness.PartCall, Call: &harness.ToolCall{Origin: "1", Name: "read", Input: json.RawMessage(`{}`)},
		}}}, nil
	}
}

func TestArtifactsTravelWithTheSession(t *testing.T) {
	t.Parallel()
	here, there, elsewhere := memoryStore(t), memoryStore(t), memoryStore(t)
	set, m := verbose(t, snapshot.Artifacts{Store: here})
	a := newAgent(t, agent.Options{Model: m, Tools: set})
	run(t, a, "read")
	d := saved(t, a, there)
	if len(d.Artifacts) != 1 || len(d.Artifacts[0].Data) != 24_000 {
		t.Fatalf("saved are %d artifacts", len(d.Artifacts))
	}
	for name, kept := range map[string]tool.Artifacts{
		"nowhere": nil, "a place to write to": writeOnly{snapshot.Artifacts{Store: memoryStore(t)}}, "a place to read from": snapshot.Artifacts{Store: memoryStore(t)},
	} {
		set, m := verbose(t, kept)
		b, err := agent.LoadSession(t.Context(), string(a.SessionID()), there, agent.Options{Model: m, Tools: set})
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := kept.(snapshot.Artifacts); ok {
			if data, err := r.Get(t.Context(), b.SessionID(), d.Artifacts[0].SHA256); err != nil || !bytes.Equal(data, d.Artifacts[0].Data) {
				t.Errorf("%s: the tools find %d bytes, %v", name, len(data), err)
			}
		}
		if got := saved(t, b, elsewhere); len(got.Artifacts) != 1 || !bytes.Equal(got.Artifacts[0].Data, d.Artifacts[0].Data) {
			t.Errorf("%s: saved again it has %d artifacts", name, len(got.Artifacts))
		}
	}
}

func TestSaveNamesTheArtifactsThatAreMissing(t *testing.T) {
	t.Parallel()
	s := memoryStore(t)
	set, m := verbose(t, writeOnly{snapshot.Artifacts{Store: s}})
	a := newAgent(t, agent.Options{Model: m, Tools: set})
	run(t, a, "read")
	sum := a.Messages()[2].Parts[0].Result.Artifact
	there := memoryStore(t)
	if _, err := a.SaveSession(t.Context(), there); !errors.Is(err, snapshot.ErrArtifacts) || !strings.Contains(err.Error(), sum) {
		t.Errorf("it gives %v", err)
	}
	if keys, err := there.List(t.Context(), ""); err != nil || len(keys) > 0 {
		t.Errorf("stored is %q, %v", keys, err)
	}
	if _, err := agent.Open(t.Context(), agent.Session{Store: agent.Snapshots(there)}, agent.Options{Model: m, Tools: set}); err == nil || !strings.Contains(err.Error(), "snapshot.Artifacts") {
		t.Errorf("opened in a place that must read them it gives %v", err)
	}
}

func TestFilesAreArtifactsOfTheSession(t *testing.T) {
	t.Parallel()
	data := []byte("an image")
	s := memoryStore(t)
	sum, err := snapshot.Artifacts{Store: s}.Put(t.Context(), "x", data)
	if err != nil {
		t.Fatal(err)
	}
	file := func(f harness.File) harness.Message {
		return harness.Message{Role: harness.RoleUser, Parts: []harness.Part{{Kind: harness.PartText, Text: "look"}, {Kind: harness.PartFile, File: &f}}}
	}
	for name, tc := range map[string]struct {
		file harness.File
		is   error
	}{
		"with its bytes":     {harness.File{MediaType: "image/png", Artifact: sum, Data: data}, nil},
		"without":            {harness.File{MediaType: "image/png", Artifact: sum}, snapshot.ErrArtifacts},
		"with other bytes":   {harness.File{MediaType: "image/png", Artifact: sum, Data: []byte("another")}, snapshot.ErrInvalid},
		"not kept by itself": {harness.File{MediaType: "image/png", Data: data}, nil},
	} {
		a := newAgent(t, agent.Options{Model: answering(echo)})
		if err := a.SetMessages(t.Context(), []harness.Message{file(tc.file), harness.AssistantText("yes")}); err != nil {
			t.Fatal(err)
		}
		there := memoryStore(t)
		if _, err := a.SaveSession(t.Context(), there); !errors.Is(err, tc.is) {
			t.Errorf("%s: %v", name, err)
		}
		if tc.is != nil {
			continue
		}
		d := saved(t, a, there)
		if kept := tc.file.Artifact != ""; (len(d.Artifacts) == 1) != kept || kept && (!bytes.Equal(d.Artifacts[0].Data, data) || d.Artifacts[0].MediaType != "image/png") {
			t.Errorf("%s: saved are %+v", name, d.Artifacts)
		}
	}
}
