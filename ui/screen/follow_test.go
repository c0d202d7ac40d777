//go:build unix

package screen

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// A terminal that does not tell of its background is asked again when the person
// comes back to it, seldom, and not while they type.
func TestTheBackgroundIsAskedForAgainOnTheWayBack(t *testing.T) {
	t.Parallel()
	key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a")}
	for name, c := range map[string]struct {
		scheme bool
		known  *BackgroundMsg
		// steps are messages from the terminal, or the time that passes.
		steps []any
		asked int
		told  string
	}{
		"it was light, and is dark":    {steps: []any{reply{false}, 10 * time.Second, FocusMsg{true}, reply{true}}, asked: 1, told: "false true"},
		"it has just been asked":       {steps: []any{reply{false}, time.Second, FocusMsg{true}}, told: "false"},
		"back and forth":               {steps: []any{reply{false}, 6 * time.Second, FocusMsg{true}, reply{false}, FocusMsg{false}, FocusMsg{true}, 6 * time.Second, FocusMsg{true}, reply{true}}, asked: 2, told: "false false true"},
		"only those who leave":         {steps: []any{reply{false}, 10 * time.Second, FocusMsg{false}}, told: "false"},
		"while somebody types":         {steps: []any{reply{false}, 10 * time.Second, key, FocusMsg{true}}, told: "false"},
		"after somebody typed":         {steps: []any{reply{false}, 10 * time.Second, key, 2 * time.Second, FocusMsg{true}}, asked: 1, told: "false"},
		"it never answered":            {steps: []any{10 * time.Second, FocusMsg{true}}},
		"it answered late":             {steps: []any{2 * time.Second, reply{false}, 10 * time.Second, FocusMsg{true}, reply{false}}, asked: 1, told: "false"},
		"the second answer comes late": {steps: []any{reply{false}, 10 * time.Second, FocusMsg{true}, 2 * time.Second, reply{true}, reply{true}}, asked: 1, told: "false"},
		"nobody asked":                 {steps: []any{reply{false}, reply{true}, 10 * time.Second, reply{true}}, told: "false"},
		"it tells by itself":           {scheme: true, steps: []any{reply{false}, 10 * time.Second, FocusMsg{true}, scheme{true}}, told: "false true"},
		"the environment knows":        {known: &BackgroundMsg{Dark: true}, steps: []any{10 * time.Second, FocusMsg{true}, reply{false}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var out bytes.Buffer
			s := &Screen{log: slog.New(slog.DiscardHandler), now: func() time.Time { return now }, out: &out, opened: now, active: true, known: c.known}
			s.able.Scheme = c.scheme
			for _, step := range c.steps {
				if d, ok := step.(time.Duration); ok {
					now = now.Add(d)
					continue
				}
				s.take(step)
			}
			var told []string
			for _, msg := range s.early {
				if b, ok := msg.(BackgroundMsg); ok {
					told = append(told, fmt.Sprint(b.Dark))
				}
			}
			if n := strings.Count(out.String(), askBackground); n != c.asked || strings.Join(told, " ") != c.told {
				t.Errorf("asked %d times and told %v; want %d and %s", n, told, c.asked, c.told)
			}
		})
	}
}
