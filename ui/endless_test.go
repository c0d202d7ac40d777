package ui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/ui/uitest"
)

func TestALineOfAHundredKilobytesIsSentAsItWasPasted(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		long := strings.Repeat("0123456789 模板\tab ", 100<<10/20)
		w.Model.Then(uitest.Says("a long line"))
		d := w.Open("talk", 80, 24)
		d.Type("see ").Paste(long).Shows("> see [pasted").Type(" ok").Press("enter").Wait(time.Second)
		if got := asked(w); len(got) != 1 || got[0] != "see "+long+" ok" {
			t.Fatalf("%d messages are sent, and not what was pasted", len(got))
		}
		d.Shows("a long line")
	})
}

// TestEndlessNewLinesOfAThoughtAreLittleWork counts what a window is told of a
// hundred thousand pieces of a thought, each of which is a line end: it hears of many
// at once, so that there is time for keys.
func TestEndlessNewLinesOfAThoughtAreLittleWork(t *testing.T) {
	for name, key := range map[string]string{"folded": "", "open": "ctrl+t"} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *uitest.World) {
				const pieces, every = 100_000, 20 * time.Microsecond
				thought := strings.Repeat("\n", pieces)
				w.Model.Then(func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
					for range pieces {
						select {
						case <-time.After(every):
						case <-ctx.Done():
							return model.Reply{}, ctx.Err()
						}
						emit(model.Delta{Kind: model.DeltaThinking, Text: "\n"})
					}
					return model.Reply{Stop: harness.StopEnd, Model: "test/parrot", Parts: []harness.Part{
						{Kind: harness.PartThinking, Text: thought}, {Kind: harness.PartText, Text: "so it is"},
					}}, nil
				})
				d := w.Open("talk", 80, 24)
				if key != "" {
					d.Press(key)
				}
				d.Type("go").Press("enter")
				before := d.Updates()
				for i := range 10 {
					d.Wait(pieces * every / 10).Type("x")
					if !strings.Contains(d.Screen(), "> "+strings.Repeat("x", i+1)) {
						t.Fatalf("key %d is not to be seen:\n%s", i, d.Screen())
					}
				}
				told := d.Updates() - before
				d.Wait(time.Second).Shows("so it is")
				if told < 10 || told > 200 {
					t.Errorf("%d updates in two seconds", told)
				}
			})
		})
	}
}
