package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"

	"cairn/harness"
	"cairn/harness/model"
)

// decoder follows one reply.
type decoder struct {
	finish, explained string
	// blocked is why the prompt was refused.
	blocked string
	counted counts
}

// counts are token counts. Those of an event are totals, not additions.
type counts struct {
	Prompt   int64 `json:"promptTokenCount"`
	Tools    int64 `json:"toolUsePromptTokenCount"`
	Reply    int64 `json:"candidatesTokenCount"`
	Thoughts int64 `json:"thoughtsTokenCount"`
	Cached   int64 `json:"cachedContentTokenCount"`
}

// event is an event as far as it matters here.
type event struct {
	Candidates []struct {
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage counts `json:"usageMetadata"`
}

// Event implements wire.Decoder.
func (d *decoder) Event(_ string, data []byte) ([]byte, *model.Error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, &model.Error{Kind: model.KindProtocol, Retry: true, Message: "a piece of the stream has an unknown shape", Cause: err}
	}
	c := &d.counted
	for _, f := range []struct {
		total *int64
		now   int64
	}{{&c.Prompt, e.Usage.Prompt}, {&c.Tools, e.Usage.Tools}, {&c.Reply, e.Usage.Reply}, {&c.Thoughts, e.Usage.Thoughts}, {&c.Cached, e.Usage.Cached}} {
		*f.total = max(*f.total, f.now)
	}
	if len(e.Candidates) > 0 {
		d.finish = cmp.Or(e.Candidates[0].FinishReason, d.finish)
		d.explained = cmp.Or(e.Candidates[0].FinishMessage, d.explained)
	}
	if b := e.PromptFeedback; b.BlockReason != "" {
		d.blocked, d.explained = b.BlockReason, cmp.Or(b.BlockReasonMessage, d.explained)
	}
	return data, nil
}

// Whole implements wire.Decoder.
func (d *decoder) Whole() bool { return d.finish != "" || d.blocked != "" }

// Done implements wire.Decoder: only the end of the body ends the stream.
func (d *decoder) Done() bool { return false }

// Arguments implements wire.Decoder: they come as objects, which nobody mends.
func (d *decoder) Arguments(int) (string, bool) { return "", false }

// Result implements wire.Decoder.
func (d *decoder) Result(parts []harness.Part) (harness.StopReason, harness.Usage, *model.Error) {
	u := harness.Usage{
		Input: d.counted.Prompt + d.counted.Tools, Output: d.counted.Reply + d.counted.Thoughts,
		CacheRead: d.counted.Cached, Reasoning: d.counted.Thoughts,
	}
	if d.blocked != "" {
		return "", u, d.refused("the prompt was blocked", "block reason "+d.blocked)
	}
	switch d.finish {
	case "STOP":
		if len(harness.Message{Parts: parts}.Calls()) > 0 {
			return harness.StopTools, u, nil
		}
		return harness.StopEnd, u, nil
	case "MAX_TOKENS":
		return harness.StopLength, u, nil
	case "FINISH_REASON_UNSPECIFIED", "OTHER":
		if len(parts) > 0 && len(harness.Message{Parts: parts}.Calls()) == 0 {
			return harness.StopOther, u, nil
		}
	}
	return "", u, d.refused("the reply was blocked or malformed", "finish reason "+d.finish)
}

func (d *decoder) refused(what, reason string) *model.Error {
	msg := fmt.Sprintf("%s (%s)", what, reason)
	if d.explained != "" {
		msg += ": " + d.explained
	}
	return &model.Error{Kind: model.KindRefused, Message: model.Sentence(msg)}
}
