package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
)

var update = flag.Bool("update", false, "write the frozen samples anew: only if the machine interface is to change")

// samples is one event of each type as it is printed.
func samples() []harness.Event {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	call := &harness.ToolCall{ID: "c1", Origin: "toolu_1", Name: "run_command", Input: json.RawMessage(`{"command":"go test"}`)}
	pending := &harness.Pending{
		Call: *call, Reason: "not allowed yet", Rule: "run_command(go *)", Digest: "9f86d081",
		Proposal: &harness.Proposal{
			Kind: harness.ProposalCommand, Body: "go test", About: []string{"in /src", "timeout 60 s"}, Why: "to see whether it works",
			Session: "run_command(=go test)", Always: "run_command(go test)",
		},
	}
	uncertain := &harness.Pending{Call: *call, Uncertain: true}
	user, answer := harness.UserText("What is a cairn?"), harness.AssistantText("A pile of stones.")
	answer.Model = "anthropic/claude-test"
	answer.Usage = &harness.Usage{Input: 812, Output: 9, CacheRead: 700, Cost: 0.0012, CostKnown: true}
	answer.Used = []string{"f1", "n2"}
	e := func(typ harness.EventType, fill func(*harness.Event)) harness.Event {
		x := harness.Event{Type: typ, Session: "k3vq7a2mzd", Run: "r5w2hd7qpa", At: at}
		if typ == EventNotice {
			x.Run = ""
		}
		fill(&x)
		return x
	}
	return []harness.Event{
		e(EventNotice, func(x *harness.Event) { x.Text = "the built-in offline model answers" }),
		e(harness.EventRunStarted, func(x *harness.Event) { x.Seq, x.Record, x.Message = 1, 1, &user }),
		e(harness.EventText, func(x *harness.Event) { x.Attempt, x.Offset, x.Text = 1, 7, "of stones" }),
		e(harness.EventThinking, func(x *harness.Event) { x.Attempt, x.Text = 1, "Stones, piled." }),
		e(harness.EventReset, func(x *harness.Event) { x.Attempt = 1 }),
		e(harness.EventMessage, func(x *harness.Event) { x.Seq, x.Record, x.Message = 3, 2, &answer }),
		e(harness.EventToolStart, func(x *harness.Event) { x.Seq, x.Call = 4, call }),
		e(harness.EventProgress, func(x *harness.Event) {
			x.Call, x.Progress = call, &harness.Progress{Done: 3, Total: 8, Text: "3 of 8 packages"}
		}),
		e(harness.EventSteered, func(x *harness.Event) {
			m := harness.UserText("Not the cache, the index.")
			x.Seq, x.Steer, x.Message = 4, "q8zt51w0bd", &m
		}),
		e(harness.EventToolResult, func(x *harness.Event) {
			x.Seq, x.Record = 5, 3
			x.Result = &harness.ToolResult{CallID: "c1", Name: "run_command", Text: "ok", Artifact: "9f86d081"}
		}),
		e(harness.EventWaiting, func(x *harness.Event) { x.Attempt, x.Wait = 1, 10 }),
		e(harness.EventUnclaimed, func(x *harness.Event) { x.Text = "no worker has taken the run for 5 s" }),
		e(harness.EventRetry, func(x *harness.Event) {
			x.Attempt, x.Wait = 2, 4
			x.Error = &harness.RunError{Kind: "rate_limit", Text: "anthropic: too many requests (HTTP 429)"}
		}),
		e(harness.EventRecovery, func(x *harness.Event) { x.Seq, x.Text = 6, "the answer was cut at the model's limit; going on" }),
		e(harness.EventApproval, func(x *harness.Event) { x.Seq, x.Call, x.Text, x.Pending = 7, call, pending.Reason, pending }),
		e(harness.EventQuestion, func(x *harness.Event) {
			x.Seq = 7
			x.Pending = &harness.Pending{
				Call:     harness.ToolCall{ID: "c2", Name: "ask_user", Input: []byte(`{}`)},
				Proposal: &harness.Proposal{Kind: harness.ProposalQuestion, Body: "Which one?", Choices: []string{"a", "b"}},
				Digest:   "9f86d081",
			}
		}),
		e(harness.EventUncertain, func(x *harness.Event) { x.Seq, x.Call, x.Pending = 8, call, uncertain }),
		e(harness.EventDecided, func(x *harness.Event) { x.Seq, x.Call, x.Text = 8, call, "approved by ada (chat)" }),
		e(harness.EventCondensed, func(x *harness.Event) {
			x.Seq, x.Record, x.Text = 9, 41, "24 messages were condensed"
			x.Condensed = &harness.Condensed{
				Note: "## Facts\nThe port is 8080.", Kept: 30, In: "p2rent0000", Pruned: &harness.Origin{Session: "p2rent0000", Record: 20},
				Pins: []harness.Origin{{Session: "k3vq7a2mzd", Record: 3}}, Messages: 26, Dropped: 24, Cleared: 5,
				Before: 13000, After: 4100, Model: "anthropic/claude-test",
				Usage: &harness.Usage{Input: 9200, Output: 700, Cost: 0.0381, CostKnown: true}, Focus: "the ports", Asked: true,
			}
		}),
		e(harness.EventMemory, func(x *harness.Event) { x.Text = "saved f3" }),
		e(harness.EventResult, func(x *harness.Event) {
			x.Seq = 10
			x.Outcome = &harness.Result{
				Run: x.Run, Session: x.Session, Status: harness.RunAwaiting, Stop: harness.StopTools,
				Text: "I would run the tests.", Usage: *answer.Usage,
				Pending: []harness.Pending{*pending}, Unasked: []harness.Pending{{Call: *call, Rule: "run_command(go *)", Proposal: pending.Proposal}},
			}
		}),
	}
}

