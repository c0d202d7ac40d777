package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"cairn/harness"
)

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`), []byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`))
	f.Add([]byte(`{"type":"content_block_start","index":-1,"content_block":{"type":"tool_use","input":7}}`), []byte(`{"type":"content_block_delta","index":-1,"delta":{"partial_json":"{"}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := &decoder{args: map[int]*strings.Builder{}}
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
