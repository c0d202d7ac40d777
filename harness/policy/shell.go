package policy

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCommand bounds the texts that are read as shell commands, in bytes, and
// maxBrackets how deep they can go: the parser's stack grows with both.
const (
	maxCommand  = 64 << 10
	maxBrackets = 2048
)

// line is a shell text as far as rules can allow it: simple commands of
// literal words, one after the other.
type line struct {
	cmds []simple
	// ops are the signs between the commands: ; && || |
	ops []string
}

// simple is one simple command.
type simple struct {
	words []word
	// piped says that its input is what another command prints.
	piped bool
}

var commandName = regexp.MustCompile(`^[A-Za-z0-9_./+@][A-Za-z0-9_./+@:-]*$`)

// parseLine reads a command that rules may allow. why says what in it no rule
// can allow; empty if there is nothing.
//
// The text has to be the same simple commands in bash and in a POSIX shell,
// joined by ; && || | and newlines, each with literal words only. Nothing may
// be expanded but file names, nothing assigned, and nothing redirected but to
// and from /dev/null and 2>&1.
func parseLine(text string) (l line, why string) {
	if len(text) > maxCommand {
		return line{}, "it is very long"
	}
	_, hidden := strange(strings.NewReplacer("\n", "", "\t", "").Replace(text))
	if hidden || strings.ContainsRune(text, '\uFFFD') {
		return line{}, "it has characters that cannot be seen"
	}
	l, why = flatten(text, syntax.LangBash)
	if why != "" {
		return line{}, why
	}
	posix, why := flatten(text, syntax.LangPOSIX)
	if why != "" {
		return line{}, why
	}
	if !reflect.DeepEqual(l, posix) {
		return line{}, "shells disagree about what it means"
	}
	return l, ""
}

func flatten(text string, lang syntax.LangVariant) (line, string) {
	file, err := parseShell(text, lang)
	if err != nil {
		return line{}, "it cannot be read as a shell command"
	}
	var f flattener
	for i, s := range file.Stmts {
		if i > 0 {
			f.ops = append(f.ops, ";")
		}
		f.stmt(s, false)
	}
	if f.why == "" && len(f.cmds) == 0 {
		f.why = "there is no command in it"
	}
	return f.line, f.why
}

// errTooMuch says that a text is longer or deeper than anything a person would
// agree to without reading it.
var errTooMuch = errors.New("too long or too deep")

// errComment says that a line with a # ends in a backslash. Shells end a
// comment there, the parser does not: it would take the next line, which they
// run, for a part of this one.
var errComment = errors.New("a comment that seems to go on")

var commentGoesOn = regexp.MustCompile(`#[^\n]*\\\n`)

func parseShell(text string, lang syntax.LangVariant) (*syntax.File, error) {
	if len(text) > maxCommand || strings.Count(text, "(")+strings.Count(text, "{")+strings.Count(text, "[") > maxBrackets {
		return nil, errTooMuch
	}
	if commentGoesOn.MatchString(text) {
		return nil, errComment
	}
	return syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
}

type flattener struct {
	line
	why string
}

func (f *flattener) refuse(why string) {
	if f.why == "" {
		f.why = why
	}
}

func (f *flattener) stmt(s *syntax.Stmt, piped bool) {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		f.refuse("it has a ! or a &")
		return
	}
	for _, r := range s.Redirs {
		if !harmless(r) {
			f.refuse("it redirects to or from a file")
			return
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		f.call(cmd, piped)
	case *syntax.BinaryCmd:
		op := map[syntax.BinCmdOperator]string{syntax.AndStmt: "&&", syntax.OrStmt: "||", syntax.Pipe: "|"}[cmd.Op]
		if op == "" {
			f.refuse("it has a |&")
			return
		}
		f.stmt(cmd.X, piped)
		f.ops = append(f.ops, op)
		f.stmt(cmd.Y, op == "|")
	default:
		f.refuse("it is more than simple commands")
	}
}

func (f *flattener) call(cmd *syntax.CallExpr, piped bool) {
	if len(cmd.Assigns) > 0 {
		f.refuse("it sets a variable")
		return
	}
	c := simple{piped: piped}
	for _, w := range cmd.Args {
		literal, why := readWord(w)
		if why != "" {
			f.refuse(why)
			return
		}
		c.words = append(c.words, literal)
	}
	if len(c.words) == 0 || !c.words[0].plain() && len(c.words[0].pieces) < 2 {
		f.refuse("it does not spell the command's name out")
		return
	}
	f.cmds = append(f.cmds, c)
}

// harmless reports whether a redirection touches no file.
func harmless(r *syntax.Redirect) bool {
	n := ""
	if r.N != nil {
		n = r.N.Value
	}
	if r.Word == nil || r.Hdoc != nil || n != "" && n != "0" && n != "1" && n != "2" {
		return false
	}
	to, why := readWord(r.Word)
	if why != "" || !to.plain() {
		return false
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return to.text == "/dev/null"
	case syntax.DplOut:
		return to.text == "1" || to.text == "2"
	default:
		return false
	}
}
