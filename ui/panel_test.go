package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// planned stores a conversation with a list of what is to be done and facts.
func planned(t *testing.T, w *uitest.World) {
	t.Helper()
	invoices(w)
	for _, text := range []string{"A VAT id is optional for customers outside the EU", "\x1b[2Jprefers table tests"} {
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: text, Category: "preference", By: harness.ByYou}, ""); err != nil {
			t.Fatal(err)
		}
	}
	list := harness.Message{Role: harness.RoleAssistant, Model: "test/parrot", Used: []string{"f1", "f2"}, Parts: []harness.Part{{
		Kind: harness.PartCall, Call: &harness.ToolCall{ID: "k9", Name: "write_todos", Input: []byte(`{"todos":[{"text":"read the parser","status":"completed"},{"text":"flag the row","status":"in_progress"},{"text":"write tests, 會議記錄","status":"pending"}]}`)},
	}}}
	records := []harness.Record{{Kind: harness.RecordMessage, Message: &list, At: time.Now(), Run: "r2"}}
	w.Import(harness.Session{ID: "plan", Title: "A plan with a title that is long enough to be wrapped", Tags: []string{"billing", "go"}, Created: time.Now(), Updated: time.Now()}, records)
}

func TestTheSidePanelIsShownWhereThereIsRoomAndGoesAgain(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		planned(t, w)
		d := w.Open("plan", 120, 40)
		d.Hides("TO DO 1/3").Press("ctrl+x", "b").Wait(time.Second)
		d.Shows("TO DO 1/3", "flag the row (now)", "MEMORY USED (2)", "f1 A VAT id is optional for", "f2 ␛[2Jprefers table tests", "#billing #go")
		queued(w, d, "one", "two")
		d.Shows("RUN", "2 queued").Resize(100, 40).Hides("TO DO 1/3").Resize(120, 27).Hides("TO DO 1/3").Resize(110, 28).Shows("TO DO 1/3")
		for _, l := range d.Lines() {
			if strings.Contains(l, "TO DO") && !strings.Contains(l, "│ TO DO") {
				t.Errorf("%q has no bar", l)
			}
		}
		d.Press("ctrl+x", "b").Hides("TO DO 1/3").Resize(80, 24).Press("ctrl+x", "b").Shows("the side panel is shown from 110 columns")
	})
}

// topWord is the first word of the conversation that is on the screen.
func topWord(d *uitest.Driver) string {
	for _, l := range d.Lines()[1:] {
		if w, _, _ := strings.Cut(strings.TrimSpace(l), " "); strings.HasPrefix(w, "w0") {
			return w
		}
	}
	return ""
}

func TestWhatIsReadStaysWhenThePanelComesAndGoes(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		var text strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&text, "w0%04d ", i)
		}
		w.Tell("s", "Long", time.Now(), "hello", text.String())
		d := w.Open("s", 120, 40).Press("ctrl+x", "b", "pgup", "pgup")
		at := topWord(d)
		for _, size := range [][2]int{{120, 27}, {120, 40}, {100, 40}, {120, 40}} { // too low, too narrow
			line := ""
			for _, l := range d.Resize(size[0], size[1]).Lines()[1:] {
				if strings.Contains(l, "w0") {
					line = l
					break
				}
			}
			if !strings.Contains(line, at) {
				t.Fatalf("at %v %s is not in the first line: %s", size, at, line)
			}
		}
		if got := topWord(d); got != at {
			t.Errorf("%s is read instead of %s", got, at)
		}
		if d.Press("ctrl+x", "b", "ctrl+x", "b"); topWord(d) != at {
			t.Errorf("%s is read instead of %s after the panel went and came", topWord(d), at)
		}
	})
}

func TestNoTextTouchesTheSidePanel(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("s", "Long", time.Now(), "hello", "```go\nx := 1\n```\n"+strings.Repeat("w", 400))
		d := w.Open("s", 120, 40).Press("ctrl+x", "b").Shows("[1] │")
		for _, l := range d.Lines() {
			if strings.Contains(l, "w│") {
				t.Errorf("%q touches it", l)
			}
		}
	})
}

func TestGoldenSidePanel(t *testing.T) {
	for _, size := range []string{"120x40", "200x60"} {
		t.Run(size, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				planned(t, w)
				d := w.Open("plan", map[string]int{"120x40": 120, "200x60": 200}[size], map[string]int{"120x40": 40, "200x60": 60}[size])
				d.Press("ctrl+x", "b").Wait(time.Second)
				queued(w, d, "then write a test")
				golden(t, "panel-"+size, strings.Join(d.Lines(), "\n")+"\n")
			})
		})
	}
}
