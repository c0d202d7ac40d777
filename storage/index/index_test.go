package index_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/storage/index"
)

func TestTermsOfManyScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                        nil,
		"  ?! … ":                 nil,
		"Crème Brûlée":            {"creme", "brulee"},
		"CRE\u0300ME":             {"creme"},
		"ＮＡＳ ﬁle":                 {"nas", "file"},
		"don't stop 3.14":         {"don't", "stop", "3.14"},
		"設備清單 NAS":                {"設", "備", "設備", "清", "備清", "單", "清單", "nas"},
		"しりとり":                    {"し", "り", "しり", "と", "りと", "り", "とり"},
		"ガーデン":                    {"ガ", "ー", "ガー", "デ", "ーデ", "ン", "デン"},
		"끝말잇기":                    {"끝", "말", "끝말", "잇", "말잇", "기", "잇기"},
		"straße STRASSE":          {"strasse", "strasse"},
		"snake_case and go-lang ": {"snake_case", "and", "go", "lang"},
	} {
		if got := index.Terms(text); !slices.Equal(got, want) {
			t.Errorf("terms of %q: %q, want %q", text, got, want)
		}
	}
}

func TestScoreRanksTheBetterMatchHigher(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, better, worse string }{
		{"turnstile lock", "the turnstile in front of the lock", "a turnstile"},
		{"lock", "lock", "unlocked doors and locks, lockers"},
		{"apple pie", "apple pie", "pie, then an apple"},
		{"tea", "tea, tea and more tea", "tea and coffee and milk"},
		{"設備", "設備清單", "備"},
		{"Why does the importer drop rows with a blank VAT id?", "VAT id is optional for non-EU customers", "the first of them does it"},
		{"to be or not to be", "to be", "tea"},
		{"climbing", "climbing", "climbed"},
		{"climbing", "we climbed", "a climate"},
		{"Where did I go?", "went home", "gone are the days, and many other words besides"},
		{"prefers tabs", "prefers tabs", "preferred a tab"},
		{`"green tea" cups`, "green tea", "tea in green cups"},
	} {
		better, worse := index.NewQuery(c.query).Score(c.better), index.NewQuery(c.query).Score(c.worse)
		if better <= worse || better <= 0 {
			t.Errorf("%q scores %q %.3f and %q %.3f", c.query, c.better, better, c.worse, worse)
		}
	}
	for _, c := range []struct{ query, text string }{
		{"", "anything"},
		{"?", "anything?"},
		{"coffee", "tea"},
		{"what is the weather", "this is the one"},
		{"x", "xylophone"},
		{`"green tea"`, "tea that is green"},
		{`"green tea"`, "green teapot"},
		{`"green tea" cups`, "cups"},
	} {
		if got := index.NewQuery(c.query).Score(c.text); got != 0 {
			t.Errorf("%q scores %q %.3f, want no match", c.query, c.text, got)
		}
	}
}

func TestExcerptShowsTheMatch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("lorem ipsum ", 50)
	for _, text := range []string{"needle", "needle " + long, long + "needle " + long, long + "needle", "設備" + long + "\nNEEDLE"} {
		got := index.NewQuery("needle").Excerpt(text, 80)
		if !strings.Contains(index.Fold(got), "needle") || utf8.RuneCountInString(got) > 80 || strings.ContainsAny(got, "\n\t") {
			t.Errorf("excerpt of %d characters: %q", utf8.RuneCountInString(got), got)
		}
	}
	if got := index.NewQuery("absent").Excerpt(long, 80); utf8.RuneCountInString(got) > 80 || got == "" {
		t.Errorf("excerpt without a match %q", got)
	}
}

func FuzzTermsAndExcerpt(f *testing.F) {
	for _, s := range []string{"", "a\xffb", "設備\u0301", strings.Repeat("ー", 300), "\u202eabc\x00"} {
		f.Add(s, "query "+s)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		for _, term := range index.Terms(text) {
			if term == "" {
				t.Fatalf("term %q of %q", term, text)
			}
		}
		q := index.NewQuery(query)
		if s := q.Score(text); s < 0 {
			t.Fatalf("score %f", s)
		}
		if n := utf8.RuneCountInString(q.Excerpt(text, 50)); n > 50 {
			t.Fatalf("excerpt of %d characters", n)
		}
	})
}
