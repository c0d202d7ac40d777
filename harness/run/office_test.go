package run_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// office is one store through the lives of several processes, with tools whose
// effects are lines of a file that no store knows.
type office struct {
	store

	t      *testing.T
	dir    string
	policy policy.Policy
	// wanted are the tools that the model calls in its first answer, with their
	// arguments.
	wanted []harness.ToolCall
	// tools are offered by every process.
	tools []tool.Tool
	// model answers; nil means the office itself.
	model model.Model

	mu sync.Mutex
	// shown is what a person was shown first of each call.
	shown map[string]harness.Pending
}

// newOffice returns an office in which the model asks for these tools at once:
// look is safe, note is idempotent, pay is manual, and write is manual and asks.
func newOffice(t *testing.T, s store, wanted ...string) *office {
	t.Helper()
	o := &office{store: s, t: t, dir: t.TempDir(), policy: policy.Rules{Interactive: true}, shown: map[string]harness.Pending{}}
	for _, name := range wanted {
		o.wanted = append(o.wanted, harness.ToolCall{ID: "call_0", Name: name, Input: json.RawMessage(`{"text":"for ` + name + `"}`)})
	}
	for name, replay := range map[string]tool.Replay{"look": tool.Safe, "note": tool.Idempotent, "pay": tool.Manual} {
		o.tools = append(o.tools, o.tool(name, tool.WithReplay(replay), tool.WithPermission(tool.Allow)))
	}
	o.tools = append(o.tools, o.tool("write", tool.WithPropose(func(_ context.Context, c tool.Call) (harness.Proposal, error) {
		return harness.Proposal{Kind: harness.ProposalEdit, Subject: "ledger", Body: string(c.Input), State: o.ledger()}, nil
	})))
	return o
}

type words1 struct {
	Text string `json:"text"`
}

// tool returns a tool that leaves a line outside. An idempotent one leaves one
// for each key.
func (o *office) tool(name string, opts ...tool.Option) tool.Tool {
	o.t.Helper()
	var made tool.Tool
	made, err := tool.New(name, "leaves a line", func(_ context.Context, c tool.Call, in words1) (string, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if made.Replay == tool.Idempotent && o.count(c.Key) > 0 {
			return "done before", nil
		}
		f, err := os.OpenFile(filepath.Join(o.dir, "effects"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = fmt.Fprintf(f, "%s %s %s\n", c.Key, name, in.Text)
		return "done: " + in.Text, errors.Join(err, f.Close())
	}, opts...)
	if err != nil {
		o.t.Fatal(err)
	}
	return made
}

// ledger is the state of the file that write is about.
func (o *office) ledger() string {
	raw, err := os.ReadFile(filepath.Join(o.dir, "ledger"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		o.t.Error(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func (o *office) setLedger(text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, "ledger"), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// effects are the lines that the tools left.
func (o *office) effects() []string {
	raw, err := os.ReadFile(filepath.Join(o.dir, "effects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		o.t.Error(err)
	}
	return strings.FieldsFunc(string(raw), func(r rune) bool { return r == '\n' })
}

// count returns how many effects hold the text.
func (o *office) count(text string) (n int) {
	for _, line := range o.effects() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// later is a message that the model of an office answers without tools.
const later = "what came of it?"

// Stream implements [model.Model]: it asks for what is wanted once in a turn and
// tells what came of it.
func (o *office) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	var results []string
	for _, m := range r.Messages {
		if m.Role == harness.RoleUser {
			results = nil
		}
		if strings.Contains(m.Text(), later) {
			results = append(results, "nothing more")
		}
		for _, p := range m.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
		}
	}
	if len(results) > 0 {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: strings.Join(results, "|")}}, Stop: harness.StopEnd}, nil
	}
	reply := model.Reply{Stop: harness.StopTools}
	for _, c := range o.wanted {
		reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &c})
	}
	return reply, nil
}

// staff is one process that works in an office.
type staff struct {
	*run.Local

	o     *office
	lease harness.Lease
	pid   int
	// asked counts the approvals that this process was asked for.
	asked int
}

// enter starts a process once the one before has gone. j is its way to the
// journal, nil for the store's own.
func (o *office) enter(pid int, j run.Journal) *staff {
	o.t.Helper()
	if j == nil {
		j = o.journal
	}
	lease, err := o.owners.Acquire(o.t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: pid})
	if err != nil {
		o.t.Fatal(err)
	}
	return &staff{Local: o.engine(j), o: o, lease: lease, pid: pid}
}

