package policy

import (
	"slices"
	"strings"
)

// commandRule is the pattern of a rule about commands.
type commandRule struct {
	line
	exact bool
}

// parseCommandRule reads the pattern of a rule about commands; why says what is
// wrong with it.
func parseCommandRule(r Rule) (c commandRule, why string) {
	text := r.pattern
	if rest, ok := r.exact(); ok {
		text, c.exact = rest, true
	}
	c.line, why = parseLine(text)
	if why == "" && !c.exact && len(c.cmds) != 1 {
		why = "only the form with = takes several commands"
	}
	return c, why
}

// coversLine reports whether the rule alone is exactly this line.
func (c commandRule) coversLine(l line) bool {
	if !c.exact || len(c.cmds) != len(l.cmds) || !slices.Equal(c.ops, l.ops) {
		return false
	}
	for i := range c.cmds {
		if !sameWords(c.cmds[i].words, l.cmds[i].words) {
			return false
		}
	}
	return true
}

// sameWords reports whether the words of a rule in its exact form are those of
// a command.
func sameWords(rule, call []word) bool {
	return len(rule) == len(call) && beginsWith(rule, call)
}

// beginsWith reports whether a command begins with the words of a rule.
func beginsWith(rule, call []word) bool {
	if len(rule) > len(call) {
		return false
	}
	for i, r := range rule {
		if !r.matches(call[i]) {
			return false
		}
	}
	return true
}

// matches reports whether a word of a rule stands for a word of a command. A
// star stands for any characters. What the shell replaces by file names equals
// nothing.
func (w word) matches(call word) bool {
	if call.glob || w.tilde != call.tilde {
		return false
	}
	return w.matchText(call.text, same)
}

// matchText matches with stars; fold is applied to both.
func (w word) matchText(text string, fold func(string) string) bool {
	text = fold(text)
	if len(w.pieces) < 2 {
		return fold(w.text) == text
	}
	first, last := fold(w.pieces[0]), fold(w.pieces[len(w.pieces)-1])
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	if text, ok = strings.CutSuffix(text, last); !ok {
		return false
	}
	for _, piece := range w.pieces[1 : len(w.pieces)-1] {
		_, after, found := strings.Cut(text, fold(piece))
		if !found {
			return false
		}
		text = after
	}
	return true
}

// covers reports whether the rule covers one simple command of a line. moved
// says that the line changed its directory before, so that neither a relative
// path nor the project around is the one the rule was written for.
func (c commandRule) covers(call simple, moved bool) bool {
	if len(c.cmds) != 1 {
		return false
	}
	name := call.words[0]
	if !name.plain() || !commandName.MatchString(name.text) {
		return false
	}
	if moved && (strings.Contains(name.text, "/") && !strings.HasPrefix(name.text, "/") || runners[commandKey(name.text)].kind != plain) {
		return false
	}
	rule := c.cmds[0].words
	if sameWords(rule, call.words) && (c.exact || plainWords(rule, func(word) bool { return true })) {
		return !runsInput(call) || coversRest(rule, call.words, false)
	}
	return !c.exact && beginsWith(rule, call.words) && coversRest(rule, call.words, false)
}

// coversRest reports whether a rule whose words a command begins with says
// enough to cover the rest of it. fed says that the command gets more arguments
// from elsewhere.
func coversRest(rule, call []word, fed bool) bool {
	key := commandKey(call[0].text)
	last := runner{}
	for i := 1; ; i++ {
		r, known := runners[key]
		switch {
		case known:
			last = r
		case last.runs && !coversRest(rule[i-1:], call[i-1:], fed):
			return false
		}
		spelled := i < len(rule) && spells(rule[i])
		switch r.kind {
		case exact:
			return false
		case script:
			if module(rule, i, key) {
				return coversRest(rule[i+1:], call[i+1:], fed)
			}
			return spelled
		case wrap:
			return coversWrapped(r, rule, call, i, fed)
		case sub:
			if len(call) == i && !fed {
				return true
			}
			if !spelled {
				return false
			}
			key += " " + call[i].text
		default:
			return !anyFlag(last, rule, call, i) && !last.writes(call) && (!fed || len(last.flags) == 0 && !last.second)
		}
	}
}

