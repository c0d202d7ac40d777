package loop_test

import (
	"testing"

	"pgregory.net/rapid"

	"cairn/harness"
	"cairn/harness/loop"
)

// Whatever comes back from models, tools and people, and wherever the program
// dies and goes on, a turn ends within its bounds, every call is answered
// exactly once, and nothing runs without the consent that it needs.
func TestEveryTurnEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := started()
		first.Config.MaxSteps = rapid.IntRange(1, 8).Draw(t, "limit")
		w := &walk{T: t, crashes: rapid.IntRange(0, 6).Draw(t, "crashes"), asked: 12, calls: map[string]*seen{}}
		cmd := w.take(first)
		for n := 0; !w.state.Status().Closed(); n++ {
			if n > 800 {
				t.Fatal("the turn does not end")
			}
			if w.crashes > 0 && rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
				w.crashes--
				cmd = w.take(resumed)
				continue
			}
			if done := cmd == (loop.Done{}); done && !w.rested() {
				break
			}
			w.says()
			for _, r := range w.outcome(cmd) {
				w.take(r)
			}
			cmd = w.state.Next()
		}
		w.heard()
		if w.goes > loop.MaxCondense {
			t.Errorf("old messages were condensed %d times", w.goes)
		}
		for _, m := range w.state.Messages() {
			for _, c := range m.Calls() {
				if n := w.call(c.ID).answered; n != 1 {
					t.Errorf("call %s was answered %d times", c.ID, n)
				}
			}
		}
	})
}

// walk is one way through a turn.
type walk struct {
	*rapid.T

	state   loop.State
	crashes int
	// asked bounds how often a call is asked about again.
	asked int
	// goes counts the condensings that were begun.
	goes  int
	calls map[string]*seen
	ids   []string
	// said counts what was said into the turn, told what of it was delivered.
	said int
	told []string
}

// seen is what the records said of one call, followed apart from the loop.
type seen struct {
	judged                loop.Judged
	consent               string
	manual, doubt, denied bool
	answered              int
}

func (w *walk) call(id string) *seen {
	if w.calls[id] == nil {
		w.calls[id] = &seen{}
		w.ids = append(w.ids, id)
	}
	return w.calls[id]
}

// take applies a record and follows it.
func (w *walk) take(r loop.Record) loop.Command {
	switch r := r.(type) {
	case loop.Judged:
		w.call(r.CallID).judged = r
	case loop.Decided:
		c := w.call(r.CallID)
		c.denied = !r.Approved
		if r.Approved {
			c.consent = r.Digest
		}
	case loop.Resolved:
		if r.How == harness.DecideRetry {
			w.call(r.CallID).doubt = false
		}
	case loop.Began:
		w.mayBegin(r)
	case loop.Delivered:
		w.mayHear(r)
	case loop.Ended:
		id := r.Message.Parts[0].Result.CallID
		w.call(id).answered++
		w.call(id).doubt = false
	}
	before := w.state
	kept := len(before.Messages())
	s, cmd := loop.Step(before, r)
	if len(before.Messages()) != kept {
		w.Fatal("the state given was changed")
	}
	if c, ok := r.(loop.Condensed); ok && (s.Count() < min(kept, loop.MinKept) || s.Count() < kept-c.Turn) {
		w.Errorf("condensing %d of %d messages left %d", c.Turn, kept, s.Count())
	}
	w.state = s
	return cmd
}

// mayBegin checks that a call may run.
func (w *walk) mayBegin(r loop.Began) {
	c := w.call(r.CallID)
	agreed := c.judged.Permission == "ask" && c.consent != "" && c.consent == c.judged.Digest
	switch {
	case c.denied:
		w.Errorf("%s runs though a person refused it", r.CallID)
	case c.judged.Permission != "allow" && !agreed:
		w.Errorf("%s runs with %+v and the consent to %q", r.CallID, c.judged, c.consent)
	case c.doubt && c.manual:
		w.Errorf("%s runs again and nobody said so", r.CallID)
	case c.answered > 0:
		w.Errorf("%s runs though it has a result", r.CallID)
	}
	c.doubt, c.manual = true, !r.Repeatable
}

// rested has a person decide something about a run that waits, and reports
// whether it goes on.
func (w *walk) rested() bool {
	waiting := w.state.Waiting()
	if w.state.Status() != harness.RunAwaiting {
		if len(waiting) > 0 && w.state.Status().Closed() {
			w.Errorf("a closed run waits for %+v", waiting)
		}
		return false
	}
	if len(waiting) == 0 {
		w.Fatal("the run waits for nothing")
	}
	p := rapid.SampledFrom(waiting).Draw(w.T, "pending")
	how := []harness.DecisionHow{harness.DecideApprove, harness.DecideApprove, harness.DecideDecline, harness.DecideAbort}
	switch {
	case p.Uncertain:
		how = []harness.DecisionHow{harness.DecideResult, harness.DecideRetry, harness.DecideRetry, harness.DecideAbort}
	case p.Question():
		how = []harness.DecisionHow{harness.DecideAnswer, harness.DecideDecline, harness.DecideAbort}
	}
	d := harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: rapid.SampledFrom(how).Draw(w.T, "how")}
	records, err := loop.Decide(w.state, d)
	if err != nil {
		w.Fatalf("%+v about %+v: %v", d, p, err)
	}
	for _, r := range records {
		w.take(r)
	}
	if w.state.Status() == harness.RunAwaiting && len(w.state.Waiting()) == 0 {
		w.take(decided)
	}
	return true
}

