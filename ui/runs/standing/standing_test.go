package standing

import (
	"strings"
	"testing"

	"cairn/harness"
)

func TestARunElsewhereIsToldInWords(t *testing.T) {
	t.Parallel()
	self := harness.Holder{PID: 7, Host: "box"}
	worker := &harness.Holder{PID: 12, Host: "box", Purpose: "worker"}
	const db = "postgres://db:5432/runs"
	for name, c := range map[string]struct {
		run         harness.Run
		long, short string
		notes       string
	}{
		"of the store": {harness.Run{Engine: "bbolt", Status: harness.RunRunning, Worker: worker}, "", "", ""},
		"driven":       {harness.Run{Engine: db, Status: harness.RunRunning, Worker: worker}, "driven by pid 12", "in pid 12", "driven by worker pid 12 on box"},
		"driven here":  {harness.Run{Engine: db, Status: harness.RunRunning, Worker: &self}, "running here", "running here", ""},
		"waits": {
			harness.Run{Engine: db, Status: harness.RunRunning, Waits: "no worker has taken it"},
			"waits for a worker", "no worker", "waits: no worker has taken it",
		},
		"not fetched": {
			harness.Run{Engine: db, Status: harness.RunCompleted, Unfetched: 3},
			"finished, not fetched", "not fetched", "opening its session fetches 3 steps",
		},
		"behind": {harness.Run{Engine: db, Status: harness.RunPaused, Unfetched: 1}, "", "", "1 step not fetched yet"},
		"down": {
			harness.Run{Engine: db, Status: harness.RunRunning, Unreachable: "connection refused."},
			"unreachable", "unreachable", db + " cannot be reached: connection refused",
		},
		"down, named": {
			harness.Run{Engine: db, Status: harness.RunRunning, Unreachable: db + " does not answer"},
			"unreachable", "unreachable", db + " does not answer",
		},
		"interrupted": {harness.Run{Engine: db, Status: harness.RunRunning, Interrupted: true}, "", "", ""},
	} {
		long, short := Word(c.run, self)
		if notes := strings.Join(Notes(c.run, self), "|"); long != c.long || short != c.short || notes != c.notes {
			t.Errorf("%s: %q, %q, %q", name, long, short, notes)
		}
	}
}

func TestWhatWasFetchedIsCounted(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]harness.Fetched{
		"":                                    {},
		"1 step of a run on x was fetched":    {Entries: 1, Runs: 1},
		"3 steps of 2 runs on x were fetched": {Entries: 3, Runs: 2},
	} {
		if got := Fetched(f, []string{"x"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for why, want := range map[string]string{
		"": "no worker has taken the run", "no worker has taken it.": "no worker has taken the run",
		"its driver died, and no worker has taken it": "its driver died, and no worker has taken the run",
		"it lacks run_command":                        "no worker has taken the run (it lacks run_command)",
	} {
		if got := Unclaimed(why); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
}
