package shell

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that a command gets as they are. There are names
// only, no patterns: "LC_API_KEY" is no locale.
var passed = append([]string{ //nolint:gochecknoglobals // a table that nobody changes
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "LANG", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE",
	"LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
}, systemVariables...)

// environment returns what a command gets: nothing but the short list, what
// was declared, and what keeps programs from asking, paging and colouring.
func (r *runner) environment(dir string) []string {
	all := variables(r.o.Environ())
	env := map[string]string{
		"PWD": dir, "TERM": "dumb", "NO_COLOR": "1",
		"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
	}
	for _, name := range slices.Concat(passed, declared(r.o.Env, all)) {
		if value, ok := all[name]; ok {
			env[name] = value
		}
	}
	if env["PATH"] = absolute(env["PATH"]); env["PATH"] == "" {
		env["PATH"] = fallback // an empty one, and some shells' own, is the working directory
	}
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// fallback is the PATH of a person who has none.
const fallback = "/usr/local/bin:/usr/bin:/bin"

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

// declared returns the names that are set, once each.
func declared(names []string, all map[string]string) []string {
	var out []string
	for _, name := range names {
		if _, ok := all[name]; ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// variables reads an environment; of equal names the last one counts.
func variables(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			all[name] = value
		}
	}
	return all
}
