package foreign_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/foreign"
	"cairn/harness/snapshot/foreign/foreigntest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// said is a turn of one text, n seconds after noon.
func said(key, parent string, role harness.Role, n int, text string) foreign.Turn {
	return foreign.Turn{
		Key: key, Parent: parent, Role: role, At: noon.Add(time.Duration(n) * time.Second),
		Parts: []harness.Part{{Kind: harness.PartText, Text: text}},
	}
}

func session(t *testing.T, talk *foreign.Talk) foreign.Session {
	t.Helper()
	s, err := talk.Session()
	if err != nil {
		t.Fatal(err)
	}
	goesOn(t, s)
	return s
}

// goesOn fails unless a session can be saved and gone on with on each of its
// branches.
func goesOn(t *testing.T, s foreign.Session) {
	t.Helper()
	if _, err := snapshot.Encode(s.Document); err != nil {
		t.Fatalf("%s cannot be saved: %v", s.Name, err)
	}
	ends := map[int]bool{}
	for _, r := range s.Records {
		delete(ends, r.Prev)
		ends[r.Seq] = true
	}
	for end := range ends {
		d := s.Document
		d.Head = end
		var branch []harness.Message
		for _, r := range d.Branch() {
			branch = append(branch, *r.Message)
		}
		branch = append(branch, harness.UserText("go on"))
		if err := memory.Legal(memory.Repair(branch)); err != nil {
			t.Errorf("%s: the branch that ends at %d is refused: %v", s.Name, end, err)
		}
	}
}

func TestBranchesOfATalkStandInTheOrderInWhichTheyWereSaid(t *testing.T) {
	t.Parallel()
	s := session(t, &foreign.Talk{Name: "A b", Head: "first answer", Turns: []foreign.Turn{
		{Key: "root"},
		said("second answer", "question", harness.RoleAssistant, 9, "again"),
		said("question", "root", harness.RoleUser, 0, "why"),
		said("first answer", "question", harness.RoleAssistant, 1, "so"),
		said("edited", "root", harness.RoleUser, 20, "how"),
		said("follow", "first answer", harness.RoleUser, 2, "and"),
	}})
	foreigntest.Same(t, foreigntest.Lines(s), `
1<0 user text "why"
2<1 assistant text "so"
3<2 user text "and"
4<1 assistant text "again"
5<0 user text "how"
head 2`)
	if s.ID != "a-b" {
		t.Errorf("the id is %q", s.ID)
	}
}

func TestTurnsWithoutContentAreBridged(t *testing.T) {
	t.Parallel()
	s := session(t, &foreign.Talk{Name: "x", Head: "empty2", Turns: []foreign.Turn{
		said("a", "", harness.RoleUser, 0, "a"), said("empty", "a", harness.RoleAssistant, 1, " \n"),
		said("empty2", "empty", harness.RoleAssistant, 2, ""), said("b", "empty2", harness.RoleUser, 3, "b"),
	}})
	foreigntest.Same(t, foreigntest.Lines(s), "1<0 user text \"a\"\n2<1 user text \"b\"\nhead 1")
}

func TestReasoningBelongsToTheAnswerThatFollowsIt(t *testing.T) {
	t.Parallel()
	think := func(key, parent string) foreign.Turn {
		return foreign.Turn{Key: key, Parent: parent, Role: harness.RoleAssistant, Parts: []harness.Part{{Kind: harness.PartThinking, Text: key}}}
	}
	s := session(t, &foreign.Talk{Name: "x", Turns: []foreign.Turn{
		said("q", "", harness.RoleUser, 0, "q"), think("hm", "q"), said("a", "hm", harness.RoleAssistant, 2, "a"),
		said("b", "hm", harness.RoleAssistant, 3, "b"), think("last", "b"),
	}})
	foreigntest.Same(t, foreigntest.Lines(s), `
1<0 user text "q"
2<1 assistant thinking "hm" text "a"
3<1 assistant thinking "hm" text "b"
4<3 assistant thinking "last"
head 4`)
}

func call(id, name, input string) harness.Part {
	return harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: id, Name: name, Input: json.RawMessage(input)}}
}

func result(id, name, text string) harness.Part {
	return harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{CallID: id, Name: name, Text: text}}
}

// answers says which call each result answers, by the inputs of the calls.
func answers(s foreign.Session) string {
	inputs, out := map[string]string{}, []string(nil)
	for _, r := range s.Records {
		for _, c := range r.Message.Calls() {
			inputs[c.ID] = string(c.Input)
		}
		for _, p := range r.Message.Parts {
			if p.Result != nil {
				out = append(out, p.Result.Text+"="+inputs[p.Result.CallID])
			}
		}
	}
	return strings.Join(out, " ")
}

func TestResultsFindTheirCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turns [][]harness.Part
		want  string
	}{
		"by id":           {[][]harness.Part{{call("1", "x", `{"n":1}`), call("2", "x", `{"n":2}`)}, {result("2", "", "b"), result("1", "", "a")}}, `b={"n":2} a={"n":1}`},
		"by name":         {[][]harness.Part{{call("", "x", `{"n":1}`), call("", "y", `{"n":2}`)}, {result("", "y", "b"), result("", "x", "a")}}, `b={"n":2} a={"n":1}`},
		"in order":        {[][]harness.Part{{call("", "x", `{"n":1}`), call("", "x", `{"n":2}`)}, {result("", "", "a"), result("", "", "b")}}, `a={"n":1} b={"n":2}`},
		"later":           {[][]harness.Part{{call("1", "x", `{"n":1}`)}, {call("2", "x", `{"n":2}`)}, {result("1", "", "a")}}, `a={"n":1}`},
		"repeated ids":    {[][]harness.Part{{call("1", "x", `{"n":1}`)}, {result("1", "", "a")}, {call("1", "x", `{"n":2}`)}, {result("1", "", "b")}}, `a={"n":1} b={"n":2}`},
		"none":            {[][]harness.Part{{result("7", "x", "a")}}, `a=`},
		"in one message":  {[][]harness.Part{{call("1", "x", `{"n":1}`), result("1", "", "a"), call("2", "x", `{"n":2}`), result("2", "", "b")}}, `a={"n":1} b={"n":2}`},
		"name far behind": {[][]harness.Part{{call("", "x", `{"n":1}`)}, {call("", "y", `{"n":2}`)}, {result("", "x", "a")}}, `a={"n":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			talk, before := &foreign.Talk{Name: "x"}, ""
			for i, parts := range c.turns {
				key := fmt.Sprint(i)
				talk.Turns = append(talk.Turns, foreign.Turn{Key: key, Parent: before, Role: harness.RoleAssistant, Parts: parts})
				before = key
			}
			foreigntest.Same(t, answers(session(t, talk)), c.want)
		})
	}
}

func TestACallIsAnsweredInEachBranch(t *testing.T) {
	t.Parallel()
	s := session(t, &foreign.Talk{Name: "x", Turns: []foreign.Turn{
		{Key: "c", Role: harness.RoleAssistant, Parts: []harness.Part{call("", "x", `{"n":1}`)}},
		{Key: "r1", Parent: "c", Role: harness.RoleTool, Parts: []harness.Part{result("", "x", "a")}},
		{Key: "r2", Parent: "c", Role: harness.RoleTool, Parts: []harness.Part{result("", "x", "b")}},
	}})
	foreigntest.Same(t, answers(s), `a={"n":1} b={"n":1}`)
}

func TestACircleIsDamage(t *testing.T) {
	t.Parallel()
	for name, turns := range map[string][]foreign.Turn{
		"of two":      {said("a", "b", harness.RoleUser, 0, "a"), said("b", "a", harness.RoleUser, 0, "b")},
		"of itself":   {said("a", "a", harness.RoleUser, 0, "a")},
		"of empty":    {{Key: "a", Parent: "b"}, {Key: "b", Parent: "a"}, said("c", "b", harness.RoleUser, 0, "c")},
		"through one": {said("a", "b", harness.RoleUser, 0, "a"), {Key: "b", Parent: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := (&foreign.Talk{Name: "x", Turns: turns}).Session(); !errors.Is(err, harness.ErrDamaged) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestTheSameTalkIsTheSameDocument(t *testing.T) {
	t.Parallel()
	make := func() foreign.Session {
		talk := &foreign.Talk{Name: "x", Turns: []foreign.Turn{
			said("q", "", harness.RoleUser, 0, "q"),
			{Key: "c", Parent: "q", Role: harness.RoleAssistant, Parts: []harness.Part{call("", "x", `{}`), call("", "x", `no`)}},
		}}
		return session(t, talk)
	}
	first, err := snapshot.Encode(make().Document)
	if err != nil {
		t.Fatal(err)
	}
	second, err := snapshot.Encode(make().Document)
	if err != nil || string(first) != string(second) {
		t.Errorf("%v\n%s\n%s", err, first, second)
	}
}

func TestALongTalkIsReadInTime(t *testing.T) {
	t.Parallel()
	const n = 20_000
	talk := &foreign.Talk{Name: "x"}
	for i := range n {
		turn := said(fmt.Sprint(i), fmt.Sprint(i-1), harness.RoleUser, i, "x")
		if i%3 == 0 {
			turn.Parts = nil
		}
		talk.Turns = append(talk.Turns, turn)
	}
	if s := session(t, talk); len(s.Records) != n-(n+2)/3 {
		t.Errorf("%d records", len(s.Records))
	}
}
