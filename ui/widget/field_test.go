package widget

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/ui/render"
)

// key makes the message of a key spelt as Bubble Tea spells it.
func stroke(name string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "enter": tea.KeyEnter, "ctrl+_": tea.KeyCtrlUnderscore,
		"ctrl+home": tea.KeyCtrlHome, "ctrl+end": tea.KeyCtrlEnd, "tab": tea.KeyTab, "space": tea.KeySpace,
	}
	alt := strings.HasPrefix(name, "alt+")
	name = strings.TrimPrefix(name, "alt+")
	if t, ok := named[name]; ok {
		k := tea.KeyMsg{Type: t, Alt: alt}
		if t == tea.KeySpace {
			k.Runes = []rune{' '}
		}
		return k
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok && len(c) == 1 {
		return tea.KeyMsg{Type: tea.KeyCtrlA + tea.KeyType(c[0]-'a'), Alt: alt}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name), Alt: alt}
}

func press(f Field, names ...string) Field {
	for _, n := range names {
		f, _ = f.Key(stroke(n))
	}
	return f
}

// marked is the text with | at the cursor.
func marked(f Field) string { return f.Text()[:f.Cursor()] + "|" + f.Text()[f.Cursor():] }

func TestKeysOfReadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		keys       []string
		want       string
	}{
		{"typing goes in at the cursor", "ac", []string{"left", "b"}, "ab|c"},
		{"the space bar types a space", "a", []string{"space", "b"}, "a b|"},
		{"backspace takes a whole cluster", "a👩‍👩‍👧e\u0301", []string{"backspace", "backspace"}, "a|"},
		{"left stops before a cluster", "x🇩🇪", []string{"left"}, "x|🇩🇪"},
		{"right stops after a cluster", "🇩🇪x", []string{"home", "right"}, "🇩🇪|x"},
		{"ctrl+w cuts to white space", "go ./ui/field", []string{"ctrl+w"}, "go |"},
		{"alt+backspace cuts a word", "go ./ui/field", []string{"alt+backspace"}, "go ./ui/|"},
		{"alt+d cuts the next word", "one two", []string{"home", "alt+d"}, "| two"},
		{"ctrl+u cuts to the start", "one two", []string{"alt+b", "ctrl+u"}, "|two"},
		{"ctrl+k cuts to the end", "one two", []string{"alt+b", "ctrl+k"}, "one |"},
		{"ctrl+y brings back what was cut", "one two", []string{"ctrl+w", "home", "ctrl+y"}, "two|one "},
		{"cuts in a row are one", "one two three", []string{"ctrl+w", "ctrl+w", "ctrl+y"}, "one two three|"},
		{"a move parts cuts", "one two", []string{"ctrl+w", "left", "ctrl+w", "ctrl+y"}, "one| "},
		{"words are of letters in any script", "größe 会議", []string{"alt+b", "alt+b"}, "|größe 会議"},
		{"ctrl+_ undoes a word typed at once", "a", []string{"b", "c", "ctrl+_"}, "a|"},
		{"undo of a cut", "one two", []string{"ctrl+w", "ctrl+_"}, "one two|"},
		{"undo of nothing", "x", []string{"ctrl+_"}, "x|"},
		{"enter is not of one line", "x", []string{"enter"}, "x|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := marked(press(Line(c.text), c.keys...)); got != c.want {
				t.Errorf("%q after %v is %q, want %q", c.text, c.keys, got, c.want)
			}
		})
	}
}

