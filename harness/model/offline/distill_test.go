package offline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/offline"
)

// distilled returns what the model finds in a document, one idea a line.
func distilled(t *testing.T, document string) string {
	t.Helper()
	reply, err := offline.Model{}.Stream(t.Context(), model.Request{
		Purpose: model.PurposeDistill, Messages: []harness.Message{harness.UserText(document)},
	}, func(model.Delta) { t.Error("nobody watches, and something is streamed") })
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Facts []struct {
			Action, Fact, Text, Quote string
			Source                    int
		}
	}
	text := harness.Message{Parts: reply.Parts}.Text()
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Facts == nil {
		t.Fatalf("%q is no answer: %v", text, err)
	}
	var lines []string
	for _, f := range answer.Facts {
		lines = append(lines, fmt.Sprint(f.Action, f.Fact, " ", f.Source, " ", f.Text, " (", f.Quote, ")"))
	}
	return strings.Join(lines, "\n")
}

func TestPlainSentencesBecomeFacts(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{"messages":[{"n":3,"who":"user","text":"Call me Ada. Where do I live?"}]}`:                                              "add 3 Wants to be called Ada (Call me Ada)",
		`{"messages":[{"n":3,"who":"assistant","text":"My name is Eve."}]}`:                                                       "",
		`{"known":[{"id":"f3","text":"Works in Berlin"}],"messages":[{"n":1,"who":"user","text":"I work in Hamburg now"}]}`:       "changef3 1 Works in Hamburg (I work in Hamburg now)",
		`{"known":[{"id":"f3","text":"works in berlin."}],"messages":[{"n":1,"who":"user","text":"I work in Berlin"}]}`:           "",
		`{"messages":[{"n":1,"who":"user","text":"I like tea\nI like tea"},{"n":3,"who":"user","text":"Fix the test, please."}]}`: "add 1 Likes tea (I like tea)",
		`{"messages":[{"n":1,"who":"user","text":"I like ` + strings.Repeat("very ", 30) + `long stories"}]}`:                     "",
		`no document`: "", `{"messages":7}`: "", ``: "",
	} {
		if got := distilled(t, document); got != want {
			t.Errorf("%s\ngives %q\nwant  %q", document, got, want)
		}
	}
}
