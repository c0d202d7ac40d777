package panel

import (
	"strings"
	"testing"

	"cairn/themes"
	"cairn/ui/render"
)

func TestThePanelFitsWhateverIsInIt(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("會議記錄 👩‍👩‍👧 e\u0301 \x1b[2J\n\u202e", 20)
	sections := []Section{
		{Lines: []Line{{Text: "a title"}, {Text: "#tag", Muted: true}}},
		{Title: "EMPTY"},
		{Title: "TO DO", Lines: []Line{{Text: long}, {Text: "two"}}, Most: 4},
		{Title: "MEMORY", Lines: []Line{{Text: long}, {Text: long}}},
		{Title: "LAST", Lines: []Line{{Text: "x"}}},
	}
	for height := range 40 {
		rows := View(sections, theme, height)
		if len(rows) != height {
			t.Fatalf("%d rows of %d", len(rows), height)
		}
		for _, r := range rows {
			if w := render.Width(r); w > Width+1 {
				t.Errorf("%q is %d wide", r, w)
			}
			if strings.ContainsAny(strings.ReplaceAll(r, "\x1b[", ""), "\x1b\n\u202e") {
				t.Errorf("%q is not safe", r)
			}
		}
		if all := strings.Join(rows, "\n"); strings.Contains(all, "EMPTY") {
			t.Error("a section without lines has a heading")
		}
	}
	if all := strings.Join(View(sections[:3], theme, 30), "\n"); strings.Contains(all, "two") || strings.Count(all, "會議") > 10 {
		t.Errorf("a section has more rows than it may: %s", all)
	}
}

func TestNothingOfAWrappedLineIsLost(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.NoColor})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("0123456789", 20)
	var got strings.Builder
	for _, r := range View([]Section{{Lines: []Line{{Text: text}}}}, theme, 20) {
		got.WriteString(strings.TrimSpace(strings.TrimPrefix(r, theme.Ornaments.Bar)))
	}
	if got.String() != text {
		t.Errorf("it shows %q", got.String())
	}
}

func TestAnAmountIsABarOfItsShare(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	for percent, full := range map[int64]int{-5: 0, 0: 0, 38: 7, 100: 20, 250: 20} {
		if got := Amount(theme.Ornaments, percent); strings.Count(got, theme.Ornaments.Full) != full || render.Width(got) != barWidth+2 {
			t.Errorf("%d%% is %q", percent, got)
		}
	}
}
