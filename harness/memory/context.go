package memory

import (
	"strings"

	"cairn/harness"
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
		parts = append(parts, "The working directory is "+clip(Inert(in.Dir), maxLine)+".")
	}
	if block := fence(items); block != "" {
		parts = append(parts, block)
	}
	return strings.Join(parts, "\n")
}

// own leaves out what only another provider than that of the model could read,
// such as its signatures, with the reasoning they sign. A model id without a
// provider leaves all as it is.
func own(msgs []harness.Message, id string) []harness.Message {
	provider, _, ok := strings.Cut(id, "/")
	if !ok {
		return msgs
	}
	for i := range msgs {
		if foreign(&msgs[i], provider) {
			msgs[i].Parts = append([]harness.Part(nil), msgs[i].Parts...)
			for j := range msgs[i].Parts {
				if o := msgs[i].Parts[j].Opaque; o != nil && o.Provider != provider {
					msgs[i].Parts[j].Opaque = nil
				}
			}
		}
	}
	return msgs
}

func foreign(m *harness.Message, provider string) bool {
	for i := range m.Parts {
		if o := m.Parts[i].Opaque; o != nil && o.Provider != provider {
			return true
		}
	}
	return false
}
