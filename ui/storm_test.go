package ui_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"cairn/ui/uitest"
)

// TestAStormOfSizesLeavesNoTrace changes the size of the terminal at random on every
// screen, between keys and while text streams. What the terminal shows then is what
// a fresh one of that size shows.
func TestAStormOfSizesLeavesNoTrace(t *testing.T) {
	tiny := [][2]int{{0, 0}, {1, 1}, {2, 2}, {10, 3}, {200, 1}, {1, 60}, {200, 60}, {40, 10}}
	keys := []string{"down", "up", "pgdown", "pgup", "end", "home", "x", "ctrl+o", "right", "left", "backspace"}
	for _, p := range everyScreen() {
		t.Run(p.name, func(t *testing.T) {
			for seed := range uint64(2) {
				in(t, func(t *testing.T, w *uitest.World) {
					r := rand.New(rand.NewPCG(seed, 11))
					d := visit(t, w, p, 100, 30)
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
