package loop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
)

func started() loop.Started {
	return loop.Started{Message: harness.UserText("go"), Config: harness.RunConfig{Agent: "cairn@1", Model: "p/m"}}
}

func answer(stop harness.StopReason, calls ...string) loop.Answered {
	var parts []harness.Part
	if stop != harness.StopEmpty {
		parts = append(parts, harness.Part{Kind: harness.PartText, Text: "words"})
	}
	for _, name := range calls {
		parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "call_0", Name: name}})
	}
	return loop.Answered{Message: loop.Name("r", 1, "p/m", parts, harness.Usage{}, nil), Stop: stop, Attempt: 1}
}

func ended(id string) loop.Ended {
	return loop.Ended{Message: loop.Result(harness.ToolCall{ID: id, Name: "t"}, "ok", false, false)}
}

func TestNextAfterTheseRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		records []loop.Record
		want    string
	}{
		"a message asks the model":        {[]loop.Record{started()}, "CallModel 1"},
		"an answer ends the turn":         {[]loop.Record{started(), answer(harness.StopEnd)}, "Rest completed end_turn"},
		"a call is judged first":          {[]loop.Record{started(), answer(harness.StopTools, "t")}, "Judge r_1_1"},
		"calls count whatever the reason": {[]loop.Record{started(), answer(harness.StopEnd, "t")}, "Judge r_1_1"},
		"an allowed call runs":            {[]loop.Record{started(), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "allow"}}, "Exec r_1_1"},
		"a denied call is answered":       {[]loop.Record{started(), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "deny", Reason: "no"}}, "Settle r_1_1 permission denied: no"},
		"a question waits":                {[]loop.Record{started(), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "ask"}}, "Rest awaiting_input "},
		"calls go one by one":             {[]loop.Record{started(), answer(harness.StopTools, "t", "u"), ended("r_1_1")}, "Judge r_1_2"},
		"results go back to the model":    {[]loop.Record{started(), answer(harness.StopTools, "t"), ended("r_1_1")}, "CallModel 2"},
		"a cut answer goes on":            {[]loop.Record{started(), answer(harness.StopLength)}, "Note truncated_text"},
		"a cut call never runs":           {[]loop.Record{started(), answer(harness.StopLength, "t")}, "Settle r_1_1 not run: the reply was cut"},
		"a cut answer grows the budget":   {[]loop.Record{started(), answer(harness.StopLength, "t"), ended("r_1_1")}, "CallModel 2 grow 1"},
		"the fourth cut ends the turn":    {[]loop.Record{started(), answer(harness.StopLength), answer(harness.StopLength), answer(harness.StopLength), answer(harness.StopLength)}, "Rest completed max_tokens"},
		"a refusal runs nothing":          {[]loop.Record{started(), answer(harness.StopRefusal, "t")}, "Settle r_1_1 not run: the reply was stopped"},
		"an empty answer is nudged":       {[]loop.Record{started(), answer(harness.StopEmpty)}, "Note empty_reply"},
		"the third empty one fails":       {[]loop.Record{started(), answer(harness.StopEmpty), answer(harness.StopEmpty), answer(harness.StopEmpty)}, "Rest failed empty_reply"},
		"a pause is sent back":            {[]loop.Record{started(), answer(harness.StopPause)}, "CallModel 2"},
		"what rests is done":              {[]loop.Record{started(), loop.Rested{Status: harness.RunFailed}}, "Done"},
		"a failed run can be resumed":     {[]loop.Record{started(), loop.Rested{Status: harness.RunFailed}, loop.Resumed{}}, "CallModel 1"},
		"an exhausted run tries again":    {[]loop.Record{started(), answer(harness.StopEmpty), answer(harness.StopEmpty), answer(harness.StopEmpty), loop.Rested{Status: harness.RunFailed}, loop.Resumed{}}, "CallModel 4"},
		"a safe call runs again":          {[]loop.Record{started(), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "allow"}, loop.Began{CallID: "r_1_1", Repeatable: true}, loop.Resumed{}, loop.Judged{CallID: "r_1_1", Permission: "allow"}}, "Exec r_1_1"},
		"a resumed call is judged again":  {[]loop.Record{started(), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "allow"}, loop.Began{CallID: "r_1_1", Repeatable: true}, loop.Resumed{}}, "Judge r_1_1"},
		"a manual call is uncertain":      {[]loop.Record{started(), answer(harness.StopTools, "t"), loop.Judged{CallID: "r_1_1", Permission: "allow"}, loop.Began{CallID: "r_1_1"}, loop.Resumed{}}, "Rest awaiting_input r_1_1:uncertain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := describe(loop.Fold(c.records...).Next()); !strings.HasPrefix(got, c.want) {
				t.Errorf("next is %q, want %q", got, c.want)
			}
		})
	}
}