func TestKeysOfAnArea(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		keys       []string
		want       string
	}{
		{"enter breaks the line", "ab", []string{"left", "enter"}, "a\n|b"},
		{"up keeps the column over a short line", "abcd\n\nefgh", []string{"left", "up", "up"}, "abc|d\n\nefgh"},
		{"up at the top goes to the start", "abc", []string{"up"}, "|abc"},
		{"down at the bottom goes to the end", "abc\ndef", []string{"ctrl+home", "down", "down"}, "abc\ndef|"},
		{"up goes by rows on screen", "one two three four", []string{"up"}, "one two| three four"},
		{"ctrl+k at the end joins lines", "a\nb", []string{"up", "end", "ctrl+k"}, "a|b"},
		{"home and end are of the line", "ab\ncd", []string{"home"}, "ab\n|cd"},
		{"left goes over the end of a line", "ab\ncd", []string{"home", "left"}, "ab|\ncd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := Area(c.text).Resize(12, 4)
			if got := marked(press(f, c.keys...)); got != c.want {
				t.Errorf("%q after %v is %q, want %q", c.text, c.keys, got, c.want)
			}
		})
	}
}

func TestPasteKeepsLinesInAnAreaAndJoinsThemInALine(t *testing.T) {
	t.Parallel()
	const pasted = "a\r\nb\rc\td"
	paste := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(pasted), Paste: true}
	area, _ := Area("").Key(paste)
	if got, want := area.Text(), "a\nb\nc\td"; got != want {
		t.Errorf("area holds %q, want %q", got, want)
	}
	line, _ := Line("").Key(paste)
	if got, want := line.Text(), "a b c d"; got != want {
		t.Errorf("line holds %q, want %q", got, want)
	}
	if back := press(line, "ctrl+_"); back.Text() != "" {
		t.Errorf("after undo the line holds %q, want nothing", back.Text())
	}
}

func TestAFieldIsAValue(t *testing.T) {
	t.Parallel()
	base := press(Line(""), "a", "left", "b", "right")
	one, two := press(base, "x", "home", "1"), press(base, "y", "home", "2")
	if base.Text() != "ba" || one.Text() != "1bax" || two.Text() != "2bay" {
		t.Fatalf("texts are %q, %q, %q", base.Text(), one.Text(), two.Text())
	}
	if one = press(one, "ctrl+_"); one.Text() != "bax" {
		t.Errorf("undo of one gave %q: it saw the other's change", one.Text())
	}
	if two = press(two, "ctrl+_", "ctrl+_"); two.Text() != "ba" {
		t.Errorf("undo of two gave %q: it saw the other's change", two.Text())
	}
}

func TestALineShowsThePartAroundTheCursor(t *testing.T) {
	t.Parallel()
	f := Line("0123456789")
	lines, x, y := f.Draw(5, 1)
	if lines[0] != "6789" || x != 4 || y != 0 {
		t.Errorf("at the end: %q, cursor %d,%d", lines[0], x, y)
	}
	lines, x, _ = f.Home().Draw(5, 1)
	if lines[0] != "01234" || x != 0 {
		t.Errorf("at the start: %q, cursor %d", lines[0], x)
	}
}

func TestHostileTextIsShownAndKept(t *testing.T) {
	t.Parallel()
	const text = "a\x1b]52;c;eA==\x07b\u202ec\u009bd"
	f := Line(text)
	if f.Text() != text {
		t.Errorf("text is %q, want %q", f.Text(), text)
	}
	lines, _, _ := f.Draw(200, 1)
	if strings.ContainsAny(lines[0], "\x1b\x07\u202e\u009b") {
		t.Errorf("drawn raw: %q", lines[0])
	}
}

func TestFoldIgnoresCaseDiacriticsAndWidth(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"Größe", "grosse"}, {"Übung", "ubung"}, {"ＡＢＣ", "abc"}, {"ΟΔΟΣ", "οδος"}, {"Café", "cafe"}, {"会議", "会議"}, {"한국", "한국"}} {
		if got, want := Fold(c[0]), Fold(c[1]); got != want {
			t.Errorf("Fold(%q) is %q, Fold(%q) is %q", c[0], got, c[1], want)
		}
	}
	if Fold("が") == Fold("か") {
		t.Error("が and か are two letters")
	}
	if !Has(Fold("Q3 Invoice importér #billing"), Words("IMPORTER q3")) {
		t.Error("all words in any order must match")
	}
	if Has(Fold("Q3 invoice"), Words("q3 importer")) {
		t.Error("one missing word must not match")
	}
}

