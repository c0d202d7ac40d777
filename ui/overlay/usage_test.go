package overlay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

// midday is noon where the tests run: days are local.
var midday = time.Date(2026, 9, 18, 12, 0, 0, 0, time.Local)

// books are the account of a store and its sessions, as they are told.
type books struct {
	harness.Sessions
	days     []harness.DayUsage
	sessions []harness.Session
	lists    int
	err      error
}

func (b *books) Book(context.Context, harness.SessionID, string, harness.Usage) error { return nil }

func (b *books) Days(context.Context, time.Time, time.Time) ([]harness.DayUsage, error) {
	return b.days, b.err
}

func (b *books) Get(_ context.Context, id harness.SessionID) (harness.Session, error) {
	for _, s := range b.sessions {
		if s.ID == id {
			return s, nil
		}
	}
	return harness.Session{}, fmt.Errorf("read session %s: %w", id, harness.ErrNotFound)
}

func (b *books) List(context.Context, harness.SessionFilter) ([]harness.Session, error) {
	b.lists++
	return b.sessions, b.err
}

func spent(dollars float64, in, out int64) harness.Usage {
	return harness.Usage{Input: in, Output: out, Cost: dollars, CostKnown: true}
}

// busy is an account of known costs on most days.
func busy() *books {
	b := &books{}
	for i := range 14 {
		day := midday.AddDate(0, 0, -i).Format(time.DateOnly)
		if i%5 == 3 {
			continue
		}
		b.days = append(b.days, harness.DayUsage{Day: day, Model: "anthropic/claude-opus-4", Usage: spent(float64(14-i)*0.37, int64(i+1)*12_345, 900)})
		if i%2 == 0 {
			b.days = append(b.days, harness.DayUsage{Day: day, Model: "中文/模型-大", Usage: spent(0.11, 4_000, 300)})
		}
	}
	b.days[0].Usage.CacheRead, b.days[0].Usage.Reasoning = 8_000, 250
	b.sessions = []harness.Session{
		{ID: "talk", Title: "Invoices of the third quarter", Usage: spent(1.25, 40_000, 2_000)},
		{ID: "old", Title: "发票与税务", Usage: spent(3.5, 90_000, 7_000)},
		{ID: "quiet", Title: "Nothing asked"},
	}
	return b
}

// unpriced is busy with a model whose price nobody knows.
func unpriced() *books {
	b := busy()
	b.days = append(b.days, harness.DayUsage{Day: "2026-09-17", Model: "own/llama", Usage: harness.Usage{Input: 70_000, Output: 5_000}})
	b.days = append(b.days, harness.DayUsage{Day: "2026-09-15", Model: "own/llama", Usage: harness.Usage{Input: 900, Output: 100}})
	b.sessions[0].Usage = harness.Usage{Input: 71_000, Output: 5_100}
	return b
}

type usageShown struct {
	t      *testing.T
	u      Usage
	intent Intent
}

func usageOver(t *testing.T, b *books, w, h int, change ...func(*UsageConfig)) *usageShown {
	t.Helper()
	c := UsageConfig{Session: "talk", Theme: theme(t), Now: func() time.Time { return midday }, Sessions: b, Ledger: b}
	for _, f := range change {
		f(&c)
	}
	u, cmd := NewUsage(t.Context(), c).Open()
	s := &usageShown{t: t, u: u}
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s.send(cmd())
}

func (s *usageShown) send(msg tea.Msg) *usageShown {
	var cmd tea.Cmd
	if s.u, cmd, s.intent = s.u.Update(msg); cmd != nil {
		s.send(cmd())
	}
	return s
}

func (s *usageShown) keys(names ...string) *usageShown {
	for _, n := range names {
		switch n {
		case "tab":
			s.send(tea.KeyMsg{Type: tea.KeyTab})
		case "left":
			s.send(tea.KeyMsg{Type: tea.KeyLeft})
		default:
			s.send(key(n))
		}
	}
	return s
}

