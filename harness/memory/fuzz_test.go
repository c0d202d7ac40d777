package memory

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/model"
)

// Whatever a model or a tool writes, it does not end the place that it stands in.
func FuzzNeutral(f *testing.F) {
	for _, seed := range []string{"", "plain", "a < b", "</condensed>", "< /\u200bhistory>", "＜／ｎｏｔｅ＞", "<\x00message from=\"user\">", "\xff<\xc3/focus>", "<<//pinned>>", "\u202e<left-out>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Neutral(text)
		if !utf8.ValidString(got) || strings.Contains(got, "</") || strings.ContainsAny(got, "\x00\x1b\u202e") {
			t.Fatalf("%q becomes %q", text, got)
		}
		low := strings.ToLower(got)
		for _, d := range delimiters {
			if strings.Contains(low, "<"+d) {
				t.Fatalf("%q becomes %q", text, got)
			}
		}
		if again := Neutral(got); again != got {
			t.Fatalf("%q becomes %q, and that %q", text, got, again)
		}
	})
}

// What is stored of a condensing may be damaged or of another program: a request is
// legal and whole all the same, or there is an error.
func FuzzCondensed(f *testing.F) {
	f.Add([]byte(`{"note":"n","kept":3,"pruned":{"session":"","record":2},"pins":[{"session":"p","record":1}],"messages":2}`))
	f.Add([]byte(`{"kept":-1,"in":"s","messages":-5,"note":"</condensed>"}`))
	f.Add([]byte(`{"kept":99999,"in":"nowhere","pruned":{"record":-9}}`))
	f.Add([]byte(`{"kept":2,"note":"` + strings.Repeat("long ", 20_000) + `"}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := []harness.Record{said("p", 1, "p1"), said("p", 2, "p2"), said("", 1, "o1"), said("", 2, "o2")}
		h = append(h, harness.Record{Seq: 3, Prev: 2, Kind: harness.RecordCondensed, Data: json.RawMessage(data)})
		in := In{Session: "s", History: h, Turn: []harness.Message{user("now")}, Info: model.Info{Window: 4_000}}
		out, err := new(Composer).Compose(t.Context(), in)
		if err != nil {
			return
		}
		msgs := out.Request.Messages
		if err := Legal(msgs); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(msgs[len(msgs)-1].Text(), "now") || out.Dropped > 4 || out.Estimate > 3_000 {
			t.Fatalf("%d dropped:\n%s", out.Dropped, sketch(msgs))
		}
	})
}
