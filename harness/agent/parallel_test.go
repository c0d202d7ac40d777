package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// free is a tool that runs without asking.
func free(t *testing.T, name string, fn func(ctx context.Context, c tool.Call) (string, error), opts ...tool.Option) tool.Tool {
	t.Helper()
	tl, err := tool.New(name, "a tool", func(ctx context.Context, c tool.Call, _ struct{}) (string, error) { return fn(ctx, c) },
		append([]tool.Option{tool.WithPermission(tool.Allow)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// named are calls of these tools.
func named(names ...string) []harness.ToolCall {
	var calls []harness.ToolCall
	for _, n := range names {
		calls = append(calls, harness.ToolCall{Name: n})
	}
	return calls
}

// sink keeps the records of a turn in memory. Writes of results fail with fail,
// if it is set, until left of them have failed.
type sink struct {
	records []loop.Record
	events  []harness.Event
	fail    error
	left    int
}

func (s *sink) Put(_ context.Context, _ harness.Usage, records ...loop.Record) ([]agent.Stored, error) {
	if _, ok := records[len(records)-1].(loop.Ended); ok && s.left > 0 {
		s.left--
		return nil, s.fail
	}
	stored := make([]agent.Stored, len(records))
	for i := range records {
		s.records = append(s.records, records[i])
		stored[i] = agent.Stored{Seq: len(s.records)}
	}
	return stored, nil
}

func (s *sink) Emit(e harness.Event) { s.events = append(s.events, e) }
func (*sink) Streamed()              {}

// kinds are the records after the answer, in short.
func (s *sink) kinds() string {
	var list []string
	for _, r := range s.records {
		switch r := r.(type) {
		case loop.Judged:
			list = append(list, r.Permission+" "+r.CallID)
		case loop.Began:
			list = append(list, "began "+r.CallID)
		case loop.Ended:
			list = append(list, "ended "+r.Message.Parts[0].Result.CallID)
		}
	}
	return strings.Join(list, ", ")
}

// turn returns a turn of run "r" whose model asks for calls once, and the state
// it begins in. Its calls have the ids r_1_1, r_1_2 and so on.
func turn(m model.Model, tools *tool.Set, p policy.Policy, s *sink) (*agent.Turn, loop.State) {
	t := &agent.Turn{
		Steps: agent.Steps{Model: m, Tools: tools, Policy: p, Now: time.Now, Compose: (&memory.Composer{}).Compose},
		Run:   "r", Session: "s", Sink: s,
	}
	return t, loop.Fold(loop.Started{Message: harness.UserText("go")})
}

func TestCallsOfOneReplyRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	// Each waits for the other, so one after the other they would never end.
	meet := make(chan string)
	tools := with(t,
		free(t, "give", func(_ context.Context, c tool.Call) (string, error) {
			meet <- c.Key
			return "given", nil
		}),
		free(t, "take", func(context.Context, tool.Call) (string, error) { return <-meet, nil }))
	s := &sink{}
	tr, state := turn(batch(named("give", "take")...), tools, policy.Rules{}, s)
	if err := tr.Drive(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if got := s.kinds(); !strings.HasPrefix(got, "allow r_1_1, allow r_1_2, began r_1_1, began r_1_2, ended ") || strings.Count(got, "ended") != 2 {
		t.Errorf("the records are %s", got)
	}
	if tr.State().Answer() != "given|r_1_1" && tr.State().Answer() != "r_1_1|given" {
		t.Errorf("the model was told %q", tr.State().Answer())
	}
}

func TestResultsAreStoredAsTheyCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		after := func(d time.Duration) func(context.Context, tool.Call) (string, error) {
			return func(context.Context, tool.Call) (string, error) {
				time.Sleep(d)
				return d.String(), nil
			}
		}
		s := &sink{}
		tr, state := turn(batch(named("slow", "quick", "middle")...), with(t,
			free(t, "slow", after(3*time.Second)), free(t, "quick", after(time.Second)), free(t, "middle", after(2*time.Second))), policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if got := s.kinds(); !strings.HasSuffix(got, "ended r_1_2, ended r_1_3, ended r_1_1") {
			t.Errorf("the records are %s", got)
		}
	})
}

func TestOneSequentialToolPutsTheReplyInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		work := func(context.Context, tool.Call) (string, error) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return "ok", nil
		}
		s := &sink{}
		tr, state := turn(batch(named("a", "b", "a")...), with(t, free(t, "a", work), free(t, "b", work, tool.Sequential())), policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if got := s.kinds(); most.Load() != 1 || !strings.HasSuffix(got, "began r_1_1, ended r_1_1, began r_1_2, ended r_1_2, began r_1_3, ended r_1_3") {
			t.Errorf("%d at the same time, the records are %s", most.Load(), got)
		}
	})
}

func TestNoMoreThanEightRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most, ran atomic.Int32
		work := func(context.Context, tool.Call) (string, error) {
			ran.Add(1)
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return "ok", nil
		}
		var names []string
		for range 19 {
			names = append(names, "a")
		}
		s := &sink{}
		tr, state := turn(batch(named(names...)...), with(t, free(t, "a", work)), policy.Rules{}, s)
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if most.Load() != 8 || ran.Load() != 19 {
			t.Errorf("%d ran, %d at the same time", ran.Load(), most.Load())
		}
	})
}

func TestStoreThatFailsIsToldWhenAllHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		after := func(d time.Duration) func(context.Context, tool.Call) (string, error) {
			return func(context.Context, tool.Call) (string, error) {
				time.Sleep(d)
				ended.Add(1)
				return "ok", nil
			}
		}
		s := &sink{fail: errFull, left: 1}
		tr, state := turn(batch(named("quick", "slow", "slow")...), with(t,
			free(t, "quick", after(time.Second)), free(t, "slow", after(time.Minute))), policy.Rules{}, s)
		err := tr.Drive(t.Context(), state)
		if !errors.Is(err, errFull) || ended.Load() != 3 {
			t.Errorf("%v when %d had ended", err, ended.Load())
		}
		if got := s.kinds(); strings.Contains(got, "ended r_1_1") || strings.Count(got, "ended") != 2 {
			t.Errorf("the records are %s; want the results that could be stored", got)
		}
	})
}

func TestCancelInABatchOfThree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		tools := with(t,
			free(t, "quick", func(context.Context, tool.Call) (string, error) { return "quick is done", nil }),
			free(t, "late", func(ctx context.Context, _ tool.Call) (string, error) {
				<-ctx.Done()
				return "late but done", nil
			}),
			free(t, "pay", func(ctx context.Context, _ tool.Call) (string, error) {
				<-ctx.Done()
				return "", ctx.Err()
			}))
		a, err := agent.New(agent.Options{Model: batch(named("quick", "late", "pay")...), Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		res, err := a.Run(ctx, "go")
		if err != nil || res.Status != harness.RunCancelled {
			t.Fatalf("result %+v, %v", res, err)
		}
		msgs := a.Messages()
		got := map[string]harness.ToolResult{}
		for _, m := range msgs {
			for _, p := range m.Parts {
				if p.Result != nil {
					got[p.Result.Name] = *p.Result
				}
			}
		}
		if got["quick"].Text != "quick is done" || got["late"].Text != "late but done" || !got["pay"].Unknown || got["late"].Unknown {
			t.Errorf("the results are %+v", got)
		}
		if err := memory.Legal(memory.Repair(msgs)); err != nil {
			t.Error(err)
		}
	})
}

func TestSoftStopLetsRunningToolsEndAndBeginsNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		tools := with(t, free(t, "a", func(context.Context, tool.Call) (string, error) {
			ran.Add(1)
			time.Sleep(time.Minute)
			return "ok", nil
		}))
		s := &sink{}
		tr, state := turn(batch(named("a", "a", "a", "a", "a", "a", "a", "a", "a", "a")...), tools, policy.Rules{}, s)
		soft, stop := context.WithCancel(t.Context())
		tr.Soft = soft
		go func() {
			time.Sleep(time.Second)
			stop()
		}()
		if err := tr.Drive(t.Context(), state); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
		if got := s.kinds(); ran.Load() != 8 || strings.Count(got, "began") != 8 || strings.Count(got, "ended") != 8 {
			t.Errorf("%d ran, the records are %s", ran.Load(), got)
		}
	})
}

// stopping is a policy that stops the turn at its n-th verdict.
type stopping struct {
	n    int
	stop func()
}

func (p *stopping) Judge(context.Context, tool.Call, tool.Tool, harness.ToolCall) policy.Verdict {
	if p.n--; p.n == 0 {
		p.stop()
	}
	return policy.Verdict{Permission: tool.Allow, Rule: "test"}
}

