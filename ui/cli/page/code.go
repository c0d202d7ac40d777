package page

import (
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// Beyond these bounds, in bytes, code is shown without colours: telling its words
// apart is slow, and slowest on text made to be.
const (
	maxHighlight     = 64 << 10
	maxHighlightLine = 4 << 10
)

// highlight is code as HTML, its words in the classes of the style.
func highlight(lang, code string) string {
	plain := html.EscapeString(code)
	if lang == "" || len(code) > maxHighlight {
		return plain
	}
	for line := range strings.Lines(code) {
		if len(line) > maxHighlightLine {
			return plain
		}
	}
	lexer := lexers.Get(lang)
	if lexer == nil {
		return plain
	}
	it, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return plain
	}
	var b, seen strings.Builder
	for _, tok := range it.Tokens() {
		seen.WriteString(tok.Value)
		text := html.EscapeString(tok.Value)
		if class := class(tok.Type); class != "" {
			text = `<span class="` + class + `">` + text + "</span>"
		}
		b.WriteString(text)
	}
	if strings.TrimSuffix(seen.String(), "\n") != strings.TrimSuffix(code, "\n") {
		return plain // a lexer that changes what it reads is not believed
	}
	return b.String()
}

// class is the class of the style for a kind of word; empty for none.
func class(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.KeywordType, t == chroma.NameClass:
		return "t"
	case t.InCategory(chroma.Keyword), t == chroma.NameTag, t == chroma.OperatorWord:
		return "k"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic:
		return "f"
	case t == chroma.NameBuiltin, t == chroma.NameBuiltinPseudo, t == chroma.NameAttribute, t == chroma.NameDecorator:
		return "b"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "n"
	case t == chroma.GenericInserted:
		return "gi"
	case t == chroma.GenericDeleted:
		return "gd"
	default:
		return ""
	}
}
