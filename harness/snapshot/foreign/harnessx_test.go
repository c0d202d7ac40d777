package foreign_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/foreign"
)

const picture = "iVBORw0KGgo="

const version2 = `{
  "session_id": "0b5C-x",
  "messages": [
    {"role": "user", "content": "List it"},
    {"role": "assistant", "content": [
      {"type": "thinking", "thinking": "I look", "signature": "abc"},
      {"type": "text", "text": ""},
      {"type": "tool_use", "id": "call_0", "name": "glob", "input": {"f": "a"}},
      {"type": "tool_use", "id": "call_0", "name": "glob", "input": {"f": "b"}},
      {"type": "tool_use", "id": "", "name": "broken", "input": [1]}
    ]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "call_0", "content": "first"},
      {"type": "tool_result", "tool_use_id": "call_0", "content": [{"type": "text", "text": "second"}], "is_error": true},
      {"type": "tool_result", "tool_use_id": "", "content": ""}
    ]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0", "name": "grep", "input": {}}]},
    {"role": "user", "content": [
      {"type": "tool_result", "tool_use_id": "call_0", "content": "third"},
      {"type": "text", "text": "and this"},
      {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + picture + `"}}
    ]},
    {"role": "assistant", "content": []},
    {"role": "assistant", "content": [{"type": "text", "text": " \n"}]},
    {"role": "assistant", "content": "half \ud83d\ude00 \ud83d done"}
  ],
  "total_usage": {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4, "thinking_tokens": 5},
  "created_at": "2026-01-02T03:04:05.600000+00:00", "updated_at": "2026-01-02T04:00:00+00:00",
  "metadata": {"theme": "dark"},
  "config": {
    "model": "m-1", "provider": "openai", "max_tokens": 1000, "system_prompt": "Be short.", "temperature": 0.5, "planning": true,
    "limits": {"max_iterations": 7, "max_context_tokens": null, "max_cost_dollars": 1.5},
    "retry": {"attempts": 2, "backoff_seconds": 0.25}
  },
  "extensions": {"result_spill": {"n": 1}},
  "lifetime_iterations": 3, "estimated_cost": 0.125,
  "provider_state": {"limits": {"m-1": {"context_window": 9000, "max_output": 500}}},
  "version": 2
}`

func TestHarnessXVersion2(t *testing.T) {
	t.Parallel()
	s, err := foreign.ReadHarnessX([]byte(version2))
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot.Config{Model: "openai/m-1", System: "Be short.", Limits: snapshot.Limits{Steps: 7, Reply: 1000, Cost: 1.5, Attempts: 2, Backoff: 0.25}}
	if diff := cmp.Diff(want, s.Config); diff != "" {
		t.Error(diff)
	}
	if s.ID != "0b5c-x" || s.Name != "0b5C-x" || s.Created.Nanosecond() != 600_000_000 || s.Saved.Hour() != 4 || s.Source != "a HarnessX snapshot, version 2" {
		t.Errorf("%s %s %v %v %s", s.ID, s.Name, s.Created, s.Saved, s.Source)
	}
	if u := s.Usage; u != (harness.Usage{Input: 100, Output: 20, CacheWrite: 3, CacheRead: 4, Reasoning: 5, Cost: 0.125, CostKnown: true}) {
		t.Errorf("usage %+v", u)
	}
	if s.Learned["openai/m-1"] != (snapshot.Learned{Window: 9000, Reply: 500}) || string(s.Extensions["result_spill"]) != `{"n": 1}` {
		t.Errorf("learned %v, extensions %s", s.Learned, s.Extensions)
	}
	if diff := cmp.Diff([]string{"config.temperature", "metadata (theme)", "signatures of reasoning"}, s.Left); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"user: List it",
		"assistant: <I look> glob{\"f\":\"a\"} glob{\"f\":\"b\"} broken![1]",
		"tool: glob=first glob=second! broken=",
		"assistant: grep{}",
		"tool: grep=third",
		"user: and this file image image/png",
		"assistant: half 😀 \ufffd done",
	}, told(s)); diff != "" {
		t.Error(diff)
	}
	usable(t, s)
}

// told is a conversation in words. A result is named after its call, if it has one.
func told(s foreign.Session) []string {
	var all []string
	calls := map[string]string{}
	for _, r := range s.Records {
		line := string(r.Message.Role) + ":"
		for _, p := range r.Message.Parts {
			switch {
			case p.Call != nil && p.Call.Malformed != "":
				line += " " + p.Call.Name + "!" + p.Call.Malformed
			case p.Call != nil:
				line += " " + p.Call.Name + string(p.Call.Input)
			case p.Result != nil:
				line += " " + calls[p.Result.CallID] + "=" + p.Result.Text
				if p.Result.Failed {
					line += "!"
				}
			case p.File != nil:
				line += " file " + p.File.Name + " " + p.File.MediaType
			case p.Kind == harness.PartThinking:
				line += " <" + p.Text + ">"
			default:
				line += " " + p.Text
			}
			if p.Call != nil {
				calls[p.Call.ID] = p.Call.Name
			}
		}
		all = append(all, line)
	}
	return all
}

// usable fails unless a session can be saved, every call has an id of its own that
// is legal everywhere, no part is blank, and a request made of it is one that every
// provider takes.
func usable(t *testing.T, s foreign.Session) {
	t.Helper()
	file, err := snapshot.Encode(s.Document)
	if err != nil {
		t.Fatalf("it cannot be saved: %v", err)
	}
	if _, err := snapshot.Decode(file); err != nil {
		t.Fatalf("it cannot be loaded: %v", err)
	}
	ids := map[string]bool{}
	var sent []harness.Message
	for _, r := range s.Records {
		sent = append(sent, *r.Message)
		if len(r.Message.Parts) == 0 {
			t.Errorf("record %d is empty", r.Seq)
		}
		for _, p := range r.Message.Parts {
			switch {
			case p.Kind == harness.PartText && strings.TrimSpace(p.Text) == "", !utf8.ValidString(p.Text):
				t.Errorf("record %d has the text %q", r.Seq, p.Text)
			case p.Call != nil:
				c := p.Call
				if ids[c.ID] || len(c.ID) == 0 || len(c.ID) > 64 || strings.Trim(c.ID, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
					t.Errorf("record %d has a call with the id %q", r.Seq, c.ID)
				}
				ids[c.ID] = true
				if c.Malformed == "" && (len(c.Input) == 0 || c.Input[0] != '{' || !json.Valid(c.Input) || !utf8.Valid(c.Input)) {
					t.Errorf("record %d has a call with the input %q", r.Seq, c.Input)
				}
			case p.Result != nil && p.Result.CallID == "":
				t.Errorf("record %d has a result without an id", r.Seq)
			}
		}
	}
	if err := memory.Legal(memory.Repair(sent)); err != nil {
		t.Errorf("the request is not legal: %v", err)
	}
}

func TestHarnessXOlderVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		want snapshot.Config
		left []string
		cost bool
	}{
		"no version": {`{"session_id":"a","messages":[]}`, snapshot.Config{}, nil, false},
		"version 1 with extensions in its metadata": {
			`{"session_id":"a","version":1,"messages":[{"role":"system","content":"Be kind."}],"metadata":{"extensions":{"x":{}}},"config":{}}`,
			snapshot.Config{System: "Be kind."},
			nil, false,
		},
		"the nine keys of 0.3 win": {
			`{"session_id":"a","version":1,"messages":[],"config":{"model":"m","max_iterations":9,"max_context_tokens":150000,"max_result_chars":12000,
			"max_cost_dollars":2,"input_cost_per_m":3,"output_cost_per_m":15,"llm_max_attempts":5,"llm_retry_backoff_seconds":0.5,"model_timeout_seconds":300,
			"limits":{"max_iterations":1},"retry":{"attempts":1,"call_timeout_seconds":1}}}`,
			snapshot.Config{Model: "anthropic/m", Limits: snapshot.Limits{Steps: 9, Window: 150000, Result: 12000, Cost: 2, InputPrice: 3, OutputPrice: 15, Attempts: 5, Backoff: 0.5, Timeout: 300}},
			nil, false,
		},
		"unknown state of a provider": {`{"session_id":"a","version":2,"messages":[],"provider_state":{"members":[1]}}`, snapshot.Config{}, []string{"the state of its provider"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := foreign.ReadHarnessX([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.Config); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.left, s.Left); diff != "" || s.Usage.CostKnown != c.cost {
				t.Errorf("%s, cost known %v", diff, s.Usage.CostKnown)
			}
			usable(t, s)
		})
	}
}

func TestHarnessXFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		is   error
		want string
	}{
		"cut":            {version2[:700], harness.ErrDamaged, "at byte 700"},
		"no JSON":        {"hello", harness.ErrDamaged, "at byte 1"},
		"newer":          {`{"session_id":"a","messages":[],"version":3}`, foreign.ErrVersion, "version 3"},
		"odd version":    {`{"session_id":"a","messages":[],"version":"two"}`, foreign.ErrVersion, `version "two"`},
		"something else": {`{"hello":1}`, foreign.ErrUnknown, "no session_id"},
		"a path":         {`{"session_id":"../../x","messages":[]}`, harness.ErrDamaged, `"../../x"`},
		"role":           {`{"session_id":"a","messages":[{"role":"robot","content":"x"}]}`, harness.ErrDamaged, `message 1: damaged: the role is "robot"`},
		"content":        {`{"session_id":"a","messages":[{"role":"user","content":"x"},{"role":"user","content":5}]}`, harness.ErrDamaged, "message 2: content"},
		"picture":        {`{"session_id":"a","messages":[{"role":"user","content":[{"type":"image","source":{"data":"!"}}]}]}`, harness.ErrDamaged, "message 1: block 1"},
		"usage":          {`{"session_id":"a","messages":[],"total_usage":{"input_tokens":-1}}`, harness.ErrDamaged, "total_usage"},
		"kind of limit":  {`{"session_id":"a","messages":[],"config":{"max_iterations":"seven"}}`, harness.ErrDamaged, ": max_iterations is of the wrong kind (string)"},
		"limit":          {`{"session_id":"a","messages":[],"config":{"max_iterations":1.5}}`, harness.ErrDamaged, "max_iterations is 1.5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := foreign.ReadHarnessX([]byte(c.file)); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// tree writes files below a directory and opens it.
func tree(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return root
}

func TestHarnessXDirectory(t *testing.T) {
	t.Parallel()
	long := "the whole result\n"
	sum := sha(long)
	file := `{"session_id":"A1","version":2,"messages":[
		{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"glob","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"[Tool result too large. Full output saved to: artifact://` + sum + `] the"}]}]}`
	files := map[string]string{"A1.json": file, "other.json": `{"x":1}`, "list.json": " [{}]", "note.txt": "x", "artifacts/A1/" + sum: long}
	list, err := foreign.ReadDir(tree(t, files))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	r := list[0].Records[1].Message.Parts[0].Result
	if r.Artifact != sum || len(list[0].Artifacts) != 1 || string(list[0].Artifacts[0].Data) != long {
		t.Errorf("%+v %+v", r, list[0].Artifacts)
	}
	usable(t, list[0])

	delete(files, "artifacts/A1/"+sum)
	one, err := foreign.ReadHarnessXFile(tree(t, files), "A1.json")
	if err != nil || !cmp.Equal(one.Left, []string{"large results that are not beside it"}) {
		t.Errorf("%v %v", one.Left, err)
	}
	files["artifacts/A1/"+sum] = "other bytes"
	if _, err := foreign.ReadDir(tree(t, files)); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "A1.json: message 2: block 1: damaged: checksum mismatch") {
		t.Error(err)
	}
	files = map[string]string{"B.json": file}
	if _, err := foreign.ReadDir(tree(t, files)); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), `B.json: damaged: it holds session "A1"`) {
		t.Error(err)
	}
	if _, err := foreign.ReadDir(tree(t, map[string]string{"x.json": "{"})); !errors.Is(err, harness.ErrDamaged) || !strings.Contains(err.Error(), "x.json: ") {
		t.Error(err)
	}
	if _, err := foreign.ReadDir(tree(t, nil)); !errors.Is(err, foreign.ErrUnknown) {
		t.Error(err)
	}
}
