package screen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// glass is an emulated terminal with a painter before it.
type glass struct {
	*vt.Emulator
	paint *painter
}

func newGlass(width, height int) *glass {
	return &glass{vt.NewEmulator(width, height), newPainter("xterm-256color", width, height)}
}

// show draws view and reports where the terminal differs from it.
func (g *glass) show(t *testing.T, view string, at caret) {
	t.Helper()
	out := g.paint.paint(view, at)
	if _, err := g.Write(out); err != nil {
		t.Fatal(err)
	}
	if diff := g.differs(view); diff != "" {
		t.Fatalf("%s\nview:\n%s\nwritten: %q", diff, view, out)
	}
	at.y -= max(strings.Count(view, "\n")+1-g.Height(), 0)
	if p := g.CursorPosition(); at.visible && at.y >= 0 && (p.X != at.x || p.Y != at.y) {
		t.Fatalf("%dx%d cursor at %v, want %d,%d; written %q", g.Width(), g.Height(), p, at.x, at.y, out)
	}
}

// differs compares every cell with the line parsed on its own.
func (g *glass) differs(view string) string {
	lines := strings.Split(view, "\n")
	lines = lines[max(len(lines)-g.Height(), 0):]
	for y := range g.Height() {
		text := ""
		if y < len(lines) {
			text = lines[y]
		}
		want, _ := parseLine(text, g.Width(), uv.Style{}, false)
		for x := range want {
			if want[x].Width == 0 {
				continue
			}
			got := g.CellAt(x, y)
			if got == nil || got.Content != want[x].Content || !got.Style.Equal(&want[x].Style) {
				return fmt.Sprintf("%dx%d cell %d,%d: got %+v, want %+v", g.Width(), g.Height(), x, y, got, want[x])
			}
		}
	}
	return ""
}

func TestViewsAreShownAtEverySize(t *testing.T) {
	t.Parallel()
	view := "# title\n\x1b[1;31mred\x1b[0m 漢字かな交じり文 👩‍👩‍👧 e\u0301 🇫🇷\n\n\x1b[44mwhole line in blue\x1b[0m\n" +
		strings.Repeat("long ", 60) + "\nlast"
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {10, 3}, {200, 1}, {1, 50}, {40, 10}, {80, 24}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			g := newGlass(size[0], size[1])
			g.show(t, view, caret{0, 0, false})
			g.show(t, "", caret{0, 0, true})
			g.show(t, view, caret{0, size[1] - 1, false})
		})
	}
}

// TestEveryFrameEqualsAFreshDraw takes random steps of what a chat does to its
// screen, storms of new sizes among them.
func TestEveryFrameEqualsAFreshDraw(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			walk(t, rand.New(rand.NewPCG(seed, 7)), 150)
		})
	}
}

func walk(t *testing.T, r *rand.Rand, steps int) {
	width, height := 40, 12
	g := newGlass(width, height)
	lines := []string{""}
	for range steps {
		switch r.IntN(10) {
		case 0: // several lines at once
			for range 1 + r.IntN(4) {
				lines = append(lines, randomLine(r))
			}
		case 1: // a line in the middle changes
			lines[r.IntN(len(lines))] = randomLine(r)
		case 2: // a line goes
			if at := r.IntN(len(lines)); len(lines) > 1 {
				lines = append(lines[:at:at], lines[at+1:]...)
			}
		case 3: // another screen and back
			g.show(t, "menu\n\n"+randomLine(r), caret{0, 0, true})
		case 4:
			for range 1 + r.IntN(3) {
				width, height = 1+r.IntN(60), 1+r.IntN(20)
				g.Resize(width, height)
				g.paint.resize(width, height)
			}
		default: // the last line grows
			lines[len(lines)-1] += " " + randomLine(r)
			if len(lines[len(lines)-1]) > 60 {
				lines = append(lines, "")
			}
		}
		top := max(len(lines)-max(height-2, 1)-r.IntN(3), 0)
		shown := lines[top:min(top+max(height-2, 1), len(lines))]
		view := strings.Join(shown, "\n") + strings.Repeat("\n", max(height-2-len(shown), 0)) + "\n\x1b[38;5;63m────\x1b[0m\n› input"
		g.show(t, view, caret{min(r.IntN(10), width-1), strings.Count(view, "\n"), r.IntN(4) > 0})
	}
}

func randomLine(r *rand.Rand) string {
	pool := []string{
		"", "word", "two words", "\x1b[1mbold\x1b[0m text", "\x1b[48;5;236mcode()\x1b[0m", "漢字", "mixed 模板 vault", "👩‍👩‍👧 family",
		"same", "same", "│ cell │", "\x1b[38;2;10;200;30mtrue\x1b[0m", "a very long line that is wider than most of the sizes here are", "🇩🇪🇫🇷", "é\u0301",
		"\x1b[7mreversed\x1b[0m", "    indented",
	}
	return pool[r.IntN(len(pool))]
}

