package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/model/modeltest"
	"cairn/harness/snapshot"
	"cairn/storage/mem"
)

// tooLong is a refusal of a request that does not fit a window, 0 for one that
// is not named.
func tooLong(limit int) error {
	return &model.Error{Kind: model.KindOverflow, Provider: "p", Limit: limit, Message: "too long"}
}

// taught is an agent, and the requests that its model got and refused or not.
type taught struct {
	*agent.Agent

	// requests are those of turns, notes those for what stands for old messages.
	requests, notes []model.Request
	limits          *mem.Limits
}

// teach returns an agent whose model refuses the n-th request, from 0, with what
// refuse returns.
func teach(t *testing.T, info model.Info, refuse func(n int, r model.Request, emit func(model.Delta)) error) *taught {
	t.Helper()
	a := &taught{limits: mem.New(nil).Limits()}
	a.Agent = learning(t, agent.Options{
		Info: info, Limits: a.limits,
		Model: answering(func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			if r.Purpose == model.PurposeCondense {
				a.notes = append(a.notes, r)
				return text("they spoke of many things"), nil
			}
			a.requests = append(a.requests, r)
			if err := refuse(len(a.requests)-1, r, emit); err != nil {
				return model.Reply{}, err
			}
			return text("well"), nil
		}),
	})
	return a
}

// passes is the refusal of requests from the n-th on whose text has more than a
// number of bytes.
func passes(bytes int, err error) func(int, model.Request, func(model.Delta)) error {
	return func(_ int, r model.Request, _ func(model.Delta)) error {
		n := 0
		for _, m := range r.Messages {
			n += len(m.Text())
		}
		if n > bytes {
			return err
		}
		return nil
	}
}

func TestARequestThatCannotShrinkFailsOnce(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 2_000} {
		for _, most := range []int{0, 8_000} {
			a := teach(t, model.Info{ID: "p/m", MaxOutput: most}, passes(0, tooLong(limit)))
			res := run(t, a.Agent, long(1))
			if res.Status != harness.RunFailed || res.Error.Kind != string(model.KindOverflow) || !strings.Contains(res.Error.Text, "too long; condense the conversation") || len(a.requests) != 1 {
				t.Errorf("limit %d, reply %d: %d requests, %+v", limit, most, len(a.requests), res.Error)
			}
			// The number that the provider named is true all the same; a guess that
			// did not help is none.
			wantLearned(t, a.limits, "p/m", harness.LearnedLimits{Window: limit})
		}
	}
}

func TestAWindowThatIsNotNamedIsLoweredAndRemembered(t *testing.T) {
	t.Parallel()
	a := teach(t, model.Info{ID: "p/m"}, passes(45_000, tooLong(0)))
	for i := range 3 {
		if res := run(t, a.Agent, long(i)); res.Text != "well" {
			t.Fatalf("turn %d: %+v", i, res)
		}
	}
	if len(a.requests) != 4 {
		t.Errorf("%d requests", len(a.requests))
	}
	l, err := a.limits.Get(t.Context(), "p/m")
	if err != nil || l.Reply != 0 || l.Window < 10_000 || l.Window > 14_000 {
		t.Errorf("learned %+v, %v", l, err)
	}
}

func TestARunAsksAgainTwiceAtMost(t *testing.T) {
	t.Parallel()
	a := teach(t, model.Info{ID: "p/m"}, func(n int, _ model.Request, _ func(model.Delta)) error {
		if n < 20 {
			return nil
		}
		return tooLong(0)
	})
	for i := range 20 {
		run(t, a.Agent, long(i))
	}
	res := run(t, a.Agent, "and now")
	if res.Status != harness.RunFailed || len(a.requests) != 20+3 {
		t.Errorf("%d requests, %+v", len(a.requests), res)
	}
	for i := 21; i < 23; i++ {
		if len(a.requests[i].Messages) >= len(a.requests[i-1].Messages) {
			t.Errorf("request %d has %d messages after %d", i, len(a.requests[i].Messages), len(a.requests[i-1].Messages))
		}
	}
}

func TestNothingIsAskedAgainOnceTextCame(t *testing.T) {
	t.Parallel()
	for _, kind := range []model.DeltaKind{model.DeltaText, model.DeltaThinking, model.DeltaProgress} {
		a := teach(t, model.Info{ID: "p/m"}, func(n int, _ model.Request, emit func(model.Delta)) error {
			if n < 2 {
				return nil
			}
			emit(model.Delta{Kind: kind, Text: "so far"})
			return tooLong(8_192)
		})
		for i := range 2 {
			run(t, a.Agent, long(i))
		}
		if res := run(t, a.Agent, "and now"); res.Status != harness.RunFailed || len(a.requests) != 3 {
			t.Errorf("%d requests, %+v", len(a.requests), res)
		}
		wantLearned(t, a.limits, "p/m", harness.LearnedLimits{Window: 8_192})
	}
}

