package run_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/storage/mem"
)

// purse notes what is held back and settled, and what the journal has by then.
type purse struct {
	mu     sync.Mutex
	log    []string
	next   int
	booked func() harness.Usage
	// room is how many holds there is room for.
	room int
	// broke is why nothing can be held at all.
	broke error
}

func (p *purse) Hold(_ context.Context, h harness.Hold, _ harness.SpendingLimits) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broke != nil {
		return "", p.broke
	}
	if p.next >= p.room {
		p.log = append(p.log, "refused")
		return "", &harness.SpendingError{Scope: "day", Limit: 1, Spent: 0.9, Needed: h.Amount}
	}
	p.next++
	p.log = append(p.log, fmt.Sprintf("hold %d", p.next))
	if h.Session != "s" || h.Model != "p/m" || h.Amount <= 0 {
		p.log = append(p.log, fmt.Sprintf("odd %+v", h))
	}
	return fmt.Sprint(p.next), nil
}

func (p *purse) Settle(_ context.Context, id string, unseen float64) error {
	booked := p.booked().Input
	p.mu.Lock()
	defer p.mu.Unlock()
	word := "settle"
	if unseen > 0 {
		word = "unseen"
	}
	p.log = append(p.log, fmt.Sprintf("%s %s at %d", word, id, booked))
	return nil
}

// spender is an engine whose calls are held back in a purse.
type spender struct {
	*run.Local

	t     *testing.T
	st    *mem.Store
	purse *purse
	lease harness.Lease
	said  func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)
}

// Stream implements [model.Model].
func (s *spender) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	return s.said(ctx, r, emit)
}

func newSpender(t *testing.T, room int, said func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)) *spender {
	t.Helper()
	s := &spender{t: t, st: mem.New(nil), said: said}
	s.purse = &purse{room: room, booked: func() harness.Usage {
		sess, err := s.st.Sessions().Get(context.Background(), "s")
		if err != nil {
			t.Error(err)
		}
		return sess.Usage
	}}
	var err error
	if s.lease, err = s.st.Owners().Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1}); err != nil {
		t.Fatal(err)
	}
	s.Local = s.engine(s.purse, harness.SpendingLimits{Day: 1})
	return s
}

func (s *spender) engine(p harness.Spending, l harness.SpendingLimits) *run.Local {
	return run.NewLocal(run.Options{
		Journal: s.st.Journal(), Transcript: s.st.Transcript(), Sessions: s.st.Sessions(), Engine: "test",
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
			return agent.Steps{
				Model: s, Info: model.Info{ID: "p/m", Window: 4_000, MaxOutput: 500, PriceKnown: true, InputPrice: 1, OutputPrice: 2},
				Budget: &policy.Budget{Spending: p, Limits: l},
			}, nil
		},
	})
}

// say runs a turn with a message to its rest.
func (s *spender) say(text string) harness.Result {
	s.t.Helper()
	h, err := s.Start(s.t.Context(), harness.StartRequest{Lease: s.lease, Message: harness.UserText(text), Config: harness.RunConfig{Model: "p/m", System: "Be brief."}})
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := h.Wait(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func well(u harness.Usage) model.Reply {
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "well"}}, Stop: harness.StopEnd, Usage: u}
}

var used = harness.Usage{Input: 10, Output: 5}

func broken(kind model.ErrorKind) *model.Error {
	return &model.Error{Kind: kind, Provider: "p", Retry: true, Message: "broken"}
}

