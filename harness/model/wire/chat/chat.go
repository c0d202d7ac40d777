// Package chat follows replies in the format of OpenAI's chat completions,
// which a dozen servers speak, each with an accent of its own. The one thing
// to know: calls are told apart here, since servers leave out or repeat the
// index and the id by which the SDK would do it.
package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
)

// Decoder follows one reply. It implements wire.Decoder.
type Decoder struct {
	finish string
	usage  harness.Usage
	// refusal is a refusal's text, which comes in a field of its own.
	refusal strings.Builder
	failed  string
	calls   []*call
	// text is what the last event said, if it said nothing else.
	text string
	only bool
}

// call is what is known of a call that has begun.
type call struct {
	index    *int
	id, name string
	// args is kept to see whether the arguments are complete.
	args []byte
}

// New returns a decoder for one reply.
func New() *Decoder { return &Decoder{} }

// chunk is an event as far as it matters here.
type chunk struct {
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
}

// choice is what a chunk says. Its delta has fields that only some servers know.
type choice struct {
	Delta        map[string]json.RawMessage `json:"delta"`
	FinishReason string                     `json:"finish_reason"`
	Error        json.RawMessage            `json:"error"`
}

// field reads a field of the delta into v, which stays as it is without one.
func (c choice) field(name string, v any) error {
	raw, ok := c.Delta[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	return json.Unmarshal(raw, v)
}

// text returns the text of a choice that says nothing else.
func (c choice) text() (string, bool) {
	if c.FinishReason != "" || !blank(c.Error) {
		return "", false
	}
	var text string
	for name, raw := range c.Delta {
		switch {
		case name == "role":
		case name != "content":
			if !blank(raw) {
				return "", false
			}
		case json.Unmarshal(raw, &text) != nil:
			return "", false
		}
	}
	return text, text != ""
}

// blank reports whether a field says nothing.
func blank(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// delta is a piece of a call.
type delta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// usage is the count of tokens. PromptTokens includes the cached ones.
type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// HitTokens is DeepSeek's name for the cached tokens.
	HitTokens int64 `json:"prompt_cache_hit_tokens"`
	// Cost is in USD; OpenRouter tells it.
	Cost *float64 `json:"cost"`
}

// Event implements wire.Decoder.
func (d *Decoder) Event(_ string, data []byte) ([]byte, *model.Error) {
	d.text, d.only = "", false
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, unknownShape(err)
	}
	if c.Usage != nil {
		d.count(*c.Usage)
	}
	if len(c.Choices) == 0 {
		// The SDKs stumble over such chunks, and nothing is left in them.
		return nil, nil
	}
	choice := c.Choices[0]
	if choice.FinishReason != "" {
		d.finish = choice.FinishReason
	}
	if len(c.Choices) == 1 && c.Usage == nil {
		if d.text, d.only = choice.text(); d.only {
			return data, nil
		}
	}
	var refusal string
	var calls []delta
	if err := errors.Join(choice.field("refusal", &refusal), choice.field("tool_calls", &calls)); err != nil {
		return nil, unknownShape(err)
	}
	d.refusal.WriteString(refusal)
	if len(choice.Error) > 0 && string(choice.Error) != "null" {
		d.failed = string(choice.Error)
	}
	if len(calls) == 0 {
		return data, nil
	}
	return d.rewrite(data, calls)
}

// Text implements wire.Texter.
func (d *Decoder) Text() (string, bool) { return d.text, d.only }

func unknownShape(err error) *model.Error {
	return &model.Error{Kind: model.KindProtocol, Retry: true, Message: "a piece of the stream has an unknown shape", Cause: err}
}

func (d *Decoder) count(u usage) {
	if u.PromptTokens == 0 && u.CompletionTokens == 0 {
		return
	}
	output, reasoning := u.CompletionTokens, u.CompletionDetails.ReasoningTokens
	if reasoning > 0 && u.TotalTokens == u.PromptTokens+output+reasoning {
		output += reasoning // some servers count the reasoning beside the reply
	}
	d.usage = harness.Usage{
		Input: u.PromptTokens, Output: output,
		CacheRead:  max(u.PromptDetails.CachedTokens, u.HitTokens),
		CacheWrite: u.PromptDetails.CacheWriteTokens,
		Reasoning:  reasoning,
	}
	if u.Cost != nil {
		d.usage.Cost, d.usage.CostKnown = *u.Cost, true
	}
}

