package gemini

import (
	"encoding/json"
	"testing"

	"cairn/harness"
)

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"finishReason":"STOP"}]}`), []byte(`{"promptFeedback":{"blockReason":"X"},"usageMetadata":{"promptTokenCount":1}}`))
	f.Add([]byte(`{"candidates":[]}`), []byte(`null`))
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
