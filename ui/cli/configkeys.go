package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// noKey is what leaves an action without a key, as an empty list does.
const noKey = "none"

// KeyList is one key or a list of keys in the configuration.
type KeyList []string

// Bindings are the keys of rebound actions.
func (c Config) Bindings() map[string][]string {
	m := make(map[string][]string, len(c.Keys))
	for action, list := range c.Keys {
		m[action] = list
	}
	return m
}

// checkKeys turns the key bindings into lists by action. A name may be quoted,
// dotted or in a table of its screen: "chat.send", chat.send, [keys.chat] send.
func (f *file) checkKeys(path string, data []byte) error {
	f.Keys = make(map[string]KeyList, len(f.RawKeys))
	return f.bind(path, data, "", f.RawKeys)
}

// bind takes in the bindings of a table whose name is prefix.
func (f *file) bind(path string, data []byte, prefix string, table map[string]any) error {
	for _, name := range sortedKeys(table) {
		action := prefix + name
		wrong := &ConfigError{File: path, Line: lineOfAction(data, action), Text: fmt.Sprintf("the binding of %q must be a key such as \"ctrl+s\" or a list of keys", action)}
		switch v := table[name].(type) {
		case string:
			f.Keys[action] = KeyList{v}
		case map[string]any:
			if err := f.bind(path, data, action+".", v); err != nil {
				return err
			}
		case []any:
			f.Keys[action] = KeyList{}
			for _, one := range v {
				key, ok := one.(string)
				if !ok {
					return wrong
				}
				f.Keys[action] = append(f.Keys[action], key)
			}
		default:
			return wrong
		}
		if slices.Equal(f.Keys[action], KeyList{noKey}) {
			f.Keys[action] = KeyList{}
		}
		for _, key := range f.Keys[action] {
			if text := wrongKey(key); text != "" {
				return &ConfigError{File: path, Line: wrong.Line, Text: fmt.Sprintf("the binding of %q: %s", action, text)}
			}
		}
	}
	return nil
}

// checkActions refuses bindings of actions that no screen has.
func (f file) checkActions(path string, data []byte, known []string) error {
	var all []*ConfigError
	for _, action := range sortedKeys(f.Keys) {
		if slices.Contains(known, action) {
			continue
		}
		text := fmt.Sprintf("unknown action %q", action)
		if best, ok := nearest(action, known); ok {
			text += "; did you mean " + best + "?"
		} else {
			text += "; the help of each screen (F1) lists its keys"
		}
		all = append(all, &ConfigError{File: path, Line: lineOfAction(data, action), Text: text})
	}
	slices.SortStableFunc(all, func(a, b *ConfigError) int { return a.Line - b.Line })
	var joined error
	for _, e := range all {
		joined = errors.Join(joined, e)
	}
	return joined
}

// lineOfAction is the line that binds an action below [keys], 0 if none is
// found.
func lineOfAction(data []byte, action string) int {
	table, below := "", false
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			head = unquoted(head)
			table, below = strings.TrimPrefix(head, "keys."), head == "keys" || strings.HasPrefix(head, "keys.")
			if head == "keys" {
				table = ""
			}
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		name = unquoted(name)
		switch {
		case below && table != "":
			name = table + "." + name
		case !below:
			name = strings.TrimPrefix(name, "keys.")
		}
		if name == action {
			return i + 1
		}
	}
	return 0
}

// unquoted is a dotted name without quotes and white space.
func unquoted(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"' \t", r) {
			return -1
		}
		return r
	}, name)
}
