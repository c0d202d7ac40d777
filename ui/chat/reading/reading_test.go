package reading_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"cairn/ui/chat/reading"
)

func TestCounting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, text string
		want        int
	}{
		{"row", "Row row ROWrow", 4},
		{"Row", "Row row ROWrow", 1},
		{"blank  vat id", "a blank\n   VAT id", 1},
		{"ä", "Ä ä", 2},
		{"模板", "模板之後模板", 2},
		{"", "anything", 0},
		{"   ", "anything", 0},
		{"aa", "aaaa", 2},
		{"(a+)*", "x (a+)* y", 1},
	} {
		if got := reading.NewQuery(c.query).Count(c.text); got != c.want {
			t.Errorf("%q in %q: %d, not %d", c.query, c.text, got, c.want)
		}
	}
	if got := reading.NewQuery("two words").Prose("two **words** and `two` words"); got != 2 {
		t.Errorf("marks of Markdown stand in the way: %d", got)
	}
}

func TestMatchesAreFoundAcrossBrokenLines(t *testing.T) {
	t.Parallel()
	lines := []string{"row", "", "the \x1b[1mparse", "  error of 模板之", "後 and a para", "graph"}
	for _, c := range []struct {
		query string
		want  []reading.Span
	}{
		{"row", nil},
		{"parse error", []reading.Span{{Line: 2, From: 4, End: 3, To: 7}}},
		{"之後", []reading.Span{{Line: 3, From: 17, End: 4, To: 3}}},
		{"PARAGRAPH", nil},
		{"paragraph", []reading.Span{{Line: 4, From: 10, End: 5, To: 5}}},
	} {
		if got := reading.NewQuery(c.query).Spans(lines, 1); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, not %v", c.query, got, c.want)
		}
	}
}

func TestPaintingChangesNoText(t *testing.T) {
	t.Parallel()
	lines := []string{"a \x1b[1mbold e\u0301\x1b[0m end", "👩‍👩‍👧 and bold", "plain"}
	q := reading.NewQuery("bold e")
	spans := q.Spans(lines, 0)
	got := reading.Paint(lines, spans, 0, "\x1b[4m", "\x1b[7m")
	for i := range lines {
		if ansi.Strip(got[i]) != ansi.Strip(lines[i]) {
			t.Errorf("%q became %q", lines[i], got[i])
		}
	}
	// The accent belongs to the letter, and what was bold is bold again.
	if want := "a \x1b[1m\x1b[0m\x1b[7mbold e\u0301\x1b[0m end"; got[0] != want {
		t.Errorf("%q, not %q", got[0], want)
	}
	two := reading.Paint([]string{"x y x"}, reading.NewQuery("x").Spans([]string{"x y x"}, 0), 1, "\x1b[4m", "\x1b[7m")
	if want := "\x1b[0m\x1b[4mx\x1b[0m y \x1b[0m\x1b[7mx\x1b[0m"; two[0] != want {
		t.Errorf("%q, not %q", two[0], want)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	text := "See [this](https://example.org/a_(b)), <https://example.net/x?y=1&z=2>. And https://example.org/end!\n" +
		"Not javascript:alert(1), file:///etc/passwd, https://, or ftp://example.org, but mailto:ada@example.org and HTTPS://EXAMPLE.COM/. " +
		"Again https://example.org/end and `https://example.org/code`"
	want := []string{
		"https://example.org/a_(b)", "https://example.net/x?y=1&z=2", "https://example.org/end", "mailto:ada@example.org",
		"HTTPS://EXAMPLE.COM/", "https://example.org/code",
	}
	if got := reading.Links(text); !slices.Equal(got, want) {
		t.Errorf("%q\nnot\n%q", got, want)
	}
	for _, bad := range []string{"", "--help", "javascript:x", "https:///x", "https://a b", "https://a\x1b]52;c;x\a", "mailto:nobody", "mailto:ada@example.org?subject=x&Attach=/etc/passwd", "https://a\u202eb", "file:///x"} {
		if reading.Openable(bad) {
			t.Errorf("%q may be opened", bad)
		}
	}
}

func FuzzPaint(f *testing.F) {
	f.Add("a \x1b[1mbold\x1b[0m text", "bold")
	f.Fuzz(func(t *testing.T, line, query string) {
		if strings.ContainsAny(line, "\n\r\t\a\b\x1b") {
			t.Skip("lines to paint are safe already")
		}
		lines := []string{line, line}
		q := reading.NewQuery(query)
		for i, l := range reading.Paint(lines, q.Spans(lines, 0), 0, "\x1b[4m", "\x1b[7m") {
			if ansi.Strip(l) != ansi.Strip(lines[i]) {
				t.Errorf("%q became %q", lines[i], l)
			}
		}
	})
}
