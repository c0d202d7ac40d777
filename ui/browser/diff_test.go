package browser

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/themes"
	"cairn/ui/render"
)

func TestWordDiffReadsWithoutColours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, now, want string }{
		{"VAT id is always optional", "VAT id is optional outside the EU", "VAT id is [-always -]optional{+ outside the EU+}"},
		{"same", "same", "same"},
		{"", "new", "{+new+}"},
		{"old", "", "[-old-]"},
		{"会議は火曜", "会議は水曜", "会議は[-火-]{+水+}曜"},
		{"a\x1b[2Jb", "a c", "[-a␛[2Jb-]{+a c+}"},
	} {
		got := ansi.Strip(strings.Join(wordDiff(c.old, c.now, themes.Paints{}, 200), "\n"))
		if got != c.want {
			t.Errorf("%q to %q gives %q, want %q", c.old, c.now, got, c.want)
		}
	}
}

func TestLineDiffShowsWhatChangedAndALineAround(t *testing.T) {
	t.Parallel()
	got := strings.Join(lineDiff("a\nb\nc\nd\ne\nf\ng\nh", "a\nB\nc\nd\ne\nf\nh", themes.Paints{}, 80), "\n")
	if want := "  a\n- b\n+ B\n  c\n\n  f\n- g\n  h"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCompareGivesBothTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]string{"a", "b", "c "})
		a, b := rapid.SliceOfN(token, 0, 30).Draw(t, "a"), rapid.SliceOfN(token, 0, 30).Draw(t, "b")
		var before, after []string
		for _, p := range compare(a, b) {
			if p.op != inserted {
				before = append(before, p.text)
			}
			if p.op != deleted {
				after = append(after, p.text)
			}
		}
		if strings.Join(before, "|") != strings.Join(a, "|") || strings.Join(after, "|") != strings.Join(b, "|") {
			t.Fatalf("%q and %q came back as %q and %q", a, b, before, after)
		}
	})
}

func TestDiffsFitTheirWidth(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab 界\n\x1b\u202e👩\u200d👧é")), 0, 80, -1)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 40).Draw(t, "width")
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		for _, l := range append(wordDiff(a, b, themes.Paints{}, w), lineDiff(a, b, themes.Paints{}, max(w, 4))...) {
			if render.Width(l) > max(w, 4) || strings.ContainsAny(l, "\x1b\u202e\n") {
				t.Fatalf("line %q in width %d", l, w)
			}
		}
	})
}

func TestFarTextsAreNotComparedForLong(t *testing.T) {
	t.Parallel()
	a, b := make([]string, 5000), make([]string, 5000)
	for i := range a {
		a[i], b[i] = "a", "b"
	}
	if got := len(compare(a, b)); got != 10_000 {
		t.Errorf("%d pieces, want all of both", got)
	}
}

func TestWordsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if got := strings.Join(words(s), ""); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}
