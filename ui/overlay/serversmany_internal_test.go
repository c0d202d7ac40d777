package overlay

import (
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/themes"
)

// A server may offer thousands of things, and each is laid out at each key.
func TestOfManyThingsOfAServerAFewAreListed(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	x := harness.ServerStatus{Name: "s", State: harness.ServerReady}
	for i := range 1000 {
		x.Tools = append(x.Tools, harness.ServerTool{Name: fmt.Sprint("tool", i), Help: strings.Repeat("é\u0301 ", 4000)})
		x.Resources = append(x.Resources, harness.ServerResource{URI: fmt.Sprint("x://", i)})
		x.Prompts = append(x.Prompts, harness.ServerPrompt{Name: fmt.Sprint("p", i)})
	}
	s := NewServers(t.Context(), ServersConfig{Theme: theme})
	s.list, s.sel, s.read = []harness.ServerStatus{x}, "s", true
	lines := s.details(80)
	text := strings.Join(lines, "\n")
	if len(lines) > 3000 || strings.Count(text, "and 800 more: cairn mcp test s lists them") != 3 || !strings.Contains(text, "tool7") {
		t.Errorf("%d lines are laid out: %.2000s", len(lines), text)
	}
}
