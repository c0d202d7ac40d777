package policy

import (
	"slices"
	"strings"

	"cairn/harness/tool"
)

// worst returns the rule that says most surely that it is about the call.
func worst(rules []Rule, t tool.Tool, p place, touched []tool.Access) (Rule, danger) {
	var found Rule
	result := no
	commands := map[string]finder{}
	for _, r := range rules {
		if !r.Names(t.Name) {
			continue
		}
		d := no
		switch {
		case r.pattern == "":
			d = yes
		case len(touched) == 0:
			d = maybe
		}
		for _, a := range touched {
			if d == yes {
				break
			}
			d = max(d, r.hits(p, a, commands))
		}
		if d > result {
			found, result = r, d
		}
	}
	return found, result
}

func (r Rule) hits(p place, a tool.Access, commands map[string]finder) danger {
	switch a.Kind {
	case tool.AccessRun:
		f, ok := commands[a.Command]
		if !ok {
			f = findCommands(a.Command)
			commands[a.Command] = f
		}
		return r.hitsCommand(a.Command, f)
	case tool.AccessRead, tool.AccessWrite:
		return r.hitsPath(p, a)
	case tool.AccessFetch:
		return r.hitsURL(a.URL)
	default:
		return maybe
	}
}

// covers reports whether rules together cover all that a call touches, and
// which ones do.
func covers(sources []source, t tool.Tool, p place, touched []tool.Access) (bool, string) {
	sources = slices.DeleteFunc(slices.Clone(sources), func(s source) bool { return !s.rule.Names(t.Name) })
	if len(touched) == 0 {
		for _, s := range sources {
			if s.rule.pattern == "" {
				return true, s.String()
			}
		}
		return false, ""
	}
	var used []string
	for _, a := range touched {
		by, ok := coversAccess(sources, p, a)
		if !ok {
			return false, ""
		}
		for _, s := range by {
			if name := s.String(); !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	return true, strings.Join(used, ", ")
}

// coversAccess returns the rules that together cover one thing.
func coversAccess(sources []source, p place, a tool.Access) ([]source, bool) {
	if a.Kind == tool.AccessRun {
		return coversCommand(sources, p, a.Command)
	}
	for _, s := range sources {
		var ok bool
		switch a.Kind {
		case tool.AccessRead, tool.AccessWrite:
			ok = s.rule.coversPath(p, a)
		case tool.AccessFetch:
			ok = s.rule.coversURL(a.URL)
		default:
			ok = s.rule.pattern == ""
		}
		if ok {
			return []source{s}, true
		}
	}
	return nil, false
}
