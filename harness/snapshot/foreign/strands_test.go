package foreign_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cairn/harness"
	"cairn/harness/snapshot/foreign"
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// A snapshot as TypeScript writes it, and one as Python does.
const (
	typescript = `{
  "scope": "agent", "schemaVersion": "1.0", "createdAt": "2026-01-02T03:04:05.678Z",
  "data": {
    "messages": [
      {"role": "user", "content": [{"text": "Look"}, {"image": {"format": "jpg", "source": {"bytes": "` + picture + `"}}}], "trackingId": "u1"},
      {"role": "assistant", "content": [
        {"reasoning": {"text": "hm", "signature": "s"}}, {"toolUse": {"name": "shell", "toolUseId": "t1", "input": {"c": "ls \ud83d"}}}, {"cachePoint": {"cacheType": "default"}}
      ], "trackingId": "u2", "metadata": {"usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 15, "cacheReadInputTokens": 3}}},
      {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "status": "success", "content": [
        {"text": "[12 tokens] preview [ref: t1_0]"}, {"json": {"a": 1}}, {"document": {"name": "d", "format": "pdf", "source": {"bytes": "` + picture + `"}}}]}}], "trackingId": "u3"},
      {"role": "assistant", "content": [{"text": "[2 tokens] short [ref: u4_0]"}], "trackingId": "u4"}
    ],
    "state": {"todos": []}, "systemPrompt": "Be kind.", "modelState": {}, "interrupts": {"interrupts": {}, "activated": false}, "stash": {"location": "external", "storageType": "X"}
  },
  "appData": {}
}`
	python = `{"scope": "agent", "schema_version": "1.0", "created_at": "2026-01-02T03:04:05.678901Z", "data": {"messages": [
    {"role": "user", "content": [{"text": "石 Look"}, {"document": {"format": "txt", "name": "n", "source": {"bytes": {"__bytes_encoded__": true, "data": "aGVsbG8="}}}}], "tracking_id": "p1"},
    {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, {"toolUse": {"toolUseId": "t:1", "name": "shell", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "t:1", "status": "error", "content": [{"text": "no"}]}}, {"guardContent": {"text": {"text": "guarded"}}}]},
    {"role": "assistant", "content": [{"citationsContent": {"content": [{"text": "cited"}], "citations": []}}, {"video": {"format": "mp4", "source": {"location": {"type": "s3", "uri": "s3://b/k"}}}}]}
  ], "state": {}, "conversation_manager_state": {"removed_message_count": 0}, "interrupt_state": {"interrupts": {"i": {}}}, "system_prompt": [{"text": "Be"}, {"cachePoint": {"type": "default"}}, {"text": "short"}]}, "app_data": {}}`
)

