package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/harness/tool"
)

// dropped is a journal that loses the results of a tool for good.
type dropped struct {
	run.Journal

	err error
}

func (d *dropped) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	if entries[len(entries)-1].Kind == "ended" {
		return nil, d.err
	}
	return d.Journal.Append(ctx, l, id, after, entries...)
}

func TestUncertainCallIsDecidedWhereverTheRunRests(t *testing.T) {
	t.Parallel()
	for _, status := range []harness.RunStatus{harness.RunFailed, harness.RunRunning, harness.RunPaused} {
		for how, want := range map[harness.DecisionHow]string{
			harness.DecideResult: "the bank says so", harness.DecideRetry: "done: for pay", harness.DecideAbort: "",
		} {
			t.Run(string(status)+" "+string(how), func(t *testing.T) {
				t.Parallel()
				eachStore(t, func(t *testing.T, s store) {
					o := newOffice(t, s, "pay")
					o.leaveUncertain(status)
					w := o.enter(2, nil)
					runs, err := w.List(t.Context(), harness.RunFilter{Session: "s"})
					if err != nil || len(runs) != 1 || runs[0].Status != status {
						t.Fatalf("the runs are %+v, %v", runs, err)
					}
					info, err := w.Get(t.Context(), runs[0].ID)
					if err != nil || len(info.Pending) != 1 || !info.Pending[0].Uncertain || info.Pending[0].Call.Name != "pay" {
						t.Fatalf("it waits for %+v, %v", info.Pending, err)
					}
					h, err := w.Resolve(t.Context(), w.lease, info.ID, info.Pending[0], how, "the bank says so", "ada")
					if err != nil {
						t.Fatal(err)
					}
					res, err := h.Wait(t.Context())
					if err != nil || !strings.Contains(res.Text, want) || res.Status.Closed() == false {
						t.Errorf("%s it is %+v, %v", how, res, err)
					}
					if n := map[harness.DecisionHow]int{harness.DecideRetry: 2}[how]; o.count("pay") != max(n, 1) {
						t.Errorf("after %s it ran %d times", how, o.count("pay"))
					}
					if results, _ := o.stored(); how == harness.DecideAbort && !results["pay"].Unknown {
						t.Errorf("an abort says %+v of what may have happened", results["pay"])
					}
				})
			})
		}
	}
}

// leaveUncertain leaves a run whose manual call began and has no result, in the
// given status.
func (o *office) leaveUncertain(status harness.RunStatus) {
	o.t.Helper()
	// The results of this process are lost with its session, or because of
	// damage, which ends the run as failed.
	j := &dropped{Journal: o.journal, err: harness.ErrLost}
	if status == harness.RunFailed {
		j.err = harness.ErrDamaged
	}
	w := o.enter(1, j)
	if _, err := w.begin(); err != nil {
		o.t.Fatal(err)
	}
	if status == harness.RunPaused {
		// What the process itself would have stored if it had been paused.
		runs, err := o.journal.List(o.t.Context(), harness.RunFilter{Session: "s"})
		if err != nil {
			o.t.Fatal(err)
		}
		_, err = o.journal.Append(o.t.Context(), w.lease, runs[0].ID, runs[0].Cursor, run.Entry{
			At: time.Now(), Kind: "rested", Data: json.RawMessage(`{"status":"paused"}`), Status: harness.RunPaused,
		})
		if err != nil {
			o.t.Fatal(err)
		}
	}
	w.leave()
}

func TestPausedResultNamesWhatIsUncertain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := memory1()
		w := equip(t, s, calls("pay"), nil, newTool(t, "pay", tool.Manual, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}))
		h := w.start(t, "go", "")
		synctest.Wait()
		if err := w.Pause(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		res, err := h.Wait(t.Context())
		if err != nil || res.Status != harness.RunPaused || len(res.Pending) != 1 || !res.Pending[0].Uncertain {
			t.Errorf("the result is %+v, %v", res, err)
		}
		if got := w.status(t, h.ID()); len(got.Pending) != 1 || !got.Pending[0].Uncertain {
			t.Errorf("the run waits for %+v", got.Pending)
		}
	})
}

