package ui_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/ui"
	"cairn/ui/uitest"
)

// told is what the program gave to the clipboard last, "" for nothing.
func told(t *testing.T, d *uitest.Driver) string {
	t.Helper()
	all := d.Written()
	if len(all) == 0 {
		return ""
	}
	body, ok := strings.CutPrefix(all[len(all)-1], "\x1b]52;c;")
	text, err := base64.StdEncoding.DecodeString(strings.TrimRight(body, "\a\x1b\\"))
	if !ok || err != nil {
		t.Fatalf("written is %q", all[len(all)-1])
	}
	return string(text)
}

// place is the cell at which text is on the screen.
func place(t *testing.T, d *uitest.Driver, text string) (x, y int) {
	t.Helper()
	for y, l := range d.Lines() {
		if before, _, ok := strings.Cut(l, text); ok {
			return len([]rune(before)), y
		}
	}
	t.Fatalf("the screen lacks %q", text)
	return 0, 0
}

func press(d *uitest.Driver, x, y int) {
	d.Send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
}

func drag(d *uitest.Driver, x, y int) {
	d.Send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion})
}

func lift(d *uitest.Driver, x, y int) {
	d.Send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionRelease})
}

// reversedText is all that the view has reversed, by rows.
func reversedText(d *uitest.Driver) string {
	var out []string
	for _, l := range strings.Split(d.Model().View(), "\n") {
		if _, after, ok := strings.Cut(l, "\x1b[m\x1b[7m"); ok {
			text, _, _ := strings.Cut(after, "\x1b[m")
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

func TestDraggingMarksTextAndOnlyAKeyCopiesIt(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("s", "Talk", time.Now(), "what is it", "first line here\n\nsecond line here")
		d := w.Open("s", 80, 24)
		x, y := place(t, d, "first line here")
		press(d, x+6, y)
		drag(d, x+5, y+2)
		if got := reversedText(d); got != "line here\nsecond" {
			t.Errorf("reversed is %q", got)
		}
		lift(d, x+5, y+2)
		if len(d.Written()) != 0 {
			t.Fatal("marking alone copied")
		}
		d.Shows("17 characters marked", "^C copy")
		d.Press("ctrl+c").Shows("copied 17 characters: sent to the terminal's clipboard")
		if got, want := told(t, d), "line here\n\nsecond"; got != want {
			t.Errorf("copied %q, want %q", got, want)
		}
		if reversedText(d) != "" {
			t.Error("it is marked still")
		}
		d.Type("x").Hides("clipboard")
	})
}

func TestAMarkStaysWithItsTextUntilAKey(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("s", "Talk", time.Now(), "what is it", strings.Repeat("filler\n\n", 30)+"needle in here"+strings.Repeat("\n\nfiller", 5))
		d := w.Open("s", 80, 24)
		x, y := place(t, d, "needle")
		press(d, x, y)
		drag(d, x+5, y)
		lift(d, x+5, y)
		for range 2 {
			d.Send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonWheelUp, Action: tea.MouseActionPress})
		}
		_, now := place(t, d, "needle")
		if now == y || reversedText(d) != "needle" {
			t.Errorf("at row %d, was %d, reversed is %q", now, y, reversedText(d))
		}
		d.Type("z").Shows("z")
		if got := reversedText(d); got != "" {
			t.Errorf("a key left %q marked", got)
		}
		d.Press("ctrl+c")
		if len(d.Written()) != 0 {
			t.Error("what was unmarked is copied")
		}
	})
}

func TestSecondAndThirdClicksMarkAWordAndALine(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("s", "Talk", time.Now(), "what is it", "see (importer/row.go) in 其他国家 there")
		d := w.Open("s", 80, 24)
		x, y := place(t, d, "importer/row.go")
		click := func() { press(d, x+4, y); lift(d, x+4, y) }
		click()
		if reversedText(d) != "" {
			t.Error("a click marks")
		}
		click()
		if got := reversedText(d); got != "importer/row.go" {
			t.Errorf("the second click marks %q", got)
		}
		click()
		if got := reversedText(d); got != "see (importer/row.go) in 其他国家 there" {
			t.Errorf("the third click marks %q", got)
		}
		d.Wait(time.Second)
		click()
		if got := reversedText(d); got != "" {
			t.Errorf("a later click leaves %q marked", got)
		}
		d.Wait(time.Second)
		wide := x + len("importer/row.go) in ")
		press(d, wide+1, y)
		drag(d, wide+2, y)
		lift(d, wide+2, y)
		if got := reversedText(d); got != "其他" {
			t.Errorf("half characters mark %q", got)
		}
	})
}

