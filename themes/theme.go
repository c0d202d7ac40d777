package themes

import (
	"io"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/charmbracelet/glamour/ansi"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Theme is a fixed table of styles. It is immutable and safe for concurrent
// use; two themes are the same exactly when their pointers are.
type Theme struct {
	// Name is the name it was loaded by, or the name in the file.
	Name string
	// Dark tells the lightness of the background it was made for.
	Dark bool
	// Ornaments are the decorative characters to use with it.
	Ornaments Ornaments
	// Styles are for the screens, Paints the same as raw sequences.
	Styles Styles
	// Paints are the sequences of Styles, for code that draws many small runs.
	Paints Paints
	// Markdown is the style sheet for the Markdown renderer. Colours in it are
	// already reduced to Profile.
	Markdown ansi.StyleConfig
	// Profile is the profile for the Markdown renderer.
	Profile termenv.Profile

	syntax map[chroma.TokenType]Paint
}

// Styles are the roles of text on a screen. None has padding or margins.
type Styles struct {
	Text, Muted, Accent, Strong    lipgloss.Style
	User, Assistant                lipgloss.Style // who speaks
	Heading, Link, Code, Quote     lipgloss.Style
	Border                         lipgloss.Style // rules and frames
	Success, Warning, Error        lipgloss.Style
	Selected                       lipgloss.Style // the row under the cursor; has a background
	Badge                          lipgloss.Style // a short label; has a background
	Match                          lipgloss.Style // found text
	Key                            lipgloss.Style // the name of a key
	Title                          lipgloss.Style
	Disabled                       lipgloss.Style
	Inserted, Deleted, Placeholder lipgloss.Style
}

// Paints are the roles of Styles as sequences.
type Paints struct {
	Text, Muted, Accent, Strong    Paint
	User, Assistant                Paint
	Heading, Link, Code, Quote     Paint
	Border                         Paint
	Success, Warning, Error        Paint
	Selected                       Paint
	Badge                          Paint
	Match                          Paint
	Key                            Paint
	Title                          Paint
	Disabled                       Paint
	Inserted, Deleted, Placeholder Paint
}

// Reset ends every Paint.
const Reset = "\x1b[0m"

// Paint is the SGR sequence that turns a style on; empty for no style.
type Paint string

// On paints one line of text. The text must hold no newline.
func (p Paint) On(s string) string {
	if p == "" || s == "" {
		return s
	}
	return string(p) + s + Reset
}

// Syntax is the paint for a token of source code, found by its type, else its
// sub-category, else its category.
func (t *Theme) Syntax(tok chroma.TokenType) Paint {
	for _, k := range []chroma.TokenType{tok, tok.SubCategory(), tok.Category()} {
		if p, ok := t.syntax[k]; ok {
			return p
		}
	}
	return t.syntax[chroma.Text]
}

// attrs is a role before it becomes a style.
type attrs struct {
	fg, bg                           string
	bold, italic, under, rev, strike bool
}

// painter makes styles of one profile.
type painter struct {
	profile  Profile
	renderer *lipgloss.Renderer
}

func newPainter(p Profile, dark bool) painter {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p.termenv())
	r.SetHasDarkBackground(dark)
	return painter{profile: p, renderer: r}
}

func (p painter) style(a attrs) lipgloss.Style {
	s := p.renderer.NewStyle()
	if c := p.profile.colour(a.fg); c != "" {
		s = s.Foreground(lipgloss.Color(c))
	}
	if c := p.profile.colour(a.bg); c != "" {
		s = s.Background(lipgloss.Color(c))
	}
	if a.bold {
		s = s.Bold(true)
	}
	if a.italic {
		s = s.Italic(true)
	}
	if a.under {
		s = s.Underline(true)
	}
	if a.rev {
		s = s.Reverse(true)
	}
	if a.strike {
		s = s.Strikethrough(true)
	}
	return s
}