func TestRunTakenUpByADecisionTellsWhatElseWaits(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s store) {
		o := newOffice(t, s, "pay", "pay", "write")
		o.leaveUncertain(harness.RunRunning)
		w := o.enter(2, nil)
		runs, err := w.List(t.Context(), harness.RunFilter{Session: "s"})
		if err != nil || len(runs) != 1 {
			t.Fatalf("the runs are %+v, %v", runs, err)
		}
		info, err := w.Get(t.Context(), runs[0].ID)
		if err != nil || len(info.Pending) != 2 {
			t.Fatalf("it waits for %+v, %v", info.Pending, err)
		}
		h, err := w.Resolve(t.Context(), w.lease, info.ID, info.Pending[0], harness.DecideResult, "seen", "ada")
		if err != nil {
			t.Fatal(err)
		}
		told := ""
		for e := range h.Events(t.Context(), info.Cursor) {
			if e.Pending != nil {
				told += string(e.Type) + " " + e.Pending.Call.ID + ";"
			}
		}
		res, err := h.Wait(t.Context())
		if want := "recovery_required " + info.Pending[1].Call.ID + ";"; told != want || err != nil || res.Status != harness.RunAwaiting || len(res.Pending) != 1 {
			t.Errorf("watchers are told %q, want %q; the result is %+v, %v", told, want, res, err)
		}
		// The approval comes when nothing is uncertain any more.
		if h, err = w.Resolve(t.Context(), w.lease, info.ID, info.Pending[1], harness.DecideResult, "seen too", "ada"); err != nil {
			t.Fatal(err)
		}
		if res, err = h.Wait(t.Context()); err != nil || len(res.Pending) != 1 || res.Pending[0].Call.Name != "write" {
			t.Fatalf("the result is %+v, %v", res, err)
		}
		if text := o.over(w.Approve(t.Context(), w.lease, info.ID, res.Pending[0], "ada")); text != "seen|seen too|done: for write" || o.count("pay") != 2 {
			t.Errorf("it says %q, and what ran is %q", text, o.effects())
		}
	})
}

// held holds up a decision until it is let go.
type held struct {
	run.Journal

	here, letGo chan struct{}
}

func (h held) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	if entries[0].Kind == "decided" {
		close(h.here)
		<-h.letGo
	}
	return h.Journal.Append(ctx, l, id, after, entries...)
}

func TestCloseWhileADecisionIsUnderWayKeepsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t, memory1(), "write")
		journal := held{o.journal, make(chan struct{}), make(chan struct{})}
		w := o.enter(1, journal)
		info := w.waits()
		decided := make(chan harness.Result)
		go func() {
			h, err := w.Approve(t.Context(), w.lease, info.ID, info.Pending[0], "ada")
			if err != nil {
				t.Error(err)
				close(decided)
				return
			}
			res, err := h.Wait(t.Context())
			if err != nil {
				t.Error(err)
			}
			decided <- res
		}()
		<-journal.here
		closed := make(chan error)
		go func() { closed <- w.Close(t.Context()) }()
		synctest.Wait()
		close(journal.letGo)
		if res := <-decided; res.Status != harness.RunPaused || len(res.Pending) > 0 || o.count("write") != 0 {
			t.Errorf("the run is %+v, and %q ran", res, o.effects())
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		w.leave()
		next := o.enter(2, nil)
		if text := o.over(next.Resume(t.Context(), next.lease, info.ID, harness.ResumeContinue)); text != "done: for write" || o.count("write") != 1 {
			t.Errorf("resumed it says %q, and %q ran", text, o.effects())
		}
	})
}

func TestToolThatTakesTooLongHasAResultAndAsksNobody(t *testing.T) {
	t.Parallel()
	for _, replay := range []tool.Replay{tool.Manual, tool.Safe} {
		synctest.Test(t, func(t *testing.T) {
			ran := 0
			w := equip(t, memory1(), calls("pay"), nil, newTool(t, "pay", replay, func(ctx context.Context) (string, error) {
				ran++
				<-ctx.Done()
				return "", ctx.Err()
			}))
			h := w.start(t, "go", "")
			res, err := h.Wait(t.Context())
			if err != nil || res.Status != harness.RunCompleted || len(res.Pending) > 0 || ran != 1 {
				t.Errorf("a %s tool ran %d times, the result is %+v, %v", replay, ran, res, err)
			}
			var told *harness.ToolResult
			for e := range h.Events(t.Context(), 0) {
				if e.Result != nil {
					told = e.Result
				}
			}
			if told == nil || !told.Unknown || !told.Failed || !strings.Contains(told.Text, "timed out after 5m0s, outcome unknown") {
				t.Errorf("the model is told %+v", told)
			}
		})
	}
}
