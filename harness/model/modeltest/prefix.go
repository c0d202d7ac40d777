package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// The texts of a conversation by which its requests are compared.
const (
	tuesday   = "Today is Tuesday."
	wednesday = "Today is Wednesday. The user likes tea."
)

// growing returns the requests of a conversation as it grows: the first question,
// a step of its turn, the next question on another day, and a step of that with
// something else recalled.
func growing() []model.Request {
	var out []model.Request
	r := hello()
	r.Key = "s1"
	add := func(context string, more ...harness.Message) {
		r.Context = context
		r.Messages = append(slices.Clone(r.Messages), more...)
		out = append(out, r)
	}
	r.Messages = nil
	add(tuesday, harness.UserText("first question"))
	add(tuesday, assistant(textPart("I look."), callPart("c1", `{}`)), results(harness.ToolResult{CallID: "c1", Name: "now", Text: "one o'clock"}))
	add(wednesday, assistant(textPart("first answer")), harness.UserText("second question"))
	add(tuesday, assistant(callPart("c2", `{}`)), results(harness.ToolResult{CallID: "c2", Name: "now", Text: "two o'clock"}))
	add(wednesday, assistant(textPart("second answer")), harness.UserText("third question"))
	return out
}

func placement(t *testing.T, s Subject) {
	t.Parallel()
	r := hello()
	r.Context = tuesday
	r.Messages = []harness.Message{
		harness.UserText("first question"), assistant(textPart("first answer")), harness.UserText("second question"),
		assistant(textPart("I look."), callPart("c1", `{}`)), results(harness.ToolResult{CallID: "c1", Name: "now", Text: "ok"}),
	}
	_, got := legal(t, s, r)
	if strings.Contains(got.System, "Tuesday") {
		t.Errorf("the context is in the system prompt %q", got.System)
	}
	for i, turn := range got.Turns {
		text := strings.Join(turn.Texts, "\n")
		if has := strings.Contains(text, tuesday); has != (i == 2) {
			t.Errorf("context in turn %d: %v", i, has)
		}
		if i == 2 && !strings.HasPrefix(text, "second question") {
			t.Errorf("the context is in front of what stays the same: %q", text)
		}
	}
	// A notice of the program does not begin a turn: the context stays.
	notice := harness.UserText("go on")
	notice.Mark = harness.MarkNotice
	r.Messages = append(r.Messages, assistant(textPart("half")), notice)
	_, got = legal(t, s, r)
	if text := strings.Join(got.Turns[2].Texts, "\n"); !strings.Contains(text, tuesday) {
		t.Errorf("the context went from %q", text)
	}
	r.Messages = []harness.Message{notice}
	_, got = legal(t, s, r)
	if text := strings.Join(got.Turns[0].Texts, "\n"); !strings.Contains(text, tuesday) {
		t.Errorf("a notice alone: %q", text)
	}
	r.Messages = nil
	if _, got := legal(t, s, r); len(got.Turns) != 1 || got.Turns[0].Texts[0] != tuesday {
		t.Errorf("context alone: %+v", got.Turns)
	}
}

// prefix compares the requests of a conversation byte for byte: tools and system
// prompt are the same in all, and so are the messages up to and with the question
// that began the turn of the earlier one.
func prefix(t *testing.T, s Subject) {
	t.Parallel()
	questions := []string{"first question", "first question", "second question", "second question", "third question"}
	var before, system, tools []byte
	for i, r := range growing() {
		body, _ := legal(t, s, r)
		gotSystem, gotTools, messages, err := Parts(body)
		if err != nil || bytes.Contains(messages, []byte("cache_control")) {
			t.Fatalf("%v in %s", err, body)
		}
		if i == 0 {
			system, tools = gotSystem, gotTools
		}
		if !bytes.Equal(gotSystem, system) || !bytes.Equal(gotTools, tools) || len(tools) == 0 {
			t.Errorf("request %d has another system prompt or other tools: %s %s", i, gotSystem, gotTools)
		}
		if i > 0 {
			end := bytes.Index(before, []byte(questions[i-1])) + len(questions[i-1])
			if !bytes.HasPrefix(messages, before[:end]) {
				t.Errorf("request %d does not begin as the one before:\n%s\n%s", i, before[:end], messages)
			}
		}
		before = messages
	}
}

// Parts returns the system prompt, the tools and the messages of a request in any
// interface, byte for byte as they were sent but for the marks of cached prefixes,
// which are no part of them. Where the system prompt is a message, it is in front
// of the others.
func Parts(body []byte) (system, tools, messages []byte, err error) {
	for _, mark := range []string{`"cache_control":{"type":"ephemeral"},`, `,"cache_control":{"type":"ephemeral"}`} {
		body = bytes.ReplaceAll(body, []byte(mark), nil)
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, nil, nil, fmt.Errorf("read a request: %w", err)
	}
	for _, name := range []string{"messages", "contents", "input"} {
		messages = append(messages, in[name]...)
	}
	return append(in["system"], in["systemInstruction"]...), in["tools"], messages, nil
}

func marks(t *testing.T, s Subject) {
	t.Parallel()
	want := [][]string{
		{"Be brief.", "first question"},
		{"Be brief.", "first question", "one o'clock"},
		{"Be brief.", "first question", "second question"},
		{"Be brief.", "first question", "second question", "two o'clock"},
		{"Be brief.", "second question", "third question"},
	}
	for i, r := range growing() {
		if !s.Marks {
			want[i] = nil
		}
		if body, got := legal(t, s, r); !slices.Equal(got.Marked, want[i]) {
			t.Errorf("request %d is marked at %q, want %q: %s", i, got.Marked, want[i], body)
		}
	}
	r := growing()[0]
	r.System = ""
	if _, got := legal(t, s, r); got.Marks > MaxMarks {
		t.Errorf("%d marks without a system prompt", got.Marks)
	}
}
