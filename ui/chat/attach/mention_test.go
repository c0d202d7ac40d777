package attach

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"see @main.go and @ui/chat/":          {"main.go", "ui/chat/"},
		"(@main.go), @a.txt.":                 {"main.go", "a.txt"},
		"is it @main.go?":                     {"main.go"},
		`@"my cat.png" and @'x'`:              {"my cat.png", "'x"},
		`@"a \"b\" c.png"`:                    {`a "b" c.png`},
		`@"open`:                              nil,
		"\"@\n\"":                             nil,
		"me@example.org \\@main.go @":         nil,
		"@@x":                                 nil,
		"@~/notes.md @../up.go @/etc/hosts":   {"~/notes.md", "../up.go", "/etc/hosts"},
		"@img(1).png @.. @.":                  {"img(1).png", "..", "."},
		"看看@main.go。好":                        {"main.go。好"},
		"看看@main.go。":                         {"main.go"},
		"@" + strings.Repeat("x", pathMax+1):  nil,
		"line\n@a.go\n\t@b.go\r\n@c.go\x00.d": {"a.go", "b.go", "c.go"},
	} {
		var got []string
		for _, m := range Mentions(text) {
			got = append(got, m.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q mentions %q, not %q", text, got, want)
		}
	}
}

func TestTheMentionThatIsTyped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"@": "", "see @ui/ch": "ui/ch", `@"my d`: "my d", "a@b @c": "c", "@a(": "a(", "@a @": "",
	} {
		if m, ok := Open(line); !ok || m.Path != want || m.To != len(line) {
			t.Errorf("%q: %+v, %v", line, m, ok)
		}
	}
	for _, line := range []string{"", "a@b", "@a b", `@"my dir" `, `@"my dir"`, `\@a`} {
		if m, ok := Open(line); ok {
			t.Errorf("%q: %+v", line, m)
		}
	}
}

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"see @main.go.", `@"a b" @"c`, "@@@", "看@x。", "@\xff", `@"\"\\"`, "@a@b", "\"@\"x\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, m := range Mentions(s) {
			if m.From < end || m.To <= m.From || m.To > len(s) || s[m.From] != '@' || m.Path == "" || len(m.Path) > pathMax+1 {
				t.Fatalf("%q: %+v after %d", s, m, end)
			}
			end = m.To
		}
		if m, ok := Open(s); ok && (m.To != len(s) || s[m.From] != '@') {
			t.Fatalf("%q is open at %+v", s, m)
		}
		mention, ok := Write(s)
		if !ok {
			return
		}
		for _, text := range []string{mention, "see " + mention + " and", "(" + mention + " )"} {
			if got := Mentions(text); len(got) == 0 || got[0].Path != s || strings.Index(text, mention) != got[0].From {
				t.Fatalf("%q is written as %q and read as %+v", s, text, got)
			}
		}
	})
}

func FuzzPaths(f *testing.F) {
	for _, s := range []string{"/a/b.png", `'/a b/c.png' /d\ e.txt`, "file:///a%20b.png\r\nfile:///c", `C:\x\y.png`, "\"", "~/x", "a.go b.go"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, reading := range Paths(s) {
			if len(reading) == 0 || len(reading) > filesMax {
				t.Fatalf("%q is read as %q", s, reading)
			}
			for _, p := range reading {
				if p == "" || !utf8.ValidString(p) || strings.ContainsAny(p, "\n\r\x00") {
					t.Fatalf("%q is read as %q", s, reading)
				}
			}
		}
	})
}

func TestPathsInAPaste(t *testing.T) {
	t.Parallel()
	for paste, want := range map[string][][]string{
		"/home/me/cat.png":                      {{"/home/me/cat.png"}},
		" /home/me/cat.png \n":                  {{"/home/me/cat.png"}},
		"/home/me/my cat.png":                   {{"/home/me/my cat.png"}, {"/home/me/my", "cat.png"}},
		`/home/me/my\ cat.png`:                  {{`/home/me/my\ cat.png`}, {"/home/me/my cat.png"}, {`/home/me/my\`, "cat.png"}},
		`'/home/me/my cat.png' '/b/it'\''s.go'`: {{`'/home/me/my cat.png' '/b/it'\''s.go'`}, {"/home/me/my cat.png", "/b/it's.go"}},
		"file:///home/me/my%20cat.png":          {{"/home/me/my cat.png"}},
		"file:///a.png\nfile://localhost/b.go":  {{"/a.png", "/b.go"}},
		"file:///C:/x/y.png":                    {{"C:/x/y.png"}},
		"/a.png /b.png":                         {{"/a.png /b.png"}, {"/a.png", "/b.png"}},
		`C:\x\y.png`:                            {{`C:\x\y.png`}, {"C:xy.png"}},
		"docs":                                  nil,
		"an ordinary sentence":                  nil,
		"https://example.org/a.png":             nil,
		"":                                      nil,
		strings.Repeat("/a\n", filesMax+1):      nil,
		"/" + strings.Repeat("x", pasteMax):     nil,
		"/a\x00b":                               nil,
	} {
		got := Paths(paste)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q is read as %q, not %q", paste, got, want)
		}
	}
}
