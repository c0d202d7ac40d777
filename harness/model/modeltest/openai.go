package modeltest

import (
	"encoding/json"
	"net/http"
)

// OpenAI is the dialect of chat completions.
type OpenAI struct{}

func chunk(delta object, finish any) Event {
	return Event{Data: encode(object{
		"id": "x", "object": "chat.completion.chunk", "model": "m",
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
	})}
}

// Start implements [Dialect].
func (OpenAI) Start() []Event {
	return []Event{chunk(object{"role": "assistant", "content": nil}, nil)}
}

// Text implements [Dialect].
func (OpenAI) Text(s string) []Event { return []Event{chunk(object{"content": s}, nil)} }

// Call implements [Dialect].
func (OpenAI) Call(index int, id, name string, args ...string) []Event {
	first := object{"name": name, "arguments": nil}
	if len(args) > 0 {
		first["arguments"] = args[0]
	}
	out := []Event{chunk(object{"tool_calls": []object{{"index": index, "id": id, "type": "function", "function": first}}}, nil)}
	for i := 1; i < len(args); i++ {
		out = append(out, chunk(object{"tool_calls": []object{{"index": index, "function": object{"arguments": args[i]}}}}, nil))
	}
	return out
}

// Finish implements [Dialect].
func (OpenAI) Finish(reason string) []Event {
	reasons := map[string]string{"stop": "stop", "tools": "tool_calls", "length": "length"}
	return []Event{chunk(object{}, reasons[reason])}
}

// Usage implements [Dialect].
func (OpenAI) Usage(input, cached, output, reasoning int) []Event {
	return []Event{{Data: encode(object{"choices": []object{}, "usage": object{
		"prompt_tokens": input, "completion_tokens": output,
		"prompt_tokens_details":     object{"cached_tokens": cached},
		"completion_tokens_details": object{"reasoning_tokens": reasoning},
	}})}}
}

// End implements [Dialect].
func (OpenAI) End() []Event { return []Event{{Data: "[DONE]"}} }

// Failure implements [Dialect].
func (OpenAI) Failure(message string) []Event {
	return []Event{{Data: encode(object{"error": object{"message": message}})}, {Data: "[DONE]"}}
}

// Refusal implements [Dialect].
func (OpenAI) Refusal(status int, message string) string {
	kind := "invalid_request_error"
	if status == http.StatusTooManyRequests {
		kind = "requests"
	}
	return encode(object{"error": object{"message": message, "type": kind, "code": nil}})
}

// Request implements [Dialect].
func (OpenAI) Request(body []byte) (Request, error) {
	var in struct {
		Messages []struct {
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			CallID    string          `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
			Details []struct {
				Signature string `json:"signature"`
			} `json:"reasoning_details"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	out := Request{Tools: map[string]json.RawMessage{}}
	for _, t := range in.Tools {
		out.Tools[t.Function.Name] = t.Function.Parameters
	}
	for _, m := range in.Messages {
		c := content(m.Content)
		out.Marks, out.Marked = out.Marks+len(c.marked), append(out.Marked, c.marked...)
		if m.Role == "system" {
			out.System = c.texts[0]
			continue
		}
		t := Turn{Role: m.Role, Texts: c.texts, Files: c.files}
		if m.Role == "tool" {
			t.Texts, t.Results = nil, []Result{{m.CallID, c.texts[0]}}
		}
		for _, c := range m.ToolCalls {
			t.Calls = append(t.Calls, Call{c.ID, c.Function.Name, json.RawMessage(c.Function.Arguments)})
		}
		for _, d := range m.Details {
			t.Seals = append(t.Seals, d.Signature)
		}
		out.Turns = append(out.Turns, t)
	}
	return out, nil
}

// chatContent is what a message says.
type chatContent struct {
	texts, marked []string
	files         []File
}

// content reads a string or a list of blocks.
func content(raw json.RawMessage) (c chatContent) {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return chatContent{texts: []string{s}}
	}
	var blocks []chatBlock
	if json.Unmarshal(raw, &blocks) != nil {
		return c
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			c.texts = append(c.texts, b.Text)
		case "image_url":
			c.files = append(c.files, fileAt("", b.Image.URL))
		case "file":
			c.files = append(c.files, fileAt(b.File.Name, b.File.Data))
		}
		if b.Cache != nil {
			c.marked = append(c.marked, b.Text)
		}
	}
	return c
}
