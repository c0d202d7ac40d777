package widget

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"pgregory.net/rapid"
)

func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i)
	}
	return lines
}

func TestPaneScrollsBetweenItsEnds(t *testing.T) {
	t.Parallel()
	p := Pane{}.Show(numbered(10), 4)
	for _, c := range []struct{ by, top, rest int }{
		{0, 0, 6}, {-1, 0, 6}, {3, 3, 3}, {1 << 30, 6, 0}, {1, 6, 0}, {-2, 4, 2}, {-1 << 30, 0, 6},
	} {
		p = p.By(c.by)
		if p.Top() != c.top || p.Rest() != c.rest {
			t.Errorf("after %d: top %d and rest %d, want %d and %d", c.by, p.Top(), p.Rest(), c.top, c.rest)
		}
		if want := numbered(10)[c.top : c.top+4]; !slices.Equal(p.Lines(), want) {
			t.Errorf("after %d it shows %q", c.by, p.Lines())
		}
	}
	wheel := func(b tea.MouseButton) tea.MouseMsg { return tea.MouseMsg{Button: b, Action: tea.MouseActionPress} }
	down := p.Wheel(wheel(tea.MouseButtonWheelDown))
	if down.Top() != 3 || p.Top() != 0 {
		t.Errorf("the wheel scrolls to %d, and the pane before it to %d", down.Top(), p.Top())
	}
	if up := down.Wheel(wheel(tea.MouseButtonWheelUp)); up.Top() != 0 {
		t.Errorf("the wheel scrolls back to %d", up.Top())
	}
	if less := p.By(6).Show(numbered(5), 4); less.Top() != 1 {
		t.Errorf("of fewer lines it shows those from %d", less.Top())
	}
	if higher := p.By(6).Resize(8); higher.Top() != 2 {
		t.Errorf("with more room it shows the lines from %d", higher.Top())
	}
}

func TestPaneHoldsAnySizeAndNeitherCutsNorWraps(t *testing.T) {
	t.Parallel()
	text := []string{"", "\x1b[1mbold\x1b[0m", "会議の議事録 " + strings.Repeat("x", 300), " indented", "👩‍👩‍👧 family", "e\u0301"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(text), 0, 9).Draw(t, "lines")
		height := rapid.IntRange(-3, 12).Draw(t, "height")
		p := Pane{}.By(rapid.IntRange(-5, 5).Draw(t, "first")).Show(lines, rapid.IntRange(-3, 12).Draw(t, "height before"))
		p = p.By(rapid.IntRange(-12, 12).Draw(t, "by")).Resize(height)
		got := p.Lines()
		if len(got) != max(height, 0) {
			t.Fatalf("%d lines in a height of %d", len(got), height)
		}
		for i, l := range got {
			want := ""
			if at := p.Top() + i; at < len(lines) {
				want = lines[at]
			}
			if l != want {
				t.Fatalf("row %d is %q, want %q", i, l, want)
			}
		}
		if p.Len() != len(lines) || p.Top()+min(len(got), len(lines)-p.Top())+p.Rest() != len(lines) {
			t.Fatalf("top %d, rest %d of %d lines", p.Top(), p.Rest(), len(lines))
		}
	})
}
