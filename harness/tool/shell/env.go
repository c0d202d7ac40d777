package shell

import (
	"maps"
	"slices"

	"cairn/harness/tool/process"
)

// environment returns what a command gets: nothing but the short list, what
// was declared, and what keeps programs from asking, paging and colouring.
func (r *runner) environment(dir string) []string {
	env := map[string]string{
		"PWD": dir, "TERM": "dumb", "NO_COLOR": "1",
		"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
	}
	maps.Copy(env, process.Environment(r.o.Environ(), r.o.Env))
	return process.List(env)
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
