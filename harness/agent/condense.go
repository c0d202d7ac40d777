package agent

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// toldOf tells of a condensing in one line.
func toldOf(c harness.Condensed) string {
	var done []string
	if c.Cleared > 0 {
		done = append(done, "left out "+count(c.Cleared, "old tool result"))
	}
	if c.Dropped > 0 {
		done = append(done, fmt.Sprintf("condensed %s into a note of %s", count(c.Dropped, "message"), count(utf8.RuneCountInString(c.Note), "character")))
	}
	if len(done) == 0 {
		done = append(done, "nothing could be condensed")
	}
	text := strings.Join(done, " and ")
	if c.After > 0 && c.After < c.Before {
		text += fmt.Sprintf("; the request has about %s now, before %s", count(c.After, "token"), digits(c.Before))
	}
	return text
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return digits(n) + " " + thing + "s"
}

// digits writes a number with commas.
func digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
