package rules_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/internal/rules"
)

func TestTitleFromWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "",
		" \n\t ":                "",
		"short":                 "short",
		"two\n lines ":          "two lines",
		strings.Repeat("a", 99): strings.Repeat("a", 60),
		strings.Repeat("語", 99): strings.Repeat("語", 60),
		"exactly sixty characters, which is what a title may have: yes": "exactly sixty characters, which is what a title may have:",
	} {
		got := rules.TitleFromWords(text)
		if got != want || utf8.RuneCountInString(got) > 60 {
			t.Errorf("title of %q is %q, want %q", text, got, want)
		}
	}
	if got := rules.TitleFromWords(strings.Repeat("word \xff", 1<<20)); !utf8.ValidString(got) {
		t.Errorf("title %q", got)
	}
}

// A conversation that begins with nothing but files is called after them.
func TestTitleOfFiles(t *testing.T) {
	t.Parallel()
	file := func(name string) harness.Part {
		return harness.Part{Kind: harness.PartFile, File: &harness.File{Name: name}}
	}
	listing := harness.Part{Kind: harness.PartText, Text: "not a title", File: &harness.File{Name: "docs/notes.txt"}}
	for want, parts := range map[string][]harness.Part{
		"":                      {file("")},
		"sunset.png":            {file("photos/sunset.png")},
		"notes.txt, sunset.png": {listing, file("sunset.png")},
		"see this":              {{Kind: harness.PartText, Text: "see this"}, file("sunset.png")},
	} {
		s := harness.Session{}
		rules.AddRecord(&s, harness.Record{Message: &harness.Message{Role: harness.RoleUser, Parts: parts}}, time.Time{})
		if by := map[bool]harness.TitleBy{true: harness.TitleByWords}[want != ""]; s.Title != want || s.TitleBy != by {
			t.Errorf("%q by %q, not %q", s.Title, s.TitleBy, want)
		}
	}
}

func TestNextImportIDFits(t *testing.T) {
	t.Parallel()
	long := harness.SessionID(strings.Repeat("a", harness.MaxIDLength))
	for _, id := range []harness.SessionID{"a", long} {
		for _, n := range []int{2, 10, 12345} {
			next := rules.NextImportID(id, n)
			if err := rules.CheckSessionID(next); err != nil || next == id {
				t.Errorf("%s: %v", next, err)
			}
		}
	}
}

func TestSameText(t *testing.T) {
	t.Parallel()
	want := rules.SameText("Prefers tea")
	for _, text := range []string{"prefers TEA.", "  Prefers\ttea!? ", "Prefers tea…"} {
		if got := rules.SameText(text); got != want {
			t.Errorf("%q gives %q", text, got)
		}
	}
	for _, text := range []string{"Prefers téa", "Prefers teas", "Prefers tea 2"} {
		if got := rules.SameText(text); got == want {
			t.Errorf("%q counts as the same", text)
		}
	}
}

func TestUsageIsBookedUnderTheModelThatItIsOf(t *testing.T) {
	t.Parallel()
	m := harness.AssistantText("hello")
	m.Model = "p/other"
	for want, e := range map[string]run.Entry{
		"p/m":     {},
		"p/other": {Message: &m},
		"p/note":  {Condensed: &harness.Condensed{Dropped: 1, Model: "p/note"}},
	} {
		if got := rules.UsageModel(harness.Run{Config: harness.RunConfig{Model: "p/m"}}, e); got != want {
			t.Errorf("booked under %q, want %q", got, want)
		}
	}
	// One that pruned only names who wrote the note before.
	if got := rules.UsageModel(harness.Run{}, run.Entry{Condensed: &harness.Condensed{Model: "p/note"}}); got != "unknown" {
		t.Errorf("booked under %q", got)
	}
}
