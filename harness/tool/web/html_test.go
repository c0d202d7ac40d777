package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// where is an address of a page.
func where(tb testing.TB) *url.URL {
	tb.Helper()
	u, err := parse("https://example.com/a/b")
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// hostile are pages that were made to take long, by what they try; part is by
// how much they are shorter than the worst.
func hostile(part int) map[string]string {
	nest := func(n int, open, text, shut string) string {
		return strings.Repeat(open, n) + text + strings.Repeat(shut, n)
	}
	many := func(n int, text string) string { return strings.Repeat(text, n/part) }
	return map[string]string{
		"quotes in quotes, within bounds": nest(12, "<blockquote>", "<pre>"+many(100_000, "x\n")+"</pre>", "</blockquote>"),
		"deep":                            nest(100_000, "<div>", "x", ""),
		"deep, closed":                    nest(400, "<div>", "x", "</div>"),
		"deep within bounds":              nest(150, "<div><p>words, words, words</p>", many(500, "<p>some text, with commas</p>"), "</div>"),
		"quotes in quotes":                nest(150, "<blockquote>", many(2_000, "<p>line</p>"), "</blockquote>"),
		"lists in lists":                  nest(60, "<ul><li>", many(2_000, "<p>line</p>"), "</li></ul>"),
		"emphasis":                        nest(150, "<b><i>", "x", "</i></b>"),
		"emphasis, misnested":             many(20_000, "<b><i></b>") + "x",
		"formatting, many":                many(3_000, "<a href=x><b><font size=1>") + "x",
		"links":                           many(28_000, "<a href=/x>y</a> "),
		"paragraphs":                      many(28_000, "<p>text, text"),
		"line breaks":                     many(80_000, "x<br>"),
		"one long line":                   many(500_000, "*_`[#"),
		"one long word":                   many(2_000_000, "x"),
		"entities":                        many(300_000, "&lt;"),
		"a wide span":                     "<table><tr><td colspan=1000000000>x</table>",
		"a tall span":                     "<table><tr><td rowspan=1000000000>x<tr><td>y</table>",
		"many spans":                      "<table>" + many(3_000, "<tr><td rowspan=100 colspan=100>x") + "</table>",
		"a wide and tall one":             "<table><tr>" + many(10_000, "<td>x") + many(10_000, "<tr><td>y") + "</table>",
		"tables in tables":                nest(60, "<table><tr><td>", many(100, "x "), "</table>"),
		"attributes":                      "<p " + many(100_000, "a=b ") + ">x</p>",
		"attributes, distinct":            "<p " + numbered(50_000/part, "a%d=b ") + ">x</p>",
		"classes":                         many(20_000, "<div class='comment sidebar article content'>text, more</div>"),
		"comments":                        many(200_000, "<!-- x -->") + "x",
		"an open comment":                 "x<!--" + many(1_000_000, "-"),
		"an open script":                  "x<script>" + many(1_000_000, "<"),
		"options":                         "<select>" + many(50_000, "<option>x") + "</select>x",
		"code":                            "<pre>" + many(500_000, "`") + "</pre>",
		"code, nested":                    nest(150, "<pre><code>", many(1_000, "line\n"), "</code></pre>"),
		"spaces":                          "<p>" + many(2_000_000, " ") + "x",
		"new lines":                       "<p>" + many(2_000_000, "\n") + "x",
		"headings":                        many(20_000, "<h1>x</h1>"),
		"images":                          many(20_000, "<img src=a alt='x'>"),
		"JSON-LD":                         `<script type="application/ld+json">` + nest(100_000, "[", "", "]") + `</script><p>x</p>`,
		"titles":                          "<title>" + many(500_000, "a | ") + "</title><p>x",
		"names that repeat":               many(5_000, "<div id=a><p>text, text, text, text, text, text, text, text</p></div><br><br>"),
	}
}

func numbered(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

func TestHostilePages(t *testing.T) {
	t.Parallel()
	for name, page := range hostile(10) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := markdown(t.Context(), page, where(t))
			if !utf8.ValidString(got) || strings.TrimSpace(got) == "" {
				t.Errorf("%d bytes become %.100q", len(page), got)
			}
			if len(got) > 30*len(page)+1_000 {
				t.Errorf("%d bytes become %d", len(page), len(got))
			}
		})
	}
}

// BenchmarkHostilePages says how long the slowest kinds of pages take, also
// after they were given up.
func BenchmarkHostilePages(b *testing.B) {
	for name, page := range hostile(1) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = convert(page, where(b)) // pages that are refused count too
			}
		})
	}
}

func TestTextOfPages(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<p>a<b>b</b> c</p><p>d": "ab c\nd\n",
		"a<br>b<hr/>c":           "a\nb\nc\n",
		"<title>t</title><script>x</script><style>y</style>z": "z\n",
		"a &amp; b &lt;c&gt;": "a & b <c>\n",
		"<div>\n\n a \n b":    "a\nb\n",
		"":                    "",
		"<script>never shut":  "",
	} {
		if got := textOf(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		story, "", "<", "<p>a</p>", "<table><tr><td colspan=3>a<td rowspan=2>b<tr><td>c</table>", "<base href='//x'><a href='y'>z</a>", "<ul><li><ol start=-5><li>a",
		"<pre><code class=language-go>`a`</code></pre>", "<a href=\"javascript:x\">y</a>", "<svg><p>x</svg><math><mi>", "<template><p>a</template>", "<h1>a<h2>b<h7>c", "\x00<p>\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if got, err := convert(page, where(t)); err == nil && strings.Contains(strings.ToLower(got), "](javascript:") {
			t.Errorf("%q becomes %q", page, got)
		}
		textOf(page)
	})
}
