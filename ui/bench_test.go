package ui_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/storage/mem"
	"cairn/themes"
	"cairn/ui"
	"cairn/ui/chat"
	"cairn/ui/uitest"
)

// tape is an engine whose only run streams a text in small pieces.
type tape struct {
	harness.Engine
	pieces []string
}

type tapeRun struct {
	harness.RunHandle
	pieces []string
}

func (t tape) List(context.Context, harness.RunFilter) ([]harness.Run, error) { return nil, nil }

func (t tape) Start(context.Context, harness.StartRequest) (harness.RunHandle, error) {
	return tapeRun{pieces: t.pieces}, nil
}

func (r tapeRun) ID() harness.RunID { return "r1" }

func (r tapeRun) Events(context.Context, int) <-chan harness.Event {
	out := make(chan harness.Event)
	go func() {
		at := 0
		for _, p := range r.pieces {
			out <- harness.Event{Type: harness.EventText, Run: "r1", Attempt: 1, Offset: at, Text: p}
			at += len(p)
		}
		msg := harness.AssistantText(strings.Join(r.pieces, ""))
		out <- harness.Event{Type: harness.EventMessage, Run: "r1", Seq: 1, Record: 1 << 20, Message: &msg}
		out <- harness.Event{Type: harness.EventResult, Outcome: &harness.Result{Run: "r1", Status: harness.RunCompleted}}
		close(out)
	}()
	return out
}

// loop is the least of Bubble Tea's loop.
type loop struct {
	m    tea.Model
	msgs chan tea.Msg
}

func (l *loop) send(msg tea.Msg) {
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			l.run(cmd)
		}
		return
	}
	var cmd tea.Cmd
	l.m, cmd = l.m.Update(msg)
	l.run(cmd)
}

func (l *loop) run(cmd tea.Cmd) {
	if cmd != nil {
		go func() { l.msgs <- cmd() }()
	}
}

func (l *loop) until(done func(string) bool) {
	for !done(l.m.View()) {
		l.send(<-l.msgs)
	}
}

// BenchmarkStream streams an answer of 2,000 pieces into a session of so many
// messages, with a frame every three pieces.
func BenchmarkStream(b *testing.B) {
	block := strings.Repeat("some *words* of a paragraph that goes on for a while ", 6) +
		"\n\n```go\nfunc main() {\n\tprintln(\"hi\")\n}\n```\n\n- one\n- two\n\n"
	text := strings.Repeat(block, 25)
	var pieces []string
	for i := 0; i < len(text) && len(pieces) < 2000; i += 4 {
		pieces = append(pieces, text[i:min(i+4, len(text))])
	}
	pieces = append(pieces, "\n\nTHE END")
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				l := opened(b, n, pieces)
				b.StartTimer()
				for _, r := range "go" {
					l.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
				}
				l.send(tea.KeyMsg{Type: tea.KeyEnter})
				for i, over := 0, false; !over; i++ {
					select {
					case msg := <-l.msgs:
						l.send(msg)
						if i%3 != 0 {
							continue
						}
					case <-time.After(5 * time.Millisecond):
					}
					over = strings.Contains(l.m.View(), "THE END")
				}
			}
		})
	}
}

// BenchmarkKey types into the box of a session of so many messages.
func BenchmarkKey(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			l := opened(b, n, nil)
			i := 0
			for b.Loop() {
				key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'z'}}
				if i++; i%40 == 0 {
					key = tea.KeyMsg{Type: tea.KeyCtrlU}
				}
				l.m, _ = l.m.Update(key)
				_ = l.m.View()
			}
		})
	}
}

// BenchmarkOpen makes the root on a session of so many messages and draws until
// its end is on the screen.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			st := conversation(b, n)
			for b.Loop() {
				_ = open(b, st, n, nil).m.View()
			}
		})
	}
}

func opened(b *testing.B, n int, pieces []string) *loop {
	b.Helper()
	return open(b, conversation(b, n), n, pieces)
}