func describe(c loop.Command) string {
	switch c := c.(type) {
	case loop.CallModel:
		s := fmt.Sprintf("CallModel %d", c.Step)
		if c.Grow > 0 {
			s += fmt.Sprintf(" grow %d", c.Grow)
		}
		return s
	case loop.Judge:
		return "Judge " + c.Call.ID
	case loop.Exec:
		var ids []string
		for _, call := range c.Calls {
			ids = append(ids, call.ID)
		}
		return "Exec " + strings.Join(ids, " ")
	case loop.Settle:
		if c.Unknown {
			return "Settle " + c.Call.ID + " unknown " + c.Text
		}
		return "Settle " + c.Call.ID + " " + c.Text
	case loop.Note:
		return "Note " + c.Reason
	case loop.Rest:
		s := fmt.Sprintf("Rest %s %s", c.Status, c.Stop)
		for i, p := range c.Pending {
			if i > 0 {
				s += " "
			}
			s += p.Call.ID + ":"
			if p.Uncertain {
				s += "uncertain"
			} else {
				s += p.Digest
			}
		}
		return s
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", c), "loop.")
	}
}

func TestStepLimitAsksForAFinalAccount(t *testing.T) {
	t.Parallel()
	first := started()
	first.Config.MaxSteps = 1
	s := loop.Fold(first, answer(harness.StopTools, "t"), ended("r_1_1"))
	note, ok := s.Next().(loop.Note)
	if !ok || note.Reason != "iteration_limit" {
		t.Fatalf("next is %#v, want the note about the limit", s.Next())
	}
	s, cmd := loop.Step(s, loop.Noted{Reason: note.Reason, Message: note.Notice()})
	if c, ok := cmd.(loop.CallModel); !ok || !c.NoTools {
		t.Fatalf("next is %#v, want a call without tools", cmd)
	}
	s, cmd = loop.Step(s, answer(harness.StopTools, "t"))
	if _, ok := cmd.(loop.Settle); !ok {
		t.Fatalf("next is %#v, want the call answered and not run", cmd)
	}
	_, cmd = loop.Step(s, ended("r_1_1"))
	if r, ok := cmd.(loop.Rest); !ok || r.Stop != harness.StopSteps {
		t.Fatalf("next is %#v, want the end at the step limit", cmd)
	}
}

func TestCutAnswerAtTheStepLimitGetsNoFurtherStep(t *testing.T) {
	t.Parallel()
	for _, stop := range []harness.StopReason{harness.StopLength, harness.StopEmpty} {
		first := started()
		first.Config.MaxSteps = 1
		s := loop.Fold(first, answer(stop))
		if note, ok := s.Next().(loop.Note); !ok || note.Reason != "iteration_limit" {
			t.Errorf("after %s comes %#v, want the note about the limit", stop, s.Next())
		}
	}
}

func TestAttemptsCountTheFailedOnesToo(t *testing.T) {
	t.Parallel()
	a := answer(harness.StopPause)
	a.Attempt = 4
	s := loop.Fold(started(), a, answer(harness.StopPause))
	if s.Steps() != 2 || s.Attempts() != 5 {
		t.Errorf("%d steps in %d attempts, want 2 in 5", s.Steps(), s.Attempts())
	}
}

func TestNameKeepsArgumentsThatAreNoJSON(t *testing.T) {
	t.Parallel()
	m := loop.Name("r", 1, "p/m", []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "t", Input: json.RawMessage(`{"a`)}}}, harness.Usage{}, nil)
	if c := m.Calls()[0]; c.Malformed != `{"a` {
		t.Errorf("the call is %+v", c)
	}
	if _, err := json.Marshal(m); err != nil {
		t.Errorf("the answer cannot be stored: %v", err)
	}
}

