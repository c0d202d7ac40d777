package recall

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
	"cairn/ui/render"
)

// searched is a search of texts for a query, with all of it found.
func searched(texts []string, query string) Model {
	m, _ := Model{}.Opened().With(Prepare(texts))
	m, find := m.Insert(query)
	return m.Show(find(context.Background()))
}

func TestPromptsWithAllWordsAreFoundNewestFirst(t *testing.T) {
	t.Parallel()
	texts := []string{"newest VAT row", "one\ntwo vat\nthree", "Köln vat", "other", "newest VAT row"}
	for query, want := range map[string]string{
		"vat": "newest VAT row|one\ntwo vat\nthree|Köln vat", "koln": "Köln vat", "row new": "newest VAT row", "zzz": "", "": "newest VAT row|one\ntwo vat\nthree|Köln vat|other",
	} {
		m := searched(texts, query)
		var got []string
		for range m.hits {
			text, _ := m.Chosen()
			got = append(got, text)
			m = m.Do(Older)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q finds %q, not %q", query, got, want)
		}
	}
}

func TestWhatIsFoundTooLateIsDropped(t *testing.T) {
	t.Parallel()
	m, _ := Model{}.Opened().With(Prepare([]string{"alpha", "beta"}))
	m, late := m.Insert("a")
	m, _, _ = m.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("l")})
	if m = m.Show(late(context.Background())); len(m.hits) != 0 {
		t.Errorf("it shows %v", m.hits)
	}
	if text, ok := m.Chosen(); text != "alpha" || !ok {
		t.Errorf("what is typed chooses %q", text)
	}
}

func TestWhatAnEarlierOpeningFindsIsDropped(t *testing.T) {
	t.Parallel()
	m, _ := Model{}.Opened().With(Prepare([]string{"alpha", "beta"}))
	m, late := m.Insert("beta")
	m, _ = m.Closed().Opened().With(Prepare([]string{"gamma"}))
	m, _ = m.Insert("g")
	if m = m.Show(late(context.Background())); len(m.hits) != 0 {
		t.Errorf("it shows %v", m.hits)
	}
}

func TestTheMatchingLineIsShownAndMarked(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	m := searched([]string{"one\ntwo \x1b[2J vat\nthree", "a " + strings.Repeat("會議 ", 100) + "vat"}, "vat")
	for _, width := range []int{20, 40, 80} {
		for most := range 6 {
			rows, x := m.View(theme, width, most)
			if len(rows) != m.Rows(most) || x >= width {
				t.Fatalf("%d rows, not %d; caret at %d of %d", len(rows), m.Rows(most), x, width)
			}
			for _, r := range rows {
				if w := render.Width(r); w > width {
					t.Errorf("%q is %d wide of %d", r, w, width)
				}
			}
		}
	}
	rows, _ := m.View(theme, 80, 6)
	if all := strings.Join(rows, "\n"); !strings.Contains(all, theme.Paints.Match.On("vat")) || !strings.Contains(all, "two ␛[2J") || !strings.Contains(all, "3 lines") || !strings.Contains(all, "1 of 2") {
		t.Errorf("it shows %q", all)
	}
}

func BenchmarkSearch(b *testing.B) {
	texts := make([]string, 50_000)
	for i := range texts {
		texts[i] = fmt.Sprintf("prompt %d: why does the importer drop rows with a blank VAT id, und was ist mit Köln?", i)
	}
	m, _ := Model{}.Opened().With(Prepare(texts))
	b.Run("key", func(b *testing.B) { // what the screen waits for
		for b.Loop() {
			m.Insert("4999")
		}
	})
	b.Run("find", func(b *testing.B) {
		_, find := m.Insert("4999 vat")
		for b.Loop() {
			find(context.Background())
		}
	})
}
