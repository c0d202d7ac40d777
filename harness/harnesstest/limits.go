package harnesstest

import (
	"fmt"
	"sync"
	"testing"

	"cairn/harness"
)

// TestLimits tests a [harness.Limits].
func TestLimits(t *testing.T, open Open) {
	t.Parallel()
	run(t, "nothing is known of a model that was never refused anything", open, func(t *testing.T, s Stores) {
		wantLimits(t, s, "p/m", 0, 0)
		must(t, s.Limits.Learn(ctx(t), "p/m", harness.LearnedLimits{}))
		wantLimits(t, s, "p/m", 0, 0)
	})
	run(t, "the newest number counts and the other stays", open, testLearn)
	run(t, "models share nothing", open, testLimitsApart)
	run(t, "nonsense is refused and changes nothing", open, testLimitsRefused)
	run(t, "nothing is lost of what is learned at the same time", open, testLearnTogether)
}

// wantLimits ends the test unless just this was learned of a model.
func wantLimits(t *testing.T, s Stores, model string, window, reply int) {
	t.Helper()
	got := value[harness.LearnedLimits](t)(s.Limits.Get(ctx(t), model))
	if want := (harness.LearnedLimits{Window: window, Reply: reply}); got != want {
		t.Fatalf("%s: learned %+v, want %+v", model, got, want)
	}
}

func testLearn(t *testing.T, s Stores) {
	for _, c := range []struct{ window, reply, wantWindow, wantReply int }{
		{8_192, 0, 8_192, 0},
		{0, 4_096, 8_192, 4_096},
		{6_000, 0, 6_000, 4_096},
		{0, 0, 6_000, 4_096},
		{32_768, 8_000, 32_768, 8_000},
		{0, 1, 32_768, 1},
	} {
		must(t, s.Limits.Learn(ctx(t), "p/m", harness.LearnedLimits{Window: c.window, Reply: c.reply}))
		wantLimits(t, s, "p/m", c.wantWindow, c.wantReply)
		s = s.Reopen()
		wantLimits(t, s, "p/m", c.wantWindow, c.wantReply)
	}
}

func testLimitsApart(t *testing.T, s Stores) {
	models := []string{"p/m", "q/m", "p/m-2", "p/m/m", "openrouter/p/m", "P/m", "p/M", "p/ m", "p/日本"}
	for i, m := range models {
		must(t, s.Limits.Learn(ctx(t), m, harness.LearnedLimits{Window: 1_000 + i}))
	}
	s = s.Reopen()
	for i, m := range models {
		wantLimits(t, s, m, 1_000+i, 0)
	}
	wantLimits(t, s, "q/m-2", 0, 0)
	wantLimits(t, s, "r/m", 0, 0)
}

func testLimitsRefused(t *testing.T, s Stores) {
	must(t, s.Limits.Learn(ctx(t), "p/m", harness.LearnedLimits{Window: 9, Reply: 8}))
	for _, m := range []string{"", "m", "/m", "p/", "/"} {
		if err := s.Limits.Learn(ctx(t), m, harness.LearnedLimits{Window: 1}); err == nil {
			t.Fatalf("%q was taken for a model", m)
		}
		if got, err := s.Limits.Get(ctx(t), m); err == nil {
			t.Fatalf("%q is known as a model with %+v", m, got)
		}
	}
	for _, l := range []harness.LearnedLimits{{Window: -1}, {Reply: -1}, {Window: 5, Reply: -1}} {
		if err := s.Limits.Learn(ctx(t), "p/m", l); err == nil {
			t.Fatalf("%+v was taken", l)
		}
	}
	wantLimits(t, s, "p/m", 9, 8)
}

func testLearnTogether(t *testing.T, s Stores) {
	const n = 8
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			l := harness.LearnedLimits{Window: 1_000 + i/2}
			if i%2 == 1 {
				l = harness.LearnedLimits{Reply: 100 + i/2}
			}
			errs[i] = s.Limits.Learn(ctx(t), fmt.Sprintf("p/m%d", i/2), l)
		})
	}
	all.Wait()
	for _, err := range errs {
		must(t, err)
	}
	s = s.Reopen()
	for i := range n / 2 {
		wantLimits(t, s, fmt.Sprintf("p/m%d", i), 1_000+i, 100+i)
	}
}
