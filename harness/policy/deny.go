package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// danger says whether a rule that denies or asks is about a call.
type danger int

const (
	no danger = iota
	// maybe: it cannot be told. The call is not denied, but a person is asked,
	// whatever else allows it.
	maybe
	yes
)

// maxFound bounds the commands looked at in one text, maxBehind the words
// behind a wrapper, maxNested how deep texts within texts are read and maxRead
// the bytes of all of them. What is beyond cannot be told.
const (
	maxFound  = 4096
	maxBehind = 512
	maxNested = 6
	maxRead   = 1 << 20
)

// known is one word of a command that was found; without ok it is not known
// before the shell runs.
type known struct {
	text string
	ok   bool
}

// finder collects the commands that a shell text may run, wherever they stand:
// in pipes, substitutions, functions, behind sudo and xargs, in the text given
// to sh -c and eval. It rather finds too much: of a wrapper's words each could
// be the command.
type finder struct {
	found [][]known
	// unclear says that there may be commands that were not found.
	unclear bool
	// read counts the bytes of the texts read.
	read int
}

// findCommands looks for the commands in a shell text.
func findCommands(text string) finder {
	var f finder
	f.text(text, 0)
	return f
}

func (f *finder) text(text string, depth int) {
	if f.read += len(text); f.read > maxRead || len(f.found) >= maxFound || depth > maxNested {
		f.unclear = true
		return
	}
	file, err := parseShell(text, syntax.LangBash)
	if err != nil || strings.ContainsAny(text, "\r\x00") {
		f.unclear = true
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			f.command(readKnown(n.Args), depth)
		case *syntax.DeclClause:
			f.add([]known{{n.Variant.Value, true}})
		case *syntax.LetClause:
			f.add([]known{{"let", true}})
		case *syntax.TimeClause:
			f.add([]known{{"time", true}})
		case *syntax.CoprocClause:
			f.add([]known{{"coproc", true}})
		}
		return len(f.found) < maxFound
	})
	f.unclear = f.unclear || len(f.found) >= maxFound
}

func (f *finder) add(words []known) {
	if len(f.found) >= maxFound {
		f.unclear = true
		return
	}
	f.found = append(f.found, words)
}

// command takes one simple command and what it may run.
func (f *finder) command(words []known, depth int) {
	if len(words) == 0 {
		return
	}
	if !words[0].ok {
		f.unclear = true
		return
	}
	f.add(words)
	key := commandKey(words[0].text)
	r := runners[key]
	if key == "git" {
		f.git(words, depth)
		return
	}
	for _, w := range words[1:] {
		if !w.ok {
			break
		}
		key += " " + w.text
		deeper, ok := runners[key]
		if !ok {
			break
		}
		r = deeper
	}
	switch {
	case r.inner:
		f.behind(words, depth)
		f.unclear = f.unclear || r.kind == script && readsScript(words)
	case len(r.flags) > 0:
		for i, w := range words[1:] {
			if w.ok && strings.HasPrefix(w.text, "-") && r.given(w.text) {
				f.behind(words[i+1:], depth)
			}
		}
	}
}

// git runs others through some of its subcommands and options only; its own
// words, such as those of git rm, are no commands.
func (f *finder) git(words []known, depth int) {
	for i, w := range words[1:] {
		switch {
		case w.ok && (w.text == "foreach" || w.text == "run" || w.text == "-x" || strings.HasPrefix(w.text, "--ex")):
			f.behind(words[i+1:], depth)
			return
		case w.ok && strings.Contains(w.text, "!") && strings.Contains(w.text, "="):
			f.unclear = true // an alias that is a command
		}
	}
}

// behind takes all that may be commands behind the first word.
func (f *finder) behind(words []known, depth int) {
	if len(words) > maxBehind {
		words, f.unclear = words[:maxBehind], true
	}
	var joined []string
	f.values(words[0].text, depth)
	for i, w := range words[1:] {
		if !w.ok {
			f.unclear = true
			return
		}
		f.add(words[i+1:])
		f.maybeText(w.text, depth)
		f.values(w.text, depth)
		joined = append(joined, w.text)
	}
	if commandKey(words[0].text) == "eval" {
		f.text(strings.Join(joined, " "), depth+1)
	}
}

// values takes what follows the = of an option: --checkpoint-action=exec=rm.
func (f *finder) values(text string, depth int) {
	for range maxNested {
		_, value, ok := strings.Cut(text, "=")
		if !ok {
			return
		}
		f.maybeText(value, depth)
		text = value
	}
}

// maybeText takes a word that may be a shell text.
func (f *finder) maybeText(text string, depth int) {
	if !strings.ContainsAny(text, " \t\n;|&<>()$`'\"\\") {
		if text != "" {
			f.add([]known{{text, true}})
		}
		return
	}
	f.text(text, depth+1)
}

// readsScript reports whether a shell gets what it runs from somewhere else
// than its arguments.
func readsScript(words []known) bool {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w.text, "-") {
			return false
		}
	}
	return true
}

// readKnown takes the quotes off words, as far as they are known.
func readKnown(args []*syntax.Word) []known {
	words := make([]known, len(args))
	for i, a := range args {
		w, why := readWord(a)
		words[i] = known{w.text, why == "" && !w.glob}
	}
	return words
}

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
	if f.unclear {
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
