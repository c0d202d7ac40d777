package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/model"
)

// decoder follows one reply.
type decoder struct {
	stop    string
	ended   bool
	counted counts
	// args are the arguments of calls by the index of their block.
	args map[int]*strings.Builder
}

// counts are token counts; each is a total, and later ones replace earlier.
type counts struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// event is an event as far as it matters here.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage counts `json:"usage"`
	} `json:"message"`
	Usage        counts `json:"usage"`
	ContentBlock struct {
		Type  string          `json:"type"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		StopReason  string `json:"stop_reason"`
		PartialJSON string `json:"partial_json"`
	} `json:"delta"`
}

// Event implements wire.Decoder.
func (d *decoder) Event(_ string, data []byte) ([]byte, *model.Error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, &model.Error{Kind: model.KindProtocol, Retry: true, Message: "a piece of the stream has an unknown shape", Cause: err}
	}
	switch e.Type {
	case "message_start":
		d.count(e.Message.Usage)
	case "message_delta":
		d.count(e.Usage)
		if e.Delta.StopReason != "" {
			d.stop = e.Delta.StopReason
		}
	case "message_stop":
		d.ended = true
	case "content_block_start":
		if e.ContentBlock.Type == "tool_use" {
			d.args[e.Index] = &strings.Builder{}
			if in := string(e.ContentBlock.Input); in != "{}" && in != "null" {
				d.args[e.Index].WriteString(in)
			}
		}
	case "content_block_delta":
		if b := d.args[e.Index]; b != nil {
			b.WriteString(e.Delta.PartialJSON)
		}
	case "ping":
		return nil, nil
	}
	return data, nil
}

func (d *decoder) count(c counts) {
	for _, f := range []struct{ to, from **int64 }{
		{&d.counted.Input, &c.Input},
		{&d.counted.Output, &c.Output},
		{&d.counted.CacheRead, &c.CacheRead},
		{&d.counted.CacheWrite, &c.CacheWrite},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

// Whole implements wire.Decoder: the stop reason comes after all content.
func (d *decoder) Whole() bool { return d.stop != "" }

// Done implements wire.Decoder.
func (d *decoder) Done() bool { return d.ended }

// Result implements wire.Decoder.
func (d *decoder) Result(parts []harness.Part) (harness.StopReason, harness.Usage, *model.Error) {
	u := d.usage()
	switch d.stop {
	case "end_turn", "stop_sequence":
		if len(d.args) > 0 {
			return harness.StopTools, u, nil
		}
		return harness.StopEnd, u, nil
	case "tool_use":
		return harness.StopTools, u, nil
	case "max_tokens", "model_context_window_exceeded":
		return harness.StopLength, u, nil
	case "pause_turn":
		return harness.StopPause, u, nil
	case "refusal":
		if len(parts) == 0 {
			return "", u, &model.Error{Kind: model.KindRefused, Message: "the model refused to answer (stop reason refusal)"}
		}
		return harness.StopRefusal, u, nil
	}
	return harness.StopOther, u, nil
}

// usage adds the cached tokens to the input, which leaves them out.
func (d *decoder) usage() harness.Usage {
	value := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	c := d.counted
	u := harness.Usage{Output: value(c.Output), CacheRead: value(c.CacheRead), CacheWrite: value(c.CacheWrite)}
	u.Input = value(c.Input) + u.CacheRead + u.CacheWrite
	return u
}

// Arguments implements wire.Decoder.
func (d *decoder) Arguments(n int) (string, bool) {
	indexes := make([]int, 0, len(d.args))
	for i := range d.args {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	if n >= len(indexes) {
		return "", false
	}
	return d.args[indexes[n]].String(), true
}