// coversWrapped is coversRest for what a wrapper, whose own words end before i,
// runs.
func coversWrapped(r runner, rule, call []word, i int, fed bool) bool {
	at := i + r.skip
	switch {
	case len(call) == i:
		return !fed
	case at >= len(rule) || !spells(rule[at]) || !plainWords(call[i:at+1], argument):
		return false
	default:
		return coversRest(rule[at:], call[at:], fed || r.stdin)
	}
}

// runsInput reports whether a command runs what another one prints.
func runsInput(c simple) bool {
	r := runners[commandKey(c.words[0].text)]
	if !c.piped || !r.stdin {
		return false
	}
	if r.kind != script {
		return true
	}
	for _, w := range c.words[1:] {
		if w.text == "-s" || w.text == "/dev/stdin" || w.text == "/dev/fd/0" {
			return true
		}
		if spells(w) {
			return false // its program
		}
	}
	return true
}

// spells reports whether a word of a rule says a command, a subcommand or a
// program, and not an option or just any word.
func spells(w word) bool {
	return w.plain() && w.text != "" && !strings.HasPrefix(w.text, "-")
}

// module reports whether a rule names the module that an interpreter runs.
func module(rule []word, i int, key string) bool {
	return (key == "python" || key == "pypy") && i+1 < len(rule) && rule[i].plain() && rule[i].text == "-m" && spells(rule[i+1])
}

// argument reports whether a word is no option and no assignment.
func argument(w word) bool { return spells(w) && !strings.Contains(w.text, "=") }

// plainWords reports whether all words are plain and what is wanted of them.
func plainWords(words []word, wanted func(word) bool) bool {
	for _, w := range words {
		if !w.plain() || !wanted(w) {
			return false
		}
	}
	return true
}

// anyFlag reports whether the words of a command from i on, which the rule does
// not spell out, have one of the flags.
func anyFlag(r runner, rule, call []word, i int) bool {
	for j := i; j < len(call); j++ {
		if (j >= len(rule) || !rule[j].plain()) && r.flagged(call[j], j == 1) {
			return true
		}
	}
	return false
}

// writes reports whether a command names a file that it would write without
// an option that says so.
func (r runner) writes(call []word) bool {
	files := 0
	for _, w := range call[1:] {
		switch {
		case w.glob:
			files += 2
		case !strings.HasPrefix(w.text, "-"):
			files++
		}
	}
	return r.second && files > 1
}

// moves reports whether a command changes the directory of those after it.
func moves(c simple) bool {
	switch c.words[0].text {
	case "cd", "pushd", "popd", "chdir":
		return true
	}
	return false
}

// coversCommand returns the rules that together cover a command text: one that
// is about every command or about exactly this line, or one for each of its
// simple commands.
func coversCommand(sources []source, p place, text string) ([]source, bool) {
	for _, s := range sources {
		if s.rule.pattern == "" {
			return []source{s}, true
		}
	}
	l, why := parseLine(text)
	if why != "" {
		return nil, false
	}
	parsed := make([]commandRule, len(sources))
	for i, s := range sources {
		parsed[i], _ = s.parsed()
		if parsed[i].coversLine(l) {
			return []source{s}, true
		}
	}
	var used []source
	moved := false
	for _, cmd := range l.cmds {
		found := false
		for i, c := range parsed {
			if found = c.covers(cmd, moved); found {
				used = append(used, sources[i])
				break
			}
		}
		if !found {
			return nil, false
		}
		moved = moved || moves(cmd) && !staysIn(cmd, p)
	}
	return used, true
}

// staysIn reports whether a change of directory leads to the working directory
// itself.
func staysIn(c simple, p place) bool {
	return len(c.words) == 2 && c.words[0].text == "cd" && c.words[1].plain() && p.dir != "" &&
		(c.words[1].text == p.dir || c.words[1].text == p.realDir || c.words[1].text == ".")
}

// nearly returns a rule that one of the simple commands begins with, although
// it does not say enough to cover it.
func nearly(sources []source, text string) (Rule, bool) {
	l, why := parseLine(text)
	if why != "" {
		return Rule{}, false
	}
	for _, s := range sources {
		c, why := s.parsed()
		if why != "" || len(c.cmds) != 1 || c.exact {
			continue
		}
		for _, cmd := range l.cmds {
			if beginsWith(c.cmds[0].words, cmd.words) && !c.covers(cmd, false) {
				return s.rule, true
			}
		}
	}
	return Rule{}, false
}
