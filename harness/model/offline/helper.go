package offline

import (
	"fmt"
	"strings"

	"cairn/harness/model"
)

// helper answers the program's own requests, which come without tools and
// belong to no session: for a summary it takes the beginnings of the lines. What
// such a request wants is in its first sentence.
func helper(r model.Request) (string, bool) {
	if len(r.Tools) > 0 || len(r.Messages) != 1 || r.Key != "" {
		return "", false
	}
	wants, _, _ := strings.Cut(strings.ToLower(r.System), ".")
	for _, word := range strings.Fields(wants) {
		switch word {
		case "summarise", "summarize", "summary":
			return extract(r.Messages[0].Text()), true
		}
	}
	return "", false
}

// extract shortens a text to the beginnings of its first and last lines.
func extract(text string) string {
	const keep, width = 15, 160
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			if r := []rune(l); len(r) > width {
				l = string(r[:width]) + " …"
			}
			lines = append(lines, "- "+l)
		}
	}
	if n := len(lines); n > 2*keep {
		gap := fmt.Sprintf("- (%d lines left out)", n-2*keep)
		lines = append(append(lines[:keep:keep], gap), lines[n-keep:]...)
	}
	return "Extract, made without a language model:\n" + strings.Join(lines, "\n")
}
