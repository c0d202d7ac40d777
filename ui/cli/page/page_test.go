package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"cairn/harness"
)

var update = flag.Bool("update", false, "write the golden page anew")

func say(role harness.Role, parts ...harness.Part) harness.Record {
	return harness.Record{Kind: harness.RecordMessage, Message: &harness.Message{Role: role, Parts: parts}}
}

func words(s string) harness.Part { return harness.Part{Kind: harness.PartText, Text: s} }

func written(t *testing.T, records ...harness.Record) (string, *html.Node) {
	t.Helper()
	w, err := Write(Conversation{Session: harness.Session{ID: "talk"}, Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return string(w.Data), parsed(t, w.Data)
}

func parsed(t *testing.T, data []byte) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// all are the elements of a name below n; of any if it is empty.
func all(n *html.Node, name string) (found []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (name == "" || d.Data == name) {
			found = append(found, d)
		}
	}
	return found
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what is read of a node, without its style.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "style" {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// harmless fails if a page can load, run, send or hide anything.
func harmless(t *testing.T, what string, root *html.Node) {
	t.Helper()
	known := strings.Fields(`html head meta title style body a header h1 h2 h3 h4 h5 h6 p code time ul ol li main article span details summary div pre figure img figcaption footer
		br hr blockquote em strong del table thead tbody tr th td input`)
	attributes := strings.Fields("lang charset http-equiv content name class href id aria-label aria-labelledby datetime dir tabindex rel start align type checked disabled")
	for _, n := range all(root, "") {
		if !slices.Contains(known, n.Data) || n.Namespace != "" {
			t.Errorf("%s: there is an element %s", what, n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case n.Data == "img" && slices.Contains([]string{"src", "alt", "width", "height"}, a.Key):
				if a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/png;base64,") {
					t.Errorf("%s: an image from %q", what, a.Val)
				}
			case !slices.Contains(attributes, a.Key):
				t.Errorf("%s: %s has %s=%q", what, n.Data, a.Key, a.Val)
			case a.Key == "href":
				scheme, _, _ := strings.Cut(strings.ToLower(a.Val), ":")
				if !strings.HasPrefix(a.Val, "#") && (!slices.Contains([]string{"http", "https", "mailto"}, scheme) || attr(n, "rel") != "noopener noreferrer nofollow") {
					t.Errorf("%s: a link to %q with rel %q", what, a.Val, attr(n, "rel"))
				}
			}
		}
	}
	if n := len(all(root, "style")); n != 1 {
		t.Errorf("%s: %d styles", what, n)
	}
	if n := len(all(root, "article")); n != 0 && n != len(all(root, "h2")) {
		t.Errorf("%s: %d messages with %d names", what, n, len(all(root, "h2")))
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	"<script>alert(1)</script>", "</style></title></head><body onload=alert(1)>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<svg><script>alert(1)</script></svg>",
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\nscript:alert(1))", "[x](&#106;avascript:alert(1))", "[x](vbscript:x)", "[x](data:text/html;base64,PHNjcmlwdD4=)",
	"![x](http://192.0.2.1/beacon.png)", "![x](data:image/svg+xml;base64,PHN2Zy8+)", "<javascript:alert(1)>", "[x]: javascript:alert(1)\n\n[x]", `[x](http://a/" onmouseover="alert(1))`,
	"[x](http://a/'><script>)", "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<meta http-equiv=refresh content='0;url=http://192.0.2.1'>", "<base href=http://192.0.2.1>",
	"<form action=http://192.0.2.1><input name=x></form>", "<a href=\"http://192.0.2.1\" ping=\"http://192.0.2.1\">x", "<div style=\"position:fixed\">", "<b><i><details open ontoggle=alert(1)>", "<!--", "-->", "]]>", "<![CDATA[",
	"```html\n<script>alert(1)</script>\n```", "```\"><script>\nx\n```", "~~~ go onload=x\nfunc main() {}\n~~~", "`</code><script>`", "| a | b |\n|---|:-:|\n| <script> | [x](javascript:1) |",
	"\x1b]0;x\x07\x1b[2J\x9b1m \u202eabc\u2066 \u200b \u2028 \xff\xfe \x00", "<textarea>", "<plaintext>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">", "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
	"{{.}} {{template \"x\"}} <%= x %>", strings.Repeat("> ", 5000) + "deep", strings.Repeat("[", 20000), strings.Repeat("*a ", 20000), strings.Repeat("- ", 3000), strings.Repeat("`", 9999), "&lt;script&gt; &amp; &#x3c;script&#x3e;", "# <script>", "1. x\n- [x] <script>\n",
	"https://a.example/<script>", "mailto:x@example.com?subject=<script>", "//192.0.2.1/x", "[x](//192.0.2.1)", "[x](file:///etc/passwd)", "[x](#m1)", "www.example.com", "[x](http:alert)", "[x](http://a.example \"</a><script>\")",
}

// Whatever is said, in whatever place, stays text.
func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		input, err := json.Marshal(map[string]string{"x": h})
		if err != nil {
			t.Fatal(err)
		}
		r := say(harness.RoleAssistant,
			words(h), words("before\n\n"+h+"\n\nafter"), harness.Part{Kind: harness.PartThinking, Text: h},
			harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: h, Input: input}}, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "x", Malformed: h}},
			harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{Name: h, Text: h, Failed: true, Artifact: h}},
			harness.Part{Kind: harness.PartFile, File: &harness.File{Name: h, MediaType: h, Artifact: h}}, harness.Part{Kind: harness.PartText, Text: h, File: &harness.File{Name: h}},
			harness.Part{Kind: harness.PartFile, File: &harness.File{Name: h, MediaType: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")}},
			harness.Part{Kind: harness.PartFile, File: &harness.File{Name: h, MediaType: "image/png", Data: picture(t)}})
		r.Message.Model, r.Message.Name, r.Message.Mark = h, h, harness.Mark(h)
		w, err := Write(Conversation{Session: harness.Session{ID: harness.SessionID(h), Title: h, Tags: []string{h}}, Records: []harness.Record{
			say(harness.RoleUser, words(h)), r, say(harness.RoleUser, words("the last one")),
		}})
		if err != nil {
			t.Fatal(err)
		}
		root := parsed(t, w.Data)
		harmless(t, h[:min(len(h), 60)], root)
		articles := all(root, "article")
		if len(articles) != 3 || text(articles[2]) == "" || !strings.Contains(text(articles[2]), "the last one") || !strings.Contains(text(articles[1]), "after") {
			t.Errorf("%.60q: %d messages", h, len(articles))
		}
		for _, bad := range []string{"\x1b", "\x07", "\u202e", "\u2066", "\u009b", "\x00"} {
			if strings.Contains(string(w.Data), bad) {
				t.Errorf("%.60q: %q is in it", h, bad)
			}
		}
		if len(all(root, "img")) != 1 {
			t.Errorf("%.60q: %d images", h, len(all(root, "img")))
		}
	}
}

