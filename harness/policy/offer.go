package policy

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cairn/harness/tool"
)

// maxOffer bounds the rules that are offered, in bytes: a person reads them.
const maxOffer = 400

// offers returns the rules that may be offered with an approval of the call,
// for the session and for always. With the rules that count already, each
// covers the call as judged now when it comes from the grant; from none it is
// written by the person.
func (j judged) offers(grant string) (session, always string) {
	s, a := j.suggest()
	return j.covering(s, grant), j.covering(a, grant)
}

// exact returns the rule for just the file that a call touches, as a person
// would have to write it; empty if it would not cover the call.
func (j judged) exact() string {
	if len(j.touched) == 0 || j.touched[0].Path == "" {
		return ""
	}
	return j.covering(Rule{tool: j.tool.Name, pattern: "=" + filepath.ToSlash(j.touched[0].Path)}, "")
}

// covering is the text of a rule if it reads back as the same and, with the
// rules that count already, covers the call; else it is empty.
func (j judged) covering(rule Rule, grant string) string {
	if rule == (Rule{}) || len(rule.String()) > maxOffer {
		return ""
	}
	again, err := ParseRule(rule.String())
	src := newSource(again, grant)
	if err != nil || again != rule || !j.counts(src) {
		return ""
	}
	if ok, _ := covers(append(slices.Clone(j.sources), src), j.tool, j.place, j.touched); !ok {
		return ""
	}
	return rule.String()
}

// suggest makes rules for the first thing that a call touches.
func (j judged) suggest() (session, always Rule) {
	if len(j.touched) == 0 {
		bare := Rule{tool: j.tool.Name}
		return bare, bare
	}
	with := func(pattern string) Rule {
		if pattern == "" {
			return Rule{}
		}
		return Rule{tool: j.tool.Name, pattern: pattern}
	}
	switch a := j.touched[0]; a.Kind {
	case tool.AccessRun:
		l, why := parseLine(a.Command)
		if why != "" {
			return Rule{}, Rule{}
		}
		exact := with("=" + l.String())
		if prefix := beginning(j.missing(l)); prefix != "" {
			return exact, with(prefix)
		}
		if slices.ContainsFunc(l.cmds, runsInput) {
			return exact, Rule{} // what it runs is not in these words
		}
		return exact, exact
	case tool.AccessRead, tool.AccessWrite:
		r := with(j.place.around(a))
		return r, r
	case tool.AccessFetch:
		u, ok := parseAddress(a.URL)
		if !ok {
			return Rule{}, Rule{}
		}
		r := with(u.hostPort())
		return r, r
	default:
		return Rule{}, Rule{}
	}
}

var subcommand = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9:_-]*$`)

// beginning returns the first words of a command that say what it does, for
// commands that are known to have subcommands; empty for all others: what
// cat, rm or python does is said by all of their words.
func beginning(l line) string {
	if len(l.cmds) != 1 {
		return ""
	}
	words := l.cmds[0].words
	key := commandKey(words[0].text)
	for i := 1; i < len(words); i++ {
		if runners[key].kind != sub || !spells(words[i]) || !subcommand.MatchString(words[i].text) {
			return ""
		}
		key += " " + words[i].text
		if runners[key].kind == plain {
			return line{cmds: []simple{{words: words[:i+1]}}}.String()
		}
	}
	return ""
}

// missing returns the only simple command of a line that no rule covers yet, or
// the line as it is.
func (j judged) missing(l line) line {
	var left []simple
	for _, c := range l.cmds {
		if _, ok := coversCommand(j.sources, j.place, line{cmds: []simple{c}}.String()); !ok {
			left = append(left, c)
		}
	}
	if len(left) == 1 {
		return line{cmds: left}
	}
	return l
}

// around returns the pattern for the directory of a file: relative below the
// working directory, absolute elsewhere, and for a file outside of all allowed
// directories only the file. Nothing is offered for a protected place.
func (p place) around(a tool.Access) string {
	dir := filepath.ToSlash(filepath.Dir(a.Path))
	if protected(a, "") {
		return ""
	}
	if a.Root == "" {
		return "=" + filepath.ToSlash(a.Path)
	}
	rel, ok := below(filepath.ToSlash(p.realDir), dir)
	switch {
	case !ok:
		return escapeGlob(dir) + "/**"
	case rel == ".":
		return "*"
	default:
		return escapeGlob(rel) + "/**"
	}
}

// String writes the line so that it reads back as the same.
func (l line) String() string {
	var b strings.Builder
	for i, c := range l.cmds {
		if i > 0 {
			if op := l.ops[i-1]; op == ";" {
				b.WriteString("; ")
			} else {
				b.WriteString(" " + op + " ")
			}
		}
		for n, w := range c.words {
			if n > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w.quote())
		}
	}
	return b.String()
}

var safeWord = regexp.MustCompile(`^[\pL\pN_./+@:,=%^-]+$`)

// quote writes a word so that it stands for itself only. A word with a star
// that was not quoted becomes another one; what is offered is checked.
func (w word) quote() string {
	if bare := w.text; safeWord.MatchString(bare) || w.tilde && safeWord.MatchString(strings.ReplaceAll(bare, "~", "x")) {
		return bare
	}
	return "'" + strings.ReplaceAll(w.text, "'", `'\''`) + "'"
}

// uncovered says why no rule covers a command that looks as if one did.
func uncovered(sources []source, touched []tool.Access) string {
	for _, a := range touched {
		if a.Kind != tool.AccessRun {
			continue
		}
		if _, why := parseLine(a.Command); why != "" {
			return "no rule can allow the command: " + why
		}
		if rule, ok := nearly(sources, a.Command); ok {
			return "the rule " + rule.String() + " does not say enough: what follows these words can run or overwrite something else"
		}
	}
	return ""
}
