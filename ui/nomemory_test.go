package ui_test

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
		var all []harness.RunConfig
		d := w.Deps("talk", true)
		d.Facts, d.Notes, d.Engine = nil, nil, started{d.Engine, &all}
		w.Start(d, 80, 24).Type("hello").Press("enter").Wait(time.Second)
		if len(all) != 1 || !all[0].NoMemory {
			t.Errorf("the runs are %+v", all)
		}
	})
}