func TestTheBoxAndOverlaysAreMarkedToo(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("new", 80, 24)
		d.Type("typed words")
		x, y := place(t, d, "typed words")
		press(d, x, y)
		drag(d, x+4, y)
		lift(d, x+4, y)
		d.Press("ctrl+c")
		if got := told(t, d); got != "typed" {
			t.Errorf("copied %q", got)
		}
		d.Shows("typed words").Press("f1")
		x, y = place(t, d, "WRITING")
		press(d, x, y)
		drag(d, x+6, y)
		lift(d, x+6, y)
		d.Press("ctrl+c").Shows("Help")
		if got := told(t, d); got != "WRITING" {
			t.Errorf("copied %q", got)
		}
		press(d, x, y)
		drag(d, x+6, y)
		lift(d, x+6, y)
		d.Press("esc").Shows("WRITING").Press("esc").Hides("WRITING")
	})
}

func TestTheSettingsOfTheMouseStandAlone(t *testing.T) {
	for name, c := range map[string]struct {
		use           ui.MouseUse
		marks, scroll bool
		copies        bool
	}{
		"usual":     {ui.MouseUse{}, true, true, false},
		"no wheel":  {ui.MouseUse{NoWheel: true}, true, false, false},
		"no marks":  {ui.MouseUse{NoSelect: true}, false, true, false},
		"copy":      {ui.MouseUse{Copy: true}, true, true, true},
		"all off":   {ui.MouseUse{Off: true}, false, false, false},
		"turned on": {ui.MouseUse{Off: true}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				w.Tell("s", "Talk", time.Now(), "what is it", strings.Repeat("filler\n\n", 30)+"needle in here")
				deps := w.Deps("s", false)
				deps.Mouse = c.use
				d := w.Start(deps, 80, 24)
				if name == "turned on" {
					d.Press("ctrl+x", "o").Shows("the mouse is used: wheel, marks text")
				}
				before := d.Screen()
				d.Send(tea.MouseMsg{X: 3, Y: 4, Button: tea.MouseButtonWheelUp, Action: tea.MouseActionPress})
				if scrolled := d.Screen() != before; scrolled != c.scroll {
					t.Errorf("the wheel scrolls: %t", scrolled)
				}
				x, y := place(t, d, "filler")
				press(d, x, y)
				drag(d, x+5, y)
				lift(d, x+5, y)
				if marks := reversedText(d) == "filler"; marks != c.marks {
					t.Errorf("it marks: %t", marks)
				}
				if copies := len(d.Written()) == 1; copies != c.copies {
					t.Errorf("it copies: %t", copies)
				}
			})
		})
	}
}

func TestAClickFoldsAndUnfoldsWhatIsUnderThePointer(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long := strings.TrimSuffix(strings.Repeat("a row of a log\n", 60), "\n") + "\nits last row"
		w.Tell("s", "Talk", time.Now(), "one", "short", long, "seen")
		d := w.Open("s", 80, 30)
		_, y := place(t, d, "lines more")
		press(d, 3, y)
		lift(d, 3, y)
		d.Hides("lines more").Shows("a row of a log")
		d.Press("end").Shows("its last row")

		invoices(w)
		d = w.Open("q3", 80, 24)
		_, y = place(t, d, "▸ tool  search")
		press(d, 3, y)
		lift(d, 3, y)
		if _, now := place(t, d, "▾ tool  search"); now != y {
			t.Errorf("the line that was clicked went from row %d to %d", y, now)
		}
		d.Wait(time.Second) // else it is a second click, which marks a word
		press(d, 3, y)
		lift(d, 3, y)
		d.Shows("▸ tool  search").Hides("End to follow")
		before := d.Screen()
		_, y = place(t, d, "Both callers")
		press(d, 3, y)
		lift(d, 3, y)
		if d.Screen() != before {
			t.Errorf("a click on text changed the screen:\n%s", d.Screen())
		}
		d.Wait(time.Second)
		press(d, 3, y)
		drag(d, 9, y)
		lift(d, 9, y)
		d.Shows("7 characters marked").Shows("▸ tool  search")
	})
}