func TestStepLeavesTheGivenStateAlone(t *testing.T) {
	t.Parallel()
	s := loop.Fold(started(), answer(harness.StopTools, "t", "u"))
	before := describe(s.Next())
	a, _ := loop.Step(s, ended("r_1_1"))
	b, _ := loop.Step(s, loop.Judged{CallID: "r_1_1", Permission: "deny"})
	if describe(s.Next()) != before || len(s.Messages()) != 2 {
		t.Error("the state given was changed")
	}
	if describe(a.Next()) == describe(b.Next()) {
		t.Error("two futures share their calls")
	}
}

func TestNameGivesCallsTheirOwnIDs(t *testing.T) {
	t.Parallel()
	call := func(id string) harness.Part {
		return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: "t"}}
	}
	m := loop.Name("run", 3, "p/m", []harness.Part{call("call_0"), call("call_0"), call("")}, harness.Usage{}, nil)
	want := []string{"run_3_1", "run_3_2", "run_3_3"}
	for i, c := range m.Calls() {
		if c.ID != want[i] || string(c.Input) != "{}" {
			t.Errorf("call %d is %+v, want id %s and {}", i, c, want[i])
		}
	}
	if m.Calls()[0].Origin != "call_0" {
		t.Error("the provider's id is gone")
	}
	if m := loop.Name("run", 1, "p/m", []harness.Part{{Kind: harness.PartText, Text: " \n"}}, harness.Usage{}, nil); m != nil {
		t.Errorf("an empty reply became %+v", m)
	}
}

func TestCancelAnswersEveryCall(t *testing.T) {
	t.Parallel()
	s := loop.Fold(started(), answer(harness.StopTools, "a", "b", "c"), ended("r_1_1"),
		loop.Judged{CallID: "r_1_2", Permission: "allow"}, loop.Began{CallID: "r_1_2"})
	records := loop.Cancel(s, &harness.Partial{Text: "half"}, "p/m", false, harness.StopCancelled)
	s = loop.Fold(append([]loop.Record{started(), answer(harness.StopTools, "a", "b", "c"), ended("r_1_1")}, records...)...)
	if s.Status() != harness.RunCancelled {
		t.Errorf("status %s", s.Status())
	}
	results := map[string]harness.ToolResult{}
	half := false
	for _, m := range s.Messages() {
		half = half || m.Mark == harness.MarkInterrupted && m.Text() == "half"
		for _, p := range m.Parts {
			if p.Result != nil {
				results[p.Result.CallID] = *p.Result
			}
		}
	}
	if !half || len(results) != 3 || !results["r_1_2"].Unknown || results["r_1_3"].Unknown {
		t.Errorf("half answer kept: %v, results %+v", half, results)
	}
}

func TestResumeKeepsTheHalfAnswer(t *testing.T) {
	t.Parallel()
	s := loop.Fold(started())
	p := &harness.Partial{Attempt: 2, Text: "half"}
	s2 := loop.Fold(append([]loop.Record{started()}, loop.Resume(s, harness.ResumeContinue, p, "p/m")...)...)
	if got := len(s2.Messages()); got != 3 {
		t.Errorf("%d messages in context after continue, want the half answer and the request to go on", got)
	}
	s3 := loop.Fold(append([]loop.Record{started()}, loop.Resume(s, harness.ResumeRetry, p, "p/m")...)...)
	if got := len(s3.Messages()); got != 1 {
		t.Errorf("%d messages in context after retry, want the question alone", got)
	}
}

func TestUnknownRecordIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := loop.Decode(loop.Encoded{Kind: "future"}); !errors.Is(err, loop.ErrUnknownRecord) {
		t.Errorf("err = %v", err)
	}
	if _, err := loop.Decode(loop.Encoded{Kind: "condensed"}); !errors.Is(err, harness.ErrDamaged) {
		t.Errorf("err = %v", err)
	}
	if _, err := loop.Decode(loop.Encoded{Kind: "judged", Data: json.RawMessage(`{"call":3}`)}); !errors.Is(err, harness.ErrDamaged) {
		t.Errorf("err = %v", err)
	}
}
