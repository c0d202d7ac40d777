package modeltest

import (
	"encoding/json"
	"net/http"
)

// Gemini is the dialect of Google's Gemini interface.
type Gemini struct{}

func candidate(fields object) Event {
	return Event{Data: encode(object{"candidates": []object{fields}})}
}

func modelParts(parts ...object) object {
	return object{"content": object{"role": "model", "parts": parts}}
}

// Start implements [Dialect].
func (Gemini) Start() []Event { return nil }

// Text implements [Dialect].
func (Gemini) Text(s string) []Event { return []Event{candidate(modelParts(object{"text": s}))} }

// Call implements [Dialect]. The interface has whole arguments only: pieces
// are joined, and arguments that are no JSON cannot be told.
func (Gemini) Call(_ int, id, name string, args ...string) []Event {
	call := object{"name": name}
	if id != "" {
		call["id"] = id
	}
	joined := ""
	for _, a := range args {
		joined += a
	}
	if joined != "" {
		call["args"] = json.RawMessage(joined)
	}
	return []Event{candidate(modelParts(object{"functionCall": call}))}
}

// Finish implements [Dialect].
func (Gemini) Finish(reason string) []Event {
	reasons := map[string]string{"stop": "STOP", "tools": "STOP", "length": "MAX_TOKENS"}
	return []Event{candidate(object{"finishReason": reasons[reason]})}
}

// Usage implements [Dialect]: the counts are totals, told twice.
func (Gemini) Usage(input, cached, output, reasoning int) []Event {
	e := Event{Data: encode(object{"usageMetadata": object{
		"promptTokenCount": input, "cachedContentTokenCount": cached,
		"candidatesTokenCount": output - reasoning, "thoughtsTokenCount": reasoning, "totalTokenCount": input + output,
	}})}
	return []Event{e, e}
}

// End implements [Dialect]: the stream just ends.
func (Gemini) End() []Event { return nil }

// Failure implements [Dialect].
func (Gemini) Failure(message string) []Event {
	return []Event{{Data: encode(object{"error": object{"code": 503, "message": message, "status": "UNAVAILABLE"}})}}
}

// Refusal implements [Dialect].
func (Gemini) Refusal(status int, message string) string {
	return encode(object{"error": object{"code": status, "message": message, "status": http.StatusText(status)}})
}

// Request implements [Dialect].
func (Gemini) Request(body []byte) (Request, error) {
	type part struct {
		Text      string `json:"text"`
		Signature string `json:"thoughtSignature"`
		Inline    *struct {
			Media string `json:"mimeType"`
			Data  string `json:"data"`
		} `json:"inlineData"`
		FunctionCall *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			ID       string `json:"id"`
			Response struct {
				Result string `json:"result"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	type turn struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	var in struct {
		System   turn   `json:"systemInstruction"`
		Contents []turn `json:"contents"`
		Tools    []struct {
			Functions []struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	out := Request{Tools: map[string]json.RawMessage{}}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			out.Tools[f.Name] = f.Schema
		}
	}
	for _, p := range in.System.Parts {
		out.System += p.Text
	}
	for _, c := range in.Contents {
		t := Turn{Role: map[string]string{"model": "assistant", "user": "user"}[c.Role]}
		for _, p := range c.Parts {
			if p.Signature != "" {
				t.Seals = append(t.Seals, p.Signature)
			}
			switch {
			case p.Inline != nil:
				t.Files = append(t.Files, File{"", p.Inline.Media, p.Inline.Data})
			case p.FunctionCall != nil:
				if p.FunctionCall.Args == nil {
					p.FunctionCall.Args = json.RawMessage("{}")
				}
				t.Calls = append(t.Calls, Call{p.FunctionCall.ID, p.FunctionCall.Name, p.FunctionCall.Args})
			case p.FunctionResponse != nil:
				t.Results = append(t.Results, Result{p.FunctionResponse.ID, p.FunctionResponse.Response.Result})
			default:
				t.Texts = append(t.Texts, p.Text)
			}
		}
		out.Turns = append(out.Turns, t)
	}
	return out, nil
}