func (p painter) paint(a attrs) Paint {
	if p.profile == noStyle {
		return ""
	}
	var codes []string
	for _, f := range []struct {
		on   bool
		code string
	}{{a.bold, "1"}, {a.italic, "3"}, {a.under, "4"}, {a.rev, "7"}, {a.strike, "9"}} {
		if f.on {
			codes = append(codes, f.code)
		}
	}
	te := p.profile.termenv()
	if c := p.profile.colour(a.fg); c != "" {
		codes = append(codes, te.Color(c).Sequence(false))
	}
	if c := p.profile.colour(a.bg); c != "" {
		codes = append(codes, te.Color(c).Sequence(true))
	}
	if len(codes) == 0 {
		return ""
	}
	return Paint("\x1b[" + strings.Join(codes, ";") + "m")
}

// roles are the attributes of every role. With no colours, selection, badges
// and matches are reversed: they must still stand out.
func (p *palette) roles(prof Profile) map[string]attrs {
	c := p.Colors
	bare := prof == NoColor || c.SelectedBack == ""
	return map[string]attrs{
		"text": {fg: c.Text}, "muted": {fg: c.Muted}, "accent": {fg: c.Accent, bold: true}, "strong": {fg: c.Text, bold: true},
		"user": {fg: c.User, bold: true}, "assistant": {fg: c.Assistant, bold: true},
		"heading": {fg: c.Heading, bold: true}, "link": {fg: c.Link, under: true}, "code": {fg: c.Code}, "quote": {fg: c.Quote, italic: true},
		"border":  {fg: c.Border},
		"success": {fg: c.Success}, "warning": {fg: c.Warning, bold: true}, "error": {fg: c.Error, bold: true},
		"selected": {fg: c.SelectedText, bg: c.SelectedBack, bold: true, rev: bare},
		"badge":    {fg: c.BadgeText, bg: c.BadgeBack, rev: bare},
		"match":    {fg: c.Accent, bold: true, under: true},
		"key":      {fg: c.Accent, bold: true}, "title": {fg: c.Text, bold: true}, "disabled": {fg: c.Muted, italic: true},
		"inserted": {fg: p.Syntax.Inserted}, "deleted": {fg: p.Syntax.Deleted}, "placeholder": {fg: c.Muted, italic: true},
	}
}

// build makes the theme of a palette for one terminal.
func (p *palette) build(o Options) *Theme {
	pt := newPainter(o.Profile, p.Dark)
	roles := p.roles(o.Profile)
	t := &Theme{
		Name: p.Name, Dark: p.Dark, Ornaments: ornaments(o.ASCII || o.Profile == noStyle), Profile: o.Profile.termenv(),
		Styles:   stylesOf(func(n string) lipgloss.Style { return pt.style(roles[n]) }),
		Paints:   paintsOf(func(n string) Paint { return pt.paint(roles[n]) }),
		Markdown: p.markdown(o.Profile),
		syntax:   map[chroma.TokenType]Paint{},
	}
	for tok, a := range p.tokens() {
		t.syntax[tok] = pt.paint(a)
	}
	return t
}

func stylesOf(f func(string) lipgloss.Style) Styles {
	return Styles{
		Text: f("text"), Muted: f("muted"), Accent: f("accent"), Strong: f("strong"), User: f("user"), Assistant: f("assistant"),
		Heading: f("heading"), Link: f("link"), Code: f("code"), Quote: f("quote"), Border: f("border"),
		Success: f("success"), Warning: f("warning"), Error: f("error"), Selected: f("selected"), Badge: f("badge"),
		Match: f("match"), Key: f("key"), Title: f("title"), Disabled: f("disabled"),
		Inserted: f("inserted"), Deleted: f("deleted"), Placeholder: f("placeholder"),
	}
}

func paintsOf(f func(string) Paint) Paints {
	return Paints{
		Text: f("text"), Muted: f("muted"), Accent: f("accent"), Strong: f("strong"), User: f("user"), Assistant: f("assistant"),
		Heading: f("heading"), Link: f("link"), Code: f("code"), Quote: f("quote"), Border: f("border"),
		Success: f("success"), Warning: f("warning"), Error: f("error"), Selected: f("selected"), Badge: f("badge"),
		Match: f("match"), Key: f("key"), Title: f("title"), Disabled: f("disabled"),
		Inserted: f("inserted"), Deleted: f("deleted"), Placeholder: f("placeholder"),
	}
}
