package plain_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// What is said where there is no memory is not read for it later, either: the run
// says so.
func TestTurnsOfAStartWithoutMemoryAreKnownAsSuch(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := deps(w.Deps("talk", true))
		d.Chat.Facts, d.Chat.Notes = nil, nil
		start(t, d).say("hello").wait(time.Second)
		all, err := w.Store.Journal().List(t.Context(), harness.RunFilter{})
		if err != nil || len(all) != 1 || !all[0].Config.NoMemory {
			t.Errorf("the runs are %+v, %v", all, err)
		}
	})
}
