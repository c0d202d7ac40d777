package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/themes"
	"cairn/ui/render"
)

func TestFrameIsExactlyItsSize(t *testing.T) {
	t.Parallel()
	lines := []string{"one", "\x1b[1mtwo is long\x1b[0m", "会議の議事録"}
	for w := -1; w < 12; w++ {
		for h := -1; h < 6; h++ {
			got := Frame(lines, w, h)
			if h <= 0 {
				if got != "" {
					t.Errorf("%dx%d gives %q", w, h, got)
				}
				continue
			}
			rows := strings.Split(got, "\n")
			if len(rows) != h {
				t.Errorf("%dx%d has %d rows", w, h, len(rows))
			}
			for _, r := range rows {
				if render.Width(r) > max(w, 0) {
					t.Errorf("%dx%d has row %q", w, h, r)
				}
			}
		}
	}
}

func TestScrollShowsTheRowAndMovesLittle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ top, at, n, height, want int }{
		{0, 0, 10, 3, 0},
		{0, 2, 10, 3, 0},
		{0, 3, 10, 3, 1},
		{5, 3, 10, 3, 3},
		{5, 6, 10, 3, 5},
		{9, 9, 10, 3, 7},
		{4, 0, 1, 3, 0},
		{0, 5, 10, 0, 5},
		{7, 2, 3, 10, 0},
	} {
		if got := Scroll(c.top, c.at, c.n, c.height); got != c.want {
			t.Errorf("Scroll(%d, %d, %d, %d) is %d, want %d", c.top, c.at, c.n, c.height, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		at, h := rapid.IntRange(0, n-1).Draw(t, "at"), rapid.IntRange(1, 60).Draw(t, "height")
		if top := Scroll(rapid.IntRange(-3, 60).Draw(t, "top"), at, n, h); top < 0 || at < top || at >= top+h {
			t.Fatalf("row %d is not in %d rows from %d", at, h, top)
		}
	})
}

func TestOneLineIsSafeAndFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"a longer text", 8, "a longe…"},
		{"  a\nb\tc ", 10, "a␊b c"},
		{"会議の議事録", 7, "会議の…"},
		{"x\x1b[2Jy", 20, "x␛[2Jy"},
		{"anything", 0, ""},
	} {
		if got := OneLine(c.text, c.width, "…"); got != c.want {
			t.Errorf("OneLine(%q, %d) is %q, want %q", c.text, c.width, got, c.want)
		}
	}
	combining := "e" + strings.Repeat("\u0301", 100_000)
	if got := OneLine(combining, 10, "…"); len(got) > 2000 || render.Width(got) > 10 {
		t.Errorf("%d bytes for a line of 10 cells", len(got))
	}
}

func TestLinesWrapWhatThereIsRoomFor(t *testing.T) {
	t.Parallel()
	lines, more := Lines("one two\nthree\x1b[2J\tfour", 8, 10)
	if got := strings.Join(lines, "|"); got != "one two|three␛[2|J|four" || more {
		t.Errorf("got %q, more %v", got, more)
	}
	if lines, more = Lines(strings.Repeat("word ", 100_000), 10, 3); len(lines) != 3 || !more {
		t.Errorf("%d lines, more %v", len(lines), more)
	}
	if lines, more = Lines("x", 0, 5); lines != nil || !more {
		t.Errorf("%q in no columns, more %v", lines, more)
	}
}

func TestFooterHasTheMostUsefulKeysThatWork(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := []render.Binding{
		{Keys: []string{"x"}, Help: "third", Rank: 3},
		{Keys: []string{"ctrl+r", "r"}, Help: "first", Rank: 1},
		{Keys: []string{"pgdown"}, Help: "second", Rank: 2},
		{Keys: []string{"y"}, Help: "hidden"},
		{Keys: []string{"z"}, Help: "off", Rank: 1, Off: "not now"},
		{Help: "no key", Rank: 1},
	}
	for _, c := range []struct {
		width int
		want  string
	}{{80, " ^R first  pgdn second  x third"}, {26, " ^R first  pgdn second"}, {20, " ^R first  x third"}, {5, ""}} {
		if got := Footer(b, theme, c.width); got != c.want {
			t.Errorf("in %d cells %q, want %q", c.width, got, c.want)
		}
	}
	if got := Footers(b, theme, 15, 3); strings.Join(got, "|") != " ^R first| pgdn second| x third" {
		t.Errorf("on three lines %q", got)
	}
}

func TestKeyForNamesTheKeyThatIsSet(t *testing.T) {
	t.Parallel()
	keys := map[string][]string{"a": {"ctrl+t", "t"}, "b": {}}
	for action, want := range map[string]string{"a": "^T", "b": "(no key)", "c": "^U"} {
		if got := KeyFor(keys, action, "ctrl+u"); got != want {
			t.Errorf("%s has %q, want %q", action, got, want)
		}
	}
}

// FuzzInsert pastes anything into fields of both kinds and draws them.
func FuzzInsert(f *testing.F) {
	for _, seed := range append(alphabet, "\r\n\r", "\xff\xfe", "\x1b]52;c;eA==\x07", "\U000e0041", "한\u11a8", strings.Repeat("\u0301", 300)) {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		w := 1 + (width&0xff)%60
		for _, field := range []Field{Line("a界"), Area("a\n界")} {
			field = field.Insert(text)
			lines, x, y := field.Draw(w, 4)
			if x < 0 || x >= w || y < 0 || y >= len(lines) {
				t.Fatalf("cursor %d,%d in %q", x, y, lines)
			}
			for _, l := range lines {
				if render.Width(l) > w || ansi.Strip(l) != l || strings.ContainsAny(l, "\n\r\t\u202e") {
					t.Fatalf("line %q in width %d", l, w)
				}
			}
			if back, _ := field.Undo(); text != "" && field.legal(text) != "" && back.Text() == field.Text() {
				t.Fatalf("undo of %q did nothing", text)
			}
		}
	})
}
