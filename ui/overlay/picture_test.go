package overlay

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/uitest/stored"
)

// full is a window in which everything is.
func full() Picture {
	return Picture{
		Model: "anthropic/claude-opus-4", Window: 200_000, From: "known", Trigger: 134_400,
		System: 1_240, Tools: 8_300, Recalled: 610, Note: 3_900, Pinned: 220, Yours: 9_100, Answers: 21_000, Results: 33_800, Files: 2_500, Reply: 32_000,
		In: 48, Condensed: 212, Dropped: 3, Cleared: 7, At: midday.Add(-time.Hour),
		Last: &harness.Condensed{Note: strings.Repeat("n", 3_400), Messages: 212, Dropped: 100, Model: "anthropic/claude-opus-4", Focus: "the VAT rules\x1b[2J"},
		Pins: []Pinned{{Message: 12, Text: "Blank is legal outside the EU.\n\x1b]0;x\a More"}, {Message: 3, In: "parent", Text: "发票 \u202e"}},
	}
}

func contextOver(t *testing.T, p Picture, w, h int, lines ...string) Context {
	t.Helper()
	c, _ := NewContext(ContextConfig{Picture: p, Lines: lines, Theme: theme(t), Now: midday}).Update(tea.WindowSizeMsg{Width: w, Height: h})
	return c
}

func TestGoldenContext(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		c := contextOver(t, full(), w, h, "the last request used f12  Prefers table tests", "cost $0.42 in this session")
		golden(t, "context", c.View(w, h), w, h)
		c, _ = c.Update(key("end"))
		golden(t, "context-end", c.View(w, h), w, h)
		golden(t, "context-unknown", contextOver(t, Picture{Model: "own/llama", Yours: 90, Answers: 410, In: 4}, w, h).View(w, h), w, h)
	}
}

// Each kind can be told from the others without colours, and the bar is as
// wide as the window whatever is in it.
func TestThePictureIsWholeWithoutColours(t *testing.T) {
	t.Parallel()
	view := ansi.Strip(contextOver(t, full(), 120, 40).View(120, 40))
	line := strings.Split(view, "\n")[2]
	bar := strings.TrimRight(strings.TrimPrefix(line, " ["), "] ")
	if len(bar) != maxWindowBar {
		t.Errorf("the bar is %q", line)
	}
	last := ""
	for _, k := range full().kinds(theme(t)) {
		if !strings.Contains(bar, k.mark) {
			t.Errorf("%s is not in the bar %q", k.name, bar)
		}
		if !strings.Contains(view, k.mark+" "+k.name) {
			t.Errorf("%s is not in the table:\n%s", k.name, view)
		}
		last += k.mark
	}
	if rest := strings.TrimLeft(bar, "strnpyaxf.="); rest != "" {
		t.Errorf("the bar holds %q", rest)
	}
}

func TestThePictureFitsEverySize(t *testing.T) {
	t.Parallel()
	over := full()
	over.Window = 50_000 // less than what is in it
	for _, p := range []Picture{full(), over, {}} {
		for w := 1; w < 130; w += 3 {
			for _, h := range []int{1, 2, 3, 10, 30} {
				view := contextOver(t, p, w, h, "a\x1b[2Jb").View(w, h)
				lines := strings.Split(view, "\n")
				if len(lines) != h {
					t.Fatalf("%d lines on %d rows", len(lines), h)
				}
				for _, l := range lines {
					if render.Width(l) > w || strings.ContainsAny(ansi.Strip(l), "\x1b\a\u202e") {
						t.Fatalf("line %q at a width of %d", l, w)
					}
				}
			}
		}
	}
}

func TestThePictureInWords(t *testing.T) {
	t.Parallel()
	text := strings.Join(full().Lines(theme(t), midday), "\n")
	for _, want := range []string{
		"system prompt: 1,240 tokens, <1%", "tool results: 33,800 tokens, 16%", "free: 87,330 tokens, 43%", "window: 200,000 tokens, as the catalogue has it",
		"condenses: old messages are condensed from 134,400 tokens on, 53,730 from now",
		"messages: 48 messages in context · 212 condensed · 3 left out, as the window is full · 7 tool results left out",
		"condensed: 11:00: 212 messages as a note of 3,400 characters by anthropic/claude-opus-4 · to keep: the VAT rules␛[2J",
		"pinned: message 12: Blank is legal", "pinned: message 3 of parent: 发票",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("foreign text is not safe")
	}
}

func TestClosingThePicture(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"esc", "q"} {
		if _, intent := contextOver(t, full(), 80, 24).Update(key(k)); intent != (Closed{}) {
			t.Errorf("%s is %v", k, intent)
		}
	}
}
