package wire

import (
	"encoding/json"
	"fmt"

	"cairn/harness/model"
)

// SetField replaces one field of a JSON object.
func SetField(body []byte, name string, value any) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %s of the request: %w", name, err)
	}
	fields[name] = raw
	return json.Marshal(fields)
}

// Schema returns a tool's schema as it is sent: the whole one, of which the
// SDK would pass on the properties and little more.
func Schema(t model.ToolSpec) map[string]any { return schema(t.Schema) }
