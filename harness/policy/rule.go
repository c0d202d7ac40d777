package policy

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/tool"
)

// ErrRule says that a text is no rule. The error's text says what to write
// instead.
var ErrRule = harness.ErrRule

// maxRule bounds the text of a rule, in bytes.
const maxRule = 4096

// Rule says which calls it is about. The zero Rule is about none.
//
//	run_command              every call of the tool
//	run_command(git status)  commands whose words begin with these words
//	run_command(=git status) exactly these words, or exactly this line
//	write_file(src/**)       files below the directory src of the working
//	                         directory, by their real paths; ~/x is below
//	                         home, /x is absolute
//	fetch_url(example.com)   this host; *.example.com are its subdomains;
//	                         https://example.com/docs is a part of it
//	tickets_*                every tool whose name begins so
//
// A command that runs others (git, sudo, sh, find -exec and many more) is
// covered only as far as the rule says what is run: git alone does not cover
// git push, sudo git status does not cover sudo rm, and python nothing that
// stands behind it. A line is covered if it is nothing but literal simple
// commands joined by ; && || | and newlines, and each of them is covered.
//
// An option that makes a well-known command run another program, or write or
// send a file, needs a rule that names it: git diff does not cover git diff
// --output=x.
//
// A write or read rule does not cover protected places, such as .git and .env,
// unless it names them.
//
// What a pattern means depends on what the tool touches (see [tool.Access]): a
// command, a file, or an address. A tool that does not say what it touches is
// matched by its name only. Rules are comparable with ==.
type Rule struct {
	tool, pattern string
}

var toolName = regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9_.:/-]*\*?|\*)$`)

// ParseRule reads a rule, or returns an [ErrRule].
func ParseRule(text string) (Rule, error) {
	refuse := func(format string, args ...any) (Rule, error) {
		return Rule{}, fmt.Errorf("%w: "+format, append([]any{ErrRule}, args...)...)
	}
	switch bad, hidden := strange(text); {
	case len(text) > maxRule:
		return refuse("it is longer than %d bytes; write a shorter pattern", maxRule)
	case !utf8.ValidString(text):
		return refuse("%q is not UTF-8", text)
	case hidden:
		return refuse("it has the character %U, which cannot be seen; leave it out", bad)
	}
	text = strings.TrimSpace(text)
	name, rest, patterned := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	switch {
	case text == "":
		return refuse("it is empty; write a tool's name such as run_command, or run_command(git status)")
	case name == "":
		return refuse("%q names no tool; write the tool first, as in run_command(git status)", text)
	case !toolName.MatchString(name):
		return refuse("%q is no tool name; write TOOL or TOOL(pattern), as in run_command(git status), with a * only at the end of the name", name)
	case !patterned:
		return Rule{tool: name}, nil
	case !strings.HasSuffix(rest, ")"):
		return refuse("%q has no closing parenthesis; write %s", text, name+"("+strings.TrimRight(rest, ") ")+")")
	}
	pattern := strings.TrimSpace(strings.TrimSuffix(rest, ")"))
	if pattern == "" || pattern == "=" {
		return refuse("the pattern of %q is empty; write %s alone for every call of it", text, name)
	}
	return Rule{tool: name, pattern: pattern}, nil
}

// String returns the rule as [ParseRule] reads it.
func (r Rule) String() string {
	if r.pattern == "" {
		return r.tool
	}
	return r.tool + "(" + r.pattern + ")"
}

// Names reports whether the rule is about a tool of this name, whatever its
// pattern.
func (r Rule) Names(name string) bool {
	if start, any := strings.CutSuffix(r.tool, "*"); any {
		return strings.HasPrefix(name, start)
	}
	return r.tool == name
}

// literal reports whether the rule spells the tool's name out.
func (r Rule) literal() bool { return !strings.HasSuffix(r.tool, "*") }

// exact returns what follows the = of a pattern.
func (r Rule) exact() (string, bool) {
	rest, ok := strings.CutPrefix(r.pattern, "=")
	return strings.TrimSpace(rest), ok
}

// Covers reports whether the rule alone would allow call c of tool t, where
// home is the person's home directory. It is what a person who changes a rule
// before agreeing to it wants to know.
func (r Rule) Covers(t tool.Tool, c tool.Call, home string) bool {
	touched, err := t.Accesses(c)
	if err != nil {
		return false
	}
	ok, _ := covers([]source{newSource(r, "")}, t, newPlace(c.Dir, home), touched)
	return ok
}

// strange returns the first character of text that does not show what it is:
// a control character, a space that is not the space, or one that changes the
// direction or the look of others. Newline and tab count as well; where they
// are fine, the caller takes them out first.
func strange(text string) (rune, bool) {
	for _, c := range text {
		switch {
		case c == ' ':
		case unicode.IsControl(c), unicode.IsSpace(c), unicode.Is(unicode.Cf, c),
			unicode.In(c, unicode.Zs, unicode.Zl, unicode.Zp), unicode.Is(unicode.Co, c):
			return c, true
		case c == '\u115f', c == '\u1160', c == '\u3164', c == '\uffa0', c == '\u2800':
			return c, true // letters that are blank
		}
	}
	return 0, false
}
