package mcp

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// orderKey is where the order of what a server asks for is kept in the question. The
// library hands on an object of them, which has none.
const orderKey = "cairn/order"

// inOrder notes the order of what a server asks for, in the question itself.
func inOrder(m jsonrpc.Message) jsonrpc.Message {
	r, ok := m.(*jsonrpc.Request)
	if !ok || r.Method != "elicitation/create" {
		return m
	}
	var params map[string]json.RawMessage
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(r.Params, &params) != nil || json.Unmarshal(params["requestedSchema"], &schema) != nil {
		return m
	}
	names := namesOf(schema.Properties)
	if len(names) == 0 {
		return m
	}
	meta := map[string]json.RawMessage{}
	if raw := params["_meta"]; len(raw) > 0 && json.Unmarshal(raw, &meta) != nil {
		return m
	}
	if meta == nil { // it was null
		meta = map[string]json.RawMessage{}
	}
	var err error
	if meta[orderKey], err = json.Marshal(names); err != nil {
		return m
	}
	if params["_meta"], err = json.Marshal(meta); err != nil {
		return m
	}
	all, err := json.Marshal(params)
	if err != nil {
		return m
	}
	r.Params = all
	return r
}

// namesOf are the names of an object in their order, a few more than are asked for at
// most.
func namesOf(object json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var names []string
	for d.More() && len(names) <= maxFields {
		t, err := d.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// orderOf is the order that was noted, nil if none was.
func orderOf(meta map[string]any) []string {
	var names []string
	list, _ := meta[orderKey].([]any)
	for _, x := range list[:min(len(list), maxFields)] {
		if name, ok := x.(string); ok {
			names = append(names, name)
		}
	}
	return names
}
