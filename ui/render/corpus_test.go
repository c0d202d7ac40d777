package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// corpus are texts that exercise every construct, and ways to be cut badly.
func corpus(tb testing.TB) map[string]string {
	tb.Helper()
	sample, err := os.ReadFile(filepath.Join("testdata", "sample.md"))
	if err != nil {
		tb.Fatal(err)
	}
	nested, err := os.ReadFile(filepath.Join("testdata", "nested.md"))
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]string{
		"sample":               string(sample),
		"empty":                "",
		"blank lines":          "\n\n \n\t\n",
		"fence":                "run:\n```sh\ngo --x __name__ $1\n```\ndone",
		"fence to the end":     "run:\n```\ncode\n```",
		"open fence":           "text\n~~~~ py x\ndef f():\n\n\treturn 1\n~~~\n  more",
		"fence in list":        "- a\n\n  ```go\n  func x() {}\n  ```\n- b\n  1. c\n     ```\n     deep\n     ```\n     after",
		"fence in quote":       "> ```\n> a\n> ```\n> b\n\n> c",
		"two fences":           "```a\n1\n```\n```b\n2\n```\n    indented\n",
		"not a fence":          "``` `x`\ny\n```\n",
		"table flips":          "intro\na|b\n-|-x\n\na|b\n-|-\n1|2\n3\n\nend | x\n",
		"table wide":           "| a | b | c |\n|---|:-:|--:|\n| " + strings.Repeat("word ", 40) + "| " + strings.Repeat("u", 120) + " | 模板模板模板模板模板模板模板 |\n| 1 |\n",
		"list then number":     "1. a\n2. b\n\n3. c\n\n4 d\n\n- x\n\n--\n\n- y\n\n---\n",
		"tight becomes loose":  "- a\n- b\n\n- c\n\n    code\n  - d\n    - e\n      - f\n        - g\n",
		"hash grows":           "para\n#\n#x\n# h\n## h2 ##\n####### seven\n",
		"setext":               "one\ntwo\n===\nthree\n---\nfour\n- - -\n",
		"references":           "See [one], [two][2] and ![img][one].\n\n> [2]: <https://b.example/x y> 'T'\n\nmid [ONE]\n\n[one]: https://a.example\n\"title\"\n[one]: https://no.example\n",
		"half links":           "[a](https://x.example/a_(b) \"t\") [b](<c d>) [c]() <https://e.example> <a@b.example> ![](i.png) [x](javascript:alert(1)) [rel](../a%zz) [e][",
		"html":                 "<details>\n<summary>*s*</summary>\n\ninner <b>bold</b>\n</details>\n\nUse Map<string>, cp <src> <dst>, List<T> and <!-- c -->.\n\n<!-- open\n\nstill *open*\n-->\nafter\n\n<script>\nx\n\ny\n",
		"code spans":           "`&amp;` ``a ` b`` `\\*` `<T>` ` x ` `multi\nline` **`b`** [`l`](u) \\`no\\` `open",
		"entities":             "&lt;T&gt; &amp; &#27;[31m &#x9b; &#x202e; &copy=1 &nbsp;x &NoSuch; &#0; &#10;nl \\&amp; a&b;c",
		"emphasis":             "*a **b*** ***c*** _d_e_ ~~f\n*g*~~ **open\n\n*x\ny* 2 * 3 * 4",
		"hard breaks":          "a  \nb\\nc   \n\nd\ne",
		"cjk":                  strings.Repeat("模板 vault 之後，", 20) + "\n\n" + strings.Repeat("漢", 130) + "「引用」。한국어 문장입니다 그리고 더",
		"emoji":                "👩\u200d👩\u200d👧\u200d👦 🇩🇪🇫🇷🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 👍🏽 ❤️ 1️⃣ " + strings.Repeat("🧑\u200d🚀", 30) + " é à̖̗́ ﷽",
		"arabic":               "مرحبا بالعالم، هذا نص طويل باللغة العربية لاختبار الالتفاف في السطر. می\u200cخواهم نمی\u200cشود",
		"devanagari":           "क्षत्रिय नमस्ते दुनिया हिन्दी में एक लम्बा वाक्य",
		"long word":            strings.Repeat("x", 300) + " https://example.com/" + strings.Repeat("a/", 100) + " `" + strings.Repeat("c", 200) + "`",
		"tabs":                 "a\tb\tc\n\n\tcode\tx\n\n-\titem\n\n```\n\ta\tb\n```\n",
		"crlf":                 "a\r\nb\r\n\r\n```\r\ncode\r\n```\r\nlone\rcr\r\r\n",
		"invalid":              "a\xffb\xc3(\xe2\x82 \xf0\x9f\x91 \xc3",
		"control":              hostile(),
		"nested quotes":        "> a\n>> b\n>>> c\nlazy\n> - l\n>   > q\n\n>\n> z",
		"deep list":            deepList(30),
		"rules":                "***\n---\n___\n- \n-\n1.\n*\n\n> \n",
		"many blank":           "a" + strings.Repeat("\n", 40) + "b",
		"task list":            "- [ ] a\n- [x] b\n  - [ ] c\n- [] d\n",
		"zero width":           "a\u200bb\u2060c\ufeffd\u00ade\u200df\u034fg x\ufe0f\ufe0fy 👩\u200d x",
		"everything nested":    string(nested),
		"table in all scripts": "| 模板 | 👩\u200d👩\u200d👧\u200d👦 🇩🇪 | مرحبا | e\u0301a\u0308 |\n|:--|:-:|--:|---|\n| **漢字** `コード` | [👍🏽](https://a.example) | نص طويل باللغة العربية | <b>क्षत्रिय</b> |\n| " + strings.Repeat("漢", 50) + " | a\\|b | `c\\|d` |\n\nafter\n",
		"headings":             "# 見出し `code` [x](y) 👩\u200d👩\u200d👧\u200d👦\n## " + strings.Repeat("long ", 30) + "\n### عنوان ###\n\n" + strings.Repeat("漢", 60) + "\n===\n" + strings.Repeat("e\u0301", 90) + "\n---\n",
		"breaks in all":        "漢字  \n👩\u200d🚀\\\nمرحبا  \n> a  \n> b\\\n> c\n\n- a  \n  b\\\n  c\n\n| a<br>b | c |\n|---|---|\n",
		"references nested":    "- see [a][], [A] and [b][c]\n  > and [c] ![p][a]\n\n| [a] | `[a]` |\n|---|---|\n| [b][c] | [no][where] |\n\n# of [a]\n\n> [a]: <https://漢.example/x y> (title\n> goes on)\n\n- [c]: https://c.example 'c'\n",
		"html nested":          "- <div>\n  a *b*\n\n  </div>\n\n> <pre>\n> x  y\n> </pre>\n\n1. <!-- a\n   b -->\n\n<table><tr><td>\n\n**in**\n\n</td></tr></table> <br/> <x:y z='&lt;'>&#x6f22;&amp;lt;</x:y>\n",
		"a line of all":        hugeLine(2500),
		"a line of code":       "```go\nx := \"" + hugeLine(900) + "\"\n```\n\n    " + hugeLine(700) + "\n",
		"definition then para": "[a]: /x\n[b]\n\n[b]: /y\ntext after\n\n[TODO]: fix this\n",
	}
}

