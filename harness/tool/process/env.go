package process

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that a program gets as they are. There are names
// only, no patterns: "LC_API_KEY" is no locale.
var passed = append([]string{ //nolint:gochecknoglobals // a table that nobody changes
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "LANG", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE",
	"LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
}, systemVariables...)

// fallback is the PATH of a person who has none.
const fallback = "/usr/local/bin:/usr/bin:/bin"

// Environment returns what of an environment a program gets: the short list of
// harmless variables and those that are declared by name. Its PATH has nothing that
// depends on the working directory.
func Environment(environ, declare []string) map[string]string {
	all, env := Variables(environ), map[string]string{}
	for _, name := range slices.Concat(passed, declare) {
		if value, ok := all[name]; ok {
			env[name] = value
		}
	}
	if env["PATH"] = absolute(env["PATH"]); env["PATH"] == "" {
		env["PATH"] = fallback // an empty one, and some shells' own, is the working directory
	}
	return env
}

// List writes variables as [os/exec.Cmd] takes them, in the order of their names.
func List(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// absolute leaves out of a PATH what depends on the working directory: a rule
// for git is not one for a program named git in a project.
func absolute(list string) string {
	var dirs []string
	for _, dir := range filepath.SplitList(list) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Variables reads an environment; of equal names the last one counts.
func Variables(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			all[name] = value
		}
	}
	return all
}