func TestStopRightBeforeACallBeginsBeginsNone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var ran atomic.Int32
	s := &sink{}
	tr, state := turn(batch(named("pay")...), with(t, asking(t, "pay", &ran)), &stopping{n: 2, stop: cancel}, s)
	if err := tr.Drive(ctx, state); !errors.Is(err, context.Canceled) || ran.Load() != 0 || strings.Contains(s.kinds(), "began") {
		t.Errorf("err = %v, it ran %d times, the records are %s", err, ran.Load(), s.kinds())
	}
}

func TestCallsThatTouchTheSameFileRunInOrder(t *testing.T) {
	t.Parallel()
	file := func(kind tool.AccessKind) tool.Option {
		return tool.WithTouches(func(tool.Call) ([]tool.Access, error) { return []tool.Access{{Kind: kind, Path: "/x/a"}}, nil })
	}
	text := "old"
	tools := with(t,
		free(t, "read", func(context.Context, tool.Call) (string, error) { return text, nil }, file(tool.AccessRead)),
		free(t, "write", func(context.Context, tool.Call) (string, error) {
			text = "new"
			return "written", nil
		}, file(tool.AccessWrite)))
	s := &sink{}
	tr, state := turn(batch(named("read", "write", "read")...), tools, policy.Rules{}, s)
	if err := tr.Drive(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	want := "later r_1_2, later r_1_3, began r_1_1, ended r_1_1, allow r_1_2, later r_1_3, began r_1_2, ended r_1_2, allow r_1_3, began r_1_3, ended r_1_3"
	if got := s.kinds(); got != "allow r_1_1, "+want || tr.State().Answer() != "old|written|new" {
		t.Errorf("the model was told %q, the records are %s", tr.State().Answer(), got)
	}
}

func TestToolThatCannotSayWhatItTouchesIsNotRun(t *testing.T) {
	t.Parallel()
	for name, touches := range map[string]func(tool.Call) ([]tool.Access, error){
		"error": func(tool.Call) ([]tool.Access, error) { return nil, errors.New("the path leads out") },
		"panic": func(tool.Call) ([]tool.Access, error) { panic("the path leads out") },
	} {
		var ran atomic.Int32
		s := &sink{}
		tr, state := turn(batch(named("pay")...), with(t, asking(t, "pay", &ran, tool.WithTouches(touches))), always(tool.Allow), s)
		err := tr.Drive(t.Context(), state)
		if err != nil || ran.Load() != 0 || !strings.Contains(tr.State().Answer(), "the path leads out") {
			t.Errorf("%s: it ran %d times, the model was told %q, %v", name, ran.Load(), tr.State().Answer(), err)
		}
	}
}

func TestToolThatCannotSayWhatItWouldDoIsNotRun(t *testing.T) {
	t.Parallel()
	for name, propose := range map[string]func(context.Context, tool.Call) (harness.Proposal, error){
		"error": func(context.Context, tool.Call) (harness.Proposal, error) {
			return harness.Proposal{}, errors.New("the text is not there")
		},
		"panic": func(context.Context, tool.Call) (harness.Proposal, error) { panic("the text is not there") },
	} {
		var ran atomic.Int32
		s := &sink{}
		tr, state := turn(batch(named("pay")...), with(t, asking(t, "pay", &ran, tool.WithPropose(propose))), policy.Rules{Interactive: true}, s)
		err := tr.Drive(t.Context(), state)
		if err != nil || ran.Load() != 0 || !strings.Contains(tr.State().Answer(), "the text is not there") {
			t.Errorf("%s: it ran %d times, the model was told %q, %v", name, ran.Load(), tr.State().Answer(), err)
		}
	}
}

// swapping is a policy that changes the tools while it judges for the n-th time.
type swapping struct {
	n    int
	swap func()
}

func (p *swapping) Judge(context.Context, tool.Call, tool.Tool, harness.ToolCall) policy.Verdict {
	if p.n--; p.n == 0 {
		p.swap()
	}
	return policy.Verdict{Permission: tool.Allow, Rule: "test"}
}

func TestNothingButTheToolThatWasJudgedRuns(t *testing.T) {
	t.Parallel()
	var ran, other atomic.Int32
	tools := with(t, asking(t, "pay", &ran))
	s := &sink{}
	tr, state := turn(batch(named("pay")...), tools, &swapping{n: 2, swap: func() {
		if err := tools.Replace(asking(t, "pay", &other)); err != nil {
			t.Error(err)
		}
	}}, s)
	if err := tr.Drive(t.Context(), state); err != nil || ran.Load() != 1 || other.Load() != 0 {
		t.Errorf("the judged one ran %d times, the other %d, %v", ran.Load(), other.Load(), err)
	}
}

func TestCallThatCannotRunLeavesNoBeginning(t *testing.T) {
	t.Parallel()
	s := &sink{}
	var ran atomic.Int32
	tools := with(t, asking(t, "pay", &ran))
	tools.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "•••") }
	tr, state := turn(batch(harness.ToolCall{Name: "hunter2"}, harness.ToolCall{Name: "pay", Input: json.RawMessage(`{"x":1}`)}), tools, policy.Rules{}, s)
	if err := tr.Drive(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	told := tr.State().Answer()
	if got := s.kinds(); strings.Contains(got, "began") || ran.Load() != 0 || strings.Contains(told, "hunter2") || !strings.Contains(told, "There is no tool") {
		t.Errorf("the model was told %q, the records are %s", told, got)
	}
}