// judge draws a verdict. A call that was asked about often enough is asked
// about in the same words from then on.
func (w *walk) judge(c harness.ToolCall) loop.Judged {
	verdicts := []string{"allow", "allow", "ask", "ask", "deny"}
	if len(w.state.Before(c.ID)) > 0 {
		verdicts = append(verdicts, "later")
	}
	j := loop.Judged{
		CallID: c.ID, Permission: rapid.SampledFrom(verdicts).Draw(w.T, "verdict"),
		Sequential: rapid.IntRange(0, 5).Draw(w.T, "order") == 0,
	}
	if j.Permission == "ask" {
		j.Digest = "A"
		if w.asked--; w.asked > 0 {
			j.Digest = rapid.SampledFrom([]string{"A", "A", "B"}).Draw(w.T, "digest")
		}
		j.Proposal = &harness.Proposal{Kind: harness.ProposalCall}
		if c.Name == "ask" {
			j.Proposal.Kind = harness.ProposalQuestion
		}
	}
	return j
}

func (w *walk) outcome(cmd loop.Command) []loop.Record {
	switch c := cmd.(type) {
	case loop.CallModel:
		if c.Condense && rapid.IntRange(0, 3).Draw(w.T, "condense") == 0 {
			return []loop.Record{w.condense(c)}
		}
		return []loop.Record{w.answer(c)}
	case loop.Judge:
		return []loop.Record{w.judge(c.Call)}
	case loop.Exec:
		return w.exec(c)
	case loop.Settle:
		return []loop.Record{loop.Ended{Message: loop.Result(c.Call, c.Text, true, c.Unknown)}}
	case loop.Note:
		return []loop.Record{loop.Noted{Reason: c.Reason, Message: c.Notice()}}
	case loop.Deliver:
		return []loop.Record{c.Record()}
	case loop.Rest:
		if c.Status == harness.RunCompleted && len(w.state.Said()) > 0 {
			return w.refuses(c) // it is told when it stores the end
		}
		if c.Status == harness.RunAwaiting && len(c.Pending) == 0 {
			w.Fatal("the run is to wait for nothing")
		}
		return []loop.Record{loop.Rested{Status: c.Status, Stop: c.Stop, Error: c.Error}}
	default:
		return nil
	}
}

// condense draws what came of a condensing.
func (w *walk) condense(c loop.CallModel) loop.Record {
	if rapid.IntRange(0, 3).Draw(w.T, "fails") == 0 {
		return loop.Uncondensed{Reason: "x"}
	}
	if !c.More {
		w.goes++
	}
	return loop.Condensed{
		Condensed: harness.Condensed{Dropped: rapid.IntRange(0, 3).Draw(w.T, "dropped")},
		Turn:      rapid.IntRange(0, 9).Draw(w.T, "of the turn"),
		More:      rapid.Bool().Draw(w.T, "more"), Fruitless: rapid.IntRange(0, 3).Draw(w.T, "fruitless") == 0,
	}
}

func (w *walk) answer(c loop.CallModel) loop.Record {
	stop := rapid.SampledFrom([]harness.StopReason{harness.StopEnd, harness.StopTools, harness.StopTools, harness.StopLength, harness.StopPause, harness.StopRefusal, harness.StopEmpty}).Draw(w.T, "stop")
	var parts []harness.Part
	if stop != harness.StopEmpty {
		parts = append(parts, harness.Part{Kind: harness.PartText, Text: "x"})
		for range rapid.IntRange(0, 4).Draw(w.T, "calls") {
			name := rapid.SampledFrom([]string{"t", "t", "ask"}).Draw(w.T, "tool")
			parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: name}})
		}
	}
	return loop.Answered{Message: loop.Name("r", c.Step, "p/m", parts, harness.Usage{}, nil), Stop: stop}
}

// exec judges the calls again, as drivers do, and lets those begin that may. Some
// of them end, in any order; a crash leaves the others without an end.
func (w *walk) exec(c loop.Exec) []loop.Record {
	var records []loop.Record
	var running []harness.ToolCall
	for _, call := range c.Calls {
		j := w.call(call.ID).judged
		if rapid.IntRange(0, 9).Draw(w.T, "changed") == 0 {
			j = w.judge(call)
			records = append(records, j)
		}
		if j.Permission == "allow" || j.Permission == "ask" && j.Digest == w.state.Approved(call.ID) {
			records = append(records, loop.Began{CallID: call.ID, Repeatable: rapid.Bool().Draw(w.T, "repeatable")})
			running = append(running, call)
		}
	}
	running = rapid.Permutation(running).Draw(w.T, "order of ends")
	if w.crashes > 0 && rapid.IntRange(0, 2).Draw(w.T, "dies") == 0 {
		w.crashes--
		running = running[:rapid.IntRange(0, len(running)).Draw(w.T, "ended")]
		for _, call := range running {
			records = append(records, loop.Ended{Message: loop.Result(call, "ok", false, false)})
		}
		return append(records, resumed)
	}
	for _, call := range running {
		records = append(records, loop.Ended{Message: loop.Result(call, "ok", false, false)})
	}
	return records
}
