package page

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"cairn/ui/render"
)

// markdown makes HTML of Markdown. What it writes is safe by itself, and is put
// through a list of what is allowed all the same.
type markdown struct {
	md     goldmark.Markdown
	policy *bluemonday.Policy
}

func newMarkdown() *markdown {
	return &markdown{policy: allowed(), md: goldmark.New(goldmark.WithParser(render.Parser()), goldmark.WithRendererOptions(renderer.WithNodeRenderers(
		util.Prioritized(nodes{}, 1),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 2),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 3), util.Prioritized(extension.NewTaskCheckBoxHTMLRenderer(), 4),
	)))}
}

// allowed is the list of what text may become.
func allowed() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "del", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "span", "div")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(k|t|f|b|s|n|c|gi|gd|raw|language-[A-Za-z0-9_+#.-]{1,40})$`)).OnElements("span", "code", "div")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^$`)).OnElements("input")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^noopener noreferrer nofollow$`)).OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	return p
}

// html is Markdown as safe HTML.
func (m *markdown) html(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := m.md.Convert([]byte(render.Safe(text)), &b); err != nil {
		return "", fmt.Errorf("read Markdown: %w", err)
	}
	return template.HTML(m.policy.SanitizeBytes(b.Bytes())), nil //nolint:gosec // it went through the list
}

// nodes writes what goldmark would leave out, trust, or number as if the page were
// the text's alone.
type nodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (n nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, n.rawHTML)
	r.Register(ast.KindHTMLBlock, n.htmlBlock)
	r.Register(render.PlainKind(), n.plain)
	r.Register(ast.KindHeading, n.heading)
	r.Register(ast.KindLink, n.link)
	r.Register(ast.KindAutoLink, n.autoLink)
	r.Register(ast.KindImage, n.image)
	r.Register(ast.KindFencedCodeBlock, n.fence)
	r.Register(ast.KindCodeBlock, n.fence)
}

// rawHTML writes tags as the text that they are: an answer about <T> is no markup.
func (nodes) rawHTML(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		s := node.(*ast.RawHTML).Segments
		for i := range s.Len() {
			seg := s.At(i)
			write(w, html.EscapeString(string(seg.Value(src))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func (nodes) htmlBlock(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.HTMLBlock)
	text := linesOf(n, src)
	if n.HasClosure() {
		text += string(n.ClosureLine.Value(src))
	}
	write(w, `<div class="raw">`+html.EscapeString(strings.TrimRight(text, "\n"))+"</div>\n")
	return ast.WalkContinue, nil
}

// plain writes lines that are no Markdown, because of their length or depth.
func (nodes) plain(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, `<div class="raw">`+html.EscapeString(strings.TrimRight(linesOf(node, src), "\n"))+"</div>\n")
	}
	return ast.WalkSkipChildren, nil
}

// heading writes a heading below those of the page.
func (nodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := fmt.Sprintf("h%d>", min(node.(*ast.Heading).Level+2, 6))
	if entering {
		write(w, "<"+tag)
	} else {
		write(w, "</"+tag+"\n")
	}
	return ast.WalkContinue, nil
}

func (nodes) link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	target := string(node.(*ast.Link).Destination)
	switch {
	case followed(target) && entering:
		write(w, opening(target))
	case followed(target):
		write(w, "</a>")
	case !entering: // an address that leads nowhere from here is told, not hidden
		write(w, " (<code>"+html.EscapeString(target)+"</code>)")
	}
	return ast.WalkContinue, nil
}

func (nodes) autoLink(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	target, label := string(n.URL(src)), html.EscapeString(string(n.Label(src)))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(target), "mailto:") {
		target = "mailto:" + target
	}
	if followed(target) {
		label = opening(target) + label + "</a>"
	}
	write(w, label)
	return ast.WalkContinue, nil
}

// image writes a picture of elsewhere as a link: nothing is loaded from there.
func (nodes) image(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	target := string(node.(*ast.Image).Destination)
	switch {
	case entering:
		write(w, "[image: ")
	case followed(target):
		write(w, "] ("+opening(target)+html.EscapeString(target)+"</a>)")
	default:
		write(w, "] (<code>"+html.EscapeString(target)+"</code>)")
	}
	return ast.WalkContinue, nil
}

func (nodes) fence(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	lang := ""
	if f, ok := node.(*ast.FencedCodeBlock); ok && f.Info != nil {
		lang, _, _ = strings.Cut(strings.TrimSpace(string(f.Info.Segment.Value(src))), " ")
	}
	write(w, `<pre tabindex="0"><code`)
	if lang != "" {
		write(w, ` class="language-`+html.EscapeString(lang)+`"`)
	}
	write(w, ">"+highlight(lang, linesOf(node, src))+"</code></pre>\n")
	return ast.WalkContinue, nil
}

func linesOf(n ast.Node, src []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	return b.String()
}

// followed reports whether an address may be a link.
func followed(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	default:
		return false
	}
}

// opening begins a link that tells nobody where it was followed from.
func opening(target string) string {
	return `<a href="` + html.EscapeString(string(util.URLEscape([]byte(target), false))) + `" rel="noopener noreferrer nofollow">`
}

// write writes to a buffer in memory, which does not fail.
func write(w util.BufWriter, s string) { _, _ = w.WriteString(s) }
