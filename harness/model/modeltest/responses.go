package modeltest

import "encoding/json"

// Responses is the dialect of OpenAI's responses. Its end carries reason and
// usage, so the three belong together: Finish and Usage tell it only if they
// are all that follows.
type Responses struct{}

func (Responses) event(kind string, fields object) Event {
	fields["type"] = kind
	return Event{Name: kind, Data: encode(fields)}
}

// Start implements [Dialect].
func (d Responses) Start() []Event {
	return []Event{
		d.event("response.created", object{"response": object{"id": "r", "error": nil}}),
		d.event("response.output_item.added", object{"output_index": 0, "item": object{"type": "message", "id": "m"}}),
	}
}

// Text implements [Dialect].
func (d Responses) Text(s string) []Event {
	return []Event{d.event("response.output_text.delta", object{"item_id": "m", "output_index": 0, "content_index": 0, "delta": s})}
}

// Call implements [Dialect].
func (d Responses) Call(index int, id, name string, args ...string) []Event {
	at, all := index+1, ""
	item := object{"type": "function_call", "id": "i", "call_id": id, "name": name, "arguments": ""}
	out := []Event{d.event("response.output_item.added", object{"output_index": at, "item": item})}
	for _, a := range args {
		all += a
		out = append(out, d.event("response.function_call_arguments.delta", object{"output_index": at, "item_id": "i", "delta": a}))
	}
	item["arguments"] = all
	return append(out, d.event("response.output_item.done", object{"output_index": at, "item": item}))
}

// Finish implements [Dialect]: what it can tell before the end is that the
// message is done, or that the reply was cut.
func (d Responses) Finish(reason string) []Event {
	done := d.event("response.output_item.done", object{"output_index": 0, "item": object{"type": "message", "id": "m"}})
	if reason == "length" {
		return []Event{done, d.event("response.incomplete", object{"response": object{"id": "r", "incomplete_details": object{"reason": "max_output_tokens"}}})}
	}
	return []Event{done}
}

// Usage implements [Dialect]: it ends the stream.
func (d Responses) Usage(input, cached, output, reasoning int) []Event {
	return []Event{d.event("response.completed", object{"response": object{"id": "r", "usage": object{
		"input_tokens": input, "input_tokens_details": object{"cached_tokens": cached},
		"output_tokens": output, "output_tokens_details": object{"reasoning_tokens": reasoning}, "total_tokens": input + output,
	}}})}
}

// End implements [Dialect].
func (d Responses) End() []Event {
	return []Event{d.event("response.completed", object{"response": object{"id": "r", "error": nil, "incomplete_details": nil}})}
}

// Failure implements [Dialect].
func (d Responses) Failure(message string) []Event {
	return []Event{d.event("response.failed", object{"response": object{"id": "r", "error": object{"code": "server_error", "message": message}}})}
}

// Refusal implements [Dialect].
func (Responses) Refusal(status int, message string) string { return OpenAI{}.Refusal(status, message) }

// Request implements [Dialect].
func (Responses) Request(body []byte) (Request, error) {
	var in struct {
		Input []item `json:"input"`
		Tools []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	out := Request{Tools: map[string]json.RawMessage{}}
	for _, t := range in.Tools {
		out.Tools[t.Name] = t.Parameters
	}
	for _, m := range in.Input {
		switch {
		case m.Type == "function_call":
			call := Call{m.CallID, m.Name, json.RawMessage(m.Args)}
			// Calls follow the text of the same message as items of their own.
			if n := len(out.Turns) - 1; n >= 0 && out.Turns[n].Role == "assistant" {
				out.Turns[n].Calls = append(out.Turns[n].Calls, call)
			} else {
				out.Turns = append(out.Turns, Turn{Role: "assistant", Calls: []Call{call}})
			}
		case m.Type == "function_call_output":
			out.Turns = append(out.Turns, Turn{Role: "tool", Results: []Result{{m.CallID, m.Output}}})
		case m.Role == "system", m.Role == "developer":
			texts, _ := itemTexts(m.Content)
			out.System = texts[0]
		default:
			texts, files := itemTexts(m.Content)
			out.Turns = append(out.Turns, Turn{Role: m.Role, Texts: texts, Files: files})
		}
	}
	return out, nil
}

// itemTexts reads a string or a list of texts and files.
func itemTexts(raw json.RawMessage) (texts []string, files []File) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []string{s}, nil
	}
	var blocks []struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Image string `json:"image_url"`
		Name  string `json:"filename"`
		Data  string `json:"file_data"`
	}
	// Anything else has no texts.
	_ = json.Unmarshal(raw, &blocks)
	for _, b := range blocks {
		switch b.Type {
		case "input_text", "output_text":
			texts = append(texts, b.Text)
		case "input_image":
			files = append(files, fileAt("", b.Image))
		case "input_file":
			files = append(files, fileAt(b.Name, b.Data))
		}
	}
	return texts, files
}
