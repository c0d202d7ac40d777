package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
)

// condensed takes n messages of the turn out.
func condensed(n int, more, fruitless bool) loop.Condensed {
	return loop.Condensed{Condensed: harness.Condensed{Note: "n", Dropped: n + 1}, Turn: n, More: more, Fruitless: fruitless}
}

func TestCondensingHasBounds(t *testing.T) {
	t.Parallel()
	idle := condensed(0, true, false)
	idle.Condensed.Dropped = 0
	for name, c := range map[string]struct {
		records        []loop.Record
		condense, more bool
	}{
		"at first":                         {nil, true, false},
		"after two":                        {[]loop.Record{condensed(0, false, false), condensed(0, false, false)}, true, false},
		"after three":                      {[]loop.Record{condensed(0, false, false), condensed(0, false, false), condensed(0, false, false)}, false, false},
		"in the third":                     {[]loop.Record{condensed(0, false, false), condensed(0, false, false), condensed(0, true, false)}, true, true},
		"pieces are one":                   {[]loop.Record{condensed(0, true, false), condensed(0, true, false), condensed(0, true, false), condensed(0, false, false)}, true, false},
		"a piece that takes nothing out":   {[]loop.Record{idle}, true, false},
		"fruitless":                        {[]loop.Record{condensed(0, true, true)}, false, false},
		"a failure":                        {[]loop.Record{loop.Uncondensed{Reason: "x"}}, false, false},
		"a failure and another stretch":    {[]loop.Record{loop.Uncondensed{Reason: "x"}, resumed}, false, false},
		"between two pieces, then resumed": {[]loop.Record{condensed(0, true, false), resumed}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, ok := loop.Fold(append([]loop.Record{started()}, c.records...)...).Next().(loop.CallModel)
			if !ok || cmd.Condense != c.condense || cmd.More != c.more || cmd.Step != 1 {
				t.Errorf("next is %+v", cmd)
			}
		})
	}
}

func TestCondensingTakesTheOldestMessagesOfTheTurnOut(t *testing.T) {
	t.Parallel()
	records := []loop.Record{started()}
	for i := range 3 {
		id := fmt.Sprintf("r_1_%d", i)
		m := harness.Message{Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{ID: id, Name: id}}}}
		records = append(records, loop.Answered{Message: &m, Stop: harness.StopTools}, ended(id))
	}
	before := loop.Fold(records...)
	for turn, want := range map[int]int{0: 7, 3: 4, 4: 4, 99: 4, -1: 7} {
		s, cmd := loop.Step(before, condensed(turn, false, false))
		if s.Count() != want || len(s.Messages()) != want || describe(cmd) != "CallModel 4" {
			t.Errorf("%d of 7 messages out leave %d, then %s", turn, s.Count(), describe(cmd))
		}
		if c := s.Condensed(); c == nil || c.Note != "n" || before.Condensed() != nil || before.Count() != 7 {
			t.Errorf("the state says %+v", c)
		}
	}
}

// same returns the records of an answer that calls tools which return the same
// as ever. Each is "name/result".
func same(step int, calls ...string) []loop.Record {
	var parts []harness.Part
	for _, c := range calls {
		name, _, _ := strings.Cut(c, "/")
		parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: name, Input: json.RawMessage(strings.Repeat(" ", step) + `{"a":1}`)}})
	}
	m := loop.Name("r", step, "p/m", parts, harness.Usage{}, nil)
	records := []loop.Record{loop.Answered{Message: m, Stop: harness.StopTools}}
	all := m.Calls()
	for i := len(all) - 1; i >= 0; i-- { // they end in another order than they were made
		_, text, _ := strings.Cut(calls[i], "/")
		records = append(records, loop.Ended{Message: loop.Result(all[i], text, false, false)})
	}
	return records
}

func TestCallsThatGoRoundInCirclesAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers string
		// told are the answers after which the model is told.
		told string
	}{
		"one call":                      {"a a a", "3"},
		"two times is no circle":        {"a a b", ""},
		"two in turn":                   {"a b a b a b", "6"},
		"three in turn":                 {"a b c a b c a b c", "9"},
		"four in turn":                  {"a b c d a b c d a b c d", "12"},
		"five in turn are not seen":     {"a b c d e a b c d e a b c d e", ""},
		"at the same time":              {"a+b a+b a+b", "3"},
		"thrice at once":                {"a+a+a", "1"},
		"another result":                {"a/1 a/2 a/3 a/4", ""},
		"the result changes once":       {"a/1 a/1 a/2 a/2 a/2", "5"},
		"it begins anew":                {"a a a a a a", "3 6"},
		"a circle within other things":  {"x y a b z z b a b a b a", "12"},
		"after more than is remembered": {strings.TrimSpace(strings.Repeat("a b c d e ", 20)) + " f f f", "103"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := started()
			first.Config.MaxSteps = 1000
			s := loop.Fold(first)
			var told []string
			for i, answer := range strings.Fields(c.answers) {
				for _, r := range same(i+1, strings.Split(answer, "+")...) {
					s, _ = loop.Step(s, r)
				}
				if n, ok := s.Next().(loop.Note); ok {
					told = append(told, fmt.Sprint(i+1))
					if n.Reason != "repetition" || !strings.Contains(n.Text, strings.Split(answer, "/")[0][:1]) {
						t.Errorf("it is told %+v", n)
					}
					s, _ = loop.Step(s, loop.Noted{Reason: n.Reason, Message: n.Notice()})
				}
				if _, ok := s.Next().(loop.CallModel); !ok {
					t.Fatalf("then comes %#v", s.Next())
				}
			}
			if got := strings.Join(told, " "); got != c.told {
				t.Errorf("told after %q, want %q", got, c.told)
			}
		})
	}
}

