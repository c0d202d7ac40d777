package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"cairn/harness/tool"
)

// unquoted takes out of a text what a shell takes out of a word, so that
// quotes in the middle of a secret do not hide it.
var unquoted = strings.NewReplacer("'", "", `"`, "", `\`, "", "\n", "") //nolint:gochecknoglobals // a table that nobody changes

// secrets says what is wrong with the secrets in a call's arguments, empty if
// nothing is.
func (j judged) secrets() string {
	if find := j.rules.Secret; find != nil {
		name, found := inTexts(j.call.Input, func(text string) (string, bool) {
			if name, found := find(text); found {
				return name, true
			}
			return find(unquoted.Replace(text))
		})
		if found {
			return "what it is given holds the secret " + name + ", which would leave this program with it"
		}
	}
	writes := func(a tool.Access) bool { return a.Kind == tool.AccessWrite }
	if j.rules.Marked != nil && slices.ContainsFunc(j.touched, writes) {
		if name, found := inTexts(j.call.Input, j.rules.Marked); found {
			return "what it would write holds the mark that stands for the secret " + name + ", which may take the secret's place in the file"
		}
	}
	return ""
}

// inTexts looks through all texts of a call's arguments, the names of fields
// too.
func inTexts(input json.RawMessage, find func(string) (string, bool)) (name string, found bool) {
	var v any
	if json.Unmarshal(input, &v) != nil {
		return find(string(input))
	}
	return inValue(v, find)
}

func inValue(v any, find func(string) (string, bool)) (name string, found bool) {
	switch v := v.(type) {
	case string:
		return find(v)
	case []any:
		for _, e := range v {
			if name, found = inValue(e, find); found {
				return name, true
			}
		}
	case map[string]any:
		for key, e := range v {
			if name, found = find(key); found {
				return name, true
			}
			if name, found = inValue(e, find); found {
				return name, true
			}
		}
	}
	return "", false
}
