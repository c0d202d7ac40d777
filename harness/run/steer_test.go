package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// steered is a run with a tool that takes ten seconds, and what its model is asked.
type steered struct {
	store
	*run.Local

	lease harness.Lease

	mu    sync.Mutex
	asked []string
	ran   int
}

// line is a request as the test compares it: who says what.
func line(r model.Request) string {
	var all []string
	for _, m := range r.Messages {
		text := m.Text()
		for _, p := range m.Parts {
			if p.Result != nil {
				text += p.Result.Text
			}
		}
		all = append(all, string(m.Role)+" "+text)
	}
	return strings.Join(all, " | ")
}

// Stream calls the slow tool once, then answers with the last words that it was told.
func (s *steered) Stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	s.mu.Lock()
	s.asked = append(s.asked, line(r))
	n := len(s.asked)
	s.mu.Unlock()
	select {
	case <-time.After(10 * time.Second):
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	last := r.Messages[len(r.Messages)-1]
	parts := []harness.Part{{Kind: harness.PartText, Text: fmt.Sprintf("answer %d", n)}}
	if last.Text() == "go" {
		parts = append(parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "call_0", Name: "slow"}})
		return model.Reply{Parts: parts, Stop: harness.StopTools}, nil
	}
	return model.Reply{Parts: parts, Stop: harness.StopEnd}, nil
}

func newSteered(t *testing.T, s store, permission tool.Permission) *steered {
	t.Helper()
	lease, err := s.owners.Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := &steered{store: s, lease: lease}
	w.Local = w.engine(t, s.journal, permission)
	return w
}

func (s *steered) engine(t *testing.T, j run.Journal, permission tool.Permission) *run.Local {
	t.Helper()
	slow, err := tool.New("slow", "takes its time", func(ctx context.Context, _ tool.Call, _ struct{}) (string, error) {
		s.mu.Lock()
		s.ran++
		s.mu.Unlock()
		select {
		case <-time.After(10 * time.Second):
			return "done", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, tool.WithPermission(permission))
	if err != nil {
		t.Fatal(err)
	}
	set := new(tool.Set)
	if err := set.Add(slow); err != nil {
		t.Fatal(err)
	}
	return run.NewLocal(run.Options{
		Journal: j, Transcript: s.transcript, Engine: "test", Now: time.Now,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{Model: s, Tools: set, Policy: policy.Rules{Interactive: true}, Now: time.Now, Compose: (&memory.Composer{}).Compose}, nil
		},
	})
}

func (s *steered) begin(t *testing.T) harness.RunHandle {
	t.Helper()
	h, err := s.Start(t.Context(), harness.StartRequest{Lease: s.lease, Message: harness.UserText("go")})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (s *steered) say(t *testing.T, id harness.RunID, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := s.Steer(t.Context(), id, harness.Steer{ID: text, Message: harness.UserText(text)}); err != nil {
			t.Fatal(err)
		}
	}
}

// talk is what the conversation says.
func (s *steered) talk(t *testing.T) string {
	t.Helper()
	records, err := s.transcript.Tail(t.Context(), "s", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var r model.Request
	for _, rec := range records {
		r.Messages = append(r.Messages, *rec.Message)
	}
	if err := memory.Legal(memory.Repair(r.Messages)); err != nil {
		t.Errorf("the conversation is not legal: %v", err)
	}
	return line(r)
}

func completes(t *testing.T, h harness.RunHandle, text string) {
	t.Helper()
	res, err := h.Wait(t.Context())
	if err != nil || res.Status != harness.RunCompleted || res.Text != text {
		t.Fatalf("the run is %s with %q: %v, %v", res.Status, res.Text, res.Error, err)
	}
}

// A person speaks while a tool runs: it runs to its end, and the next request has
// their words behind its result.
func TestWhatIsSaidWhileAToolRunsIsInTheNextRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSteered(t, memory1(), tool.Allow)
		h := s.begin(t)
		var events []string
		over := make(chan struct{})
		go func() {
			defer close(over)
			for e := range h.Events(t.Context(), 0) {
				if e.Steer != "" {
					events = append(events, fmt.Sprintf("%s %s %d %v", e.Type, e.Steer, e.Record, e.Seq > 0))
				}
			}
		}()
		time.Sleep(15 * time.Second)
		s.say(t, h.ID(), "not that", "but this", "not that")
		completes(t, h, "answer 2")
		<-over
		want := []string{"user go", "user go | assistant answer 1 | tool done | user not that\n\nbut this"}
		if !slices.Equal(s.asked, want) || s.ran != 1 {
			t.Errorf("the tool ran %d times, asked was %q", s.ran, s.asked)
		}
		if got := s.talk(t); got != "user go | assistant answer 1 | tool done | user not that | user but this | assistant answer 2" {
			t.Errorf("said was %q", got)
		}
		if want := []string{"steered not that 0 true", "steered but this 0 true", "steered not that 0 true", "message not that 4 true", "message but this 5 true"}; !slices.Equal(events, want) {
			t.Errorf("told was %q", events)
		}
	})
}

