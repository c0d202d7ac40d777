package themes

import (
	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/glamour/ansi"
)

// markdown is the style sheet for glamour. It has no margins, indents or
// surrounding blank lines, so that text on screen is text as it is copied;
// headings keep their hash marks so that their level shows without colour.
func (p *palette) markdown(prof Profile) ansi.StyleConfig {
	c := p.Colors
	prim := func(a attrs) ansi.StylePrimitive { return primitive(prof, a) }
	zero := uint(0)
	block := func(a attrs) ansi.StyleBlock {
		return ansi.StyleBlock{StylePrimitive: prim(a), Margin: &zero, Indent: &zero}
	}
	heading := func(prefix string) ansi.StyleBlock {
		return ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Prefix: prefix}}
	}
	return ansi.StyleConfig{
		Document: block(attrs{fg: c.Text}), Paragraph: block(attrs{}), BlockQuote: block(attrs{fg: c.Quote, italic: true}),
		Heading: block(attrs{fg: c.Heading, bold: true}),
		H1:      heading("# "), H2: heading("## "), H3: heading("### "), H4: heading("#### "), H5: heading("##### "), H6: heading("###### "),
		Strikethrough: prim(attrs{strike: true}), Emph: prim(attrs{italic: true}), Strong: prim(attrs{bold: true}),
		Link: prim(attrs{fg: c.Link, under: true}), LinkText: prim(attrs{fg: c.Link, under: true}),
		Image: prim(attrs{fg: c.Link, under: true}), ImageText: prim(attrs{fg: c.Link}),
		Code: ansi.StyleBlock{StylePrimitive: codeSpan(prof, c.Code)},
	}
}

// codeSpan sets code apart by colour; where there is none it keeps the
// backticks it was written with.
func codeSpan(prof Profile, fg string) ansi.StylePrimitive {
	s := primitive(prof, attrs{fg: fg})
	if prof == NoColor || prof == noStyle {
		s.Prefix, s.Suffix = "`", "`"
	}
	return s
}

func primitive(prof Profile, a attrs) ansi.StylePrimitive {
	var s ansi.StylePrimitive
	if prof == noStyle {
		return s
	}
	if fg := prof.colour(a.fg); fg != "" {
		s.Color = &fg
	}
	if bg := prof.colour(a.bg); bg != "" {
		s.BackgroundColor = &bg
	}
	on := true
	if a.bold {
		s.Bold = &on
	}
	if a.italic {
		s.Italic = &on
	}
	if a.under {
		s.Underline = &on
	}
	if a.strike {
		s.CrossedOut = &on
	}
	return s
}

// tokens are the roles of source code.
func (p *palette) tokens() map[chroma.TokenType]attrs {
	s := p.Syntax
	return map[chroma.TokenType]attrs{
		chroma.Text: {fg: s.Text}, chroma.Error: {fg: s.Error},
		chroma.Comment: {fg: s.Comment, italic: true}, chroma.CommentPreproc: {fg: s.Keyword},
		chroma.Keyword: {fg: s.Keyword, bold: true}, chroma.KeywordType: {fg: s.Type},
		chroma.Operator: {fg: s.Operator}, chroma.Punctuation: {fg: s.Text},
		chroma.Name: {fg: s.Text}, chroma.NameBuiltin: {fg: s.Builtin}, chroma.NameFunction: {fg: s.Function},
		chroma.NameClass: {fg: s.Type, bold: true}, chroma.NameException: {fg: s.Type}, chroma.NameDecorator: {fg: s.Builtin},
		chroma.NameTag: {fg: s.Tag, bold: true}, chroma.NameAttribute: {fg: s.Type}, chroma.NameConstant: {fg: s.Number},
		chroma.Literal: {fg: s.Text}, chroma.LiteralString: {fg: s.String}, chroma.LiteralStringEscape: {fg: s.Escape},
		chroma.LiteralNumber: {fg: s.Number}, chroma.LiteralDate: {fg: s.Number},
		chroma.Generic: {fg: s.Text}, chroma.GenericInserted: {fg: s.Inserted}, chroma.GenericDeleted: {fg: s.Deleted},
		chroma.GenericHeading: {fg: s.Type, bold: true}, chroma.GenericSubheading: {fg: s.Type}, chroma.GenericPrompt: {fg: s.Comment},
		chroma.GenericEmph: {fg: s.Text, italic: true}, chroma.GenericStrong: {fg: s.Text, bold: true}, chroma.GenericError: {fg: s.Error},
	}
}
