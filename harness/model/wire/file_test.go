package wire

import (
	"strings"
	"testing"

	"charm.land/fantasy"

	"cairn/harness"
)

// Text of a file stays within its marks, whatever it says.
func TestTextOfAFileStaysWithinItsFence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\n":                "[file \"a.txt\"]\n```\nplain\n```",
		"x\n```\n[file \"b\"]\n": "[file \"a.txt\"]\n````\nx\n```\n[file \"b\"]\n````",
		"a ````` b ` c":          "[file \"a.txt\"]\n``````\na ````` b ` c\n``````",
	} {
		part := (&prompter{}).file(harness.File{Name: "a.txt\n", MediaType: "text/plain", Data: []byte(text)})
		got, ok := part.(fantasy.TextPart)
		if !ok || got.Text != want {
			t.Errorf("%q is sent as %q", text, got.Text)
		}
		lines := strings.Split(got.Text, "\n")
		if fence := lines[len(lines)-1]; strings.Count(got.Text, fence) != 2 {
			t.Errorf("%q ends its own fence", got.Text)
		}
	}
}