// A turn that is at its last answer goes on for what is said, and keeps the answer.
func TestATurnThatWouldEndGoesOnForWhatIsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSteered(t, memory1(), tool.Allow)
		h := s.begin(t)
		time.Sleep(25 * time.Second)
		s.say(t, h.ID(), "and that")
		completes(t, h, "answer 3")
		if got, want := s.talk(t), "user go | assistant answer 1 | tool done | assistant answer 2 | user and that | assistant answer 3"; got != want {
			t.Errorf("said was %q", got)
		}
		err := s.Steer(t.Context(), h.ID(), harness.Steer{ID: "late", Message: harness.UserText("too late")})
		if !errors.Is(err, harness.ErrEnded) {
			t.Errorf("a run that is over was steered: %v", err)
		}
	})
}

// Another process steers the run: it has neither its lease nor the run.
func TestAnotherProcessSteersARun(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Duration{5, 15, 25} {
		synctest.Test(t, func(t *testing.T) {
			s := newSteered(t, memory1(), tool.Allow)
			other := s.engine(t, s.journal, tool.Allow)
			h := s.begin(t)
			time.Sleep(at * time.Second)
			if err := other.Steer(t.Context(), h.ID(), harness.Steer{ID: "1", Message: harness.UserText("from afar")}); err != nil {
				t.Fatal(err)
			}
			res, err := h.Wait(t.Context())
			if err != nil || res.Status != harness.RunCompleted {
				t.Fatalf("the run is %s: %v, %v", res.Status, res.Error, err)
			}
			if got := s.talk(t); strings.Count(got, "from afar") != 1 || strings.HasSuffix(got, "from afar") {
				t.Errorf("said was %q", got)
			}
		})
	}
}

// A run that waits for consent is told what was said once it has that, and one that
// is stopped or dropped leaves it in the conversation.
func TestARunThatRestsKeepsWhatIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, s *steered, h harness.RunHandle, p harness.Pending) harness.RunHandle
		want string
	}{
		"until it is allowed": {func(t *testing.T, s *steered, h harness.RunHandle, p harness.Pending) harness.RunHandle {
			t.Helper()
			h, err := s.Approve(t.Context(), s.lease, h.ID(), p, "ada")
			if err != nil {
				t.Fatal(err)
			}
			return h
		}, "tool done | user but gently | assistant answer 2"},
		"until it is dropped": {func(t *testing.T, s *steered, h harness.RunHandle, _ harness.Pending) harness.RunHandle {
			t.Helper()
			h, err := s.Resume(t.Context(), s.lease, h.ID(), harness.ResumeDrop)
			if err != nil {
				t.Fatal(err)
			}
			return h
		}, "tool not run: the turn was stopped before this call | user but gently"},
		"until it is aborted": {func(t *testing.T, s *steered, h harness.RunHandle, p harness.Pending) harness.RunHandle {
			t.Helper()
			h, err := s.Resolve(t.Context(), s.lease, h.ID(), p, harness.DecideAbort, "", "ada")
			if err != nil {
				t.Fatal(err)
			}
			return h
		}, "tool not run: the turn was stopped before this call | user but gently"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSteered(t, memory1(), tool.Ask)
				h := s.begin(t)
				res, err := h.Wait(t.Context())
				if err != nil || len(res.Pending) != 1 {
					t.Fatalf("%+v, %v", res, err)
				}
				s.say(t, h.ID(), "but gently")
				if _, err := c.do(t, s, h, res.Pending[0]).Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := s.talk(t); got != "user go | assistant answer 1 | "+c.want {
					t.Errorf("said was %q", got)
				}
			})
		})
	}
}

