package run_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model/choose"
	"cairn/harness/model/modeltest"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// wire is a provider's service with a window of its own, over real HTTP: it refuses
// what its provider would refuse, and counts the requests for notes.
type wire struct {
	*modeltest.Service

	id      string
	dialect modeltest.Dialect
	base    string
	notes   atomic.Int64
	refused atomic.Int64
}

// narrow is the window of the wires, in tokens.
const narrow = 16_000

func (w *wire) serve(t *testing.T) {
	t.Helper()
	w.Service = modeltest.Serve(t, func(_ int, a *modeltest.Answer) {
		body, _, address := w.Last()
		u, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return
		}
		if err := modeltest.CheckerOf(u.Path)(body, narrow); err != nil {
			t.Error(err)
			w.refused.Add(1)
			a.Refuse(http.StatusBadRequest, "application/json", w.dialect.Refusal(400, err.Error()))
			return
		}
		d := w.dialect
		input := len(body) / 4
		r, err := d.Request(body)
		if err != nil || len(r.Turns) == 0 {
			t.Errorf("a request of %d turns, %v", len(r.Turns), err)
			return
		}
		last := r.Turns[len(r.Turns)-1]
		said := strings.Join(last.Texts, "\n")
		switch {
		case strings.Contains(said, "Write the note now"):
			w.notes.Add(1)
			a.Send(modeltest.Plain, d.Start(), d.Text("They spoke of many things, and of turn "+fmt.Sprint(w.notes.Load())+"."), d.Finish("stop"), d.Usage(input, 0, 20, 0), d.End())
		case strings.Contains(said, "please look") && len(last.Results) == 0:
			a.Send(modeltest.Plain, d.Start(), d.Call(0, "call_0", "look", `{}`), d.Finish("tools"), d.Usage(input, 0, 20, 0), d.End())
		default:
			a.Send(modeltest.Plain, d.Start(), d.Text("It is so. "+strings.Repeat("Indeed. ", 60)), d.Finish("stop"), d.Usage(input, 0, 120, 0), d.End())
		}
	})
}

// A conversation that is many times as long as the window goes on and on: every
// request is one that its provider takes, it never has to refuse the size, and
// what is asked beside the turns is bounded.
func TestAConversationWithoutEnd(t *testing.T) {
	t.Parallel()
	const turns = 63
	for _, w := range []*wire{
		{id: "openai", dialect: modeltest.OpenAI{}, base: "/v1"},
		{id: "anthropic", dialect: modeltest.Anthropic{}},
		{id: "gemini", dialect: modeltest.Gemini{}},
	} {
		t.Run(w.id, func(t *testing.T) {
			t.Parallel()
			w.serve(t)
			st := mem.New(nil)
			for n := range turns {
				if n%20 == 0 {
					st.Abandon() // as a process that died
				}
				w.say(t, st, fmt.Sprintf("turn %d: %s", n, strings.Repeat("tell me more of it, ", 30)), n%7 == 3)
			}
			if n := w.notes.Load(); n < 2 || n > turns/6 || w.refused.Load() > 0 {
				t.Errorf("%d notes, %d refusals", n, w.refused.Load())
			}
			if n := w.Count(); n > turns+turns/7+1+int(w.notes.Load()) {
				t.Errorf("%d requests", n)
			}
			s, err := st.Sessions().Get(t.Context(), "s")
			if err != nil || s.Messages < 2*turns || s.Usage.Incomplete {
				t.Errorf("the session is %+v, %v", s, err)
			}
		})
	}
}

// say runs one turn in an engine of its own.
func (w *wire) say(t *testing.T, st *mem.Store, text string, look bool) {
	t.Helper()
	lease, err := st.Owners().Acquire(t.Context(), harness.Session{ID: "s"}, harness.Holder{PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	set := new(tool.Set)
	leaf, err := tool.New("look", "looks", func(context.Context, tool.Call, struct{}) (string, error) {
		return strings.Repeat("leaves ", 700), nil
	}, tool.WithPermission(tool.Allow))
	if err = errors.Join(err, set.Add(leaf)); err != nil {
		t.Fatal(err)
	}
	if look {
		text += " please look"
	}
	e := run.NewLocal(run.Options{
		Journal: st.Journal(), Transcript: st.Transcript(), Sessions: st.Sessions(), Engine: "test",
		Steps: func(ctx context.Context, c harness.RunConfig) (agent.Steps, error) {
			m, info, err := choose.Build(ctx, c.Model, choose.Env{
				BaseURLs: map[string]string{w.id: w.URL + w.base}, Key: func(string) string { return "sk-test" },
			})
			info.Window, info.MaxOutput, info.OwnWindow = narrow, 2_000, true
			return agent.Steps{Model: m, Info: info, Tools: set}, err
		},
	})
	h, err := e.Start(t.Context(), harness.StartRequest{Lease: lease, Message: harness.UserText(text), Config: harness.RunConfig{Model: w.id + "/m"}})
	if err != nil {
		t.Fatal(err)
	}
	for e := range h.Events(t.Context(), 0) {
		if e.Type == harness.EventRecovery {
			t.Errorf("%q is told %q", text[:10], e.Text)
		}
	}
	res, err := h.Wait(t.Context())
	if err != nil || res.Status != harness.RunCompleted || !strings.HasPrefix(res.Text, "It is so.") {
		t.Fatalf("%q ends as %+v, %v, %v", text[:10], res, res.Error, err)
	}
	body, _, _ := w.Last()
	if !strings.Contains(string(body), text[:10]) {
		t.Errorf("the last request is without %q", text[:10])
	}
	if err := errors.Join(e.Close(t.Context()), st.Owners().Release(t.Context(), lease)); err != nil {
		t.Fatal(err)
	}
}