func (s *usageShown) view() string { return ansi.Strip(s.u.View(s.u.width, s.u.height)) }

func (s *usageShown) shows(want ...string) *usageShown {
	s.t.Helper()
	for _, w := range want {
		if v := s.view(); !strings.Contains(v, w) {
			s.t.Fatalf("the overlay lacks %q:\n%s", w, v)
		}
	}
	return s
}

func (s *usageShown) hides(unwanted ...string) *usageShown {
	s.t.Helper()
	for _, w := range unwanted {
		if v := s.view(); strings.Contains(v, w) {
			s.t.Fatalf("the overlay shows %q:\n%s", w, v)
		}
	}
	return s
}

func TestGoldenUsage(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		s := usageOver(t, busy(), w, h)
		golden(t, "usage", s.u.View(w, h), w, h)
		s.keys("tab")
		golden(t, "usage-models", s.u.View(w, h), w, h)
		s.keys("tab")
		golden(t, "usage-sessions", s.u.View(w, h), w, h)
		golden(t, "usage-unpriced", usageOver(t, unpriced(), w, h).u.View(w, h), w, h)
		golden(t, "usage-empty", usageOver(t, &books{}, w, h).u.View(w, h), w, h)
	}
}

func TestAnUnknownCostIsSaidAndBarsAreOfTokens(t *testing.T) {
	t.Parallel()
	usageOver(t, unpriced(), 120, 40).
		shows("a cost is unknown: bars are tokens", "this session cost unknown, 71,000 tokens in, 5,100 out", "at least $", "cost unknown   76,000 tokens")
	usageOver(t, busy(), 120, 40).shows("bars are cost").hides("unknown", "at least")
	narrow := usageOver(t, unpriced(), 40, 20).shows("cost unknown: tokens", " tokens")
	narrow.keys("end").shows("76,000 tokens")
}

func TestTheLongestBarIsOfTheLargestAndNoBarIsOfNothing(t *testing.T) {
	t.Parallel()
	full := theme(t).Ornaments.Full
	b := &books{days: []harness.DayUsage{
		{Day: "2026-09-18", Model: "p/m", Usage: spent(10, 1, 1)}, {Day: "2026-09-17", Model: "p/m", Usage: spent(0.001, 900, 1)},
	}}
	var cells []int
	for _, l := range strings.Split(usageOver(t, b, 80, 24).view(), "\n")[2:5] {
		cells = append(cells, strings.Count(l, full))
	}
	if cells[0] < 20 || cells[1] != 1 || cells[2] != 0 {
		t.Errorf("bars are %v cells", cells)
	}
}

func TestTheViewsGoRoundAndSessionsAreReadOnce(t *testing.T) {
	t.Parallel()
	b := busy()
	s := usageOver(t, b, 80, 24).shows("by day", "today", "Thu 17 Sep", "this session", "14 days", "BY MODEL")
	s.keys("tab").shows("by model", "anthropic/claude-opus-4", "中文/模型-大").keys("tab").shows("by session", "Invoices", "发票与税务").hides("Nothing asked")
	s.keys("tab").shows("by day").keys("left").shows("by session")
	if b.lists != 1 {
		t.Errorf("the sessions were listed %d times", b.lists)
	}
	for _, k := range []string{"esc", "q"} {
		if s.keys(k); s.intent != (Closed{}) {
			t.Errorf("%s: intent %v", k, s.intent)
		}
	}
}

func TestManySessionsAreBoundedAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	b := &books{}
	for i := range 120 {
		b.sessions = append(b.sessions, harness.Session{ID: harness.SessionID(fmt.Sprintf("s%d", i)), Usage: spent(float64(i+1), 10, 1)})
	}
	usageOver(t, b, 80, 24).keys("left").shows("s119").keys("end").shows("and 20 sessions that used less: cairn usage --by session lists all")
}

