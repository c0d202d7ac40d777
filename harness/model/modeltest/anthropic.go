package modeltest

import "encoding/json"

// Anthropic is the dialect of Anthropic's messages.
type Anthropic struct{}

func named(kind string, fields object) Event {
	fields["type"] = kind
	return Event{Name: kind, Data: encode(fields)}
}

// Start implements [Dialect]: the text is block 0 and stays open, as the suite
// puts it before all calls.
func (Anthropic) Start() []Event {
	return []Event{
		named("message_start", object{"message": object{"id": "x", "role": "assistant", "content": []any{}, "model": "m", "usage": object{"input_tokens": 1, "output_tokens": 1}}}),
		named("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}}),
		named("ping", object{}),
	}
}

// Text implements [Dialect].
func (Anthropic) Text(s string) []Event {
	return []Event{named("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": s}})}
}

// Call implements [Dialect].
func (Anthropic) Call(index int, id, name string, args ...string) []Event {
	at := index + 1
	out := []Event{named("content_block_start", object{"index": at, "content_block": object{"type": "tool_use", "id": id, "name": name, "input": object{}}})}
	for _, a := range args {
		out = append(out, named("content_block_delta", object{"index": at, "delta": object{"type": "input_json_delta", "partial_json": a}}))
	}
	return append(out, named("content_block_stop", object{"index": at}))
}

// Finish implements [Dialect].
func (Anthropic) Finish(reason string) []Event {
	reasons := map[string]string{"stop": "end_turn", "tools": "tool_use", "length": "max_tokens"}
	return []Event{
		named("content_block_stop", object{"index": 0}),
		named("message_delta", object{"delta": object{"stop_reason": reasons[reason]}, "usage": object{"output_tokens": 1}}),
	}
}

// Usage implements [Dialect].
func (Anthropic) Usage(input, cached, output, _ int) []Event {
	return []Event{named("message_delta", object{"delta": object{}, "usage": object{
		"input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": output,
	}})}
}

// End implements [Dialect].
func (Anthropic) End() []Event { return []Event{named("message_stop", object{})} }

// Failure implements [Dialect].
func (Anthropic) Failure(message string) []Event {
	return []Event{named("error", object{"error": object{"type": "overloaded_error", "message": message}})}
}

// Refusal implements [Dialect].
func (Anthropic) Refusal(_ int, message string) string {
	return encode(object{"type": "error", "error": object{"type": "some_error", "message": message}})
}

// Request implements [Dialect].
func (Anthropic) Request(body []byte) (Request, error) {
	type block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   []block         `json:"content"`
		Signature string          `json:"signature"`
		Cache     any             `json:"cache_control"`
		Title     string          `json:"title"`
		Source    struct {
			Media string `json:"media_type"`
			Data  string `json:"data"`
		} `json:"source"`
	}
	var in struct {
		System   []block `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content []block `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
			Cache  any             `json:"cache_control"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	out := Request{Tools: map[string]json.RawMessage{}}
	marked := func(is any, text string) {
		if is != nil {
			out.Marks, out.Marked = out.Marks+1, append(out.Marked, text)
		}
	}
	for _, t := range in.Tools {
		out.Tools[t.Name] = t.Schema
		marked(t.Cache, "tools")
	}
	for _, b := range in.System {
		out.System += b.Text
		marked(b.Cache, b.Text)
	}
	for _, m := range in.Messages {
		t := Turn{Role: m.Role}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				t.Texts = append(t.Texts, b.Text)
			case "tool_use":
				t.Calls = append(t.Calls, Call{b.ID, b.Name, b.Input})
			case "tool_result":
				for _, inner := range b.Content {
					b.Text += inner.Text
					if inner.Type == "image" {
						t.Files = append(t.Files, File{"", inner.Source.Media, inner.Source.Data})
					}
				}
				t.Results = append(t.Results, Result{b.ToolUseID, b.Text})
			case "thinking":
				t.Seals = append(t.Seals, b.Signature)
			case "image", "document":
				t.Files = append(t.Files, File{b.Title, b.Source.Media, b.Source.Data})
			}
			marked(b.Cache, b.Text)
		}
		out.Turns = append(out.Turns, t)
	}
	return out, nil
}
