package memory

import (
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
)

// situation writes what changes from turn to turn: the day, the directory and
// what is remembered. The time of day is left out, so that the text is the
// same for all requests of a day.
func situation(in In, items []item) string {
	var parts []string
	if !in.Now.IsZero() {
		parts = append(parts, "Today is "+in.Now.Format("Monday, 2 January 2006")+".")
	}
	if in.Dir != "" {
		parts = append(parts, "The working directory is "+tool.Clip(recall.Inert(in.Dir), maxDir)+".")
	}
	if block := fence(items); block != "" {
		parts = append(parts, block)
	}
	return strings.Join(parts, "\n")
}

// own leaves out what only another provider than that of the model could read,
// such as its signatures, with the reasoning they sign. The issuer of such data
// is the start of the model's id, "anthropic" or "openrouter/google"; an empty
// id leaves all as it is.
func own(msgs []harness.Message, id string) []harness.Message {
	if id == "" {
		return msgs
	}
	foreign := func(p harness.Part) bool {
		return p.Opaque != nil && !strings.HasPrefix(id, p.Opaque.Provider+"/")
	}
	for i := range msgs {
		if !slices.ContainsFunc(msgs[i].Parts, foreign) {
			continue
		}
		msgs[i].Parts = slices.Clone(msgs[i].Parts)
		for j := range msgs[i].Parts {
			if foreign(msgs[i].Parts[j]) {
				msgs[i].Parts[j].Opaque = nil
			}
		}
	}
	return msgs
}