// alphabet holds what text fields get wrong.
var alphabet = []string{
	"a", "b", " ", " ", "\n", "\t", "e\u0301", "界", "한", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\x1b[2J", "\u202e", "\u200d", "\u0301", "\u009b", "ﷺ", "क्षि", "\x00",
}

func TestEveryEditKeepsTheCursorOnScreenAndOnABoundary(t *testing.T) {
	t.Parallel()
	keys := []string{
		"left", "right", "up", "down", "home", "end", "pgup", "pgdown", "ctrl+home", "ctrl+end", "alt+b", "alt+f",
		"backspace", "delete", "ctrl+w", "alt+d", "ctrl+u", "ctrl+k", "ctrl+y", "ctrl+_", "enter", "x", "space",
	}
	rapid.Check(t, func(t *rapid.T) {
		f := Line("")
		if rapid.Bool().Draw(t, "area") {
			f = Area("")
		}
		f = f.Insert(strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 60).Draw(t, "text"), ""))
		w, h := rapid.IntRange(1, 20).Draw(t, "width"), rapid.IntRange(1, 6).Draw(t, "height")
		f = f.Resize(w, h)
		for range rapid.IntRange(0, 30).Draw(t, "keys") {
			if rapid.IntRange(0, 4).Draw(t, "paste") == 0 {
				f = f.Insert(rapid.SampledFrom(alphabet).Draw(t, "piece"))
			} else {
				f = press(f, rapid.SampledFrom(keys).Draw(t, "key"))
			}
			holds(t, f, w, h)
		}
	})
}

func holds(t *rapid.T, f Field, w, h int) {
	t.Helper()
	if !utf8.ValidString(f.Text()) {
		t.Fatalf("text is not UTF-8: %q", f.Text())
	}
	boundary := f.Cursor() == len(f.Text())
	for i := f.lineStart(f.Cursor()); i <= f.Cursor() && i < len(f.Text()); i += clusterLen(f.Text()[i:]) {
		boundary = boundary || i == f.Cursor()
	}
	if !boundary {
		t.Fatalf("cursor %d is inside a cluster of %q", f.Cursor(), f.Text())
	}
	lines, x, y := f.Draw(w, h)
	if len(lines) == 0 || len(lines) > h || x < 0 || x >= w || y < 0 || y >= len(lines) {
		t.Fatalf("%d lines, cursor %d,%d in %dx%d for %q at %d", len(lines), x, y, w, h, f.Text(), f.Cursor())
	}
	for _, l := range lines {
		if render.Width(l) > w || strings.ContainsAny(l, "\x1b\n\t\u202e\u009b\x00") {
			t.Fatalf("line %q in width %d", l, w)
		}
	}
}

func TestRowsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Area(strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 80).Draw(t, "text"), ""))
		f = f.Resize(rapid.IntRange(1, 20).Draw(t, "width"), 3)
		var b strings.Builder
		for start := 0; start <= len(f.text); start = f.lineEnd(start) + 1 {
			if start > 0 {
				b.WriteByte('\n')
			}
			for _, r := range f.rows(start) {
				b.WriteString(f.text[r.from:r.to])
			}
		}
		if b.String() != f.text {
			t.Fatalf("rows give %q, want %q", b.String(), f.text)
		}
	})
}

func TestTheShortWayFindsTheSameClusters(t *testing.T) {
	t.Parallel()
	letters := append([]string{"가", "か\u3099", "ァ", "\u3099", "漢", "\ufe00", "ᆨ", "々", "ー"}, alphabet...)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 1, 20).Draw(t, "text"), "")
		for len(s) > 0 {
			want, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			n := clusterLen(s)
			if s[:n] != want {
				t.Fatalf("%q begins with cluster %q, want %q", s, s[:n], want)
			}
			if shown, w := cell(s[:n], 100); w != render.Width(shown) {
				t.Fatalf("cell of %q is %q of %d cells, want %d", s[:n], shown, w, render.Width(shown))
			}
			s = s[n:]
		}
	})
}
