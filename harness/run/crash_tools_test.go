package run_test

import (
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
)

// writes is how many times a whole turn of an office writes to its journal: the
// message, the answer, what begins, two results, the rest, the decision, what
// begins then, its result, the last answer and the end.
const writes = 11

// Whatever write the program dies at, a person who comes back is shown the same,
// decides once, and every manual tool has run at most once.
func TestToolsOverACrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	for name, open := range stores(t) {
		for _, second := range []string{"note", "pay"} {
			for _, how := range []harness.DecisionHow{harness.DecideApprove, harness.DecideDecline} {
				for _, lost := range []bool{true, false} {
					for n := 1; n <= writes+1; n++ {
						t.Run(fmt.Sprintf("%s/%s/%s/lost=%v/at=%d", name, second, how, lost, n), func(t *testing.T) {
							t.Parallel()
							o := newOffice(t, open(t), "look", second, "write")
							o.dieAt(1, n, lost, how)
							o.finish(how)
						})
					}
				}
			}
		}
	}
}

// The same with two crashes, of which the second hits the one who came back.
func TestToolsOverTwoCrashes(t *testing.T) {
	t.Parallel()
	open := stores(t)["mem"]
	for _, lost := range []bool{true, false} {
		for n := 2; n <= writes; n++ {
			for m := 1; m <= 6; m++ {
				t.Run(fmt.Sprintf("lost=%v/at=%d+%d", lost, n, m), func(t *testing.T) {
					t.Parallel()
					o := newOffice(t, open(t), "look", "pay", "write")
					o.dieAt(1, n, lost, harness.DecideApprove)
					o.dieAgainAt(2, m, !lost)
					o.finish(harness.DecideApprove)
				})
			}
		}
	}
}

// dieAt has a process do the turn that dies at its n-th write.
func (o *office) dieAt(pid, n int, lost bool, how harness.DecisionHow) {
	o.t.Helper()
	first := o.enter(pid, &crashing{Journal: o.journal, left: n, lost: lost})
	res, err := first.begin()
	if err == nil && res.Status == harness.RunAwaiting {
		res, err = first.decide(res.Run, res.Pending, how)
	}
	if dead := err != nil || res.Error != nil; dead != (n <= writes) && how == harness.DecideApprove {
		o.t.Fatalf("the turn makes another number of writes than %d: at %d it gives %+v, %v", writes, n, res, err)
	}
	first.leave()
}

// dieAgainAt has a process take the run up that dies at its m-th write, if it
// comes to that.
func (o *office) dieAgainAt(pid, m int, lost bool) {
	o.t.Helper()
	second := o.enter(pid, &crashing{Journal: o.journal, left: m, lost: lost})
	defer second.leave()
	ctx := o.t.Context()
	runs, err := second.List(ctx, harness.RunFilter{Session: "s", Unfinished: true})
	if err != nil || len(runs) != 1 {
		return // it died before it began, or at the very end
	}
	for range 4 {
		info, err := second.Get(ctx, runs[0].ID)
		if err != nil || info.Status.Closed() {
			return
		}
		if len(info.Pending) > 0 {
			_, err = second.decide(info.ID, info.Pending, harness.DecideApprove)
		} else {
			var h harness.RunHandle
			if h, err = second.Resume(ctx, second.lease, info.ID, harness.ResumeContinue); err == nil {
				_, err = h.Wait(ctx)
			}
		}
		if err != nil {
			return // dead
		}
	}
}

// finish has a person come back and checks what is left.
func (o *office) finish(how harness.DecisionHow) {
	o.t.Helper()
	before, consents := o.stored()
	looks := o.count("look")
	last := o.enter(99, nil)
	defer last.leave()
	runs, err := last.List(o.t.Context(), harness.RunFilter{Session: "s"})
	if err != nil {
		o.t.Fatal(err)
	}
	if len(runs) == 0 {
		if n := len(o.effects()); n != 0 {
			o.t.Errorf("a turn that never began left %d lines", n)
		}
		return
	}
	last.work(how)
	results, _ := o.stored()
	for _, c := range o.wanted {
		if _, ok := results[c.Name]; !ok {
			o.t.Errorf("%s has no result", c.Name)
		}
	}
	if consents > 0 && last.asked > 0 {
		o.t.Errorf("it was asked %d times for what was approved before", last.asked)
	}
	if _, had := before["look"]; had && o.count("look") != looks {
		o.t.Error("what had a result was run again")
	}
	o.check(how, results)
}

// check looks at the lines that the tools left.
func (o *office) check(how harness.DecisionHow, results map[string]harness.ToolResult) {
	o.t.Helper()
	for _, c := range o.wanted {
		n, r := o.count(" "+c.Name+" "), results[c.Name]
		if r.Unknown {
			o.t.Errorf("%s has no known result: %+v", c.Name, r)
		}
		switch c.Name {
		case "look":
			if n < 1 || r.Text != "done: for look" {
				o.t.Errorf("look ran %d times with %q", n, r.Text)
			}
		case "note":
			if n != 1 {
				o.t.Errorf("note left %d lines", n)
			}
		case "pay":
			if n > 1 || n == 0 && r.Text != "seen" {
				o.t.Errorf("pay ran %d times with %q", n, r.Text)
			}
		case "write":
			declined := strings.HasPrefix(r.Text, "permission denied by the person")
			if n > 1 || declined != (how == harness.DecideDecline) || declined && n > 0 || r.Text == "done: for write" && n != 1 {
				o.t.Errorf("write ran %d times with %q", n, r.Text)
			}
		}
	}
}
