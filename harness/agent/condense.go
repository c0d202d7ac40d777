package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// toldOf tells of a condensing in one line.
func toldOf(c harness.Condensed) string {
	var done []string
	if c.Cleared > 0 {
		done = append(done, "left out "+harness.Count(c.Cleared, "old tool result"))
	}
	if c.Dropped > 0 {
		done = append(done, fmt.Sprintf("condensed %s into a note of %s", harness.Count(c.Dropped, "message"), harness.Count(utf8.RuneCountInString(c.Note), "character")))
	}
	if len(done) == 0 {
		done = append(done, "nothing could be condensed")
	}
	text := strings.Join(done, " and ")
	if c.After > 0 && c.After < c.Before {
		text += fmt.Sprintf("; the request has about %s now, before %s", harness.Count(c.After, "token"), harness.Grouped(c.Before))
	}
	return text
}