// nasty are texts of about n bytes that make careless parsers slow.
func nasty(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)+1) }
	var ticks strings.Builder
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(strings.Repeat("`", i) + "a")
	}
	var defs strings.Builder
	for i := 0; defs.Len() < n; i++ {
		fmt.Fprintf(&defs, "[l%d]: u%d\n\nsee [l%d] and [l%d]\n\n", i, i, i/2, i+9)
	}
	return map[string]string{
		"many definitions": defs.String(),
		"brackets":         rep("["), "half links": rep("[a]("), "images": rep("!["), "emphasis": rep("*a_ "), "strong": rep("*a **a "),
		"ticks": ticks.String(), "angles": rep("<"), "tags": rep("<a "), "comments": rep("<!-- a "), "strikes": rep("~~a"),
		"quotes": rep("> "), "tight quotes": rep(">"), "dashes": rep("- "), "numbers": rep("1. "), "mixed": rep("*[`"),
		"line in fence": "```\n" + rep("x\t"), "line of go": "```go\n" + rep("x(") + "\n```\n", "code in list": "- ```\n" + rep("  code line\n"),
		"cells": "|a\n|-\n" + rep("|"), "columns": rep("|a") + "\n" + rep("|-") + "\n" + rep("|x"), "tables": rep("a|b\n-|-\n"),
		"definitions": rep("[a]: b\n"), "spaced definitions": rep("[a]: b\n\n"), "combining": "a" + rep("\u0301"), "joiners": rep("👩\u200d"),
		"spaces": rep(" "), "tabs": rep("\t"), "wide gaps": rep("a          "), "urls": rep("http://a.b/"), "hosts": rep("www."), "mails": rep("a@b."),
		"returns": rep("\r"), "escapes": rep("\x1b[1m"), "paragraphs": rep("a\n\n"), "hard breaks": rep("a  \n"), "fences": rep("```\n"),
		"lines": rep("*a_ b\n"), "flags": rep("🇩"), "han": rep("漢"), "backslashes": rep(`\`), "ampersands": rep("&"),
	}
}

// hostile is every sequence that drives a terminal, in prose and in code.
func hostile() string {
	seqs := []string{
		"\x1b]52;c;aGk=\x07", "\x1b]0;title\x1b\\", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1bPq#0\x1b\\", "\x1b_Gf=1\x1b\\",
		"\x1b[2J", "\x1b[10A", "\x1b[6n", "\x1bc", "\u009b31m", "\u009d0;t\u009c", "\x9b5A", "\r", "a\b\b\b", "\x00\x07\x0b\x0c\x0e\x7f",
		"\u202egnp.exe", "\u2066x\u2069", "\u200e\u200f\u061c", "\x1b[31mred\x1b[0m", "\x1b]unterminated",
	}
	var b strings.Builder
	for _, s := range seqs {
		fmt.Fprintf(&b, "t %s u `%s` [%s](%s) **%s**\n\n", s, s, s, s, s)
	}
	b.WriteString("```\x1b[31m x\x1b]0;y\x07\n")
	for _, s := range seqs {
		b.WriteString("c " + s + " d\n")
	}
	b.WriteString("```\n\n| \x1b[2J | b |\n|---|---|\n| \u009b1m | \x1b[6n |\n\n<x\x1b[2J>\n\n# \x1bc\n\n[r\x1b]: \x1b[6n\n")
	return b.String()
}

// hugeLine is a line of at least n bytes in which every kind of span is in every script.
func hugeLine(n int) string {
	const spans = "words *of* **a** line, `漢字 code` 漢字かな交じり文。[👩\u200d👩\u200d👧\u200d👦](https://a.example/漢) مرحبا بالعالم e\u0301e\u0301 🇩🇪🇫🇷 <T> &amp; ~~gone~~ \\* क्षत्रिय https://b.example/x_y "
	return strings.Repeat(spans, n/len(spans)+1)
}

func deepList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- level\n")
	}
	return b.String()
}

