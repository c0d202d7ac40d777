package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cairn/ui/browser"
	"cairn/ui/picker"
	"cairn/ui/render"
)

// A screen lists the keys of its present state alone, and those of all its
// states apart; none may be forgotten there, or a binding of it would be refused.
func TestEveryActionIsKnown(t *testing.T) {
	t.Parallel()
	action := regexp.MustCompile(`Action: *"([a-z.-]+)"`)
	for screen, bindings := range map[string][]render.Binding{
		"picker": picker.Actions(), "browser": browser.Actions(),
	} {
		known := ""
		for _, b := range bindings {
			known += `"` + b.Action + `"`
		}
		sources, err := filepath.Glob("../" + screen + "/*.go")
		if err != nil || len(sources) == 0 {
			t.Fatalf("no sources of the %s (%v)", screen, err)
		}
		for _, name := range sources {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range action.FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains(known, `"`+m[1]+`"`) {
					t.Errorf("%s has the action %s, which its Actions do not name", name, m[1])
				}
			}
		}
	}
}
