package files

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		in   editIn
		want string // the text after it, or
		fail string // a part of the refusal
	}{
		"once":                        {"a\nb\nc\n", editIn{Old: "b", New: "B"}, "a\nB\nc\n", ""},
		"several lines":               {"a\nb\nc\n", editIn{Old: "a\nb\n", New: "x\n"}, "x\nc\n", ""},
		"to nothing":                  {"a\nb\n", editIn{Old: "a\n"}, "b\n", ""},
		"all":                         {"x x\nx", editIn{Old: "x", New: "yy", All: true}, "yy yy\nyy", ""},
		"all does not see its own":    {"aaa", editIn{Old: "a", New: "aa", All: true}, "aaaaaa", ""},
		"all side by side":            {"aaaa", editIn{Old: "aa", New: "b", All: true}, "bb", ""},
		"line feeds for CRLF":         {"a\r\nb\r\nc\r\n", editIn{Old: "a\nb\n", New: "x\ny\nz\n"}, "x\r\ny\r\nz\r\nc\r\n", ""},
		"CRLF for line feeds":         {"a\nb\nc\n", editIn{Old: "a\r\nb\r\n", New: "x\r\n"}, "x\nc\n", ""},
		"new lines in a CRLF line":    {"a b\r\nc\r\n", editIn{Old: "a b", New: "a\nb"}, "a\r\nb\r\nc\r\n", ""},
		"mixed ends stay":             {"a\nb\r\nc\r\nd\n", editIn{Old: "a\n", New: "A\n"}, "A\nb\r\nc\r\nd\n", ""},
		"the end of a CRLF line":      {"a\r\nb\r\n", editIn{Old: "\nb", New: "\nB"}, "a\r\nB\r\n", ""},
		"a lone carriage return":      {"a\rb\r\nc\r\n", editIn{Old: "b\nc", New: "B\nC"}, "a\rB\r\nC\r\n", ""},
		"mark stays":                  {mark + "a\nb\n", editIn{Old: "a\n", New: "A\n"}, mark + "A\nb\n", ""},
		"mark in the old text":        {mark + "a\n", editIn{Old: mark + "a", New: mark + "b"}, mark + "b\n", ""},
		"mark in the old text alone":  {mark + "a\n", editIn{Old: mark, New: "b"}, "", "old is empty"},
		"twice":                       {"a\nb\na\n", editIn{Old: "a", New: "x"}, "", "occurs 2 times, beginning on lines 1, 3;"},
		"twice in a line":             {"aa\n", editIn{Old: "a", New: "x"}, "", "occurs 2 times, beginning on line 1;"},
		"overlapping":                 {"\naaa\n", editIn{Old: "aa", New: "x"}, "", "occurs 2 times, beginning on line 2;"},
		"often":                       {strings.Repeat("a\n", 20), editIn{Old: "a", New: "x"}, "", "occurs 20 times, beginning on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and further ones"},
		"very often":                  {strings.Repeat("a", 5_000), editIn{Old: "a", New: "x"}, "", "100 times or more"},
		"not there":                   {"a\n", editIn{Old: "z", New: "x"}, "", "does not occur in the file; read it again"},
		"all, and not there":          {"a\n", editIn{Old: "z", New: "x", All: true}, "", "does not occur"},
		"in an empty file":            {"", editIn{Old: "z", New: "x"}, "", "does not occur"},
		"tabs for blanks":             {"x\nif a {\n\tb()\n}\n", editIn{Old: "if a {\n    b()\n}", New: "c()"}, "", "from line 2 on differs from it in white space only"},
		"white space inside a line":   {"x\ny\n\tfoo( a,  b )\n", editIn{Old: "foo( a, b )", New: "c()"}, "", "from line 3 on differs"},
		"blanks at the end of a line": {"a  \nb\n", editIn{Old: "a\nb", New: "c"}, "", "from line 1 on differs"},
		"empty":                       {"a", editIn{New: "x"}, "", "old is empty"},
		"nothing to change":           {"a", editIn{Old: "a", New: "a"}, "", "would change nothing"},
		"only line ends to change":    {"a\r\nb\r\n", editIn{Old: "a\r\n", New: "a\n"}, "", "would change nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := edit(tc.text, tc.in)
			if tc.fail == "" && (err != nil || got != tc.want) {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
			if tc.fail != "" && (err == nil || !strings.Contains(err.Error(), tc.fail)) {
				t.Errorf("got %q, %v; want %q", got, err, tc.fail)
			}
		})
	}
}

