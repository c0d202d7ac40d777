package chat

import (
	"cairn/harness"
	"cairn/ui/render"
)

// Plan returns the last list of what is to be done in records, oldest first,
// one item a line in words that are safe to print; nil if there is none.
func Plan(records ...harness.Record) []string {
	for i := len(records) - 1; i >= 0; i-- {
		list := lastTodos(records[i])
		if list == nil {
			continue
		}
		lines := make([]string, len(list))
		for n, t := range list {
			word := "to do: "
			switch t.Status {
			case todoDone:
				word = "done: "
			case todoNow:
				word = "now: "
			}
			lines[n] = word + render.SafeLine(t.Text)
		}
		return lines
	}
	return nil
}
