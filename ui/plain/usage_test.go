package plain_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

// broken is a ledger that cannot be read.
type broken struct{ harness.Ledger }

func (broken) Days(context.Context, time.Time, time.Time) ([]harness.DayUsage, error) {
	return nil, errors.New("the disk is on fire")
}

func TestUsageIsToldByDayModelAndSession(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		book := func(id harness.SessionID, model string, u harness.Usage) {
			if err := w.Store.Ledger().Book(t.Context(), id, model, u); err != nil {
				t.Fatal(err)
			}
		}
		book("talk", "p/\x1b[2Jparrot", harness.Usage{Input: 1_200, Output: 34, Cost: 0.5, CostKnown: true})
		book("gone", "own/llama", harness.Usage{Input: 70, Output: 5})
		d := deps(w.Deps("talk", false))
		d.Ledger = w.Store.Ledger()
		start(t, d).say("/usage").shows(
			"today: at least $0.50, 1,270 tokens in, 39 out", "p/␛[2Jparrot: $0.50, 1,200 tokens in, 34 out",
			"own/llama: cost unknown, 70 tokens in, 5 out", "this session: $0.50, 1,200 tokens in, 34 out", "the last 14 days: at least $0.50")
	})
}

func TestUsageSaysWhatIsNotKeptAndWhatFailed(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := deps(w.Deps("talk", true))
		start(t, d).say("/usage").shows("this session: nothing", "no account of days and models is kept here")
		d = deps(w.Deps("other", true))
		d.Ledger = broken{}
		start(t, d).say("/cost").shows("the disk is on fire")
	})
}
