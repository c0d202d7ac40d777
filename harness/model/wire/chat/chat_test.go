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

func TestOnlyEventsOfTextAloneAreText(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}],"usage":null}`:                                      "x",
		`{"choices":[{"delta":{"role":"assistant","content":"x","refusal":null,"reasoning":"","tool_calls":[]},"logprobs":null}]}`: "x",
		`{"choices":[{"delta":{"content":""}}]}`:                                          "",
		`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`:                  "",
		`{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}`:             "",
		`{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"y"}}]}`:               "",
		`{"choices":[{"delta":{"content":"x","reasoning_content":"y"}}]}`:                 "",
		`{"choices":[{"delta":{"content":"x","tool_calls":[{"function":{}}]}}]}`:          "",
		`{"choices":[{"delta":{"content":"x","annotations":[{"type":"url_citation"}]}}]}`: "",
		`{"choices":[{"delta":{"content":[{"type":"text","text":"x"}]}}]}`:                "",
		`{"choices":[{"delta":{"content":"x"},"error":{"message":"no"}}]}`:                "",
		`{"choices":[]}`: "",
	} {
		d := New()
		if _, failed := d.Event("", []byte(data)); failed != nil {
			t.Errorf("%s: %v", data, failed)
		}
		if text, ok := d.Text(); text != want || ok != (want != "") {
			t.Errorf("%s says %q alone (%v)", data, text, ok)
		}
	}
}
