package main

import (
	"context"
	"encoding/json"
	"fmt"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// weatherIn are the arguments of the tool; its JSON schema is made from them.
type weatherIn struct {
	City string `json:"city" jsonschema:"the city"`
}

// tools are those of this program: one, which asks before it runs.
func tools() (*tool.Set, error) {
	set := new(tool.Set)
	weather, err := tool.New("weather", "Tell the weather.", func(_ context.Context, _ tool.Call, in weatherIn) (string, error) {
		return "rain in " + in.City, nil
	})
	if err != nil {
		return nil, err
	}
	return set, set.Add(weather)
}

// curious is a model that asks for the weather first, and answers with what it
// was told.
type curious struct{}

// Stream implements [model.Model].
func (curious) Stream(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == harness.RoleTool {
		text := "They say: " + last.Parts[0].Result.Text
		emit(model.Delta{Kind: model.DeltaText, Text: text})
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text}}, Stop: harness.StopEnd}, nil
	}
	input, err := json.Marshal(weatherIn{City: last.Text()})
	if err != nil {
		return model.Reply{}, fmt.Errorf("arguments: %w", err)
	}
	call := harness.ToolCall{Name: "weather", Input: input}
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: &call}}, Stop: harness.StopTools}, nil
}
