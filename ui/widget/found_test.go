package widget

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/ui/render"
)

func TestFoundWordsAreWholeClusters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, query, want string }{
		{"VAT edge cases", "vat", "[VAT] edge cases"},
		{"Größe und Gruesse", "grosse", "[Größe] und Gruesse"},
		{"Crème brûlée", "creme lee", "[Crème] brû[lée]"},
		{"Cre\u0300me", "creme", "[Cre\u0300me]"},
		{"e\u0301e\u0301", "e", "[e\u0301e\u0301]"},
		{"ＡＢＣ abc", "abc", "[ＡＢＣ] [abc]"},
		{"会議の議事録", "議事", "会議の[議事]録"},
		{"a👩‍👩‍👧b", "b", "a👩‍👩‍👧[b]"},
		{"aXbXc", "x xbx", "a[XbX]c"},
		{"ﬁle", "i", "[ﬁ]le"},
		{"none", "other", "none"},
		{"", "x", ""},
	} {
		var b strings.Builder
		at := 0
		for _, s := range Found(c.text, Words(c.query)) {
			b.WriteString(c.text[at:s.From] + "[" + c.text[s.From:s.To] + "]")
			at = s.To
		}
		if got := b.String() + c.text[at:]; got != c.want {
			t.Errorf("%q in %q: %s, want %s", c.query, c.text, got, c.want)
		}
	}
}

func TestAroundShowsThePlaceAndFits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("before ", 20) + "HERE " + strings.Repeat("after ", 20)
	wide := strings.Repeat("会議", 30) + "HERE" + strings.Repeat("録", 30)
	for _, line := range []string{long, wide, "HERE first", "short HERE"} {
		at := strings.Index(line, "HERE")
		for width := 12; width < 90; width++ {
			got := Around(line, at, width, "…")
			if !strings.Contains(got, "HERE") || render.Width(got) > width || !utf8.ValidString(got) {
				t.Errorf("%d cells of %q: %q", width, line, got)
			}
		}
		if got := Around(line, at, 0, "…"); got != "" {
			t.Errorf("%q in no cells", got)
		}
	}
	if got := Around(long, strings.Index(long, "HERE"), 40, "..."); !strings.HasPrefix(got, "...before") {
		t.Errorf("a word is cut: %q", got)
	}
}

func FuzzFound(f *testing.F) {
	f.Add("Größe e\u0301 会議 👩‍👩‍👧", "e gr")
	f.Add("\xff\u0300\x00a\u200db", "a")
	f.Fuzz(func(t *testing.T, text, query string) {
		spans, last := Found(text, Words(query)), -1
		for _, s := range spans {
			if s.From <= last || s.To <= s.From || s.To > len(text) {
				t.Fatalf("%q in %q: %v", query, text, spans)
			}
			last = s.To
		}
		if line := render.SafeLine(text); len(line) > 0 {
			at := len(line) / 2
			for at > 0 && !utf8.RuneStart(line[at]) {
				at--
			}
			if got := Around(line, at, 20, "…"); render.Width(got) > 20 {
				t.Fatalf("%q is wider than 20", got)
			}
		}
	})
}