func TestHostileEditsEnd(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", maxWrite)
	for name, in := range map[string]editIn{
		"half of it":         {Old: text[:maxWrite/2], New: "b"},
		"half of it, all":    {Old: text[:maxWrite/2], New: "b", All: true},
		"blank lines":        {Old: strings.Repeat(" \n", 1_000) + "x", New: "b"},
		"lines that differ":  {Old: strings.Repeat("a\n", 50_000) + "x", New: "b"},
		"everything at once": {Old: "a", New: "b", All: true},
	} {
		if got, err := edit(text, in); err == nil && got == text {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// patch applies a unified diff as strictly as it can be: every line of it must
// be where it says. It is written here, so that it shares nothing with what
// made the diff.
func patch(before, diff string) (string, error) {
	have := strings.SplitAfter(before, "\n")
	if have[len(have)-1] == "" {
		have = have[:len(have)-1]
	}
	var out strings.Builder
	at, from, to := 0, 0, 0
	lines := strings.SplitAfter(diff, "\n")
	for i := 2; i < len(lines) && lines[i] != ""; i++ {
		line := lines[i]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ `) {
			line = strings.TrimSuffix(line, "\n")
		}
		switch {
		case from == 0 && to == 0 && strings.HasPrefix(line, `\ `):
		case from == 0 && to == 0:
			fields := strings.Fields(line)
			if len(fields) != 4 || fields[0] != "@@" || fields[3] != "@@" {
				return "", fmt.Errorf("line %d is no header of a hunk: %q", i, line)
			}
			var start int
			start, from = span(fields[1])
			_, to = span(fields[2])
			if from > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(have[at])
			}
		case line[0] == '+':
			out.WriteString(line[1:])
			to--
		case line[0] == '-', line[0] == ' ':
			if at >= len(have) || have[at] != line[1:] {
				return "", fmt.Errorf("line %d of the text is not %q", at+1, line[1:])
			}
			if line[0] == ' ' {
				out.WriteString(have[at])
				to--
			}
			at++
			from--
		case line[0] == '\\':
		default:
			return "", fmt.Errorf("line %d begins with %q", i, line[0])
		}
	}
	return out.String() + strings.Join(have[at:], ""), nil
}

// span reads "-start,count".
func span(text string) (start, count int) {
	a, b, ok := strings.Cut(text[1:], ",")
	start, _ = strconv.Atoi(a)
	count = 1
	if ok {
		count, _ = strconv.Atoi(b)
	}
	return start, count
}

// checkDiff makes sure that a diff says exactly what changes.
func checkDiff(t *testing.T, before, after string) {
	t.Helper()
	d, added, removed, err := diff("f", before, after, true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch(before, d)
	if err != nil || got != after {
		t.Errorf("%q with\n%s\ngives %q, %v; want %q", before, d, got, err, after)
	}
	if n := count(after) - count(before); added-removed != n {
		t.Errorf("%d lines added and %d removed, from %q to %q", added, removed, before, after)
	}
}

// count is how many lines a text has.
func count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func TestDiffsSayExactlyWhatChanges(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("same\n", 50)
	for _, c := range [][2]string{
		{"", "a"},
		{"", "a\n"},
		{"a", ""},
		{"a\n", ""},
		{"a", "a\n"},
		{"a\n", "a"},
		{"a\r\nb\r\n", "a\nb\n"},
		{"a\nb", "a\nc"},
		{"-- a\n++ b\n", "++ b\n-- a\n"},
		{long + "a\n" + long, long + "b\n" + long},
		{long + "a\n" + long + "c", "x\n" + long + "b\n" + long + "d"},
		{"@@ -1 +1 @@\n", "\\ No newline at end of file\n"},
	} {
		checkDiff(t, c[0], c[1])
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("a\nb\n", "b", "c", false)
	f.Add("a\r\nb\r\n", "a\nb", "x\ny\nz", false)
	f.Add(mark+"aa", "a", "b", true)
	f.Add("\n\n\n", "\n", "", true)
	f.Add("a", "a", "a\n", false)
	f.Add("\r\r\n\n", "\r\n", "\r\r\n", true)
	f.Fuzz(func(t *testing.T, text, from, to string, all bool) {
		if !utf8.ValidString(text) || !utf8.ValidString(from) || !utf8.ValidString(to) {
			t.Skip("an edit reads and writes UTF-8 only")
		}
		got, err := edit(text, editIn{Old: from, New: to, All: all})
		if err != nil {
			if got != "" {
				t.Errorf("a failed edit gives %q", got)
			}
			return
		}
		if got == text {
			t.Errorf("an edit of %q changed nothing", text)
		}
		checkDiff(t, text, got)
		if strings.HasPrefix(text, mark) && !strings.HasPrefix(got, mark) {
			t.Errorf("the mark of %q is gone", text)
		}
		for _, part := range []string{text, from, to} {
			if strings.Contains(windowsless(part), "\r") || strings.Contains(part, mark) {
				return // where the simple rule below does not hold
			}
		}
		if want := strings.ReplaceAll(unixEnds(text), unixEnds(from), unixEnds(to)); unixEnds(got) != want {
			t.Errorf("%q became %q, want %q but for line ends", text, got, want)
		}
		if !strings.Contains(text, "\r\n") && strings.Contains(got, "\r") || !strings.Contains(windowsless(text), "\n") && strings.Contains(windowsless(got), "\n") && strings.Contains(text, "\r\n") {
			t.Errorf("%q got other line ends: %q", text, got)
		}
	})
}

// windowsless is a text without its Windows line ends.
func windowsless(text string) string { return strings.ReplaceAll(text, "\r\n", "") }
