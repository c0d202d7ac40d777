package harness_test

import (
	"testing"

	"cairn/harness"
)

func TestTheTextOfAMessageIsWhatItsSpeakerSaid(t *testing.T) {
	t.Parallel()
	file := harness.Part{Kind: harness.PartText, Text: "package main", File: &harness.File{Name: "main.go"}}
	text := func(s string) harness.Part { return harness.Part{Kind: harness.PartText, Text: s} }
	for _, c := range []struct {
		parts []harness.Part
		want  string
	}{
		{nil, ""},
		{[]harness.Part{text("look")}, "look"},
		{[]harness.Part{file}, ""},
		{[]harness.Part{text("look"), file}, "look"},
		{[]harness.Part{text("look"), file, text(" here")}, "look here"},
		{[]harness.Part{{Kind: harness.PartThinking, Text: "hm"}, text("look")}, "look"},
	} {
		if got := (harness.Message{Parts: c.parts}).Text(); got != c.want {
			t.Errorf("%+v says %q, not %q", c.parts, got, c.want)
		}
	}
}
