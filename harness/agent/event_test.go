package agent

import (
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/memory/condense"
	"cairn/harness/tool/ask"
)

// Every recovery is told as one line in words.
func TestEachRecoveryIsOneLine(t *testing.T) {
	t.Parallel()
	said := harness.AssistantText("so far")
	call := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "c", Name: "t"}}}}
	noted := func(reason string) loop.Record {
		return loop.Noted{Reason: reason, Message: loop.Note{Text: "x"}.Notice()}
	}
	for name, c := range map[string]struct {
		record loop.Record
		want   string
	}{
		"interrupted":         {noted(loop.ReasonInterrupted), "half answer"},
		"truncated_text":      {noted(loop.ReasonText), "cut at the model's limit; going on"},
		"truncated_tool_call": {loop.Answered{Message: &call, Stop: harness.StopLength}, "in the middle of a tool call, which is not run"},
		"empty_reply":         {noted(loop.ReasonEmpty), "answered nothing"},
		"paused_turn":         {loop.Answered{Message: &said, Stop: harness.StopPause}, "paused the answer; going on"},
		"iteration_limit":     {noted(loop.ReasonSteps), "limit of steps"},
		"repetition":          {noted(loop.ReasonRepetition), "in circles"},
		"unfinished_plan":     {noted(loop.ReasonPlan), "task list"},
		"uncondensed":         {loop.Uncondensed{Reason: "it cannot be condensed"}, "it cannot be condensed"},
		"a plain answer":      {loop.Answered{Message: &said, Stop: harness.StopEnd}, ""},
		"a call":              {loop.Answered{Message: &call, Stop: harness.StopTools}, ""},
	} {
		var lines []string
		for i, e := range EventsOf(loop.State{}, c.record, Stored{Seq: 7}, time.Time{}) {
			if e.Type == harness.EventRecovery {
				lines = append(lines, e.Text)
			}
			if (e.Seq > 0) != (i == 0) {
				t.Errorf("%s: event %d acknowledges %d", name, i, e.Seq)
			}
		}
		if c.want == "" && len(lines) > 0 || c.want != "" && (len(lines) != 1 || !strings.Contains(lines[0], c.want) || strings.ContainsAny(lines[0], "_\n")) {
			t.Errorf("%s is told as %q", name, lines)
		}
	}
}

func TestACondensingIsToldWithItsNumbers(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]harness.Condensed{
		"condensed 212 messages into a note of 4 characters; the request has about 3,100 tokens now, before 12,400": {Note: "nöte", Dropped: 212, Before: 12_400, After: 3_100},
		"left out 1 old tool result; the request has about 90 tokens now, before 100":                               {Cleared: 1, Before: 100, After: 90},
		"left out 2 old tool results and condensed 1 message into a note of 1 character":                            {Note: "n", Cleared: 2, Dropped: 1, Before: 5, After: 5},
		"nothing could be condensed": {},
	} {
		if got := toldOf(c); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

func TestWhatIsLeftOutIsToldWithThePrice(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		dropped int
		plan    condense.Plan
	}{
		"there is no room for 1,234 old messages in this request; /compact would condense the old part of the conversation: 5 calls, about 61,000 tokens, about $0.42":    {1_234, condense.Plan{Calls: 5, Tokens: 61_000, Cost: 0.421, CostKnown: true}},
		"there is no room for 1 old message in this request; /compact would condense the old part of the conversation: 3 calls, about 900 tokens":                         {1, condense.Plan{Calls: 3, Tokens: 900, CostKnown: true}},
		"there is no room for 78 old messages and those before in this request; /compact would condense the old part of the conversation, and says first what that takes": {78, condense.Plan{Calls: 3, Tokens: 900, CostKnown: true, More: true}},
		"/compact would condense the old part of the conversation: 3 calls, about 900 tokens, at a price that is not known":                                               {0, condense.Plan{Calls: 3, Tokens: 900}},
	} {
		if got := leftOut(c.dropped, c.plan); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// The loop knows the tool by its name alone.
func TestTheTaskListIsThatOfTheTool(t *testing.T) {
	t.Parallel()
	if loop.TasksTool != ask.TodosTool {
		t.Errorf("the loop looks for %q, the tool is %q", loop.TasksTool, ask.TodosTool)
	}
}

func TestNumbersFollowTheMessages(t *testing.T) {
	t.Parallel()
	s := loop.State{}
	var n Numbers
	for i, r := range []loop.Record{
		loop.Started{Message: harness.UserText("go")},
		loop.Judged{CallID: "x"},
		loop.Noted{Message: harness.UserText("on")},
		loop.Cut{Message: harness.AssistantText("half"), Off: true},
		loop.Cut{Message: harness.AssistantText("half")},
		loop.Noted{Message: harness.UserText("on")},
		loop.Noted{Message: harness.UserText("on")},
		loop.Condensed{Turn: 1},
		loop.Noted{Message: harness.UserText("on")},
	} {
		before := s
		s, _ = loop.Step(s, r)
		kept := n
		n = n.Step(before, s, 10+i)
		if len(kept) > 0 && len(n) > 0 && len(kept) == len(n) && kept[0] != n[0] {
			t.Errorf("after %T the numbers are %v", r, n)
		}
	}
	if want := (Numbers{12, 14, 15, 16, 18}); len(n) != s.Count() || len(n) != len(want) {
		t.Fatalf("%v for %d messages", n, s.Count())
	} else {
		for i := range want {
			if n[i] != want[i] {
				t.Fatalf("the numbers are %v, want %v", n, want)
			}
		}
	}
	if of := (Numbers{7}).of(loop.Fold(loop.Started{}, loop.Noted{}, loop.Noted{})); len(of) != 3 || of[0] != 0 || of[2] != 7 {
		t.Errorf("numbers that are not known are %v", of)
	}
}