// rewrite gives the calls in an event their true indexes.
func (d *Decoder) rewrite(data []byte, deltas []delta) ([]byte, *model.Error) {
	list := make([]map[string]any, 0, len(deltas))
	for i, t := range deltas {
		args, err := arguments(t.Function.Arguments)
		if err != nil {
			return nil, &model.Error{Kind: model.KindProtocol, Retry: true, Message: "the arguments of a call have an unknown shape", Cause: err}
		}
		at := d.place(t, i)
		c := d.calls[at]
		c.args = append(c.args, args...)
		function := map[string]any{"arguments": args}
		if t.Function.Name != "" && c.name == "" {
			c.name = t.Function.Name
			function["name"] = c.name
		}
		list = append(list, map[string]any{"index": at, "id": c.id, "type": "function", "function": function})
	}
	out, err := replaceCalls(data, list)
	if err != nil {
		return nil, unknownShape(err)
	}
	return out, nil
}

// place returns the position of the call that a piece belongs to, which is
// piece i of its event.
func (d *Decoder) place(t delta, i int) int {
	if at := d.find(t, i); at >= 0 {
		return at
	}
	d.calls = append(d.calls, &call{index: t.Index, id: t.ID})
	return len(d.calls) - 1
}

// find returns the position of the call that a piece goes on with, -1 if it
// begins a new one. An index decides if it is given and the id does not speak
// against it; without one, an unnamed piece goes on with the last call.
func (d *Decoder) find(t delta, i int) int {
	for at := len(d.calls) - 1; at >= 0; at-- {
		c := d.calls[at]
		switch {
		case t.Index != nil && (c.index == nil || *c.index != *t.Index):
			continue
		case t.ID != "" && c.id != "" && t.ID != c.id:
			if t.Index != nil {
				// The server counts every call as its first.
				return -1
			}
			continue
		case t.Index == nil && t.ID != "" && c.id == "":
			continue
		case t.Function.Name == "", t.ID != "" && t.ID == c.id && len(t.Function.Arguments) <= len(`""`):
			return at
		case t.Index == nil && i > 0, json.Valid(c.args):
			// A second name in one event, or after complete arguments.
			return -1
		}
		return at
	}
	return -1
}

// arguments returns the text of arguments, which some servers send as an
// object instead of a string of JSON.
func arguments(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// replaceCalls puts a list of calls in the place of those of the first choice.
func replaceCalls(data []byte, list []map[string]any) ([]byte, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, err
	}
	var choices []map[string]json.RawMessage
	if err := json.Unmarshal(top["choices"], &choices); err != nil {
		return nil, err
	}
	var inner map[string]json.RawMessage
	if err := json.Unmarshal(choices[0]["delta"], &inner); err != nil {
		return nil, err
	}
	var err error
	if inner["tool_calls"], err = json.Marshal(list); err != nil {
		return nil, err
	}
	if choices[0]["delta"], err = json.Marshal(inner); err != nil {
		return nil, err
	}
	if top["choices"], err = json.Marshal(choices[:1]); err != nil {
		return nil, err
	}
	return json.Marshal(top)
}

// Whole implements wire.Decoder: a finish reason completes the reply, with or
// without the final marker.
func (d *Decoder) Whole() bool { return d.finish != "" }

// Done implements wire.Decoder: the usage may follow the finish reason, so
// only the end of the stream ends it.
func (d *Decoder) Done() bool { return false }

// Result implements wire.Decoder.
func (d *Decoder) Result(parts []harness.Part) (harness.StopReason, harness.Usage, *model.Error) {
	u, calls := d.usage, len(harness.Message{Parts: parts}.Calls()) > 0
	switch d.finish {
	case "stop", "eos", "end_turn":
		if calls {
			return harness.StopTools, u, nil
		}
		if d.refusal.Len() > 0 {
			return "", u, &model.Error{Kind: model.KindRefused, Message: model.Sentence("refused: " + d.refusal.String())}
		}
		return harness.StopEnd, u, nil
	case "tool_calls", "function_call":
		return harness.StopTools, u, nil
	case "length", "max_tokens":
		return harness.StopLength, u, nil
	case "content_filter":
		if len(parts) == 0 {
			return "", u, &model.Error{Kind: model.KindRefused, Message: "the reply was blocked (finish reason content_filter)"}
		}
		return harness.StopSafety, u, nil
	case "error":
		return "", u, d.failure()
	}
	if calls {
		return harness.StopTools, u, nil
	}
	return harness.StopOther, u, nil
}

// failure is the error of a reply that the server ended with an error.
func (d *Decoder) failure() *model.Error {
	if d.failed != "" {
		return model.Answer{Body: []byte(d.failed)}.Err()
	}
	return &model.Error{Kind: model.KindServer, Retry: true, Message: "the reply ended with an error (finish reason error)"}
}

// Arguments implements wire.Decoder.
func (d *Decoder) Arguments(n int) (string, bool) {
	if n >= len(d.calls) {
		return "", false
	}
	return string(d.calls[n].args), true
}
