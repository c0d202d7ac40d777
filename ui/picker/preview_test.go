package picker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
)

// told is a record of a message.
func told(n int, text string) harness.Record {
	m := harness.UserText(text)
	if n%2 == 0 {
		m = harness.AssistantText(text)
	}
	return harness.Record{Seq: n, At: now, Kind: harness.RecordMessage, Message: &m}
}

// long is a store with one session of n messages.
func long(n int) *store {
	f := &store{sessions: []harness.Session{{ID: "long", Title: "Long", Messages: n, Records: n, Updated: now}}, records: map[harness.SessionID][]harness.Record{}}
	for i := range n {
		f.records["long"] = append(f.records["long"], told(i+1, fmt.Sprintf("message %d.", i+1)))
	}
	return f
}

func TestThePreviewScrollsBackToTheFirstMessage(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 40}, {80, 24}, {40, 10}} {
		s := open(t, long(200), size[0], size[1])
		if size[0] < wideFrom {
			s.keys("right")
		}
		s.shows("message 200.", "↑ earlier").lacks("message 1.", "↓ later")
		seen := s.view()
		seen += s.keys("pgup").shows("↓ later").view()
		presses := 0
		for ; presses < 400 && !strings.Contains(s.view(), "message 1."); presses++ {
			seen += s.keys("pgup").view()
		}
		for n := range 200 {
			if text := fmt.Sprintf("message %d.", n+1); !strings.Contains(seen, text) {
				t.Errorf("%v: %q was passed over", size, text)
			}
		}
		if presses == 400 {
			t.Errorf("%v: 400 pages up do not show the first message:\n%s", size, s.view())
		}
		s.keys("pgup", "pgup").shows("message 1.").lacks("↑ earlier")
		if got := len(s.preview.records); got != 200 {
			t.Errorf("%v: %d records were read", size, got)
		}
		for range presses + 5 {
			s.keys("pgdown")
		}
		s.shows("message 200.").lacks("↓ later")
	}
}

func TestThePreviewStaysWhereOneReadsWhenMoreIsSaid(t *testing.T) {
	t.Parallel()
	f := long(60)
	s := open(t, f, 120, 40).keys("pgup")
	before := s.previewPane(50, 30)
	f.records["long"] = append(f.records["long"], told(61, "message 61."))
	f.sessions[0].Records, f.sessions[0].Messages = 61, 61
	s.send(Changed{})
	s.settle()
	if after := s.previewPane(50, 30); !slices.Equal(before[4:], after[4:]) {
		t.Errorf("the text moved from\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	for range 6 {
		s.keys("pgdown")
	}
	s.shows("message 61.")
}

func TestAFoundMessageIsShownAtItsWords(t *testing.T) {
	t.Parallel()
	f := long(30)
	f.records["long"][9] = told(10, strings.Repeat("first lines\n", 80)+"the Zébra stands here\n"+strings.Repeat("last lines\n", 80))
	f.hits = []harness.Hit{{Session: "long", Message: 10, Excerpt: "the Zébra stands here"}}
	s := open(t, f, 120, 40, func(c *Config) { c.Search = f }).types("zebra")
	s.shows("first lines", "last lines").lacks("message 11.")
	if want := string(s.c.Theme.Paints.Match) + "Zébra"; !strings.Contains(strings.Join(s.previewPane(50, 37), "\n"), want) {
		t.Errorf("the words are not pointed out in\n%s", s.view())
	}
}

func TestThePreviewOfANarrowScreenTakesThePlaceOfTheList(t *testing.T) {
	t.Parallel()
	s := open(t, sample(), 80, 24).keys("right").shows("Credit notes go", "used 18 Sep 2026 14:05").lacks("THIS WEEK")
	s.keys("down").shows("VAT edge cases").lacks("THIS WEEK")
	s.keys("left").shows("THIS WEEK").selectedIs("vat")
	if s.keys("right", "esc"); s.last != nil {
		t.Errorf("esc in the preview gives %#v", s.last)
	}
	s.keys("right", "n").shows("Nightly").lacks("used 13 Sep")
	s.keys("left", "right").shows("Nightly") // the cursor moves to the end of the text first
	if s.preview.peek {
		t.Error("a move of the cursor opened the preview")
	}
	if s.keys("right"); !s.preview.peek {
		t.Error("at the end of the text the preview does not open")
	}
}

func TestWhatASessionIsStandsAboveItsMessages(t *testing.T) {
	t.Parallel()
	f := sample()
	i := f.find("rewrite")
	f.sessions[i].Inherited, f.sessions[i].NoMemory, f.sessions[i].Dir = 12, true, "/src/importer"
	f.sessions[i].Owner = &harness.Holder{PID: 4411, Terminal: "pts/3", Purpose: "chat", Since: before(time.Hour)}
	f.sessions[i].OpenRun, f.sessions[i].OpenStatus = "r9", harness.RunAwaiting
	s := open(t, f, 120, 40).shows("1 fork: Importer rewrite, A at 12").keys("down", "down")
	s.shows("76 messages (12 of its parent)", "fork of Q3 invoice importer at message 12", "/src/importer",
		"open in pid 4411 on pts/3", "waits for you", "used 17 Sep 2026 14:05", "id rewrite")
	s.shows("open in pid 4411 ").keys("ctrl+d").shows("It is open in pid 4411 on pts/3: close it there first.")
	open(t, f, 80, 24).keys("down", "down").shows("76 msgs", "open in pid 4411 on pts/3 · fork of Q3 invoice importer at message 12")
	f.sessions[f.find("q3")].ID = "other"
	open(t, f, 120, 40).keys("down", "down").shows("fork of q3 at message 12")
}

func TestThePreviewIsWrappedOnceForManyFrames(t *testing.T) { // counts allocations, so not in parallel
	f := long(12)
	for i := range f.records["long"] {
		f.records["long"][i] = told(i+1, strings.Repeat("some words of a message ", 400))
	}
	s := open(t, f, 120, 40)
	few := open(t, long(12), 120, 40)
	small := testing.AllocsPerRun(20, func() { few.View(120, 40) })
	large := testing.AllocsPerRun(20, func() { s.View(120, 40) })
	if large > small*2 {
		t.Errorf("a frame allocates %.0f times with short messages and %.0f with long ones", small, large)
	}
}

func TestThePreviewThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	f := long(60)
	s := open(t, f, 120, 40)
	f.fail = harness.ErrLocked
	s.keys("pgup").shows("the store is in use")
	for range 40 {
		s.keys("pgup")
	}
	s.shows("message 1.")
}

func TestTheWheelScrollsWhatItIsOver(t *testing.T) {
	t.Parallel()
	f := long(60)
	f.sessions = append(f.sessions, many(30).sessions...)
	s := open(t, f, 120, 40).keys("home")
	s.send(tea.MouseMsg{Button: tea.MouseButtonWheelUp, X: 100, Y: 10})
	if s.preview.up != 3 || s.list.at != 0 {
		t.Errorf("over the preview: %d lines up, row %d", s.preview.up, s.list.at)
	}
	s.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown, X: 5, Y: 10})
	s.settle()
	if s.list.at != 3 {
		t.Errorf("over the list: row %d", s.list.at)
	}
}
