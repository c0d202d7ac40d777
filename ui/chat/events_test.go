package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

// at is when everything happens in these tests.
func at() time.Time { return time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC) }

// running is a chat of a run that is under way, with some messages.
func running(t *testing.T, messages int) Model {
	t.Helper()
	theme, err := themes.Load("", true, themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := New(t.Context(), Deps{Theme: theme, Markdown: render.NewMarkdown(theme), Now: at, Words: error.Error}, Open{Session: harness.Session{ID: "talk"}})
	m.width, m.height = 80, 40
	m.turn = turn{n: 1, phase: phaseRunning, run: "r", live: newLive(m.deps.Markdown), since: at()}
	for i := range messages {
		msg := harness.UserText("question")
		if i%2 == 1 {
			msg = harness.AssistantText("answer")
		}
		m.pages.put(harness.Record{Seq: i + 1, Prev: i, Kind: harness.RecordMessage, Message: &msg})
	}
	return m
}

// screen is what is shown of the conversation.
func (m Model) screen() string {
	return strings.Join(m.pages.window(m.desk(), 38), "\n")
}

func send(t *testing.T, m Model, events ...harness.Event) Model {
	t.Helper()
	for _, e := range events {
		m, _ = m.event(e)
	}
	return m
}

func shows(t *testing.T, m Model, want ...string) {
	t.Helper()
	for _, w := range want {
		if s := m.screen(); !strings.Contains(s, w) {
			t.Errorf("the conversation lacks %q:\n%s", w, s)
		}
	}
}

func TestACondensingOfTheRunIsTold(t *testing.T) {
	t.Parallel()
	c := harness.Condensed{Note: "stones", Kept: 5, Messages: 4, Dropped: 4, Before: 900, After: 400}
	m := send(t, running(t, 8), harness.Event{Type: harness.EventCondensed, Seq: 3, Record: 9, Run: "r", Condensed: &c, At: at()})
	shows(t, m, "condensed 4 messages into 6 characters; 900 -> 400 tokens", "4 messages above stand as a note of 6 characters", "not in context")
	if m.pages.items[3].marks != markOut || m.pages.items[4].marks != markCut || m.pages.items[8].marks != 0 {
		t.Errorf("marks are %v", m.pages.items)
	}
	// Read again from the store it is the same item.
	n := len(m.pages.items)
	last := m.pages.items[n-1].rec
	m.pages.merge([]harness.Record{last}, 9)
	if m = m.marked(); len(m.pages.items) != n {
		t.Errorf("there are %d items, not %d", len(m.pages.items), n)
	}
	// One that pruned only says so, and leaves the cut where it is.
	pruned := c
	pruned.Dropped, pruned.Cleared = 0, 3
	m = send(t, m, harness.Event{Type: harness.EventCondensed, Seq: 9, Record: 11, Run: "r", Condensed: &pruned})
	shows(t, m, "condensed 4 messages into 6 characters and left out 3 old tool results", "4 messages above stand")
	m = send(t, m, harness.Event{Type: harness.EventCondensed, Text: "nothing could be condensed"})
	shows(t, m, "nothing could be condensed")
}

func TestRetriesAreOneQuietLine(t *testing.T) {
	t.Parallel()
	retry := func(wait int) harness.Event {
		return harness.Event{Type: harness.EventRetry, Wait: wait, Error: &harness.RunError{Kind: "rate_limit", Text: "the provider is busy\x1b[2J."}}
	}
	m := send(t, running(t, 1), retry(1), retry(2), retry(4))
	if m.turn.live.now != "trying again in 4 s: the provider is busy␛[2J" {
		t.Errorf("it says %q", m.turn.live.now)
	}
	if n := strings.Count(m.screen(), "the provider is busy"); n != 1 {
		t.Errorf("it is told %d times:\n%s", n, m.screen())
	}
	other := retry(0)
	other.Text = "asking own/llama instead"
	m = send(t, m, other, retry(1))
	shows(t, m, "the provider is busy␛[2J; asking own/llama instead")
	if n := strings.Count(m.screen(), "the provider is busy"); n != 2 {
		t.Errorf("it is told %d times:\n%s", n, m.screen())
	}
}

func TestAFailureOfSpendingIsToldWhole(t *testing.T) {
	t.Parallel()
	m := running(t, 1)
	text := (&harness.SpendingError{Scope: "day", Limit: 2, Spent: 1.9, Held: 0.05, Needed: 0.5}).Error()
	m.own.state, m.height = accessOwner, 24
	m = send(t, m, harness.Event{Type: harness.EventResult, Outcome: &harness.Result{
		Run: "r", Status: harness.RunFailed, Error: &harness.RunError{Kind: "spending", Text: text},
	}})
	m.open.Error = &harness.RunError{Kind: "spending", Text: text}
	for _, width := range []int{80, 120} {
		m.width = width
		said := ansi.Strip(strings.Join(m.notices(), " "))
		for _, want := range []string{"$2.00 would be passed", "raise spending.day in the configuration or choose a cheaper model", "c continue", "r retry"} {
			if !strings.Contains(said, want) {
				t.Errorf("at a width of %d %q is not in %q", width, want, said)
			}
		}
	}
}

// What streams must not look at the whole conversation.
func BenchmarkStreamedPiece(b *testing.B) {
	theme, err := themes.Load("", true, themes.Options{})
	if err != nil {
		b.Fatal(err)
	}
	m := New(b.Context(), Deps{Theme: theme, Markdown: render.NewMarkdown(theme), Now: at}, Open{Session: harness.Session{ID: "talk"}})
	m.width, m.height = 120, 40
	m.turn = turn{n: 1, phase: phaseRunning, run: "r", live: newLive(m.deps.Markdown), since: at()}
	for i := range 10_000 {
		msg := harness.UserText("question")
		m.pages.items = append(m.pages.items, item{id: i + 1, rec: harness.Record{Seq: i + 1, Prev: i, Kind: harness.RecordMessage, Message: &msg}})
	}
	m = m.marked()
	offset := 0
	for b.Loop() {
		m, _ = m.event(harness.Event{Type: harness.EventText, Attempt: 1, Offset: offset, Text: "word "})
		offset += 5
		_ = m.View()
	}
}