func TestTheLimitOfStepsIsToldBeforeACircle(t *testing.T) {
	t.Parallel()
	first := started()
	first.Config.MaxSteps = 3
	records := []loop.Record{first}
	for i := range 3 {
		records = append(records, same(i+1, "a")...)
	}
	if n, ok := loop.Fold(records...).Next().(loop.Note); !ok || n.Reason != "iteration_limit" {
		t.Errorf("next is %#v", loop.Fold(records...).Next())
	}
}

// list returns the records of a call that sets a task list.
func list(step int, failed bool, statuses ...string) []loop.Record {
	var items []string
	for _, s := range statuses {
		items = append(items, fmt.Sprintf(`{"text":"t","status":%q}`, s))
	}
	m := loop.Name("r", step, "p/m", []harness.Part{{Kind: harness.PartCall, Call: &harness.ToolCall{
		Name: loop.TasksTool, Input: json.RawMessage(`{"todos":[` + strings.Join(items, ",") + `]}`),
	}}}, harness.Usage{}, nil)
	return []loop.Record{
		loop.Answered{Message: m, Stop: harness.StopTools},
		loop.Ended{Message: loop.Result(m.Calls()[0], "ok", failed, false)},
	}
}

func said(text string, stop harness.StopReason) loop.Answered {
	m := harness.AssistantText(text)
	return loop.Answered{Message: &m, Stop: stop}
}

func TestAnUnfinishedTaskListIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	few := started()
	few.Config.MaxSteps = 2
	note := loop.Noted{Reason: loop.ReasonPlan, Message: harness.UserText("x")}
	for name, c := range map[string]struct {
		first   loop.Started
		records [][]loop.Record
		end     loop.Answered
		want    string
	}{
		"no list":              {started(), nil, said("done", harness.StopEnd), "Rest completed end_turn"},
		"all done":             {started(), [][]loop.Record{list(1, false, "completed", "completed")}, said("done", harness.StopEnd), "Rest completed"},
		"one left":             {started(), [][]loop.Record{list(1, false, "completed", "pending")}, said("done", harness.StopEnd), "Note unfinished_plan"},
		"brought up to date":   {started(), [][]loop.Record{list(1, false, "pending"), list(2, false, "completed")}, said("done", harness.StopEnd), "Rest completed"},
		"emptied":              {started(), [][]loop.Record{list(1, false, "pending"), list(2, false)}, said("done", harness.StopEnd), "Rest completed"},
		"a list that failed":   {started(), [][]loop.Record{list(1, true, "pending")}, said("done", harness.StopEnd), "Rest completed"},
		"asked before":         {started(), [][]loop.Record{list(1, false, "pending"), {said("done", harness.StopEnd), note}}, said("done", harness.StopEnd), "Rest completed"},
		"at the last step":     {few, [][]loop.Record{list(1, false, "pending")}, said("done", harness.StopEnd), "Rest completed"},
		"after a refusal":      {started(), [][]loop.Record{list(1, false, "pending")}, said("no", harness.StopRefusal), "Rest completed refusal"},
		"in a reply cut short": {started(), [][]loop.Record{list(1, false, "pending")}, said("do", harness.StopLength), "Note truncated_text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := loop.Fold(c.first)
			for _, rs := range append(c.records, []loop.Record{c.end}) {
				for _, r := range rs {
					s, _ = loop.Step(s, r)
				}
			}
			if got := describe(s.Next()); !strings.HasPrefix(got, c.want) {
				t.Errorf("next is %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheAnswerHasAllItsPieces(t *testing.T) {
	t.Parallel()
	cut := loop.Noted{Reason: loop.ReasonText, Message: harness.UserText("x")}
	plan := loop.Noted{Reason: loop.ReasonPlan, Message: harness.UserText("x")}
	for name, c := range map[string]struct {
		records []loop.Record
		want    string
	}{
		"one":                             {[]loop.Record{said("one", harness.StopEnd)}, "one"},
		"two pieces":                      {[]loop.Record{said("one ", harness.StopLength), cut, said("two", harness.StopEnd)}, "one two"},
		"three pieces":                    {[]loop.Record{said("one ", harness.StopLength), cut, said("two ", harness.StopLength), cut, said("three", harness.StopEnd)}, "one two three"},
		"cut and not gone on with yet":    {[]loop.Record{said("one ", harness.StopLength), cut}, "one "},
		"words before a call are no part": {append([]loop.Record{said("one ", harness.StopLength), cut}, append(same(2, "a"), said("two", harness.StopEnd))...), "two"},
		"more after the task list":        {[]loop.Record{said("one", harness.StopEnd), plan, said("two", harness.StopEnd)}, "one\n\ntwo"},
		"a call after the task list":      {append([]loop.Record{said("one", harness.StopEnd), plan}, append(same(2, "a"), said("two", harness.StopEnd))...), "one\n\ntwo"},
		"only a call after the list":      {append([]loop.Record{said("one", harness.StopEnd), plan}, same(2, "a")...), "one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := loop.Fold(append([]loop.Record{started()}, c.records...)...).Answer(); got != c.want {
				t.Errorf("the answer is %q, want %q", got, c.want)
			}
		})
	}
}
