package openai

import (
	"encoding/json"
	"testing"

	"cairn/harness"
)

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"response.completed","response":{"usage":{"input_tokens":1}}}`), []byte(`{"type":"response.failed","response":{"error":{"message":"x"}}}`))
	f.Add([]byte(`{"type":"error","code":7}`), []byte(`{"type":"response.output_item.done","item":{"type":"function_call","arguments":"{"}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := &decoder{}
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
