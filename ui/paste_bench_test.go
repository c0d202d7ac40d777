package ui_test

import (
	"context"
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
	"cairn/ui/screen"
	"cairn/ui/uitest"
)

// BenchmarkPaste is from a paste of 1 MB to the frame that shows it and the key
// that follows.
func BenchmarkPaste(b *testing.B) {
	s := mem.New(nil)
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		b.Fatal(err)
	}
	var m tea.Model = ui.New(b.Context(), ui.Deps{
		Engine: tape{}, Transcript: s.Transcript(), Sessions: s.Sessions(), Owners: s.Owners(), Drafts: s.Drafts(), Prompts: s.Prompts(),
		Watcher: s, Holder: harness.Holder{PID: 1, Terminal: "pts/1"},
		Config:  func(context.Context, harness.Session) (chat.Setup, error) { return chat.Setup{}, nil },
		Theme:   func(bool) *themes.Theme { return theme },
		Session: harness.Session{ID: "talk"}, Fresh: true, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	m, _ = m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	text := strings.Repeat("0123456789 lorem ipsum dolor sit amet, consectetur adipi\n", 17544)
	key := uitest.Key(b, "a")
	for b.Loop() {
		next, _ := m.Update(screen.PasteMsg(text))
		_ = next.View()
		next, _ = next.Update(key)
		if !strings.Contains(next.View(), "17,544 lines]a") {
			b.Fatal("it is not shown")
		}
	}
}
