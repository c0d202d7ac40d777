package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/agent/agenttest"
	"cairn/harness/memory"
	"cairn/harness/model"
)

func TestMapStore(t *testing.T) {
	agenttest.TestStore(t, func(*testing.T) agent.Store { return newMapStore() })
}

var errFull = errors.New("no space left on device")

// failing is a store that cannot write any more after some appends.
type failing struct {
	agent.Store

	left atomic.Int32
}

type failingLog struct {
	agent.Log

	store *failing
}

func (f *failing) Open(ctx context.Context, id harness.SessionID) (agent.Log, error) {
	log, err := f.Store.Open(ctx, id)
	return &failingLog{log, f}, err
}

func (l *failingLog) Append(ctx context.Context, records ...harness.Record) ([]harness.Record, error) {
	if l.store.left.Add(-1) < 0 {
		return nil, errFull
	}
	return l.Log.Append(ctx, records...)
}

func TestStoreThatFailsIsAnErrorAndTheAgentGoesOn(t *testing.T) {
	t.Parallel()
	for left := range 3 {
		f := &failing{Store: newMapStore()}
		f.left.Store(int32(left))
		a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: f}, agent.Options{Model: answering(echo)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Run(t.Context(), "one")
		if failed := left < 2; errors.Is(err, errFull) != failed {
			t.Errorf("with %d appends left the run gives %v", left, err)
		}
		if got := len(a.Messages()); got != left {
			t.Errorf("with %d appends left it has %d messages", left, got)
		}
		if err := a.SetMessages(t.Context(), nil); !errors.Is(err, errFull) || len(a.Messages()) != left {
			t.Errorf("replacing gives %v and leaves %d messages", err, len(a.Messages()))
		}
		f.left.Store(1000)
		res, err := a.Run(t.Context(), "two")
		if err != nil || res.Status != harness.RunCompleted {
			t.Errorf("once there is room: %+v, %v", res, err)
		}
		if err := errors.Join(memory.Legal(memory.Repair(a.Messages())), a.Close()); err != nil {
			t.Error(err)
		}
	}
}

// short is a store that loses what it returns.
type short struct{ agent.Store }

type shortLog struct{ agent.Log }

func (s short) Open(ctx context.Context, id harness.SessionID) (agent.Log, error) {
	log, err := s.Store.Open(ctx, id)
	return shortLog{log}, err
}

func (shortLog) Append(context.Context, ...harness.Record) ([]harness.Record, error) { return nil, nil }

func TestStoreThatReturnsTooLittleIsAnError(t *testing.T) {
	t.Parallel()
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: short{newMapStore()}}, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), "one"); err == nil || !strings.Contains(err.Error(), "returned 0") {
		t.Errorf("err = %v", err)
	}
}

// crowded is a store in which the first ids it is asked for are somebody's.
type crowded struct {
	*mapStore

	asked []harness.SessionID
}

func (c *crowded) Open(ctx context.Context, id harness.SessionID) (agent.Log, error) {
	log, err := c.mapStore.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.asked = append(c.asked, id); len(c.asked) < 3 {
		m := harness.UserText("somebody else's")
		_, err = log.Append(ctx, harness.Record{Kind: harness.RecordMessage, Message: &m})
	}
	return log, err
}

func TestFreshSessionIsNobodyElses(t *testing.T) {
	t.Parallel()
	c := &crowded{mapStore: newMapStore()}
	a, err := agent.Open(t.Context(), agent.Session{Store: c}, agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Messages()) != 0 || a.SessionID() != c.asked[2] {
		t.Errorf("session %s of %v begins with %d messages", a.SessionID(), c.asked, len(a.Messages()))
	}
	if err := a.Close(); err != nil || len(c.held) != 0 {
		t.Errorf("closed with %v, %d conversations are held", err, len(c.held))
	}
}

