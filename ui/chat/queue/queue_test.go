package queue

import (
	"slices"
	"strings"
	"testing"

	"cairn/themes"
	"cairn/ui/render"
)

// do carries out actions on messages.
func do(m Model, texts []string, actions ...string) (Model, []string) {
	for _, a := range actions {
		m, texts = m.Do(a, texts)
	}
	return m, texts
}

func TestMessagesAreOrderedDroppedAndBroughtBack(t *testing.T) {
	t.Parallel()
	was := []string{"one", "two", "three"}
	for _, c := range []struct {
		actions []string
		want    string
	}{
		{[]string{Soon}, "one three two"},
		{[]string{Soon, Soon, Soon}, "three one two"},
		{[]string{Later}, "one two three"},
		{[]string{Up, Later}, "one three two"},
		{[]string{Drop}, "one two"},
		{[]string{Up, Up, Drop, Undo}, "one two three"},
		{[]string{Drop, Drop, Drop, Drop, Undo, Undo}, "one two"},
		{[]string{Up, Drop, Up, Drop, Undo, Undo}, "one two three"},
	} {
		if _, got := do(Opened(3), was, c.actions...); strings.Join(got, " ") != c.want {
			t.Errorf("%v makes %q, not %q", c.actions, got, c.want)
		}
	}
	if !slices.Equal(was, []string{"one", "two", "three"}) {
		t.Errorf("what was handed in is %q now", was)
	}
}

func TestALineShowsTheFirstWordsWhateverTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one": `"one"`, "\n\n one\n": `"one"`, "one\ntwo": `"one…"`, "a\x1b[2Jb\u202e": `"a␛[2Jb⟨U+202E⟩"`,
		strings.Repeat("x", 5000): `"` + strings.Repeat("x", lineMax) + `…"`,
	} {
		if got := Line(text, "…"); got != want {
			t.Errorf("%.20q is shown as %.60s", text, got)
		}
	}
}

func TestRowsFitAndCountWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"one", "two 會議", "three", "four", "five"}
	for _, width := range []int{20, 40, 80, 120} {
		for most := range 7 {
			l := Look{Theme: theme, Width: width, Most: most, When: "after this answer", Keys: "alt+up edit queue"}
			for _, m := range []Model{{}, Opened(5), Opened(5).Edit()} {
				rows := m.Rows(texts, l)
				if len(rows) != min(max(most, 1), 5) {
					t.Fatalf("%d rows of %d", len(rows), most)
				}
				for _, r := range rows {
					if w := render.Width(r); w > width {
						t.Errorf("%q is %d wide of %d", r, w, width)
					}
				}
				if all := strings.Join(rows, "\n"); m.Holds() && !strings.Contains(all, "queued 5") {
					t.Errorf("what is chosen is not shown: %s", all)
				}
			}
		}
	}
	rows := Model{}.Rows(texts, Look{Theme: theme, Width: 80, Most: 3, When: "after this answer", Keys: "alt+up edit queue"})
	if all := strings.Join(rows, "\n"); !strings.Contains(all, "after this answer") || !strings.Contains(rows[2], "2 more") {
		t.Errorf("it shows %s", all)
	}
}