func TestHostileTextNeverReachesTheTerminal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"clipboard", "a\x1b]52;c;aGk=\x07b", "ab"},
		{"title", "a\x1b]0;x\x1b\\b", "ab"},
		{"link", "a\x1b]8;;http://evil\x1b\\b\x1b]8;;\x1b\\c", "abc"},
		{"device control", "a\x1bPq#0\x1b\\b", "ab"},
		{"application", "a\x1b_Gf=1;x\x1b\\b", "ab"},
		{"privacy", "a\x1b^x\x1b\\b\x1bXy\x1b\\c", "abc"},
		{"clear", "a\x1b[2Jb", "ab"},
		{"move", "a\x1b[10Ab", "ab"},
		{"query", "a\x1b[6nb\x1b[cc\x1b]11;?\x07d", "abcd"},
		{"reset", "a\x1bcb", "ab"},
		{"one byte control", "a\u009b2Jb\u009d0;x\u009cc", "a2Jb0;xc"},
		{"raw byte", "a\x9bb", "a\uFFFDb"},
		{"return", "secret\rshown", "secretshown"},
		{"backspace", "a\b\bb\x7fc", "abc"},
		{"bell and nul", "a\x07\x00b", "ab"},
		{"unterminated", "a\x1b]0;rest", "a"},
		{"lone escape", "a\x1b", "a"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"control in a cluster", "e\u0301\u009b", "e\u0301"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g := newGlass(40, 4)
			out := string(g.paint.paint(tc.text+"\nnext", caret{}))
			if _, err := g.Write([]byte(out)); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for x := range 40 {
				got.WriteString(g.CellAt(x, 0).Content)
			}
			if s := strings.TrimRight(got.String(), " "); s != tc.want {
				t.Errorf("shown %q, want %q", s, tc.want)
			}
			if g.CellAt(0, 1).Content != "n" {
				t.Errorf("the line below is %q", g.CellAt(0, 1).Content)
			}
			for _, bad := range []string{"\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1bc", "\u009b", "\u009d", "\x9b", "[6n", "[10A", "\x07", "\x00", "\u202e", "\u2066"} {
				if strings.Contains(out, bad) {
					t.Errorf("%q was written in %q", bad, out)
				}
			}
		})
	}
}

func TestColoursCarryOverLines(t *testing.T) {
	t.Parallel()
	g := newGlass(10, 3)
	g.paint.paint("\x1b[31ma\nb\x1b[0m\nc", caret{})
	out := newPainter("xterm-256color", 10, 3).paint("\x1b[31ma\nb\x1b[0m\nc", caret{})
	if _, err := g.Write(out); err != nil {
		t.Fatal(err)
	}
	if g.CellAt(0, 0).Style.Fg == nil || g.CellAt(0, 1).Style.Fg == nil || g.CellAt(0, 2).Style.Fg != nil {
		t.Errorf("colours of a, b, c: %v", out)
	}
}

func TestAnUnchangedViewWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPainter("xterm-256color", 20, 5)
	at := caret{2, 1, true}
	if len(p.paint("a\nb", at)) == 0 {
		t.Fatal("the first frame is empty")
	}
	if out := p.paint("a\nb", at); out != nil {
		t.Errorf("the second frame is %q", out)
	}
	if out := string(p.paint("a\nb", caret{})); out != cursorHide {
		t.Errorf("hiding the cursor writes %q", out)
	}
	if out := p.paint("a\nb", caret{}); out != nil {
		t.Errorf("the frame after it is %q", out)
	}
	p.invalidate()
	if out := string(p.paint("a\nb", at)); !strings.Contains(out, "a") || !strings.Contains(out, plain) || !strings.Contains(out, cursorShow) {
		t.Errorf("after somebody else has written, the frame is %q", out)
	}
}

func TestScrollingMovesLinesInsteadOfRewritingThem(t *testing.T) {
	t.Parallel()
	g := newGlass(80, 24)
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %d of a transcript that fills the screen", i))
	}
	show := func(top int) string { return strings.Join(lines[top:top+21], "\n") + "\n---\n› \nready" }
	g.show(t, show(0), caret{2, 22, true})
	out := string(g.paint.paint(show(1), caret{2, 22, true}))
	if len(out) > 200 || strings.Contains(out, "line 5 ") {
		t.Errorf("scrolling by one wrote %d bytes: %q", len(out), out)
	}
}
