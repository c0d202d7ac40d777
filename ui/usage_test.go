package ui_test

import (
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui/uitest"
)

func TestUsageIsShownOverTheChat(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps := w.Deps("talk", false)
		deps.Ledger = w.Store.Ledger()
		if err := deps.Ledger.Book(t.Context(), "talk", "p/parrot", harness.Usage{Input: 1_200, Output: 34, Cost: 0.5, CostKnown: true}); err != nil {
			t.Fatal(err)
		}
		d := w.Start(deps, 80, 24)
		d.Type("/usage").Press("enter").Wait(time.Second).Shows("Usage · by day", "today", "$0.50", "1,200 tokens in", "BY MODEL", "p/parrot")
		d.Press("tab").Shows("by model").Press("tab").Wait(time.Second).Shows("by session", "Our talk")
		d.Press("f1").Shows("Help · usage").Press("esc").Shows("by session").Press("esc").Hides("Usage").Shows("hello yourself")
		d.Type("/cost").Press("enter").Wait(time.Second).Shows("Usage · by day").Press("esc").Hides("Usage")
	})
}

func TestUsageIsSaidToBeMissingWithoutALedger(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := w.Open("talk", 80, 24)
		d.Type("/usage").Press("enter").Wait(time.Second).Shows("No account of days and models is kept here.", "this session").Press("esc").Hides("No account")
	})
}
