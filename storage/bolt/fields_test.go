package bolt

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"cairn/harness"
)

// FuzzFields reads objects field by field, as reading them whole does. What is no
// object does no harm.
func FuzzFields(f *testing.F) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	info, err := json.Marshal(sessionInfo{Session: harness.Session{
		ID: "a", Title: `"records":7,{[\`, Tags: []string{"x", `}"`}, Deleted: &now, Parent: &harness.Origin{Session: "b", Record: 3},
	}, Order: 1 << 62})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(info), `{}`, `{"a":1}`, ` {"a" : [ {"b":"]"} ] , "c":null}`, `{"a":"\\\""}`, `{"a"`, `{"a":`, `{"a":"`, `{"a":1,}`, `[1]`, ``, `{"a":1}x`, "{\"a\": 1 \n}\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]string{}
		err := eachField([]byte(text), func(name, value []byte) {
			var key string
			if json.Unmarshal([]byte(`"`+string(name)+`"`), &key) == nil {
				got[key] = string(value)
			}
		})
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return // it would not be in a verified value
		}
		whole := map[string]string{}
		for key, value := range want {
			whole[key] = string(value)
		}
		trimmed := map[string]string{}
		for key, value := range got {
			trimmed[key] = value[:len(value)-trailing(value)]
		}
		if err != nil || !maps.Equal(trimmed, whole) {
			t.Fatalf("%q: %q, %v, want %q", text, trimmed, err, whole)
		}
	})
}

// trailing is how much space is behind a bare value.
func trailing(value string) (n int) {
	for n < len(value) && skipSpace([]byte(value[len(value)-1-n:len(value)-n]), 0) == 1 {
		n++
	}
	return n
}
