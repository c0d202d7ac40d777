package policy

import (
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
	// programs are texts in which commands may be written in other languages
	// than the shell's, or in options; they are only looked through for names.
	programs []string
	// fed says that something may run what it reads, texts is what it could be.
	fed   bool
	texts []string
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
	if depth == 0 {
		defer f.feed()
	}
	file, err := parseShell(text, syntax.LangBash)
	if err != nil || strings.ContainsAny(text, "\r\x00") {
		f.unclear = true
		return
	}
	f.walk(file, depth)
	// A shell that is not bash reads some of it in another way: ls &> cat rm is
	// two commands there.
	if file, err = parseShell(text, syntax.LangPOSIX); err == nil {
		f.walk(file, depth)
	} else if strings.Contains(text, "&>") {
		f.unclear = true
	}
	f.unclear = f.unclear || len(f.found) >= maxFound
}

func (f *finder) walk(file *syntax.File, depth int) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			f.assigned(n.Assigns)
			f.command(readKnown(n.Args), depth)
		case *syntax.DeclClause:
			f.add([]known{{n.Variant.Value, true}})
		case *syntax.TimeClause:
			f.add([]known{{"time", true}})
		case *syntax.LetClause:
			f.misread("let")
		case *syntax.CoprocClause:
			f.misread("coproc")
		case *syntax.Redirect:
			f.here(n)
			if n.Op == syntax.DplOut || n.Op == syntax.DplIn {
				// Shells take >&-rm for >&- and rm.
				f.unclear = f.unclear || len(n.Word.Lit()) > 1 && n.Word.Lit()[0] == '-'
			}
		}
		return len(f.found) < maxFound
	})
}

// misread takes a command whose arguments the parser and the shells read
// differently, so that there may be others in them.
func (f *finder) misread(name string) {
	f.add([]known{{name, true}})
	f.unclear = true
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
	r := runnerOf(words)
	f.note(words, r)
	switch {
	case commandKey(words[0].text) == "git":
		f.git(words, depth)
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

// runnerOf is what is known of a command by as many of its first words as
// matter.
func runnerOf(words []known) runner {
	key := commandKey(words[0].text)
	r := runners[key]
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
	return r
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