// A sum names the window, and what it leaves for the reply of one request.
func TestRoomForOneReplyIsNotRemembered(t *testing.T) {
	t.Parallel()
	p := provider{id: "anthropic", dialect: modeltest.Anthropic{}}
	svc := new(service)
	svc.Service = modeltest.Serve(t, func(n int, a *modeltest.Answer) {
		if n == 0 {
			a.Refuse(http.StatusBadRequest, "application/json", p.dialect.Refusal(400, "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again"))
			return
		}
		d := p.dialect
		a.Send(modeltest.Plain, d.Start(), d.Text("well"), d.Finish("stop"), d.Usage(3, 0, 1, 0), d.End())
	})
	m, info := p.build(t, svc, "m")
	info.MaxOutput, info.Window = 64_000, 0
	limits := mem.New(nil).Limits()
	a := learning(t, agent.Options{Model: m, Info: info, Limits: limits})
	for i, want := range []int{18_976, agent.DefaultReply} {
		if res := run(t, a, "hello"); res.Text != "well" || budget(t, svc.Service) != want || svc.Count() != i+2 {
			t.Errorf("turn %d asked for %d in %d requests: %+v", i, budget(t, svc.Service), svc.Count(), res)
		}
	}
	wantLearned(t, limits, "anthropic/m", harness.LearnedLimits{Window: 200_000})
}

func TestWhatAPersonConfiguredCountsMore(t *testing.T) {
	t.Parallel()
	limits := mem.New(nil).Limits()
	if err := limits.Learn(t.Context(), "p/m", harness.LearnedLimits{Window: 2_000, Reply: 100}); err != nil {
		t.Fatal(err)
	}
	for _, own := range []bool{false, true} {
		var last model.Request
		a := learning(t, agent.Options{
			Info: model.Info{ID: "p/m", Window: 100_000, MaxOutput: 3_000, OwnWindow: own, OwnMaxOutput: own}, Limits: limits,
			Model: answering(func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
				last = r
				return text("well"), nil
			}),
		})
		run(t, a, long(0))
		run(t, a, long(1))
		if whole := len(last.Messages) == 3; whole != own || (last.MaxOutput == 3_000) != own {
			t.Errorf("own %v: the request has %d messages and a reply of %d", own, len(last.Messages), last.MaxOutput)
		}
	}
}

// What one provider refuses says nothing of a model of another one, which a
// fallback may have asked.
func TestARefusalOfAnotherProviderIsNotRemembered(t *testing.T) {
	t.Parallel()
	a := teach(t, model.Info{ID: "other/m"}, passes(30_000, tooLong(8_192)))
	for i := range 2 {
		if res := run(t, a.Agent, long(i)); res.Text != "well" {
			t.Fatalf("turn %d: %+v", i, res)
		}
	}
	if len(a.requests) != 3 {
		t.Errorf("%d requests", len(a.requests))
	}
	wantLearned(t, a.limits, "other/m", harness.LearnedLimits{})
	wantLearned(t, a.limits, "p/m", harness.LearnedLimits{})
}

// lame is a store of limits that is broken.
type lame struct{}

func (lame) Get(context.Context, string) (harness.LearnedLimits, error) {
	return harness.LearnedLimits{}, errors.New("get is lame")
}

func (lame) Learn(context.Context, string, harness.LearnedLimits) error {
	return errors.New("learn is lame")
}

func TestABrokenStoreOfLimitsEndsNoTurn(t *testing.T) {
	t.Parallel()
	refuse, n := passes(30_000, tooLong(8_192)), 0
	a := learning(t, agent.Options{
		Info: model.Info{ID: "p/m"}, Limits: lame{},
		Model: answering(func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
			if err := refuse(n, r, emit); err != nil {
				return model.Reply{}, err
			}
			return text("well"), nil
		}),
	})
	run(t, a, long(0))
	var lines []string
	res, err := a.Stream(t.Context(), long(1), func(e harness.Event) {
		if e.Type == harness.EventRecovery {
			lines = append(lines, e.Text)
		}
	})
	want := "[what was learned of the model's limits is not used: get is lame the model's limits are not remembered: learn is lame the model's window has 8192 tokens; making room in the conversation]"
	if err != nil || res.Text != "well" || fmt.Sprint(lines) != want {
		t.Errorf("%+v, %v, told %q", res, err, lines)
	}
}

// An agent without a store of limits remembers them itself, and they are saved
// with its conversation.
func TestLearnedLimitsAreSavedWithTheConversation(t *testing.T) {
	t.Parallel()
	s, count := memoryStore(t), 0
	o := agent.Options{Info: model.Info{ID: "p/m"}, Model: answering(func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		if r.Purpose == model.PurposeCondense {
			return text("they spoke of many things"), nil
		}
		count++
		if err := passes(30_000, tooLong(8_192))(count, r, emit); err != nil {
			return model.Reply{}, err
		}
		return text("well"), nil
	})}
	a := learning(t, o)
	for i := range 3 {
		run(t, a, long(i))
	}
	if count != 4 {
		t.Errorf("%d requests", count)
	}
	d := saved(t, a, s)
	if got := d.Learned["p/m"]; len(d.Learned) != 1 || got != (snapshot.Learned{Window: 8_192}) {
		t.Errorf("saved is %+v", d.Learned)
	}
	b, err := agent.LoadSession(t.Context(), string(d.ID), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if run(t, b, long(9)); count != 5 {
		t.Errorf("the loaded one makes %d requests for a turn", count-4)
	}
	closed(t, b)
}