// engine returns a process's engine.
func (o *office) engine(j run.Journal) *run.Local {
	o.t.Helper()
	set := new(tool.Set)
	for _, tl := range o.tools {
		if err := set.Add(tl); err != nil {
			o.t.Fatal(err)
		}
	}
	m := o.model
	if m == nil {
		m = o
	}
	return run.NewLocal(run.Options{
		Journal: j, Transcript: o.transcript, Grants: o.grants, Engine: "test", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: m, Tools: set, Policy: o.policy, Now: time.Now, Compose: (&memory.Composer{}).Compose}, nil
		},
	})
}

// leave ends the process; the session is free then.
func (s *staff) leave() {
	s.o.t.Helper()
	if err := s.o.owners.Release(s.o.t.Context(), s.lease); err != nil {
		s.o.t.Fatal(err)
	}
}

func (s *staff) begin() (harness.Result, error) {
	h, err := s.Start(s.o.t.Context(), harness.StartRequest{Lease: s.lease, Message: harness.UserText("go"), Config: harness.RunConfig{Model: "p/m"}})
	if err != nil {
		return harness.Result{}, err
	}
	return h.Wait(s.o.t.Context())
}

// decide answers everything in ps: uncertain calls with a result that a person
// saw, and approvals as how says. It checks that the same is shown as ever.
func (s *staff) decide(id harness.RunID, ps []harness.Pending, how harness.DecisionHow) (harness.Result, error) {
	s.o.t.Helper()
	var ds []harness.Decision
	for _, p := range ps {
		d := harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: how, Text: "because", By: "a test"}
		if p.Uncertain {
			d.How, d.Text = harness.DecideResult, "seen"
		} else {
			s.asked++
			s.o.same(p)
		}
		ds = append(ds, d)
	}
	h, err := s.Decide(s.o.t.Context(), s.lease, id, ds...)
	if err != nil {
		return harness.Result{}, err
	}
	return h.Wait(s.o.t.Context())
}

// same checks that a call is shown as it was the first time.
func (o *office) same(p harness.Pending) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	first, ok := o.shown[p.Call.ID]
	if !ok {
		o.shown[p.Call.ID] = p
		return
	}
	if first.Digest != p.Digest || !reflect.DeepEqual(first.Proposal, p.Proposal) || string(first.Call.Input) != string(p.Call.Input) {
		o.t.Errorf("call %s is shown as %+v, it was %+v", p.Call.ID, p, first)
	}
}

// work takes the session's run to its end, as a person does who has come back.
func (s *staff) work(how harness.DecisionHow) harness.Result {
	s.o.t.Helper()
	ctx := s.o.t.Context()
	runs, err := s.List(ctx, harness.RunFilter{Session: "s"})
	if err != nil || len(runs) != 1 {
		s.o.t.Fatalf("%d runs, %v", len(runs), err)
	}
	id := runs[0].ID
	for range 10 {
		info, err := s.Get(ctx, id)
		if err != nil {
			s.o.t.Fatal(err)
		}
		switch {
		case info.Status.Closed():
			h, err := s.Start(ctx, harness.StartRequest{Lease: s.lease, Message: harness.UserText(later)})
			if err != nil {
				s.o.t.Fatalf("the session takes no message any more: %v", err)
			}
			res, err := h.Wait(ctx)
			if err != nil {
				s.o.t.Fatal(err)
			}
			return res
		case len(info.Pending) > 0:
			if _, err := s.decide(id, info.Pending, how); err != nil {
				s.o.t.Fatal(err)
			}
		default:
			h, err := s.Resume(ctx, s.lease, id, harness.ResumeContinue)
			if err != nil {
				s.o.t.Fatal(err)
			}
			if _, err := h.Wait(ctx); err != nil {
				s.o.t.Fatal(err)
			}
		}
	}
	s.o.t.Fatal("the run does not end")
	return harness.Result{}
}

// log returns the run's journal.
func (o *office) log() []run.Entry {
	o.t.Helper()
	runs, err := o.journal.List(o.t.Context(), harness.RunFilter{Session: "s"})
	if err != nil {
		o.t.Fatal(err)
	}
	var entries []run.Entry
	for _, r := range runs {
		of, err := o.journal.Read(o.t.Context(), r.ID, 0)
		if err != nil {
			o.t.Fatal(err)
		}
		entries = append(of, entries...)
	}
	return entries
}

// stored returns the results in the journal by the name of the tool, and how
// many consents are in it.
func (o *office) stored() (results map[string]harness.ToolResult, consents int) {
	o.t.Helper()
	results = map[string]harness.ToolResult{}
	for _, e := range o.log() {
		if e.Kind == "decided" && strings.Contains(string(e.Data), `"approved":true`) {
			consents++
		}
		if e.Kind != "ended" {
			continue
		}
		r := *e.Message.Parts[0].Result
		if _, twice := results[r.Name]; twice {
			o.t.Errorf("%s has two results", r.Name)
		}
		results[r.Name] = r
	}
	return results, consents
}
