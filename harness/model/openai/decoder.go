package openai

import (
	"encoding/json"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
)

// decoder follows one reply of the responses interface.
type decoder struct {
	ended bool
	// reason is why the reply is not complete, empty if it is.
	reason  string
	usage   harness.Usage
	refusal strings.Builder
	args    []string
}

// event is an event as far as it matters here.
type event struct {
	Type  string `json:"type"`
	Delta string `json:"delta"`
	Item  struct {
		Type      string `json:"type"`
		Arguments string `json:"arguments"`
	} `json:"item"`
	// Code and Message are those of an event of the type "error".
	Code     any    `json:"code"`
	Message  string `json:"message"`
	Response struct {
		Error      json.RawMessage `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage struct {
			Input        int64 `json:"input_tokens"`
			Output       int64 `json:"output_tokens"`
			InputDetails struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			OutputDetails struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		} `json:"usage"`
	} `json:"response"`
}

// Event implements wire.Decoder.
func (d *decoder) Event(_ string, data []byte) ([]byte, *model.Error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, &model.Error{Kind: model.KindProtocol, Retry: true, Message: "a piece of the stream has an unknown shape", Cause: err}
	}
	switch e.Type {
	case "error":
		return nil, model.Answer{Body: data}.Err()
	case "response.failed":
		if len(e.Response.Error) == 0 || string(e.Response.Error) == "null" {
			return nil, &model.Error{Kind: model.KindServer, Retry: true, Message: "the reply failed"}
		}
		return nil, model.Answer{Body: e.Response.Error}.Err()
	case "response.refusal.delta":
		d.refusal.WriteString(e.Delta)
	case "response.output_item.done":
		if e.Item.Type == "function_call" {
			d.args = append(d.args, e.Item.Arguments)
		}
	case "response.completed", "response.incomplete":
		d.ended = true
		d.reason = e.Response.Incomplete.Reason
		if e.Type == "response.incomplete" && d.reason == "" {
			d.reason = "incomplete"
		}
		u := e.Response.Usage
		d.usage = harness.Usage{Input: u.Input, CacheRead: u.InputDetails.Cached, Output: u.Output, Reasoning: u.OutputDetails.Reasoning}
	}
	return data, nil
}

// Whole implements wire.Decoder.
func (d *decoder) Whole() bool { return d.ended }

// Done implements wire.Decoder.
func (d *decoder) Done() bool { return d.ended }

// Arguments implements wire.Decoder.
func (d *decoder) Arguments(n int) (string, bool) {
	if n >= len(d.args) {
		return "", false
	}
	return d.args[n], true
}

// Result implements wire.Decoder.
func (d *decoder) Result(parts []harness.Part) (harness.StopReason, harness.Usage, *model.Error) {
	switch {
	case d.reason == "max_output_tokens" || d.reason == "max_tokens":
		return harness.StopLength, d.usage, nil
	case d.reason == "content_filter" && len(parts) == 0:
		return "", d.usage, &model.Error{Kind: model.KindRefused, Message: "the reply was blocked (content_filter)"}
	case d.reason == "content_filter":
		return harness.StopSafety, d.usage, nil
	case d.reason != "":
		return harness.StopOther, d.usage, nil
	case d.refusal.Len() > 0:
		return "", d.usage, &model.Error{Kind: model.KindRefused, Message: model.Sentence("refused: " + d.refusal.String())}
	case len(harness.Message{Parts: parts}.Calls()) > 0:
		return harness.StopTools, d.usage, nil
	}
	return harness.StopEnd, d.usage, nil
}