func TestEachCallIsHeldBackUntilItsUsageIsStored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)
		room int
		want string
		kind string
	}{
		"an answer": {func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return well(used), nil
		}, 9, "hold 1, settle 1 at 10", ""},
		"an answer whose usage is not told": {func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return well(harness.Usage{}), nil
		}, 9, "hold 1, unseen 1 at 0", ""},
		"a refusal": {func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
			return model.Reply{}, broken(model.KindAuth)
		}, 9, "hold 1, settle 1 at 0", "auth"},
		"a stream that broke": {func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "we"})
			return model.Reply{}, broken(model.KindIncomplete)
		}, 9, "hold 1, unseen 1 at 0", string(model.KindIncomplete)},
		"another attempt within the call": {func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "we"})
			emit(model.Delta{Kind: model.DeltaRetry, Attempt: 2, Err: broken(model.KindIncomplete)})
			emit(model.Delta{Kind: model.DeltaReset, Attempt: 2})
			return well(used), nil
		}, 9, "hold 1, unseen 1 at 0, hold 2, settle 2 at 10", ""},
		"another attempt after a refusal": {func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaRetry, Attempt: 2, Err: broken(model.KindRateLimit)})
			emit(model.Delta{Kind: model.DeltaReset, Attempt: 2})
			return well(used), nil
		}, 9, "hold 1, settle 1 at 0, hold 2, settle 2 at 10", ""},
		"no room for another attempt": {func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaRetry, Attempt: 2, Err: broken(model.KindIncomplete)})
			emit(model.Delta{Kind: model.DeltaReset, Attempt: 2})
			if ctx.Err() == nil {
				t.Error("another attempt is made")
			}
			return model.Reply{}, ctx.Err()
		}, 1, "hold 1, unseen 1 at 0, refused", agent.KindSpending},
		"text that begins anew": {func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "we"})
			emit(model.Delta{Kind: model.DeltaReset})
			return well(used), nil
		}, 9, "hold 1, settle 1 at 10", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpender(t, c.room, c.said)
			res := s.say("hello")
			if got := strings.Join(s.purse.log, ", "); got != c.want {
				t.Errorf("the purse says %q, want %q", got, c.want)
			}
			if kind := res.Error; (kind == nil) != (c.kind == "") || kind != nil && kind.Kind != c.kind {
				t.Errorf("the turn ended with %+v", res.Error)
			}
		})
	}
}

func TestATurnWithoutRoomForItsCallFailsAndGoesOnLater(t *testing.T) {
	t.Parallel()
	calls := 0
	s := newSpender(t, 0, func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) {
		calls++
		return well(used), nil
	})
	res := s.say("hello")
	if res.Status != harness.RunFailed || res.Error == nil || res.Error.Kind != "spending" || !strings.Contains(res.Error.Text, "the spending limit of $1.00 would be passed") || calls != 0 {
		t.Fatalf("%d calls, %+v, %v", calls, res, res.Error)
	}
	records, err := s.st.Transcript().Tail(t.Context(), "s", 0, 0)
	if err != nil || len(records) != 1 || records[0].Message.Text() != "hello" {
		t.Fatalf("stored are %+v, %v", records, err)
	}
	s.purse.room = 1
	h, err := s.Resume(t.Context(), s.lease, res.Run, harness.ResumeContinue)
	if err != nil {
		t.Fatal(err)
	}
	if res, err = h.Wait(t.Context()); err != nil || res.Text != "well" || calls != 1 {
		t.Errorf("%d calls, %+v, %v", calls, res, err)
	}
	s.purse.broke = errors.New("the store is in use")
	if res := s.say("again"); res.Status != harness.RunFailed || !strings.Contains(res.Error.Text, "the store is in use") || calls != 1 {
		t.Errorf("%d calls, %+v", calls, res)
	}
}

func TestACallThatIsStoppedStaysHeldForWhatItMayHaveCost(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*run.Local, context.Context, harness.RunID) error{
		"cancelled": (*run.Local).Cancel, "paused": (*run.Local).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			under := make(chan struct{})
			s := newSpender(t, 9, func(ctx context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
				emit(model.Delta{Kind: model.DeltaText, Text: "we"})
				close(under)
				<-ctx.Done()
				return model.Reply{}, ctx.Err()
			})
			h, err := s.Start(t.Context(), harness.StartRequest{Lease: s.lease, Message: harness.UserText("hello"), Config: harness.RunConfig{Model: "p/m"}})
			if err != nil {
				t.Fatal(err)
			}
			<-under
			if err := stop(s.Local, t.Context(), h.ID()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.purse.log, ", "); got != "hold 1, unseen 1 at 0" {
				t.Errorf("the purse says %q", got)
			}
		})
	}
}

