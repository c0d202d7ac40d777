package screen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// strip is an emulated terminal with a region at the end of what is on it.
type strip struct {
	*vt.Emulator
	region *region
	// given is all that is to be above the region.
	given []string
	bytes int
}

func newStrip(t *testing.T, width, height int, before ...string) *strip {
	t.Helper()
	s := &strip{vt.NewEmulator(width, height), newRegion("xterm-256color", width, height), before, 0}
	for _, line := range before {
		if _, err := s.Write([]byte(line + "\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// show draws a frame and compares all that the terminal has with all it was given.
func (s *strip) show(t *testing.T, above []string, view string, at caret) {
	t.Helper()
	out := s.region.paint(Above{Lines: above}, view, at)
	s.bytes += len(out)
	if _, err := s.Write(out); err != nil {
		t.Fatal(err)
	}
	for _, line := range above {
		s.given = append(s.given, plainText(line))
	}
	lines := strings.Split(view, "\n")
	lines = lines[max(len(lines)-s.Height(), 0):]
	want := slices.Clone(s.given)
	for _, line := range lines {
		want = append(want, plainText(line))
	}
	if got := s.all(); strings.TrimRight(strings.Join(got, "\n"), "\n") != strings.TrimRight(strings.Join(want, "\n"), "\n") {
		t.Fatalf("the terminal has\n%s\nand not\n%s\nwritten: %q", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
	if at.visible {
		x, y := s.CursorPosition().X, s.CursorPosition().Y
		if row := strings.TrimRight(s.row(y), " "); x != at.x || row != strings.TrimRight(plainText(strings.Split(view, "\n")[at.y]), " ") {
			t.Fatalf("the cursor is at %d in %q, want %d in line %d of the view; written %q", x, row, at.x, at.y, out)
		}
	}
}

func plainText(line string) string { return strings.TrimRight(ansi.Strip(line), " ") }

// row is a line of the screen as text.
func (s *strip) row(y int) string {
	var b strings.Builder
	for x := range s.Width() {
		if c := s.CellAt(x, y); c != nil && c.Width > 0 {
			b.WriteString(c.Content)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// all are the lines in the scrollback and on the screen.
func (s *strip) all() []string {
	var all []string
	for _, line := range s.Scrollback().Lines() {
		all = append(all, strings.TrimRight(line.String(), " "))
	}
	for y := range s.Height() {
		all = append(all, s.row(y))
	}
	return all
}

func TestRegionIsDrawnBelowWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newStrip(t, 20, 6, "$ ls", "a b c", "$ cairn")
	s.show(t, nil, "> ", caret{2, 0, true})
	s.show(t, nil, "answer\n> x", caret{3, 1, true})
	s.show(t, []string{"you", "x"}, "> ", caret{2, 0, true})
	s.show(t, []string{"cairn", "\x1b[1mone\x1b[m", "two", "three", "four", "five", "six", "seven"}, "status\n> ", caret{2, 1, true})
	s.show(t, nil, strings.Repeat("row\n", 5)+"> ", caret{2, 5, true})
	s.show(t, nil, "> ", caret{2, 0, true})
}

// TestLinesThatLeaveTheRegionCostNothing streams an answer of which the first lines
// of the region become final one by one.
func TestLinesThatLeaveTheRegionCostNothing(t *testing.T) {
	t.Parallel()
	const rows, n = 8, 200
	s := newStrip(t, 60, 20, "$ cairn")
	text := 0
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %d of what the model has to say of it", i))
		text += len(lines[len(lines)-1])
		var above []string
		if len(lines) > rows {
			above, lines = lines[:1], lines[1:]
		}
		foot := " a title, and what it cost\nwriting, 3 s\n" + strings.Repeat("─", 60) + "\n> \n keys, and what they do"
		s.show(t, above, strings.Join(lines, "\n")+"\n"+foot, caret{2, len(lines) + 3, true})
	}
	if s.bytes > 3*text {
		t.Errorf("%d bytes were written for %d of text", s.bytes, text)
	}
}

func TestRegionsNeverLeaveATrace(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			width, height := 20+r.IntN(40), 4+r.IntN(12)
			s := newStrip(t, width, height, "$ cairn")
			lines := []string{"> "}
			line := func() string {
				return ansi.Truncate(strings.NewReplacer("\t", " ", "\n", " ").Replace(randomLine(r)), width, "")
			}
			for range 150 {
				var above []string
				switch r.IntN(7) {
				case 0:
					lines = append(lines, line())
				case 1:
					lines[r.IntN(len(lines))] = line()
				case 2:
					if len(lines) > 1 {
						lines = lines[1:]
					}
				case 3:
					for range r.IntN(2 * height) {
						above = append(above, line())
					}
				case 5: // the last lines move down
					at := r.IntN(len(lines))
					for range 1 + r.IntN(3) {
						lines = slices.Insert(lines, at, line())
					}
				case 4: // what was shown becomes final
					if n := r.IntN(len(lines)); n > 0 {
						above, lines = slices.Clone(lines[:n]), slices.Clone(lines[n:])
					}
				default:
					lines[len(lines)-1] = line()
				}
				if len(lines) > height {
					lines = lines[len(lines)-height:]
				}
				s.show(t, above, strings.Join(lines, "\n"), caret{0, len(lines) - 1, false})
			}
		})
	}
}

// TestTheRegionIsNeverClearedFromTheCorner is since tmux keeps a screen that is
// cleared from its corner on in its scrollback, the box and all.
func TestTheRegionIsNeverClearedFromTheCorner(t *testing.T) {
	t.Parallel()
	g := newRegion("xterm-256color", 20, 4)
	view := "one\ntwo\nthree\nfour"
	g.paint(Above{}, view, caret{0, 3, true})
	g.resize(30, 4)
	for what, out := range map[string]string{
		"lines that are given":  string(g.paint(Above{Lines: []string{"given"}}, view, caret{0, 3, true})),
		"a width that is wider": string(g.paint(Above{Anew: true, Again: []string{"given", "and", "given", "more"}}, view, caret{0, 3, true})),
	} {
		for _, bad := range []string{ansi.CursorHomePosition + ansi.EraseScreenBelow, "A" + ansi.EraseScreenBelow, ansi.EraseEntireScreen} {
			if strings.Contains(out, bad) {
				t.Errorf("%s: written is %q", what, out)
			}
		}
	}
}
