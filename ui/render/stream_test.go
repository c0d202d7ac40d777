package render

import (
	"slices"
	"strings"
	"testing"

	"cairn/themes"
)

// TestStreamCutAtEveryByte feeds every text byte by byte: at each byte the
// lines are well formed, and at the end they are those of the whole text.
func TestStreamCutAtEveryByte(t *testing.T) {
	t.Parallel()
	for name, text := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := testMarkdown(t, "dark", themes.Options{})
			for _, width := range []int{20, 40, 80, 120} {
				s := NewStream(m)
				for i := range len(text) {
					s.Append(text[i : i+1])
					checkLines(t, s.Lines(width), width)
				}
				s.Finish()
				got := s.Lines(width)
				checkLines(t, got, width)
				if want := m.Message(text, width); !slices.Equal(got, want) {
					t.Fatalf("width %d: streamed and whole differ\n%s\n--- whole\n%s", width, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if s.Text() != text {
					t.Fatalf("Text() = %q", s.Text())
				}
			}
		})
	}
}

// TestStreamCutOnce cuts every text in two at some 500 bytes and looks only once in
// between: what is drawn must not depend on how often one looked.
func TestStreamCutOnce(t *testing.T) {
	t.Parallel()
	for name, text := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := testMarkdown(t, "dark", themes.Options{})
			want := m.Message(text, 40)
			for i := 0; i < len(text); i += 1 + len(text)/500 {
				s := NewStream(m)
				s.Append(text[:i])
				s.Lines(40)
				s.Set(text)
				s.Finish()
				if got := s.Lines(40); !slices.Equal(got, want) {
					t.Fatalf("cut at %d: streamed and whole differ\n%s\n--- whole\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// TestNastyTextsStreamAsTheWhole covers the bounds beyond which blocks are drawn
// in other ways while they grow.
func TestNastyTextsStreamAsTheWhole(t *testing.T) {
	t.Parallel()
	for name, text := range nasty(12 << 10) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := testMarkdown(t, "dark", themes.Options{})
			s := NewStream(m)
			for i := 0; i < len(text); i += 61 {
				s.Append(text[i:min(i+61, len(text))])
				checkLines(t, s.Lines(40), 40)
			}
			s.Finish()
			if got, want := s.Lines(40), m.Message(text, 40); !slices.Equal(got, want) {
				t.Fatalf("streamed and whole differ: %d and %d lines", len(got), len(want))
			}
		})
	}
}

func TestTinyWidthsNeverPanicNorOverflow(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	for name, text := range corpus(t) {
		for _, width := range []int{-5, 0, 1, 2, 3, 5, 7, 10} {
			lines := m.Message(text, width)
			t.Logf("%s at %d: %d lines", name, width, len(lines))
			checkLines(t, lines, max(width, 1))
		}
	}
}

func TestResizeWhileStreamingEqualsAFreshRender(t *testing.T) {
	t.Parallel()
	m := testMarkdown(t, "dark", themes.Options{})
	for name, text := range corpus(t) {
		s := NewStream(m)
		for i := 0; i < len(text); i += 7 {
			s.Append(text[i:min(i+7, len(text))])
			s.Lines([]int{80, 40, 120}[i/7%3])
			if i%5 == 0 {
				s.Forget()
			}
		}
		s.Finish()
		if got, want := s.Lines(33), m.Message(text, 33); !slices.Equal(got, want) {
			t.Fatalf("%s: differ\n%s\n--- whole\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// FuzzStream checks that a text streamed in two pieces draws as it does whole,
// and that nothing but styles gets through.
func FuzzStream(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text, len(text)/3, 30)
	}
	m := testMarkdown(f, "dark", themes.Options{})
	f.Fuzz(func(t *testing.T, text string, cut, width int) {
		if width < 1 || width > 200 || len(text) > 1<<12 {
			return
		}
		m.Forget()
		cut = min(max(cut, 0), len(text))
		s := NewStream(m)
		s.Append(text[:cut])
		checkLines(t, s.Lines(width), width)
		s.Append(text[cut:])
		checkLines(t, s.Lines(width), width)
		s.Finish()
		got := slices.Clone(s.Lines(width))
		checkLines(t, got, width)
		if want := m.Message(text, width); !slices.Equal(got, want) {
			t.Fatalf("cut at %d, width %d: %q\n--- whole\n%q", cut, width, got, want)
		}
		CodeBlocks(text)
	})
}
