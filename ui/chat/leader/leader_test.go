package leader

import (
	"strings"
	"testing"

	"cairn/themes"
	"cairn/ui/render"
)

func bound(help, off string, keys ...string) render.Binding {
	return render.Binding{Action: "a." + help, Keys: keys, Help: help, Off: off}
}

func TestEntriesAreTheKeysThatWorkInTheOrderOfTheirLetters(t *testing.T) {
	t.Parallel()
	got := Entries([]render.Binding{
		bound("zoo", "", "ctrl+x z"), bound("off", "not now", "ctrl+x a"), bound("editor", "", "ctrl+g", "ctrl+x ctrl+e"),
		bound("Big", "", "ctrl+x E"), bound("end", "", "ctrl+x e", "ctrl+x x"), bound("other", "", "ctrl+o"), bound("hostile\x1b[2J\n", "", "ctrl+x h"),
	}, "ctrl+x")
	var words []string
	for _, e := range got {
		words = append(words, e.Key+" "+e.Help)
	}
	if want := "e end|E Big|h hostile␛[2J␊|z zoo|^E editor"; strings.Join(words, "|") != want {
		t.Errorf("they are %q, not %q", strings.Join(words, "|"), want)
	}
}

func TestTheMenuFitsAndScrolls(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for _, k := range "abcdefghijklmnopqrstuvwxyz" {
		entries = append(entries, Entry{string(k), "what 會議 does, in more words than fit"})
	}
	for _, width := range []int{20, 40, 80, 120, 200} {
		for _, most := range []int{1, 4, 30} {
			m := Menu{}.Begun()
			if rows, _ := m.View(entries, theme, width, most); rows != nil {
				t.Fatal("it is shown at once")
			}
			m.Shown = true
			seen := map[string]bool{}
			for range len(entries) {
				rows, more := m.View(entries, theme, width, most)
				if len(rows) > most {
					t.Fatalf("%d rows of %d", len(rows), most)
				}
				shown := 0
				for _, r := range rows {
					if w := render.Width(r); w > width {
						t.Errorf("%q is %d wide of %d", r, w, width)
					}
					for _, e := range entries {
						if strings.Contains(r, theme.Paints.Key.On(e.Key)) {
							seen[e.Key] = true
							shown++
						}
					}
				}
				if shown+more != len(entries) {
					t.Errorf("%d are shown and %d more of %d", shown, more, len(entries))
				}
				m, _ = m.Scroll("down", len(entries), width, most)
			}
			if len(seen) != len(entries) {
				t.Errorf("%dx%d shows %d of %d", width, most, len(seen), len(entries))
			}
		}
	}
}