func TestStrandsLayouts(t *testing.T) {
	t.Parallel()
	const snapshots = "scopes/agent/agent/snapshots/"
	entry := func(text string) string {
		return `{"message":{"role":"user","content":[{"text":"` + text + `"}]},"message_id":` + text + `,"redact_message":null,"created_at":"2026-01-02T03:04:05+00:00"}`
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  map[string]string // the first text by the name of the session
	}{
		"TypeScript":                {map[string]string{"one/" + snapshots + "snapshot_latest.json": typescript}, map[string]string{"one": "Look"}},
		"Python":                    {map[string]string{"session/My One/" + snapshots + "snapshot_latest.json": python}, map[string]string{"My One": "石 Look"}},
		"a session called session":  {map[string]string{"session/" + snapshots + "snapshot_latest.json": typescript}, map[string]string{"session": "Look"}},
		"both languages":            {map[string]string{"one/" + snapshots + "snapshot_latest.json": typescript, "session/two/" + snapshots + "snapshot_latest.json": python}, map[string]string{"one": "Look", "two": "石 Look"}},
		"the last checkpoint alone": {map[string]string{"one/" + snapshots + "immutable_history/snapshot_0198b.json": typescript, "one/" + snapshots + "immutable_history/snapshot_0199a.json": python}, map[string]string{"one": "石 Look"}},
		"the latest before checkpoints": {
			map[string]string{"one/" + snapshots + "snapshot_latest.json": typescript, "one/" + snapshots + "immutable_history/snapshot_ffff.json": python}, map[string]string{"one": "Look"},
		},
		"two agents and what a crash left": {map[string]string{
			"one/scopes/agent/a/snapshots/snapshot_latest.json": typescript, "one/scopes/agent/b/snapshots/snapshot_latest.json": python,
			"one/scopes/agent/b/snapshots/snapshot_latest.json.tmp": "{", "one/scopes/multiAgent/g/snapshots/snapshot_latest.json": "{}", "one/scopes/agent/c/x": "",
		}, map[string]string{"one/a": "Look", "one/b": "石 Look"}},
		"message log, by number": {map[string]string{
			"session_S 1/session.json":                                  `{"session_id":"S 1","session_type":"AGENT","created_at":"2026-01-01T00:00:00+00:00"}`,
			"session_S 1/agents/agent_x/agent.json":                     `{"agent_id":"x"}`,
			"session_S 1/agents/agent_x/messages/message_10.json":       entry("10"),
			"session_S 1/agents/agent_x/messages/message_2.json":        entry("2"),
			"session_S 1/agents/agent_x/messages/message_2.json.tmp":    "{",
			"session_S 1/agents/agent_x/messages/message_01.json":       "{",
			"session_S 1/multi_agents/multi_agent_g/multi_agent.json":   "{}",
			"session_S 1/agents/agent_x/messages/deeper/message_0.json": "{",
		}, map[string]string{"S 1": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := foreign.ReadStrands(tree(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range list {
				got[s.Name] = s.Records[0].Message.Text()
				usable(t, s)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStrandsContent(t *testing.T) {
	t.Parallel()
	const at, stash = "s/scopes/agent/agent/snapshots/snapshot_latest.json", "s/context/s/scopes/agent/agent/"
	long := strings.Repeat("the whole result ", 9)
	list, err := foreign.ReadStrands(tree(t, map[string]string{
		at: typescript, stash + "t1_0": `{"text":"` + long + `"}`, stash + "u4_0": `{"text":"a text that is much longer than what is left of it"}`, stash + "t1_1": `{"json":{"a":1}}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	s := list[0]
	if diff := cmp.Diff([]string{
		"user: Look file image image/jpeg",
		"assistant: <hm> shell{\"c\":\"ls \\ufffd\"}",
		"tool: shell=[12 tokens] preview [ref: t1_0]\n{\"a\": 1} file d application/pdf",
		"assistant: a text that is much longer than what is left of it",
	}, told(s)); diff != "" {
		t.Error(diff)
	}
	r := s.Records[2].Message.Parts[0].Result
	if len(s.Artifacts) != 2 || r.Artifact != sha(long+"\n{\"a\": 1}") {
		t.Errorf("%+v of %d artifacts", r, len(s.Artifacts))
	}
	if s.Config.System != "Be kind." || s.Usage != (harness.Usage{Input: 13, Output: 2, CacheRead: 3}) || s.Saved.IsZero() {
		t.Errorf("%+v %+v", s.Config, s.Usage)
	}
	if diff := cmp.Diff([]string{"application state", "signatures of reasoning"}, s.Left); diff != "" {
		t.Error(diff)
	}

	list, err = foreign.ReadStrands(tree(t, map[string]string{"session/" + at: python}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"user: 石 Look file n text/plain", "assistant: <hm> shell{}", "tool: shell=no!", "user: guarded", "assistant: cited (video at s3://b/k)",
	}, told(list[0])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"open interrupts", "places of citations", "signatures of reasoning"}, list[0].Left); diff != "" {
		t.Error(diff)
	}
	if list[0].Config.System != "Be\n\nshort" || string(list[0].Artifacts[0].Data) != "hello" {
		t.Errorf("%+v %q", list[0].Config, list[0].Artifacts[0].Data)
	}
}

// Of results that share an id the stash has the last alone, so it is not asked.
func TestStrandsRepeatedIDs(t *testing.T) {
	t.Parallel()
	turn := func(text string) string {
		return `{"role":"assistant","content":[{"toolUse":{"toolUseId":"call_0","name":"` + text + `","input":{}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"call_0","status":"success","content":[{"text":"` + text + ` [ref: call_0_0]"}]}}]}`
	}
	file := `{"scope":"agent","schemaVersion":"1.0","data":{"messages":[` + turn("a") + "," + turn("b") + `],
		"stash":{"location":"inline","entries":{"call_0_0":{"text":"the whole result of the second call alone"}}}}}`
	list, err := foreign.ReadStrands(tree(t, map[string]string{"s/scopes/agent/agent/snapshots/snapshot_latest.json": file}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"assistant: a{}", "tool: a=a [ref: call_0_0]", "assistant: b{}", "tool: b=b [ref: call_0_0]"}, told(list[0])); diff != "" || len(list[0].Artifacts) != 0 {
		t.Errorf("%s, %d artifacts", diff, len(list[0].Artifacts))
	}
	usable(t, list[0])
}

func TestStrandsFaults(t *testing.T) {
	t.Parallel()
	const at = "s/scopes/agent/agent/snapshots/snapshot_latest.json"
	for name, c := range map[string]struct {
		files map[string]string
		is    error
		want  string
	}{
		"cut":           {map[string]string{at: typescript[:300]}, harness.ErrDamaged, at + ": damaged: at byte 300"},
		"empty":         {map[string]string{at: ""}, harness.ErrDamaged, at},
		"newer":         {map[string]string{at: strings.Replace(typescript, "1.0", "2.0", 1)}, foreign.ErrVersion, "schema version 2.0"},
		"no version":    {map[string]string{at: `{"scope":"agent"}`}, harness.ErrDamaged, "no schema version"},
		"other scope":   {map[string]string{at: strings.Replace(typescript, `"agent"`, `"multiAgent"`, 1)}, harness.ErrDamaged, "no snapshot of an agent"},
		"bad picture":   {map[string]string{at: strings.Replace(typescript, picture, "*", 1)}, harness.ErrDamaged, "message 1: block 2"},
		"bad stash":     {map[string]string{at: typescript, "s/context/s/scopes/agent/agent/t1_0": "{"}, harness.ErrDamaged, "t1_0 in the stash"},
		"other session": {map[string]string{"session_a/session.json": `{"session_id":"b"}`}, harness.ErrDamaged, `session_a/session.json: damaged: it holds session "b"`},
		"other message": {
			map[string]string{"session_a/session.json": `{"session_id":"a"}`, "session_a/agents/agent_x/messages/message_1.json": `{"message_id":2,"message":{"role":"user","content":[]}}`},
			harness.ErrDamaged, "message_1.json: damaged: it holds message 2",
		},
		"nothing": {map[string]string{"x/y": "z"}, foreign.ErrUnknown, ".agent/sessions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := foreign.ReadStrands(tree(t, c.files)); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// No link leads out of the directory, whatever it stands in the place of.
func TestStrandsLinksStayInside(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(outside, []byte(typescript), 0o600); err != nil {
		t.Fatal(err)
	}
	root := tree(t, map[string]string{"s/scopes/agent/agent/snapshots/x": "", "s/context/s/scopes/agent/agent/x": ""})
	if err := os.Symlink(outside, filepath.Join(root.Name(), "s/scopes/agent/agent/snapshots/snapshot_latest.json")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(root.Name(), "linked")); err != nil {
		t.Fatal(err)
	}
	if list, err := foreign.ReadStrands(root); err == nil || len(list) > 0 {
		t.Errorf("%d sessions were read through a link", len(list))
	}
	dir := tree(t, map[string]string{"x": ""})
	if err := os.Symlink(outside, filepath.Join(dir.Name(), "a.json")); err != nil {
		t.Fatal(err)
	}
	if list, err := foreign.ReadHarnessXDir(dir); err == nil || len(list) > 0 {
		t.Errorf("%d sessions were read through a link", len(list))
	}
}

// Read again, a conversation is the same to the last byte.
func TestReadingIsRepeatable(t *testing.T) {
	t.Parallel()
	first, err := foreign.ReadHarnessX([]byte(version2))
	if err != nil {
		t.Fatal(err)
	}
	second, err := foreign.ReadHarnessX([]byte(version2))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	other, err := foreign.ReadHarnessX([]byte(strings.Replace(version2, "List it", "List them", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if first.Records[1].Message.Calls()[0].ID == other.Records[1].Message.Calls()[0].ID {
		t.Error("two conversations have a call in common")
	}
}

func FuzzHarnessX(f *testing.F) {
	f.Add([]byte(version2))
	f.Add([]byte(`{"session_id":"a","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text"},5]}]}],"config":{"max_iterations":1}}`))
	f.Add([]byte(`{"session_id":"a","messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"a":"` + "\xff" + `"}}]}],"extensions":{"":1}}`))
	f.Add([]byte(`{"session_id":"a","messages":null,"metadata":{"extensions":null},"provider_state":{"limits":{"":{}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := foreign.ReadHarnessX(data)
		if err == nil {
			usable(t, s)
		}
	})
}

func FuzzStrands(f *testing.F) {
	f.Add([]byte(typescript), []byte(`{"text":"whole"}`))
	f.Add([]byte(python), []byte("{"))
	f.Add([]byte(`{"message_id":1,"redact_message":{"role":"user","content":"x"}}`), []byte(`null`))
	f.Add([]byte(`{"scope":"agent","schemaVersion":"1.0","data":{"messages":[{"role":"user","content":[{"toolResult":{"content":[5]}}]}]}}`), []byte(``))
	f.Fuzz(func(t *testing.T, file, stash []byte) {
		for _, read := range []func(file, stash []byte) (foreign.Session, error){foreign.StrandsSnapshot, foreign.StrandsMessage} {
			if s, err := read(file, stash); err == nil {
				usable(t, s)
			}
		}
	})
}