func TestResultIsTheLastEvent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, m := range map[string]answering{
		"completed": echo,
		"failed": func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "half"})
			return model.Reply{}, &model.Error{Kind: model.KindServer, Message: "overloaded"}
		},
		"cancelled": func(_ context.Context, _ model.Request, emit func(model.Delta)) (model.Reply, error) {
			emit(model.Delta{Kind: model.DeltaText, Text: "half"})
			cancel()
			return model.Reply{}, ctx.Err()
		},
	} {
		a, err := agent.New(agent.Options{Model: m})
		if err != nil {
			t.Fatal(err)
		}
		var types []harness.EventType
		runCtx := t.Context()
		if name == "cancelled" {
			runCtx = ctx
		}
		res, err := a.Stream(runCtx, "go", func(e harness.Event) { types = append(types, e.Type) })
		if err != nil || string(res.Status) != name {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		n := 0
		for _, e := range types {
			if e == harness.EventResult {
				n++
			}
		}
		if n != 1 || types[len(types)-1] != harness.EventResult {
			t.Errorf("%s: the events are %v", name, types)
		}
		if incomplete := name != "completed"; res.Usage.Incomplete != incomplete {
			t.Errorf("%s: the usage is %+v", name, res.Usage)
		}
	}
}

func TestStopAfterTheWholeAnswerComesTooLate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := agent.New(agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Stream(ctx, "go", func(e harness.Event) {
		if e.Type == harness.EventMessage {
			cancel()
		}
	})
	if err != nil || res.Status != harness.RunCompleted {
		t.Errorf("result %+v, %v", res, err)
	}
}

func TestMessagesAreCopies(t *testing.T) {
	t.Parallel()
	a, err := agent.New(agent.Options{Model: answering(echo)})
	if err != nil {
		t.Fatal(err)
	}
	msgs := []harness.Message{harness.UserText("mine"), harness.AssistantText("yes")}
	if err := a.SetMessages(t.Context(), msgs); err != nil {
		t.Fatal(err)
	}
	msgs[0].Parts[0].Text = "changed"
	a.Messages()[1].Parts[0].Text = "changed"
	if got := a.Messages(); got[0].Text() != "mine" || got[1].Text() != "yes" {
		t.Errorf("the conversation is %q, %q", got[0].Text(), got[1].Text())
	}
}

func TestCloseRacesWithRuns(t *testing.T) {
	t.Parallel()
	for delay := range 8 {
		synctest.Test(t, func(t *testing.T) {
			store := newMapStore()
			a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: store}, agent.Options{Model: answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
				select {
				case <-time.After(2 * time.Second):
					return echo(ctx, r, emit)
				case <-ctx.Done():
					return model.Reply{}, ctx.Err()
				}
			})})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			for range 3 {
				go func() {
					_, err := a.Run(t.Context(), "go")
					ended <- err
				}()
				go func() { ended <- a.SetMessages(t.Context(), nil) }()
			}
			time.Sleep(time.Duration(delay) * 500 * time.Millisecond)
			for range 2 {
				go func() { ended <- a.Close() }()
			}
			for range 8 {
				if err := <-ended; err != nil && !errors.Is(err, harness.ErrBusy) && !errors.Is(err, harness.ErrClosed) {
					t.Error(err)
				}
			}
			if err := memory.Legal(memory.Repair(a.Messages())); err != nil {
				t.Error(err)
			}
			if len(store.held) != 0 {
				t.Error("the conversation is still held")
			}
		})
	}
}

func TestHeldSessionNamesItsHolder(t *testing.T) {
	t.Parallel()
	store := newMapStore()
	o := agent.Options{Model: answering(echo)}
	a, err := agent.Open(t.Context(), agent.Session{ID: "x", Store: store}, o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Open(t.Context(), agent.Session{ID: "x", Store: store}, o)
	if h, ok := harness.AsHeld(err); !ok || h.PID == 0 {
		t.Errorf("a second agent gives %v", err)
	}
	if _, err := a.Run(t.Context(), "still mine"); err != nil {
		t.Error(err)
	}
}