// The lines of `cairn -p --json` are a machine interface: this fails when one
// looks different.
func TestEventsLookAsFrozen(t *testing.T) {
	t.Parallel()
	for _, e := range samples() {
		t.Run(string(e.Type), func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			p := &jsonPrinter{app: &app{out: &output{to: &out}}}
			if err := p.event(e); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", "events", string(e.Type)+".json")
			frozen(t, path, out.Bytes())
			var back harness.Event
			d := json.NewDecoder(bytes.NewReader(out.Bytes()))
			d.DisallowUnknownFields()
			if err := d.Decode(&back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, back); diff != "" {
				t.Errorf("an event does not survive the way (-sent +read):\n%s", diff)
			}
		})
	}
}

// Every field that an event can have is frozen with its name and type.
func TestEventShapeIsFrozen(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	describe(&b, "event", reflect.TypeFor[harness.Event](), map[reflect.Type]bool{})
	frozen(t, filepath.Join("testdata", "events", "shape.txt"), []byte(b.String()))
}

// describe lists the JSON fields of a type, each with its kind; "?" marks those
// that are left out when empty.
func describe(b *strings.Builder, path string, typ reflect.Type, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		fmt.Fprintf(b, "%s time\n", path)
	case typ == reflect.TypeFor[json.RawMessage]():
		fmt.Fprintf(b, "%s any\n", path)
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() != reflect.Uint8:
		describe(b, path+"[]", typ.Elem(), seen)
	case typ.Kind() == reflect.Struct && !seen[typ]:
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if options != "" {
				name += "?"
			}
			describe(b, path+"."+name, f.Type, seen)
		}
		delete(seen, typ)
	default:
		fmt.Fprintf(b, "%s %s\n", path, typ.Kind())
	}
}

// Every type of event that the harness declares has a sample and a meaning.
func TestEveryEventTypeIsDocumented(t *testing.T) {
	t.Parallel()
	declared := declaredTypes(t)
	if len(declared) < 10 {
		t.Fatalf("found only %d declared types: %v", len(declared), declared)
	}
	declared = append(declared, string(EventNotice))
	var sampled, documented []string
	for _, e := range samples() {
		sampled = append(sampled, string(e.Type))
	}
	for _, d := range eventDocs() {
		documented = append(documented, string(d.Type))
	}
	for _, list := range [][]string{declared, sampled, documented} {
		slices.Sort(list)
	}
	if diff := cmp.Diff(declared, sampled); diff != "" {
		t.Errorf("types without sample, or samples without type (-declared +sampled):\n%s", diff)
	}
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("types without meaning, or meanings without type (-declared +documented):\n%s", diff)
	}
}

// declaredTypes reads the constants of type EventType from the source.
func declaredTypes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "harness", "run.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "EventType" {
			for _, v := range spec.Values {
				names = append(names, strings.Trim(v.(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	return names
}

// frozen compares with a file, or writes it with -update.
func frozen(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s changed (-frozen +now):\n%s", path, diff)
	}
}
