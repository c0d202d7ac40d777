package modeltest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"cairn/harness/model"
)

// sameJSON reports whether two JSON texts mean the same.
func sameJSON(got json.RawMessage, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

func calls(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	svc := story(t, Plain, d.Start(), d.Text("Both."), d.Call(0, "c1", "now", `{"a":`, `1}`), d.Call(1, "c2", "now", `{"b":2}`), d.Finish("tools"), d.End())
	reply, seen, err := ask(t, s.New(t, svc.URL, key), hello())
	wantText(t, "Both.", reply, seen, err)
	got := callsOf(reply)
	if len(got) != 2 || got[0].Origin != "c1" || got[1].Origin != "c2" ||
		!sameJSON(got[0].Input, `{"a":1}`) || !sameJSON(got[1].Input, `{"b":2}`) || got[0].Name != "now" {
		t.Fatalf("calls %+v", got)
	}
	progress := false
	for _, k := range seen.kinds {
		progress = progress || k == model.DeltaProgress
	}
	if !progress {
		t.Fatal("the arguments were no sign of life")
	}
}

func repeatedIDs(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	for _, id := range []string{"call_0", ""} {
		svc := story(t, Plain, d.Start(), d.Call(0, id, "now", `{"f":"a"}`), d.Call(1, id, "now", `{"f":"b"}`), d.Finish("tools"), d.End())
		reply, _, err := ask(t, s.New(t, svc.URL, key), hello())
		if err != nil {
			t.Fatal(err)
		}
		got := callsOf(reply)
		if len(got) != 2 || !sameJSON(got[0].Input, `{"f":"a"}`) || !sameJSON(got[1].Input, `{"f":"b"}`) {
			t.Fatalf("with the id %q twice: calls %+v", id, got)
		}
	}
}

func noArguments(t *testing.T, s Subject) {
	t.Parallel()
	d := s.Dialect
	variants := map[string][]Event{"none": d.Call(0, "c1", "now"), "object": d.Call(0, "c1", "now", "{}")}
	if !s.WholeArguments {
		variants["empty text"] = d.Call(0, "c1", "now", "")
		variants["null"] = d.Call(0, "c1", "now", "null")
	}
	for name, call := range variants {
		svc := story(t, Plain, d.Start(), call, d.Finish("tools"), d.End())
		reply, _, err := ask(t, s.New(t, svc.URL, key), hello())
		got := callsOf(reply)
		if err != nil || len(got) != 1 || string(got[0].Input) != "{}" || got[0].Malformed != "" {
			t.Errorf("%s: %v, calls %+v", name, err, got)
		}
	}
}

func cutArguments(t *testing.T, s Subject) {
	if s.WholeArguments {
		t.Skip("the interface has no arguments that can be cut")
	}
	t.Parallel()
	d := s.Dialect
	for _, args := range []string{`{"q"`, `[1,2]`, `"text"`, `{"q":1}}`} {
		svc := story(t, Plain, d.Start(), d.Call(0, "c1", "now", args), d.Finish("tools"), d.End())
		reply, _, err := ask(t, s.New(t, svc.URL, key), hello())
		got := callsOf(reply)
		if err != nil || len(got) != 1 || got[0].Malformed != args {
			t.Errorf("%s: %v, calls %+v", args, err, got)
		}
	}
}

func schemas(t *testing.T, s Subject) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"mode":{"type":"string","enum":["a","b"]},"list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}},"required":["mode"],"additionalProperties":false}`
	svc := story(t, Plain, greeting(s.Dialect)...)
	r := hello()
	r.Tools = []model.ToolSpec{{Name: "pick", Description: "Picks.", Schema: json.RawMessage(strings.Replace(schema, "{", `{"$schema":"https://json-schema.org/draft/2020-12/schema",`, 1))}, {Name: "bare", Description: "No schema."}}
	if _, _, err := ask(t, s.New(t, svc.URL, key), r); err != nil {
		t.Fatal(err)
	}
	got := lastRequest(t, s, svc)
	if !sameJSON(got.Tools["pick"], schema) {
		t.Errorf("schema %s", got.Tools["pick"])
	}
	if !strings.Contains(string(got.Tools["bare"]), `"object"`) {
		t.Errorf("schema %s", got.Tools["bare"])
	}
}