// What looks like markup in an answer is read as it was written.
func TestAnglesAndEntitiesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	_, root := written(t, say(harness.RoleAssistant, words("Use Map<string>, cp <src> <dst>, List<T>.\n\n<details>\n<summary>x</summary>\n</details>\n\nThe code `&amp;` and\n\n```\nif a < b && c > d { &lt; }\n```\n\nrun: [here](./x.md)")))
	got := text(root)
	for _, want := range []string{"Use Map<string>, cp <src> <dst>, List<T>.", "<details>\n<summary>x</summary>\n</details>", "The code &amp; and", "if a < b && c > d { &lt; }", "here (./x.md)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q cannot be read:\n%s", want, got)
		}
	}
	// A fence that nothing closes ends with its message.
	_, root = written(t, say(harness.RoleAssistant, words("run:\n```\ngo --x __name__ $1")), say(harness.RoleUser, words("next")))
	if code := all(root, "pre"); len(code) != 1 || strings.TrimSuffix(text(code[0]), "\n") != "go --x __name__ $1" || len(all(root, "article")) != 2 {
		t.Errorf("%d blocks of code", len(code))
	}
}

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Images are in the page, within bounds, and what is not says why.
func TestImagesAreInThePageWithinBounds(t *testing.T) {
	t.Parallel()
	data := picture(t)
	kept := map[string][]byte{"kept": data, "large": append(slices.Clone(data), make([]byte, maxImage)...), "svg": []byte("<svg/>")}
	file := func(artifact string) harness.Part {
		return harness.Part{Kind: harness.PartFile, File: &harness.File{Name: artifact + ".png", MediaType: "image/png", Artifact: artifact, Width: 3, Height: 2}}
	}
	w, err := Write(Conversation{
		Session: harness.Session{ID: "talk"},
		Records: []harness.Record{say(harness.RoleUser, file("kept"), file("large"), file("svg"), file("gone"), harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a.pdf", MediaType: "application/pdf"}})},
		Bytes: func(name string) ([]byte, error) {
			if b, ok := kept[name]; ok {
				return b, nil
			}
			return nil, errors.New("gone")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	root := parsed(t, w.Data)
	if img := all(root, "img"); len(img) != 1 || attr(img[0], "alt") != "kept.png" || attr(img[0], "width") != "3" || w.Images != len(data) {
		t.Errorf("%d images of %d bytes", len(img), w.Images)
	}
	if len(w.Left) != 4 {
		t.Errorf("left out: %q", w.Left)
	}
	for _, want := range []string{"large.png (image/png) is not in this page: larger than 8 MB", "svg.png (image/png) is not in this page: not a PNG", "gone.png (image/png) is not in this page: not in the store any more", "a.pdf (application/pdf) is not in this page"} {
		if !strings.Contains(text(root), want) {
			t.Errorf("%q is not told", want)
		}
	}
}

func TestTheImagesOfAResultAreBelowIt(t *testing.T) {
	t.Parallel()
	data := picture(t)
	result := &harness.ToolResult{CallID: "c", Name: "draw", Text: "drawn", Files: []harness.File{{Name: "image 1", MediaType: "image/png", Data: data, Width: 3, Height: 2}}}
	_, root := written(t, say(harness.RoleTool, harness.Part{Kind: harness.PartResult, Result: result}))
	if img := all(root, "img"); len(img) != 1 || attr(img[0], "alt") != "image 1" || !strings.Contains(text(root), "drawn") {
		t.Errorf("%d images in %q", len(img), text(root))
	}
}

// A conversation with everything in it makes the same bytes, and a page that can be
// read without looking.
func TestPageIsStableAndCanBeReadAloud(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("CET", 3600))
	records := []harness.Record{
		say(harness.RoleUser, words("How do I <b>sum</b> a list?\n  with *care*"), harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "list.png", MediaType: "image/png", Data: picture(t), Width: 3, Height: 2}}),
		say(harness.RoleAssistant, harness.Part{Kind: harness.PartThinking, Text: "They want **Go**."}, words("# Sums\n\nLike this, see [the tour](https://go.dev/tour) and <https://go.dev>:\n\n```go\nfunc sum(list []int) (n int) { // adds up\n\tfor _, v := range list {\n\t\tn += v\n\t}\n\treturn n\n}\n```\n\n- [x] done\n- ~~old~~ `new`\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n> 石塚 👩‍👩‍👧 שלום"),
			harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "run_command", Input: json.RawMessage(`{"command":"go test ./..."}`)}}),
		say(harness.RoleTool, harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{Name: "run_command", Text: "ok  \tsum\t0.1s\n"}}),
		say(harness.RoleAssistant, words("It works, and")),
	}
	for i := range records {
		records[i].Seq, records[i].At = i+1, at.Add(time.Duration(i)*time.Minute)
	}
	records[1].Message.Model, records[3].Message.Model, records[3].Message.Mark = "test/model", "test/model", harness.MarkInterrupted
	c := Conversation{Session: harness.Session{ID: "sums", Title: "Sums & <lists>", Created: at, Updated: at, Tags: []string{"go", "a b"}}, Records: records}
	first, err := Write(c)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Write(c)
	if err != nil || !bytes.Equal(first.Data, second.Data) {
		t.Fatalf("another page each time (%v)", err)
	}
	golden := filepath.Join("testdata", "sums.html")
	if *update {
		if err := os.WriteFile(golden, first.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Data, want) {
		t.Errorf("the page is not that of %s; look at it with -update:\n%s", golden, first.Data)
	}
	root := parsed(t, first.Data)
	harmless(t, "sums", root)
	if lang := attr(all(root, "html")[0], "lang"); lang != "en" || text(all(root, "title")[0]) != "Sums & <lists>" {
		t.Errorf("the page is in %q and called %q", lang, text(all(root, "title")[0]))
	}
	if len(all(root, "h1")) != 1 || len(all(root, "main")) != 1 || len(all(root, "time")) != 6 || len(all(root, "details")) != 3 || len(all(root, "summary")) != 3 {
		t.Error("landmarks are missing")
	}
	seen := map[string]bool{}
	for _, n := range all(root, "") {
		if id := attr(n, "id"); id != "" && seen[id] {
			t.Errorf("the id %s is there twice", id)
		} else if id != "" {
			seen[id] = true
		}
	}
	for _, n := range all(root, "article") {
		if !seen[attr(n, "aria-labelledby")] {
			t.Errorf("a message is called after %q, which is not there", attr(n, "aria-labelledby"))
		}
	}
	if len(all(root, "span")) < 10 {
		t.Error("code has no colours")
	}
	for _, meta := range all(root, "meta") {
		if attr(meta, "http-equiv") == "Content-Security-Policy" && !strings.HasPrefix(attr(meta, "content"), "default-src 'none'; style-src 'sha256-") {
			t.Errorf("the policy is %q", attr(meta, "content"))
		}
	}
}

// FuzzMarkdown checks that no Markdown becomes more than text.
func FuzzMarkdown(f *testing.F) {
	for _, h := range hostile {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, root := written(t, say(harness.RoleAssistant, words(s)), say(harness.RoleUser, words("last")))
		harmless(t, "fuzz", root)
		if articles := all(root, "article"); len(articles) != 2 || !strings.HasSuffix(strings.TrimSpace(text(articles[1])), "last") {
			t.Errorf("%d messages", len(articles))
		}
	})
}
