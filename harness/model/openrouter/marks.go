package openrouter

import (
	"encoding/json"
	"fmt"

	"cairn/harness/model"
	"cairn/harness/model/wire"
)

// cacheControl is the field with the mark of a cached prefix.
const cacheControl = "cache_control"

// inBlocks puts the text of all messages into blocks and the marks of cached
// prefixes into them, where alone they are heard: the SDK puts some on messages
// and calls. All texts are in blocks, marked or not, so that a message stays the
// same when its mark goes to a later one.
func inBlocks(body []byte, _ model.Request) ([]byte, error) {
	var in struct {
		Messages []map[string]json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	for i, m := range in.Messages {
		if i == len(in.Messages)-1 && string(m["role"]) == `"tool"` {
			// The SDK loses this mark.
			m[cacheControl] = json.RawMessage(`{"type":"ephemeral"}`)
		}
		if err := inBlock(m); err != nil {
			return nil, err
		}
	}
	return wire.SetField(body, "messages", in.Messages)
}

func inBlock(m map[string]json.RawMessage) error {
	mark, marked := m[cacheControl]
	delete(m, cacheControl)
	if raw := m["content"]; len(raw) == 0 || raw[0] != '"' {
		return nil // blocks already, with their marks, or nothing beside calls
	}
	var text string
	if err := json.Unmarshal(m["content"], &text); err != nil {
		return fmt.Errorf("decode a message: %w", err)
	}
	block := map[string]any{"type": "text", "text": text}
	if marked {
		block[cacheControl] = mark
	}
	raw, err := json.Marshal([]any{block})
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	m["content"] = raw
	return nil
}
