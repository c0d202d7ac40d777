package policy

import (
	"encoding/json"
	"strings"
)

// unquoted takes out of a text what a shell takes out of a word, so that
// quotes in the middle of a secret do not hide it.
var unquoted = strings.NewReplacer("'", "", `"`, "", `\`, "", "\n", "") //nolint:gochecknoglobals // a table that nobody changes

// secretIn returns the name of a secret in a call's arguments.
func (r Rules) secretIn(input json.RawMessage) (name string, found bool) {
	if r.Secret == nil {
		return "", false
	}
	var v any
	if json.Unmarshal(input, &v) != nil {
		return r.Secret(string(input))
	}
	return r.within(v)
}

// within looks through all texts of a value, the names of its fields too.
func (r Rules) within(v any) (name string, found bool) {
	switch v := v.(type) {
	case string:
		if name, found = r.Secret(v); !found {
			name, found = r.Secret(unquoted.Replace(v))
		}
	case []any:
		for _, e := range v {
			if name, found = r.within(e); found {
				return name, true
			}
		}
	case map[string]any:
		for key, e := range v {
			if name, found = r.within(key); found {
				return name, true
			}
			if name, found = r.within(e); found {
				return name, true
			}
		}
	}
	return name, found
}