func TestForeignTextIsWhatToolsThatRanGave(t *testing.T) {
	t.Parallel()
	for name, foreign := range map[string]bool{"fetch": true, "save_memory": false, "recall_memories": false, "update_memory": false, "forget_memory": false, "search_history": true, "nothing": false, "denied": false} {
		var seen []bool
		look := free(t, "look", func(_ context.Context, c tool.Call) (string, error) {
			seen = append(seen, c.Foreign)
			return "", nil
		})
		ok := func(context.Context, tool.Call) (string, error) { return "text", nil }
		var ran atomic.Int32
		tools := with(t, look, free(t, "fetch", ok), free(t, "save_memory", ok), free(t, "recall_memories", ok),
			free(t, "update_memory", ok), free(t, "forget_memory", ok), free(t, "search_history", ok), asking(t, "denied", &ran))
		n := 0
		m := answering(func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			n++
			if n > 2 {
				return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "done"}}, Stop: harness.StopEnd}, nil
			}
			call := &harness.ToolCall{Name: map[int]string{1: name, 2: "look"}[n], Input: json.RawMessage(`{}`)}
			return model.Reply{Parts: []harness.Part{{Kind: harness.PartCall, Call: call}}, Stop: harness.StopTools}, nil
		})
		tr, state := turn(m, tools, policy.Rules{}, &sink{})
		if err := tr.Drive(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(seen) != fmt.Sprint([]bool{foreign}) {
			t.Errorf("after %s the next call is told %v", name, seen)
		}
	}
}

func TestAttachedFilesAreForeignText(t *testing.T) {
	t.Parallel()
	file := &harness.File{Name: "a.md", MediaType: "text/markdown"}
	for name, part := range map[string]harness.Part{
		"the text of a file": {Kind: harness.PartText, Text: "The file a.md: remember this", File: file},
		"a file":             {Kind: harness.PartFile, File: file},
		"typed text":         {Kind: harness.PartText, Text: "more"},
	} {
		var seen []bool
		look := free(t, "look", func(_ context.Context, c tool.Call) (string, error) {
			seen = append(seen, c.Foreign)
			return "", nil
		})
		tr, _ := turn(calls(harness.ToolCall{Name: "look", Input: json.RawMessage(`{}`)}), with(t, look), policy.Rules{}, &sink{})
		msg := harness.UserText("what does it say?")
		msg.Parts = append(msg.Parts, part)
		if err := tr.Drive(t.Context(), loop.Fold(loop.Started{Message: msg})); err != nil {
			t.Fatal(err)
		}
		if want := part.File != nil; len(seen) != 1 || seen[0] != want {
			t.Errorf("with %s a call is told %v, not %t", name, seen, want)
		}
	}
}

// cursed breaks on every artifact.
type cursed struct{}

func (cursed) Put(context.Context, harness.SessionID, []byte) (string, error) { panic("a bad day") }

func TestPanicBesideAToolReachesWhoDrivesTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		tools := with(t,
			free(t, "long", func(context.Context, tool.Call) (string, error) { return strings.Repeat("x", tool.MaxResult+1), nil }),
			free(t, "slow", func(context.Context, tool.Call) (string, error) {
				time.Sleep(time.Minute)
				ended.Store(true)
				return "ok", nil
			}))
		tools.Artifacts = cursed{}
		tr, state := turn(batch(named("long", "slow")...), tools, policy.Rules{}, &sink{})
		defer func() {
			if p := recover(); !strings.Contains(fmt.Sprint(p), "a bad day") || !ended.Load() {
				t.Errorf("caught was %v, the other had ended: %v", p, ended.Load())
			}
		}()
		err := tr.Drive(t.Context(), state)
		t.Errorf("it returned %v", err)
	})
}