// A note is paid for like an answer.
func TestANoteIsHeldBackToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		note func() (model.Reply, error)
		room int
		want string
		kind string
	}{
		"it comes":         {func() (model.Reply, error) { return well(used), nil }, 99, "hold 1, settle 1 at 10, hold 2, settle 2 at 20", ""},
		"it is empty":      {func() (model.Reply, error) { return model.Reply{Stop: harness.StopEnd, Usage: used}, nil }, 99, "hold 1, settle 1 at 10, hold 2, settle 2 at 20", ""},
		"it breaks off":    {func() (model.Reply, error) { return model.Reply{}, broken(model.KindIncomplete) }, 99, "hold 1, unseen 1 at 0, hold 2, settle 2 at 10", ""},
		"it is refused":    {func() (model.Reply, error) { return model.Reply{}, broken(model.KindAuth) }, 99, "hold 1, settle 1 at 0, hold 2, settle 2 at 10", ""},
		"there is no room": {func() (model.Reply, error) { return well(used), nil }, 0, "refused", "spending"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			notes := 0
			s := newSpender(t, 99, func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
				if r.Purpose == model.PurposeCondense {
					notes++
					return c.note()
				}
				return well(harness.Usage{}), nil
			})
			for range 12 {
				s.say("tell me " + strings.Repeat("more ", 150))
			}
			if notes != 0 {
				t.Fatal("it was condensed before it was to be")
			}
			s.said = func(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
				if r.Purpose == model.PurposeCondense {
					notes++
					return c.note()
				}
				return well(used), nil
			}
			s.purse.log, s.purse.next, s.purse.room = nil, 0, c.room
			res := s.say("and now " + strings.Repeat("this ", 400))
			if got := strings.Join(s.purse.log, ", "); got != c.want || notes != min(1, c.room) {
				t.Errorf("%d notes, the purse says %q, want %q", notes, got, c.want)
			}
			if kind := res.Error; (kind == nil) != (c.kind == "") || kind != nil && kind.Kind != c.kind {
				t.Errorf("the turn ended with %+v", res.Error)
			}
		})
	}
}

func TestWithoutLimitsNothingIsHeld(t *testing.T) {
	t.Parallel()
	s := newSpender(t, 0, func(context.Context, model.Request, func(model.Delta)) (model.Reply, error) { return well(used), nil })
	s.Local = s.engine(s.purse, harness.SpendingLimits{})
	if res := s.say("hello"); res.Text != "well" || !reflect.DeepEqual(s.purse.log, []string(nil)) {
		t.Errorf("%+v, the purse says %q", res, s.purse.log)
	}
}

// Two windows that share a day's limit never pass it together, whatever their
// calls cost in the end.
func TestTwoWindowsShareOneLimit(t *testing.T) {
	t.Parallel()
	const limit = 0.02
	st := mem.New(nil)
	info := model.Info{ID: "p/m", Window: 8_000, MaxOutput: 1_000, PriceKnown: true, InputPrice: 1, OutputPrice: 2}
	costs := []int64{1_000, 10, 700, 0, 1_000, 300}
	window := func(id harness.SessionID, results chan<- harness.Result) error {
		lease, err := st.Owners().Acquire(t.Context(), harness.Session{ID: id}, harness.Holder{PID: 1})
		if err != nil {
			return err
		}
		n := 0
		e := run.NewLocal(run.Options{
			Journal: st.Journal(), Transcript: st.Transcript(), Engine: "test",
			Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) {
				said := func(_ context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
					n++
					if n%5 == 0 {
						emit(model.Delta{Kind: model.DeltaText, Text: "half"})
						return model.Reply{}, broken(model.KindIncomplete)
					}
					return well(harness.Usage{Input: int64(len(r.System)/4 + 100), Output: costs[n%len(costs)]}), nil
				}
				return agent.Steps{
					Model: speaking(said), Info: info,
					Budget: &policy.Budget{Spending: st.Spending(), Limits: harness.SpendingLimits{Day: limit}, Holder: lease.Holder},
				}, nil
			},
		})
		for range 40 {
			h, err := e.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText("hello"), Config: harness.RunConfig{Model: "p/m", System: "Be brief."}})
			if err != nil {
				return err
			}
			res, err := h.Wait(t.Context())
			if err != nil {
				return err
			}
			results <- res
		}
		return nil
	}
	results := make(chan harness.Result, 80)
	var windows sync.WaitGroup
	for _, id := range []harness.SessionID{"a", "b"} {
		windows.Go(func() {
			if err := window(id, results); err != nil {
				t.Error(err)
			}
		})
	}
	windows.Wait()
	close(results)
	cost, refused := 0.0, 0
	for res := range results {
		cost += res.Usage.Cost
		if res.Error != nil && res.Error.Kind == agent.KindSpending {
			refused++
		}
	}
	if cost > limit || cost < limit/2 || refused == 0 {
		t.Errorf("together they spent $%.4f of $%.4f, and %d calls were refused", cost, limit, refused)
	}
}

// speaking is a model that is a function.
type speaking func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error)

// Stream implements [model.Model].
func (f speaking) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	return f(ctx, r, emit)
}
