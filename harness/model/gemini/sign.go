package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"cairn/harness/model/wire"
)

// unsigned is the word that stands for the signature of a call that another model
// made: newer models refuse calls without one.
const unsigned = "skip_thought_signature_validator"

// wantsSignatures reports whether a model refuses calls that are not signed: all
// but the first two generations do.
func wantsSignatures(name string) bool {
	return !strings.Contains(name, "gemini-1") && !strings.Contains(name, "gemini-2")
}

// signed puts that word on the first call of each message without a signature,
// which is where one belongs: they are of a conversation, or a turn, that was begun
// with another model.
func signed(body []byte) ([]byte, error) {
	var in struct {
		Contents []map[string]json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	changed := false
	for _, c := range in.Contents {
		var parts []map[string]json.RawMessage
		if err := json.Unmarshal(c["parts"], &parts); err != nil {
			return nil, fmt.Errorf("decode a message: %w", err)
		}
		if !sign(parts) {
			continue
		}
		raw, err := json.Marshal(parts)
		if err != nil {
			return nil, fmt.Errorf("encode a message: %w", err)
		}
		c["parts"], changed = raw, true
	}
	if !changed {
		return body, nil
	}
	return wire.SetField(body, "contents", in.Contents)
}

// sign signs the first call of a message, which it reports.
func sign(parts []map[string]json.RawMessage) bool {
	for _, p := range parts {
		if p["functionCall"] == nil {
			continue
		}
		if p["thoughtSignature"] != nil {
			return false
		}
		p["thoughtSignature"] = json.RawMessage(`"` + unsigned + `"`)
		return true
	}
	return false
}
