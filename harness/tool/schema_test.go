package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSchemasOfServersCannotMakeCheckingEndless(t *testing.T) {
	t.Parallel()
	doubling := `{"type":"object","$ref":"#/$defs/d0","$defs":{`
	for i := range 60 {
		doubling += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	doubling += `"d60":{}}}`
	for name, schema := range map[string]string{
		"itself":               `{"type":"object","$ref":"#"}`,
		"itself in allOf":      `{"type":"object","allOf":[{"$ref":"#"}]}`,
		"two that take turns":  `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"anyOf":[{},{"$ref":"#/$defs/a"}]}}}`,
		"escaped":              `{"type":"object","$ref":"#/$defs/a~1b","$defs":{"a/b":{"$ref":"#/$defs/a%7E1b"}}}`,
		"in a dependency":      `{"type":"object","dependentSchemas":{"a/b":{"if":{"$ref":"#"}}}}`,
		"doubling":             doubling,
		"a dynamic reference":  `{"type":"object","properties":{"a":{"$dynamicRef":"#x"}}}`,
		"a reference by name":  `{"type":"object","properties":{"a":{"$ref":"#name"}}}`,
		"a remote reference":   `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`,
		"a base inside":        `{"type":"object","properties":{"a":{"$id":"http://x/y","$ref":"#"}}}`,
		"a schema of megabyte": `{"type":"object","description":"` + strings.Repeat("x", maxSchema) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := running(func(context.Context, Call) (string, error) { return "", nil })
			made.Schema = json.RawMessage(schema)
			if err := new(Set).Add(made); !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, want a refusal", err)
			}
		})
	}
}

func TestSchemasMayRecurseIntoTheirValue(t *testing.T) {
	t.Parallel()
	made := running(func(context.Context, Call) (string, error) { return "ran", nil })
	made.Schema = json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://x/root","type":"object",
		"properties":{"tree":{"$ref":"#/$defs/tree"},"$id":{"type":"string"}},
		"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name"]}}}`)
	s := setOf(t, made)
	if r := s.Run(t.Context(), callOf("t", `{"tree":{"name":"a","kids":[{"name":"b","kids":[]}]}}`), Call{}); r.Failed {
		t.Errorf("got %+v", r)
	}
	r := s.Run(t.Context(), callOf("t", `{"tree":{"name":"a","kids":[{"name":1}]}}`), Call{})
	if !r.Failed || !strings.Contains(r.Text, `want "string"`) {
		t.Errorf("got %+v", r)
	}
}

func FuzzSchema(f *testing.F) {
	for _, seed := range []string{`{"type":"object"}`, `{"type":"object","$ref":"#"}`, `{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`, `{"type":"object","allOf":[true]}`} {
		f.Add([]byte(seed), []byte(`{"a":{"b":[1]}}`))
	}
	f.Fuzz(func(t *testing.T, schema, input []byte) {
		made := running(func(context.Context, Call) (string, error) { return "", nil })
		made.Schema = schema
		var s Set
		if s.Add(made) != nil {
			return
		}
		r := s.Run(t.Context(), callOf("t", string(input)), Call{})
		if r.CallID != "id1" {
			t.Errorf("got %+v", r)
		}
	})
}
