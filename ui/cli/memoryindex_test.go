package cli

import (
	"strings"
	"testing"

	"cairn/harness/memory/near"
)

func TestHowTheVectorsStandIsSaidWithWhatToDo(t *testing.T) {
	t.Parallel()
	mine := &near.Space{Model: "ollama/a", Dims: 3, Version: near.Version}
	old := &near.Space{Model: "ollama/a", Dims: 3, Version: near.Version - 1}
	for _, c := range []struct {
		of       indexed
		text, do string
	}{
		{indexed{}, "no model is configured", ""},
		{indexed{Status: near.Status{Space: mine, Bytes: 2048}}, "the vectors of ollama/a are not used (2.0 kB)", "--clear"},
		{indexed{Model: "ollama/a"}, "no vectors yet; a chat makes those of ollama/a", "--update"},
		{indexed{Model: "ollama/b", Status: near.Status{Space: mine}}, "are of ollama/a and not used; a chat makes those of ollama/b", "--update"},
		{indexed{Model: "ollama/a", Status: near.Status{Space: old}}, "not used", "--update"},
		{indexed{Model: "ollama/a", Status: near.Status{Space: mine, Records: 1200, Items: 3, Missing: 7}}, "1,203 of 1,210 messages, facts and notes", "--update"},
		{indexed{Model: "ollama/a", Status: near.Status{Space: mine, Records: 1200}}, "all 1,200 messages, facts and notes have their vectors", ""},
	} {
		if text, do := c.of.words(); !strings.Contains(text, c.text) || !strings.Contains(do, c.do) || (do == "") != (c.do == "") {
			t.Errorf("%+v: got %q, %q", c.of, text, do)
		}
	}
}
