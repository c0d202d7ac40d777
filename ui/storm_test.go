package ui_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/uitest"
)

// everyScreen are the screens and overlays, each with what opens it from a chat that is
// just open.
func everyScreen() map[string]func(d *uitest.Driver) {
	press := func(keys ...string) func(d *uitest.Driver) { return func(d *uitest.Driver) { d.Press(keys...) } }
	command := func(text string) func(d *uitest.Driver) {
		return func(d *uitest.Driver) { d.Type(text).Press("enter").Wait(time.Second) }
	}
	return map[string]func(d *uitest.Driver){
		"chat": press(), "details": press("ctrl+o", "ctrl+t"), "streaming": func(d *uitest.Driver) { d.Type("tell me").Press("enter") },
		"typed": func(d *uitest.Driver) { d.Type("/re").Paste("two\nlines 模板 👩‍👩‍👧‍👦 é") }, "search": press("ctrl+r"),
		"sessions": press("ctrl+s"), "memory": press("ctrl+x", "f"), "runs": press("ctrl+x", "r"), "branches": press("ctrl+x", "g"),
		"help": press("f1"), "permissions": command("/permissions"), "usage": command("/usage"), "context": command("/context"),
		"result": command("/result"), "keys": command("/keys test"), "inbox": command("/inbox"), "notes": command("/notes"),
		"approval": func(d *uitest.Driver) { d.Type("approve").Press("enter").Wait(5 * time.Second) },
		"palette":  press("ctrl+p"), "models": press("ctrl+l"), "themes": command("/theme"), "selecting": press("tab"),
		"marked": func(d *uitest.Driver) {
			d.Send(tea.MouseMsg{X: 2, Y: 3, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			d.Send(tea.MouseMsg{X: 9, Y: 6, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion})
		},
	}
}

// stormy is a world with something on every screen.
func stormy(t *testing.T, w *uitest.World) {
	t.Helper()
	invoices(w)
	w.Tell("two", "Second 模板 talk", time.Now(), "hello", "hello *two*\n\n| a | 其他国家 |\n|---|---|\n| عربي | e\u0301 |\n")
	for _, text := range []string{"Lives in Porto", "喜欢 table tests"} {
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: text, By: harness.ByYou, State: harness.StateActive}, ""); err != nil {
			t.Fatal(err)
		}
	}
	shell(w, goTest+"\nsecond line 👩‍👩‍👧‍👦")
}

// TestAStormOfSizesLeavesNoTrace changes the size of the terminal at random on every
// screen, between keys and while text streams. What the terminal shows then is what
// a fresh one of that size shows.
func TestAStormOfSizesLeavesNoTrace(t *testing.T) {
	tiny := [][2]int{{0, 0}, {1, 1}, {2, 2}, {10, 3}, {200, 1}, {1, 60}, {200, 60}, {40, 10}}
	keys := []string{"down", "up", "pgdown", "pgup", "end", "home", "x", "ctrl+o", "right", "left", "backspace"}
	for name, open := range everyScreen() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2) {
				in(t, func(t *testing.T, w *uitest.World) {
					r := rand.New(rand.NewPCG(seed, 11))
					stormy(t, w)
					if name != "approval" {
						w.Model = new(uitest.Script)
						w.Engine = w.NewEngine()
					}
					if name == "streaming" {
						w.Model.Then(uitest.Says("one ", "two **three** ", "```go\nx := 1\n", "y := 2\n```\n", "- 模板\n", "- b\n\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "\nend of it"))
					}
					d := w.Open("q3", 100, 30)
					open(d)
					g := behindGlass(t, d, 100, 30)
					for step := range 25 {
						switch r.IntN(5) {
						case 0, 1:
							g.resize(1+r.IntN(200), 1+r.IntN(60))
						case 2:
							s := tiny[r.IntN(len(tiny))]
							g.resize(s[0], s[1])
						case 3:
							g.Wait(time.Duration(r.IntN(150)) * time.Millisecond)
							g.show()
						default:
							g.Press(keys[r.IntN(len(keys))])
							g.show()
						}
						if diff := g.differs(); diff != "" {
							t.Fatalf("seed %d, step %d: %s", seed, step, diff)
						}
					}
					g.resize(80, 24)
					if diff := g.differs(); diff != "" {
						t.Fatal(fmt.Sprintf("seed %d: ", seed) + diff)
					}
				})
			}
		})
	}
}