// checkLines fails if a line is wider than width or holds anything but
// printable characters and SGR sequences that it ends itself.
func checkLines(tb testing.TB, lines []string, width int) {
	tb.Helper()
	for i, l := range lines {
		if w := lineWidth(l); w > width {
			tb.Fatalf("line %d is %d cells wide, want at most %d: %q", i, w, width, l)
		}
		if err := checkSGR(l); err != nil {
			tb.Fatalf("line %d: %v: %q", i, err, l)
		}
	}
}

func checkSGR(s string) error {
	on := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return fmt.Errorf("broken UTF-8 at byte %d", i)
		case r == 0x1b:
			end := strings.IndexByte(s[i:], 'm')
			if end < 0 || !strings.HasPrefix(s[i:], "\x1b[") || strings.Trim(s[i+2:i+end], "0123456789;") != "" {
				return fmt.Errorf("a sequence that is no SGR at byte %d", i)
			}
			on = s[i+2:i+end] != "0" && s[i+2:i+end] != ""
			n = end + 1
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r == 0x200e, r == 0x200f, r == 0x61c, r >= 0xfdd0 && r <= 0xfdef, r == 0x2028, r == 0x2029:
			return fmt.Errorf("control character %U at byte %d", r, i)
		}
		i += n
	}
	if on {
		return fmt.Errorf("a style is left on")
	}
	return nil
}