// conversation is a store with a session of n messages.
func conversation(b *testing.B, n int) *mem.Store {
	b.Helper()
	st := mem.New(time.Now)
	records := make([]harness.Record, n)
	for i := range records {
		msg := harness.UserText(fmt.Sprintf("message number %d of a conversation", i))
		records[i] = harness.Record{Kind: harness.RecordMessage, Message: &msg, At: time.Now()}
	}
	if n > 0 {
		if _, _, err := st.Sessions().Import(b.Context(), harness.Session{ID: "talk"}, records); err != nil {
			b.Fatal(err)
		}
	}
	return st
}

// open opens the session of a store of n messages.
func open(b *testing.B, st *mem.Store, n int, pieces []string) *loop {
	b.Helper()
	theme := uitest.Theme(b, true)
	l := &loop{msgs: make(chan tea.Msg, 100), m: ui.New(b.Context(), ui.Deps{
		Engine: tape{pieces: pieces}, Transcript: st.Transcript(), Sessions: st.Sessions(), Owners: st.Owners(),
		Drafts: st.Drafts(), Prompts: st.Prompts(), Watcher: st, Session: harness.Session{ID: "talk"}, Fresh: n == 0,
		Config: func(context.Context, harness.Session) (chat.Setup, error) {
			return chat.Setup{Run: harness.RunConfig{Model: "a/b"}, Label: "model-label"}, nil
		},
		Theme: func(bool) *themes.Theme { return theme }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})}
	l.run(l.m.Init())
	l.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	l.until(func(v string) bool {
		return strings.Contains(v, "model-label") && (n == 0 || strings.Contains(v, "number"))
	})
	return l
}

// BenchmarkSelect moves the selection from message to message, in a session of which
// all messages are loaded.
func BenchmarkSelect(b *testing.B) {
	benchKeys(b, []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune{'k'}}, {Type: tea.KeyRunes, Runes: []rune{'j'}}})
}

// BenchmarkScroll scrolls by pages in such a session.
func BenchmarkScroll(b *testing.B) {
	benchKeys(b, []tea.KeyMsg{{Type: tea.KeyPgUp}, {Type: tea.KeyPgDown}})
}

// BenchmarkNextMatch goes from match to match in such a session.
func BenchmarkNextMatch(b *testing.B) {
	n, prev := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'n'}}, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'N'}}
	benchKeys(b, []tea.KeyMsg{prev, prev, n, n}, "find")
}

// benchKeys presses keys in the middle of sessions of 100 and 10,000 messages.
func benchKeys(b *testing.B, keys []tea.KeyMsg, find ...string) {
	b.Helper()
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			l := opened(b, n, nil)
			l.send(tea.KeyMsg{Type: tea.KeyHome})
			l.until(func(v string) bool { return strings.Contains(v, "message number 0 ") })
			if find != nil {
				for _, r := range "/find number" {
					l.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
				}
				l.send(tea.KeyMsg{Type: tea.KeyEnter})
				l.until(func(v string) bool { return strings.Contains(v, fmt.Sprint(" of ", n)) })
			} else {
				l.send(tea.KeyMsg{Type: tea.KeyTab})
			}
			for range 10 { // away from the beginning
				l.send(tea.KeyMsg{Type: tea.KeyPgDown})
			}
			for i := 0; b.Loop(); i++ {
				l.m, _ = l.m.Update(keys[i%len(keys)])
				_ = l.m.View()
			}
		})
	}
}

// BenchmarkFind looks for words in sessions of so many messages, until all matches
// are counted.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			l := opened(b, n, nil)
			for b.Loop() {
				for _, r := range "/find number 7" {
					l.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
				}
				l.send(tea.KeyMsg{Type: tea.KeyEnter})
				l.until(func(v string) bool { return strings.Contains(v, " of ") && !strings.Contains(v, "so far") })
				l.send(tea.KeyMsg{Type: tea.KeyEsc})
			}
		})
	}
}
