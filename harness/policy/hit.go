package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hitsCommand reports whether a rule that denies or asks is about a command
// text.
func (r Rule) hitsCommand(text string, f finder) danger {
	c, why := parseCommandRule(r)
	if why != "" && !c.exact {
		// What only one kind of shell takes for a simple command, such as export,
		// can still be denied.
		c.line, why = flatten(r.pattern, syntax.LangPOSIX)
	}
	if why != "" || !c.exact && len(c.cmds) != 1 {
		return maybe
	}
	if c.exact {
		if l, why := parseLine(text); why == "" && c.coversLine(l) {
			return yes
		}
	}
	worst := no
	if f.unclear || len(c.cmds) == 1 && f.mentions(c.cmds[0].words[0]) {
		worst = maybe
	}
	if len(c.cmds) != 1 {
		return worst
	}
	for _, words := range f.found {
		if d := hits(c.cmds[0].words, words, c.exact); d > worst {
			worst = d
		}
	}
	return worst
}

// hits reports whether the words of a rule fit a command that was found. The
// command counts by its base name, and case for nothing. Options of the rule
// may stand anywhere, in bundles or shortened; other words may have options
// between them. In the exact form there is nothing but the words.
func hits(rule []word, call []known, exact bool) danger {
	if !rule[0].matchText(call[0].text, fold) && !baseOf(rule[0]).matchText(commandBase(call[0].text), fold) {
		return no
	}
	rule, call = rule[1:], call[1:]
	if exact {
		return hitsExactly(rule, call)
	}
	result := yes
	var others []word
	for _, w := range rule {
		if !w.plain() || !strings.HasPrefix(w.text, "-") {
			others = append(others, w)
			continue
		}
		result = min(result, hasOption(w.text, call))
	}
	return min(result, inOrder(others, call))
}

func hitsExactly(rule []word, call []known) danger {
	result := yes
	for i, w := range call {
		switch {
		case !w.ok:
			return maybe
		case i >= len(rule) || !rule[i].matchText(w.text, same):
			result = no
		}
	}
	if len(rule) != len(call) {
		return no
	}
	return result
}

func same(s string) string { return s }

func baseOf(w word) word {
	if len(w.pieces) < 2 {
		w.text = commandBase(w.text)
		return w
	}
	pieces := slices.Clone(w.pieces)
	pieces[0] = pieces[0][strings.LastIndexByte(pieces[0], '/')+1:]
	w.pieces = pieces
	return w
}

// commandBase is a command's name without its directory and .exe.
func commandBase(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	return strings.TrimSuffix(fold(name[strings.LastIndexByte(name, '/')+1:]), ".exe")
}

// hasOption reports whether a command has an option.
func hasOption(option string, call []known) danger {
	result := no
	for _, w := range call {
		switch {
		case !w.ok:
			result = max(result, maybe)
		case strings.HasPrefix(w.text, "-") && len(w.text) > 1 && isFlag(w.text, option, true):
			return yes
		}
	}
	return result
}

// inOrder reports whether words stand at the beginning of a command's
// arguments, in their order, with nothing between them but options and the
// values of these.
func inOrder(rule []word, call []known) danger {
	at := map[int]bool{0: true}
	for _, r := range rule {
		next := map[int]bool{}
		for i := range len(call) + 1 {
			switch {
			case !at[i] || i == len(call):
			case !call[i].ok:
				return maybe
			default:
				if r.matchText(call[i].text, same) {
					next[i+1] = true
				}
				if strings.HasPrefix(call[i].text, "-") {
					at[i+1], at[i+2] = true, true
				}
			}
		}
		if at = next; len(at) == 0 {
			return no
		}
	}
	return yes
}
