package overlay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cairn/themes"
	"cairn/ui/render"
)

// all are the rows of a roll from the first to the last.
func all(r *roll) []int {
	rows := []int{0}
	for {
		at, ok := r.next(rows[len(rows)-1])
		if !ok {
			return rows
		}
		rows = append(rows, at)
	}
}

// foreign are texts with everything that a terminal could be driven by, long
// lines among them.
func foreign() *rapid.Generator[string] {
	bits := rapid.SampledFrom([]string{
		"a", "word ", "\n", "\r\n", "\t", "\x1b[31m", "\x1b]52;c;eA==\a", "\u202e", "中", "文字", "👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "\xff", "\x9b", "\r", "\u200b",
		strings.Repeat("x", 300), strings.Repeat("漢", 90), "a" + strings.Repeat("\u0301", 70), "\u0301", "\u2028", "\ufeff",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(bits, 0, 60).Draw(t, "bits"), "")
	})
}

// Going down and up passes the same rows, each within the width, and none of
// them holds what drives a terminal.
func TestRowsAreTheSameBothWaysAndDriveNoTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, width := foreign().Draw(t, "text"), rapid.IntRange(1, 60).Draw(t, "width")
		r := newRoll(text, width)
		down := all(r)
		up := []int{r.last()}
		for {
			at, ok := r.prev(up[len(up)-1])
			if !ok {
				break
			}
			up = append(up, at)
		}
		slices.Reverse(up)
		if !slices.Equal(down, up) {
			t.Fatalf("down %v, up %v", down, up)
		}
		for _, row := range down {
			line := r.draw(row, "", "")
			if render.Width(line) > width {
				t.Fatalf("row %q is wider than %d", line, width)
			}
			if render.Safe(line) != line || strings.ContainsAny(line, "\n\t\x1b") {
				t.Fatalf("row %q drives the terminal", line)
			}
			for at := row; at < r.end(row); at++ {
				if r.row(at) != row {
					t.Fatalf("byte %d is in row %d, not %d", at, r.row(at), row)
				}
			}
			if want := strings.Count(text[:row], "\n") + 1; r.number(row) != want {
				t.Fatalf("row %d is in line %d, not %d", row, r.number(row), want)
			}
		}
	})
}

// What the query finds is what the text holds, both ways.
func TestSearchFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abAB\n]{0,400}`).Draw(t, "text")
		query := rapid.StringMatching(`[abA]{1,3}`).Draw(t, "query")
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		in, r := text, newRoll(text, 10)
		if !exact(query) {
			in = strings.ToLower(text)
		}
		want := strings.Index(in[from:], query)
		if want >= 0 {
			want += from
		}
		if got := r.find(query, from, len(text)); got != want {
			t.Fatalf("found at %d, not %d", got, want)
		}
		if got, want := r.findLast(query, from), strings.LastIndex(in[:min(from+len(query)-1, len(in))], query); got != want {
			t.Fatalf("found last at %d, not %d", got, want)
		}
	})
}

// A match that lies across two pieces, or two steps of the search, is found.
func TestSearchFindsAcrossPieces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", findStep-3) + "Needle" + strings.Repeat("x", 3*findStep)
	r := newRoll(text, 100)
	if got := r.find("needle", 0, len(text)); got != findStep-3 {
		t.Errorf("found at %d", got)
	}
	if got := r.findLast("needle", len(text)); got != findStep-3 {
		t.Errorf("found last at %d", got)
	}
	if got := r.find("needles", 0, len(text)); got != -1 {
		t.Errorf("found what is not there at %d", got)
	}
}

// Only what is looked at is laid out, of one line of any length too.
func TestAnEndlessLineIsLaidOutInPieces(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]string{"ascii": "0123456789", "wide": "漢字", "hostile": "\x1b[2J"} {
		text := strings.Repeat(one, 12<<20/len(one))
		r := newRoll(text, 77)
		at := r.row(len(text) / 2)
		for range 100 {
			at, _ = r.next(at)
		}
		for range 100 {
			at, _ = r.prev(at)
		}
		r.last()
		kept := 0
		for _, p := range r.pieces {
			if kept += len(p.rows); p.to-p.from > piece+maxCluster {
				t.Errorf("%s: a piece of %d bytes", name, p.to-p.from)
			}
		}
		if limit := 10 * keptPieces * piece / 77; kept > limit {
			t.Errorf("%s: %d rows are kept", name, kept)
		}
	}
	text := strings.Repeat("0123456789", 12<<20/10)
	if r := newRoll(text, 77); r.row(77*150_000) != 77*150_000 {
		t.Error("rows of one cell a byte do not lie one behind the other")
	}
}

func TestWhatIsFoundIsPainted(t *testing.T) {
	t.Parallel()
	r := newRoll("say Hello hello", 7)
	var got []string
	for _, row := range all(r) {
		got = append(got, r.draw(row, "hello", themes.Paint("<")))
	}
	want := []string{"say <Hel" + themes.Reset, "<lo" + themes.Reset + " <hell" + themes.Reset, "<o" + themes.Reset}
	if !slices.Equal(got, want) {
		t.Errorf("drawn %q, not %q", got, want)
	}
}

func FuzzRoll(f *testing.F) {
	f.Add("a\x1b[2J\r\nb\t中\xff", 5)
	f.Add(strings.Repeat("\u0301", 200), 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		r := newRoll(text, width%200)
		for _, row := range all(r) {
			line := r.draw(row, "a", "")
			if render.Width(line) > r.width || !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\n\t") {
				t.Fatalf("row %q at a width of %d", line, r.width)
			}
		}
	})
}

func BenchmarkPager(b *testing.B) {
	for name, one := range map[string]string{"ascii": "0123456789", "wide": "漢字, ", "lines": "a line\n"} {
		text := strings.Repeat(one, 5<<20/len(one))
		for _, keys := range []string{"end", "half"} {
			b.Run(fmt.Sprintf("%s/%s", name, keys), func(b *testing.B) {
				for b.Loop() {
					r := newRoll(text, 117)
					at := r.last()
					if keys == "half" {
						at = r.row(len(text) / 2)
					}
					for range 40 {
						at, _ = r.prev(at)
						r.draw(at, "line", "")
					}
				}
			})
		}
	}
}