func TestAFailureIsOneSentence(t *testing.T) {
	t.Parallel()
	b := busy()
	b.err = errors.New("the disk is on fire")
	s := usageOver(t, b, 80, 24, func(c *UsageConfig) { c.Words = func(err error) string { return "Sorry: " + err.Error() + "." } })
	s.shows("Sorry: read what the last 14 days used: the disk is on fire.").hides("today").keys("left").shows("Sorry: list what sessions used: the disk is on fire.")
}

func TestWithoutALedgerItIsSaidThatNoAccountIsKept(t *testing.T) {
	t.Parallel()
	usageOver(t, busy(), 80, 24, func(c *UsageConfig) { c.Ledger = nil }).shows("No account of days and models is kept here.", "$1.25").hides("14 days")
}

// What an overlay of another time asked for is not of this one.
func TestAnAnswerToAnotherOpeningIsDropped(t *testing.T) {
	t.Parallel()
	s := usageOver(t, busy(), 80, 24)
	before := s.view()
	s.send(tallied{at: midday.Add(-time.Hour), err: errors.New("late")}).send(ranked{at: midday.Add(-time.Hour)})
	if s.view() != before {
		t.Errorf("it shows\n%s", s.view())
	}
}

func TestKeysOfUsageAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	s := usageOver(t, busy(), 80, 24, func(c *UsageConfig) { c.Keys = map[string][]string{"usage.next": {"n"}} })
	s.keys("tab").shows("by day").keys("n").shows("by model")
}

func TestUsageHoldsAnySizeAndText(t *testing.T) {
	t.Parallel()
	names := []string{"p/m", "\x1b[2Jevil\u202e", "中文模型", strings.Repeat("long ", 60), "", "👩‍👩‍👧/e\u0301\r\a"}
	plain, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		b := &books{}
		for i := range rapid.IntRange(0, 20).Draw(rt, "calls") {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			v := harness.Usage{
				Input: rapid.Int64Range(0, 1<<40).Draw(rt, "in"), Cost: rapid.Float64Range(0, 1e9).Draw(rt, "cost"),
				CostKnown: rapid.Bool().Draw(rt, "known"), Incomplete: rapid.Bool().Draw(rt, "incomplete"),
			}
			b.days = append(b.days, harness.DayUsage{Day: midday.AddDate(0, 0, -i%16).Format(time.DateOnly), Model: name, Usage: v})
			b.sessions = append(b.sessions, harness.Session{ID: "talk", Title: name, Usage: v})
		}
		s := usageOver(t, b, w, h, func(c *UsageConfig) { c.Theme = rapid.SampledFrom([]*themes.Theme{theme(t), plain}).Draw(rt, "theme") })
		for range 3 {
			holds(rt, s.u.View(w, h), w, h)
			holds(rt, s.u.View(h, w), h, w)
			s.keys(rapid.SampledFrom([]string{"tab", "pgdown", "end", "left", "界"}).Draw(rt, "key"))
		}
	})
}

func TestUsageInThePlainThemeIsASCII(t *testing.T) {
	t.Parallel()
	plain, err := themes.Load(themes.Plain, true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := unpriced()
	b.days = slices.DeleteFunc(b.days, func(d harness.DayUsage) bool { return strings.HasPrefix(d.Model, "中") })
	b.sessions = b.sessions[:1]
	for _, size := range [][2]int{{1, 1}, {12, 6}, {40, 10}, {80, 24}, {120, 40}} {
		w, h := size[0], size[1]
		s := usageOver(t, b, w, h, func(c *UsageConfig) { c.Theme = plain })
		for range 3 {
			for _, r := range s.u.View(w, h) {
				if r > 0x7e || r < ' ' && r != '\n' {
					t.Fatalf("%q in %dx%d:\n%s", r, w, h, s.view())
				}
			}
			s.keys("tab")
		}
	}
	if v := usageOver(t, b, 80, 24, func(c *UsageConfig) { c.Theme = plain }).view(); !strings.Contains(v, "####") || render.Width(strings.Split(v, "\n")[3]) > 80 {
		t.Errorf("no bars in\n%s", v)
	}
}