// A person says something and stops the turn at once: it stays, where it was said.
func TestAStoppedRunLeavesWhatWasSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSteered(t, memory1(), tool.Allow)
		other := s.engine(t, s.journal, tool.Allow)
		h := s.begin(t)
		time.Sleep(15 * time.Second)
		s.say(t, h.ID(), "stop that")
		if err := other.Steer(t.Context(), h.ID(), harness.Steer{ID: "1", Message: harness.UserText("do")}); err != nil {
			t.Fatal(err)
		}
		if err := s.Cancel(t.Context(), h.ID()); err != nil {
			t.Fatal(err)
		}
		if got := s.talk(t); !strings.HasSuffix(got, " | user stop that | user do") {
			t.Errorf("said was %q", got)
		}
	})
}

// Whoever finds a run that died in a call of its model does not know what that used,
// whatever somebody said meanwhile.
func TestUsageOfACallThatNobodySawEndIsIncompleteWhateverWasSaid(t *testing.T) {
	t.Parallel()
	running := harness.Run{Status: harness.RunRunning}
	started, said := loop.Started{Message: harness.UserText("go")}, loop.Steered{ID: "1", Message: harness.UserText("no")}
	for name, c := range map[string]struct {
		info    harness.Run
		records []loop.Record
		lost    bool
	}{
		"in a call":                {running, []loop.Record{started}, true},
		"in a call, spoken to":     {running, []loop.Record{started, said}, true},
		"behind the answer":        {running, []loop.Record{started, said, loop.Answered{Stop: harness.StopEnd, Message: &harness.Message{Role: harness.RoleAssistant, Parts: harness.UserText("hi").Parts}}}, false},
		"at rest, spoken to there": {harness.Run{Status: harness.RunPaused}, []loop.Record{started, loop.Rested{Status: harness.RunPaused}, said}, false},
	} {
		if got := run.LostUsage(c.info, loop.Fold(c.records...)); got.Incomplete != c.lost {
			t.Errorf("%s: the usage to book is %+v", name, got)
		}
	}
}

func TestOnlyWordsAreSaidIntoARun(t *testing.T) {
	t.Parallel()
	l := run.NewLocal(run.Options{Journal: mem.New(nil).Journal(), Engine: "test", Now: time.Now})
	file := harness.UserText("see")
	file.Parts = append(file.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "a"}})
	for _, s := range []harness.Steer{
		{Message: harness.UserText("no id")}, {ID: "1"}, {ID: "1", Message: harness.AssistantText("x")}, {ID: "1", Message: file}, {ID: "1", Message: harness.UserText("")},
	} {
		if err := l.Steer(t.Context(), "r", s); err == nil || errors.Is(err, harness.ErrNotFound) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if err := l.Steer(t.Context(), "r", harness.Steer{ID: "1", Message: harness.UserText("x")}); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("a run that is none: %v", err)
	}
}

// forestalled is a journal of which each write but the first is forestalled by a person.
type forestalled struct {
	*mem.Journal

	says int
}

func (j *forestalled) Append(ctx context.Context, l harness.Lease, id harness.RunID, after int, entries ...run.Entry) ([]run.Entry, error) {
	if j.says < 6 {
		j.says++
		err := j.Steer(ctx, id, run.Entry{Kind: loop.KindSteered, Data: fmt.Appendf(nil, `{"id":"%d","message":{"role":"user","parts":[{"kind":"text","text":"say %d"}]}}`, j.says, j.says)})
		if err != nil {
			return nil, err
		}
	}
	return j.Journal.Append(ctx, l, id, after, entries...)
}

// Whatever write a person forestalls, the record of the end too, all is heard.
func TestEveryWriteMayBeForestalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := mem.New(nil)
		s := newSteered(t, store{&forestalled{Journal: m.Journal()}, m.Transcript(), m.Owners(), m.Grants(), m.Sessions()}, tool.Allow)
		h := s.begin(t)
		if res, err := h.Wait(t.Context()); err != nil || res.Status != harness.RunCompleted {
			t.Fatalf("the run is %s: %v, %v", res.Status, res.Error, err)
		}
		got := s.talk(t)
		for i := range 6 {
			if strings.Count(got, fmt.Sprintf("user say %d", i+1)) != 1 {
				t.Errorf("%d was not said once: %q", i+1, got)
			}
		}
		if !strings.Contains(s.asked[len(s.asked)-1], "say 6") {
			t.Errorf("the last request has not all that was said: %q", s.asked)
		}
	})
}
