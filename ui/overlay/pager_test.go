package overlay

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

// paged is a pager as it is shown.
type paged struct {
	t      *testing.T
	p      Pager
	intent Intent
}

func pagerOver(t *testing.T, text string, w, h int) *paged {
	t.Helper()
	s := &paged{t: t, p: NewPager(PagerConfig{Title: "fetch_url  https://example.org/all.json", Text: text, Theme: theme(t)})}
	return s.send(tea.WindowSizeMsg{Width: w, Height: h})
}

func (s *paged) send(msg tea.Msg) *paged {
	s.p, s.intent = s.p.Update(msg)
	return s
}

func (s *paged) keys(names ...string) *paged {
	for _, n := range names {
		s.send(key(n))
	}
	return s
}

func (s *paged) screen() string { return ansi.Strip(s.p.View(s.p.width, s.p.height)) }

func (s *paged) shows(want ...string) *paged {
	s.t.Helper()
	for _, w := range want {
		if v := s.screen(); !strings.Contains(v, w) {
			s.t.Fatalf("the pager lacks %q:\n%s", w, v)
		}
	}
	return s
}

// numbers are so many lines, of which each tells its number.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "entry %d: \t中文 and %s\n", i+1, strings.Repeat("more ", i%23))
	}
	return b.String()
}

func TestGoldenPager(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		many := pagerOver(t, numbers(900), w, h)
		golden(t, "pager", many.p.View(w, h), w, h)
		many.keys("/").keys(strings.Split("entry 88", "")...).keys("enter", "n", "n")
		golden(t, "pager-found", many.p.View(w, h), w, h)
		golden(t, "pager-end", many.keys("end").p.View(w, h), w, h)
		one := pagerOver(t, `{"all":"`+strings.Repeat("\x1b[31m0123456789\u202e", 400)+`"}`, w, h)
		golden(t, "pager-line", one.keys("pgdown").p.View(w, h), w, h)
	}
}

func TestThePagerTellsWhereOneIs(t *testing.T) {
	t.Parallel()
	s := pagerOver(t, numbers(2000), 100, 24).shows("line 1 of 2,000 · 0%", "entry 1:")
	s.keys("end").shows("entry 2000:", "· end").keys("home").shows("· 0%", "entry 1:")
	s.keys("pgdown").shows("line 18 of 2,000", "e more more").keys("up", "up").shows("line 17 of").keys("pgup").shows("line 1 of")
	pagerOver(t, "short", 100, 24).shows("one line · all")
	pagerOver(t, "", 100, 24).shows("empty").keys("end", "pgdown", "n", "y").shows("copied")
	pagerOver(t, "a\nb\n", 100, 24).keys("end", "pgdown").shows("line 1 of 2 · all")
}

func TestThePagerGoesFromMatchToMatchAndAround(t *testing.T) {
	t.Parallel()
	s := pagerOver(t, numbers(2000), 100, 24)
	search := func(text string) *paged { return s.keys("/").keys(strings.Split(text, "")...).keys("enter") }
	search("ENTRY 1500").shows("is not in it")
	search("entry 1500").shows("1500> entry 1500:").keys("n").shows("on from the beginning", "1500> ")
	s.keys("N").shows("on from the end")
	search("entry 19").shows("1900> ").keys("n").shows("1901> ").keys("N", "N").shows("199> ").keys("N").shows("198> ")
	s.keys("/", "x", "esc").shows("198> ").keys("n").shows("199> ")
	if x, y, on := s.keys("/", "a").p.Cursor(); !on || x != len(findPrompt)+1 || y != 23 {
		t.Errorf("the caret is at %d, %d, %v", x, y, on)
	}
}

func TestThePagerCopiesTheSourceOrTheScreenOfWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	text := "a\x1b[31m\tb\r\n"
	if got := pagerOver(t, text, 80, 24).keys("y").intent; got.(Copy).Text != text {
		t.Errorf("copied %q", got)
	}
	large := pagerOver(t, strings.Repeat("0123456789", maxCopied/10+1), 80, 24).keys("pgdown", "y")
	if got := large.intent.(Copy).Text; len(got) != 20*78 {
		t.Errorf("copied %d bytes of what is on screen", len(got))
	}
	large.shows("too large for a clipboard")
	if got := large.keys("q").intent; got != (Closed{}) {
		t.Errorf("closing is %v", got)
	}
}

// Nothing that the text holds leaves its rows, at any size and place.
func TestThePagerIsAlwaysWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := NewPager(PagerConfig{Title: foreign().Draw(t, "title"), Text: foreign().Draw(t, "text"), Theme: must(t)})
		names := []string{"up", "down", "pgup", "pgdown", "home", "end", "n", "N", "/", "a", "enter", "x", "esc", "y"}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "size") {
				p, _ = p.Update(tea.WindowSizeMsg{Width: rapid.IntRange(1, 90).Draw(t, "w"), Height: rapid.IntRange(1, 30).Draw(t, "h")})
			}
			p, _ = p.Update(key(rapid.SampledFrom(names).Draw(t, "key")))
			if p.height == 0 {
				continue
			}
			view := p.View(p.width, p.height)
			lines := strings.Split(view, "\n")
			if len(lines) != p.height {
				t.Fatalf("%d lines on %d rows", len(lines), p.height)
			}
			for _, l := range lines {
				if render.Width(l) > p.width || strings.ContainsAny(ansi.Strip(l), "\x1b\u009b\u202e\t") {
					t.Fatalf("line %q at a width of %d", l, p.width)
				}
			}
		}
	})
}
