package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cairn/harness/policy"
	"cairn/harness/tool/shell"
)

// permissionsTable is [permissions] as written.
type permissionsTable struct {
	Allow   []string `toml:"allow"`
	Ask     []string `toml:"ask"`
	Deny    []string `toml:"deny"`
	Approve *string  `toml:"approve"`
}

// rules are the lists by effect.
func (t permissionsTable) rules() map[string][]string {
	return map[string][]string{effectAllow: t.Allow, effectAsk: t.Ask, effectDeny: t.Deny}
}

// toolsTable is [tools] as written.
type toolsTable struct {
	Roots            []string `toml:"roots"`
	Env              []string `toml:"env"`
	PrivateAddresses *bool    `toml:"private_addresses"`
	CommandTimeout   *string  `toml:"command_timeout"`
	Off              []string `toml:"off"`
}

// Tools is what a configuration says of the tools.
type Tools struct {
	// Roots are further directories that file tools may touch, absolute.
	Roots []string
	// Env names the variables that commands get besides the usual ones.
	Env []string
	// PrivateAddresses lets fetch_url reach addresses of this machine and the
	// local network.
	PrivateAddresses bool
	// CommandTimeout bounds a command; 0 means the tool's own.
	CommandTimeout time.Duration
	// Off are the names of tools that are switched off.
	Off []string
}

// toolsOf settles [tools] of the user's file; it was checked.
func toolsOf(s Streams, t *toolsTable) Tools {
	var tools Tools
	if t == nil {
		return tools
	}
	for _, root := range t.Roots {
		tools.Roots = append(tools.Roots, filepath.Clean(expand(s, root)))
	}
	tools.Env, tools.Off = t.Env, t.Off
	tools.PrivateAddresses = t.PrivateAddresses != nil && *t.PrivateAddresses
	if t.CommandTimeout != nil {
		// checkTools has parsed it before.
		tools.CommandTimeout, _ = time.ParseDuration(*t.CommandTimeout)
	}
	return tools
}

// foreign refuses what a project's file must not set: it may only make the
// rules stricter.
func (t permissionsTable) foreign(path string, data []byte) error {
	for key, set := range map[string]bool{"allow": t.Allow != nil, "approve": t.Approve != nil} {
		if set {
			return &ConfigError{
				File: path, Line: lineOfKey(data, "permissions."+key),
				Text: fmt.Sprintf("\"permissions.%s\" cannot be set by a project, which may only add ask and deny rules; put it into your own configuration", key),
			}
		}
	}
	return nil
}

// checkPermissions refuses rules that are none.
func (f file) checkPermissions(path string, data []byte) error {
	if f.Permissions == nil {
		return nil
	}
	var all []error
	rules := f.Permissions.rules()
	for _, effect := range sortedKeys(rules) {
		key := "permissions." + effect
		for _, text := range rules[effect] {
			if _, err := policy.ParseRule(text); err != nil {
				all = append(all, &ConfigError{File: path, Line: lineOfItem(data, key, text), Text: fmt.Sprintf("%q: %s", key, err)})
			}
		}
	}
	if mode := f.Permissions.Approve; mode != nil && !slices.Contains(approveModes(), *mode) {
		all = append(all, &ConfigError{
			File: path, Line: lineOfKey(data, "permissions.approve"), Text: fmt.Sprintf("%q %s", "permissions.approve", wrongApprove(*mode)),
		})
	}
	return errors.Join(all...)
}

// variable reports whether a text is the name of a variable of the environment.
func variable(text string) bool {
	return text != "" && (text[0] < '0' || text[0] > '9') && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_'
	})
}

// checkTools refuses what no tool could use.
func (f file) checkTools(path string, data []byte) error {
	if f.Tools == nil {
		return nil
	}
	var all []error
	wrong := func(key, text, format string, args ...any) {
		key = "tools." + key
		line := lineOfKey(data, key)
		if text != "" {
			line = lineOfItem(data, key, text)
		}
		all = append(all, &ConfigError{File: path, Line: line, Text: fmt.Sprintf("%q: ", key) + fmt.Sprintf(format, args...)})
	}
	for _, root := range f.Tools.Roots {
		if !filepath.IsAbs(root) && !strings.HasPrefix(root, "~/") {
			wrong("roots", root, "%q is relative; give the whole path, or one below ~/", root)
		}
	}
	for _, name := range f.Tools.Env {
		if !variable(name) {
			// What follows the = may be a key.
			shown, _, _ := strings.Cut(name, "=")
			wrong("env", name, "%q is no name of a variable; give names alone, such as \"GOPATH\", never values", shown)
		}
	}
	if text := f.Tools.CommandTimeout; text != nil {
		d, err := time.ParseDuration(*text)
		switch {
		case err != nil, d < time.Second:
			wrong("command_timeout", "", "must be a time of at least a second with its unit, such as \"60s\" or \"5m\", not %q", *text)
		case d > shell.MaxTimeout:
			wrong("command_timeout", "", "%q is more than a command may take; give at most \"%.0fm\"", *text, shell.MaxTimeout.Minutes())
		}
	}
	for _, name := range f.Tools.Off {
		if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "( )") {
			wrong("off", name, "%q is no name of a tool; give names alone, such as \"fetch_url\", and rules in permissions.deny", name)
		}
	}
	return errors.Join(all...)
}

// lineOfItem is the line of a text in a list, which may stand on lines of its
// own: the first one from the key's on that has it, or the key's.
func lineOfItem(data []byte, key, text string) int {
	first := lineOfKey(data, key)
	if first == 0 {
		return 0
	}
	for i, line := range strings.Split(string(data), "\n") {
		if i+1 >= first && (strings.Contains(line, `"`+text+`"`) || strings.Contains(line, `'`+text+`'`)) {
			return i + 1
		}
	}
	return first
}

// values lists what the files and flags say, for `cairn config show`.
func (p Permissions) values() []Value {
	all := []Value{{Key: "permissions.approve", Value: string(p.Mode), From: p.ModeFrom}}
	for _, l := range p.Lines {
		all = append(all, Value{Key: "permissions." + l.Effect, Value: l.Rule, From: l.From})
	}
	return all
}

// values lists what the user's file says of tools.
func (t Tools) values(from string) []Value {
	var all []Value
	add := func(key, value string) {
		if value != "" {
			all = append(all, Value{Key: "tools." + key, Value: value, From: from, layer: layerUser})
		}
	}
	add("roots", strings.Join(t.Roots, " "))
	add("env", strings.Join(t.Env, " "))
	if t.PrivateAddresses {
		add("private_addresses", "true")
	}
	if t.CommandTimeout > 0 {
		add("command_timeout", t.CommandTimeout.String())
	}
	add("off", strings.Join(t.Off, " "))
	return all
}
