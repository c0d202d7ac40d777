package loop_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
)

// frozen are samples of each record; their stored form must never change.
func frozen() []loop.Record {
	at := started()
	at.Config.MaxSteps = 7
	return []loop.Record{
		at, answer(harness.StopTools, "t"),
		loop.Answered{Stop: harness.StopEmpty, Usage: harness.Usage{Input: 3, Output: 2}, Attempt: 2},
		loop.Judged{CallID: "r_1_1", Permission: "deny", Rule: "x", Reason: "y"},
		loop.Began{CallID: "r_1_1", Repeatable: true},
		ended("r_1_1"),
		loop.Noted{Reason: "empty_reply", Message: harness.UserText("go on")},
		loop.Cut{Message: harness.AssistantText("half"), Off: true},
		loop.Resumed{How: harness.ResumeRetry},
		loop.Rested{Status: harness.RunFailed, Stop: harness.StopError, Error: &harness.RunError{Kind: "auth", Text: "no key"}},
		loop.Judged{
			CallID: "r_1_1", Permission: "ask", Rule: "tool", Reason: "y", Sequential: true, Unasked: true,
			Proposal: &harness.Proposal{
				Kind: harness.ProposalEdit, Subject: "/a", Body: "b", Diff: "+c", Added: 1, Removed: 2, About: []string{"d"},
				Why: "e", Choices: []string{"f"}, State: "g", Session: "h", Always: "i",
			},
			Digest: "j", Tool: "k",
		},
		loop.Decided{CallID: "r_1_1", Approved: true, Digest: "j", Reason: "l", By: "ada", Scope: harness.ScopeSession, Rule: "h"},
		loop.Resolved{CallID: "r_1_1", How: harness.DecideRetry, By: "ada"},
		loop.Judged{CallID: "r_1_1", Permission: "deny", Reason: "y", Impossible: true, Tool: "k"},
		loop.Condensed{
			Condensed: harness.Condensed{
				Note: "they met", Kept: 3, In: "s", Pruned: &harness.Origin{Session: "s", Record: 2}, Pins: []harness.Origin{{Record: 1}},
				Messages: 4, Dropped: 2, Cleared: 1, Before: 900, After: 90, Model: "p/m", Focus: "names", Asked: true,
			},
			Turn: 2, More: true, Fruitless: true,
		},
		loop.Uncondensed{Reason: "the summary was empty"},
		loop.Started{
			Message: harness.Message{Role: harness.RoleUser, Name: "ada", Parts: []harness.Part{
				{Kind: harness.PartFile, File: &harness.File{Name: "a.png", MediaType: "image/png", Artifact: "abc", Size: 3, Width: 1, Height: 2, Pages: 4}},
			}},
			Config: harness.RunConfig{Agent: "cairn@1", Model: "p/m", System: "be brief", NoMemory: true, MaxSteps: 7},
		},
		loop.Answered{Message: fullAnswer(), Stop: harness.StopTools, Usage: fullUsage(), Attempt: 3},
		loop.Ended{Message: harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{
			Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "r_1_1", Name: "t", Text: "<&>", Failed: true, Unknown: true, Artifact: "abc"},
		}}}},
		loop.Condensed{Condensed: harness.Condensed{Note: "more", Kept: 4, Usage: new(fullUsage())}},
		loop.Steered{ID: "k", Message: harness.Message{Role: harness.RoleUser, Name: "ada", Parts: []harness.Part{{Kind: harness.PartText, Text: "no, <b>"}}}},
		loop.Delivered{ID: "k", Message: harness.UserText("no, <b>")},
		loop.Ended{Message: harness.Message{Role: harness.RoleTool, Parts: []harness.Part{{
			Kind: harness.PartResult, Result: &harness.ToolResult{CallID: "r_1_1", Name: "t", Text: "drawn", Files: []harness.File{
				{Name: "image 1", MediaType: "image/png", Artifact: "abc", Size: 3, Width: 1, Height: 2},
			}},
		}}}},
	}
}

func fullUsage() harness.Usage {
	return harness.Usage{Input: 9, Output: 8, CacheRead: 7, CacheWrite: 6, Reasoning: 5, Cost: 0.25, CostKnown: true, Incomplete: true}
}

func fullAnswer() *harness.Message {
	return &harness.Message{
		Role: harness.RoleAssistant, Model: "p/m", Mark: harness.MarkInterrupted, Usage: new(fullUsage()), Used: []string{"f1", "n2"},
		Parts: []harness.Part{
			{Kind: harness.PartThinking, Text: "hm", Opaque: &harness.Opaque{Provider: "p", Data: json.RawMessage(`{"seal":"x"}`)}},
			{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "r_2_1", Origin: "call_0", Name: "t", Input: json.RawMessage(`{"a":"b"}`), Malformed: "{"}},
		},
		Sent: &harness.Sent{
			System: 1, Recalled: 2, Tools: 3, Messages: 4, Note: 5, Pinned: 6, Results: 7, Files: 8, Count: 9, Dropped: 10, Cleared: 11,
			Reply: 12, Window: 13, Trigger: 14,
		},
	}
}

// TestStoredFormIsFrozen compares the bytes of every kind of record with what it
// was when journals began to hold it. Lines are only added: what a run elsewhere,
// or an older cairn, has written is read for ever. UPDATE_FROZEN=1 writes them anew.
func TestStoredFormIsFrozen(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, r := range frozen() {
		e, err := loop.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	path := filepath.Join("testdata", "records.jsonl")
	if os.Getenv("UPDATE_FROZEN") != "" {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(want) != len(lines) {
		t.Fatalf("%d records are frozen, %d are stored", len(want), len(lines))
	}
	for i, line := range want {
		if line != lines[i] {
			t.Fatalf("record %d is stored as\n%s\nwas\n%s", i, lines[i], line)
		}
		var e loop.Encoded
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		r, err := loop.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		if want := frozen()[i]; !reflect.DeepEqual(r, want) {
			t.Errorf("record %d is read as\n%+v, it is\n%+v", i, r, want)
		}
	}
}

// TestEveryRecordIsFrozen fails for a kind of record, and for a field of one, that
// the frozen ones lack.
func TestEveryRecordIsFrozen(t *testing.T) {
	t.Parallel()
	set, have := map[string]bool{}, map[string]bool{}
	for _, r := range frozen() {
		have[reflect.TypeOf(r).Name()] = true
		fields(reflect.ValueOf(r), set)
	}
	for _, kind := range kinds(t) {
		if !have[kind] {
			t.Errorf("no %s is frozen", kind)
		}
	}
	for name, filled := range set {
		if !filled && name != "File.Data" { // which is kept apart
			t.Errorf("no frozen record has %s", name)
		}
	}
}

// kinds returns the names of the types that are records.
func kinds(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "loop.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "record" && f.Recv != nil {
			names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	if len(names) < 13 {
		t.Fatalf("only %v are records", names)
	}
	return names
}

// fields notes of every field below v, by type and name, whether it is set.
func fields(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		fields(v.Elem(), set)
	case reflect.Slice:
		if v.Len() == 0 && v.Type().Elem().Kind() == reflect.Struct {
			fields(reflect.New(v.Type().Elem()).Elem(), set)
		}
		for i := range v.Len() {
			fields(v.Index(i), set)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			set[name] = set[name] || !v.Field(i).IsZero()
			fields(v.Field(i), set)
		}
	default:
	}
}
