package chat

import (
	"encoding/json"
	"testing"

	"cairn/harness"
)

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}},{"id":"a"}]}}]}`), []byte(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"a":1}}}]},"finish_reason":"stop"}]}`))
	f.Add([]byte(`{"choices":[{"finish_reason":"error","error":{"message":"x"}}]}`), []byte(`{"choices":[null],"usage":{"prompt_tokens":1}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := New()
		for _, data := range [][]byte{first, second} {
			if !json.Valid(data) {
				continue
			}
			out, failed := d.Event("", data)
			if failed != nil && failed.Message == "" {
				t.Fatal("a failure without a word")
			}
			if len(out) > 0 && !json.Valid(out) {
				t.Fatalf("%s became %s", data, out)
			}
		}
		for n := range 3 {
			d.Arguments(n)
		}
		stop, _, failed := d.Result([]harness.Part{{Kind: harness.PartText, Text: "x"}})
		if d.Whole() && (stop == "") == (failed == nil) {
			t.Fatalf("whole, stopped for %q and %v", stop, failed)
		}
	})
}
