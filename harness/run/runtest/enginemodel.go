package runtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/model/compat"
	"cairn/harness/model/modeltest"
	"cairn/harness/policy"
)

// The models of the script.
const (
	// modelUsual is asked again when an attempt fails in a way that passes.
	modelUsual = "p/usual"
	// modelOnce makes one attempt, so that what fails fails the run.
	modelOnce = "p/once"
	// modelSmall has a window so small that old messages have to be condensed.
	modelSmall = "p/small"
)

// reply answers one request.
type reply func(s *stage, w *modeltest.Answer)

// text answers with words.
func text(words string) reply {
	return func(_ *stage, w *modeltest.Answer) {
		d := modeltest.OpenAI{}
		w.Send(modeltest.Plain, d.Start(), d.Text(words), d.Finish("stop"), d.Usage(20, 8, 5, 0), d.End())
	}
}

// cutShort answers with words that reach the bound of a reply.
func cutShort(words string) reply {
	return func(_ *stage, w *modeltest.Answer) {
		d := modeltest.OpenAI{}
		w.Send(modeltest.Plain, d.Start(), d.Text(words), d.Finish("length"), d.Usage(20, 8, 5, 0), d.End())
	}
}

// wanted is a call that the model makes.
type wanted struct {
	name string
	args any
}

// calls answers with words and calls.
func calls(words string, want ...wanted) reply {
	return func(s *stage, w *modeltest.Answer) {
		d := modeltest.OpenAI{}
		w.Send(modeltest.Plain, d.Start())
		if words != "" {
			w.Send(modeltest.Plain, d.Text(words))
		}
		for i, c := range want {
			raw, err := json.Marshal(c.args)
			if err != nil {
				s.t.Error(err)
			}
			w.Send(modeltest.Plain, d.Call(i, fmt.Sprint("call_", i), c.name, string(raw)))
		}
		w.Send(modeltest.Plain, d.Finish("tools"), d.Usage(30, 8, 6, 0), d.End())
	}
}

// busy refuses and says when to come back.
func busy(after string) reply {
	return func(_ *stage, w *modeltest.Answer) {
		w.Refuse(http.StatusTooManyRequests, "application/json", modeltest.OpenAI{}.Refusal(http.StatusTooManyRequests, "slow down"), "Retry-After", after)
	}
}

// breaks streams words and breaks the connection.
func breaks(words string) reply {
	return func(_ *stage, w *modeltest.Answer) {
		d := modeltest.OpenAI{}
		w.Send(modeltest.Plain, d.Start(), d.Text(words))
		w.Reset()
	}
}

// hangs streams words and nothing more until the reader is gone.
func hangs(words string) reply {
	return func(_ *stage, w *modeltest.Answer) {
		d := modeltest.OpenAI{}
		w.Send(modeltest.Plain, d.Start(), d.Text(words))
		<-w.Gone()
	}
}

// serve answers the requests of a scene one after the other.
func (s *stage) serve(replies []reply) {
	s.service = modeltest.Serve(s.t, func(n int, w *modeltest.Answer) {
		body, _, _ := s.service.Last()
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		if s.always != nil {
			s.always(s, w)
			return
		}
		if n >= len(replies) {
			s.t.Errorf("request %d of %d: %s", n+1, len(replies), body)
			w.Refuse(http.StatusBadRequest, "application/json", modeltest.OpenAI{}.Refusal(http.StatusBadRequest, "the script is over"))
			return
		}
		replies[n](s, w)
	})
}

// model returns the model of a configuration.
func (s *stage) model(ctx context.Context, c harness.RunConfig) (model.Model, error) {
	provider, name, ok := strings.Cut(c.Model, "/")
	if !ok {
		return nil, fmt.Errorf("no model %q", c.Model)
	}
	m, err := compat.New(ctx, compat.Options{Provider: provider, Model: name, BaseURL: s.service.URL + "/v1", Key: "k"})
	if err != nil || c.Model == modelOnce {
		return m, err
	}
	return model.Retry{Next: m, Random: func() float64 { return 1 }}, nil
}

func info(c harness.RunConfig) model.Info {
	i := model.Info{ID: c.Model, Window: 100_000, MaxOutput: 2_000, InputPrice: 1, OutputPrice: 2, PriceKnown: true, Images: true}
	if c.Model == modelSmall {
		i.Window, i.MaxOutput = 4_700, 300
	}
	return i
}

// noon is when all requests of the script are made.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// work is what the present process does.
func (s *stage) work() Work {
	life := s.life
	return Work{
		Info: info,
		Steps: func(ctx context.Context, c harness.RunConfig, st Stores) (agent.Steps, error) {
			if c.Agent != AgentName {
				return agent.Steps{}, fmt.Errorf("there is no agent %q", c.Agent)
			}
			m, err := s.model(ctx, c)
			if err != nil {
				return agent.Steps{}, err
			}
			set, err := s.tools(life, st)
			if err != nil {
				return agent.Steps{}, err
			}
			composer := &memory.Composer{Facts: st.Facts, Notes: st.Notes, Artifacts: st.Artifacts}
			return agent.Steps{
				Model: m, Info: info(c), Tools: set, Policy: &policy.Rules{Interactive: true, Grants: st.Grants}, Compose: composer.Compose, Now: noon,
				Used: func(ctx context.Context, ids []string) {
					if err := st.Facts.Used(ctx, ids...); err != nil && !errors.Is(err, harness.ErrClosed) {
						s.t.Errorf("count the use of %v: %v", ids, err)
					}
				},
			}, nil
		},
	}
}
