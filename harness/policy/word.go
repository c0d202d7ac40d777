package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one literal word without its quotes.
type word struct {
	text string
	// glob says that the shell would put file names in its place, lead that
	// these may begin with anything.
	glob, lead bool
	// tilde says that the shell may put a home directory in place of a ~.
	tilde bool
	// pieces is what stands between unquoted stars; more than one only if there
	// are some.
	pieces []string
}

// plain reports whether the shell takes the word as it stands.
func (w word) plain() bool { return !w.glob && !w.tilde }

// reader takes the quotes off a word.
type reader struct {
	word
	all, piece strings.Builder
	why        string
	// open, comma: an unquoted brace and what makes it expand.
	open, comma, bracket bool
}

// readWord returns a word without its quotes, or why it is not literal.
func readWord(w *syntax.Word) (word, string) {
	var r reader
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.unquoted(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				r.why = "it has a $'...'"
			}
			r.quoted(p.Value)
		case *syntax.DblQuoted:
			r.double(p)
		default:
			r.why = "the shell would put something else in place of a word"
		}
		if r.why != "" {
			return word{}, r.why
		}
	}
	if r.open && r.comma {
		return word{}, "it has braces that make several words"
	}
	r.lead = r.lead && r.glob // a lone [ is a name
	r.text = r.all.String()
	r.pieces = append(r.pieces, r.piece.String())
	return r.word, ""
}

func (r *reader) quoted(s string) {
	r.all.WriteString(s)
	r.piece.WriteString(s)
}

func (r *reader) double(p *syntax.DblQuoted) {
	if p.Dollar {
		r.why = `it has a $"..."`
		return
	}
	for _, part := range p.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			r.why = "the shell would put something else in place of a word"
			return
		}
		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			switch {
			case c == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0:
				i++
				if lit.Value[i] != '\n' {
					r.quoted(lit.Value[i : i+1])
				}
			case c == '$' || c == '`':
				r.why = "it has a $ that is not quoted"
			default:
				r.quoted(lit.Value[i : i+1])
			}
		}
	}
}

func (r *reader) unquoted(s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		first := r.all.Len() == 0 && len(r.pieces) == 0
		switch c {
		case '\\':
			if i++; i == len(s) {
				r.why = "it ends in a backslash"
			} else if s[i] != '\n' {
				r.quoted(s[i : i+1])
			}
			continue
		case '$', '`':
			r.why = "it has a $ that is not quoted"
		case '!':
			if i+1 < len(s) && s[i+1] != '=' {
				r.why = "it has a ! that a shell may replace by an older command"
			}
		case '~':
			r.tilde = r.tilde || first || i > 0 && (s[i-1] == '=' || s[i-1] == ':')
		case '{':
			r.open = true
		case ',':
			r.comma = true
		case '.':
			r.comma = r.comma || i+1 < len(s) && s[i+1] == '.'
		case '[':
			r.bracket = true
			r.lead = r.lead || first
		case ']':
			r.glob = r.glob || r.bracket
		case '?':
			r.glob, r.lead = true, r.lead || first
		case '*':
			r.glob, r.lead = true, r.lead || first
			r.all.WriteByte('*')
			r.pieces = append(r.pieces, r.piece.String())
			r.piece.Reset()
			continue
		}
		r.quoted(s[i : i+1])
	}
}
