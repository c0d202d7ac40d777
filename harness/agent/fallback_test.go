package agent_test

import (
	"context"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/storage/mem"
)

// backed is a model for which others stand in, one of them at an unknown price.
func backed() model.Info {
	info := small()
	info.Fallbacks = []model.Info{
		{ID: "q/dear", Window: 4_000, PriceKnown: true, InputPrice: 10, OutputPrice: 20},
		{ID: "q/unpriced", Window: 4_000},
	}
	return info
}

func TestAnswersAndNotesCostWhatTheModelThatGaveThemTakes(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	for by, want := range map[string]harness.Usage{
		"":           {Cost: 1, CostKnown: true},
		"p/m":        {Cost: 1, CostKnown: true},
		"q/dear":     {Cost: 10, CostKnown: true},
		"q/unpriced": {},
		"r/another":  {Cost: 1, CostKnown: true},
	} {
		reply := func(words string) (model.Reply, error) {
			r := text(words)
			r.Model, r.Usage = by, harness.Usage{Input: million}
			return r, nil
		}
		p := newParley(t, agent.Options{Info: backed()})
		p.fill()
		p.turn = func(context.Context, model.Request) (model.Reply, error) { return reply("well said") }
		p.note = func(context.Context, model.Request) (model.Reply, error) { return reply("NOTE: many things") }
		res := p.say("and now")
		if len(p.notes) != 0 || res.Usage.Cost != want.Cost || res.Usage.CostKnown != want.CostKnown {
			t.Errorf("an answer of %q costs %+v", by, res.Usage)
		}
		r, err := p.Condense(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(p.notes) != 1 || r.Usage.Cost != want.Cost || r.Usage.CostKnown != want.CostKnown {
			t.Errorf("%d notes of %q on request cost %+v", len(p.notes), by, r.Usage)
		}
		p.notes, p.turns = nil, nil
		p.turn = func(context.Context, model.Request) (model.Reply, error) { return text("well said"), nil }
		p.fill()
		p.turn = func(context.Context, model.Request) (model.Reply, error) { return reply("well said") }
		res = p.say("and now " + strings.Repeat("this ", 300))
		if len(p.notes) != 1 || res.Usage.Cost != 2*want.Cost || res.Usage.CostKnown != want.CostKnown {
			t.Errorf("%d notes and an answer of %q cost %+v", len(p.notes), by, res.Usage)
		}
	}
}

func TestALimitIsLearnedOfTheModelThatRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  model.Error
		want string
	}{
		"its own":                      {model.Error{Provider: "p", Model: "p/m"}, "p/m"},
		"one that stands in":           {model.Error{Provider: "q", Model: "q/dear"}, "q/dear"},
		"one of the same provider":     {model.Error{Provider: "p", Model: "p/other"}, "p/other"},
		"its own, without a name":      {model.Error{Provider: "p"}, "p/m"},
		"nobody knows which":           {model.Error{Provider: "q"}, ""},
		"its own, of an unnamed house": {model.Error{}, "p/m"},
	} {
		limits, refused := mem.New(nil).Limits(), false
		p := newParley(t, agent.Options{Info: backed(), Limits: limits})
		p.turn = func(context.Context, model.Request) (model.Reply, error) {
			if refused {
				return text("well said"), nil
			}
			refused = true
			e := tc.err
			e.Kind, e.Limit = model.KindReplyLimit, 200
			return model.Reply{}, &e
		}
		if res := p.say("go"); res.Status != harness.RunCompleted {
			t.Fatalf("%s: %+v", name, res)
		}
		for _, id := range []string{"p/m", "q/dear", "p/other"} {
			l, err := limits.Get(t.Context(), id)
			if err != nil || (l.Reply == 200) != (id == tc.want) {
				t.Errorf("%s: learned of %s: %+v, %v", name, id, l, err)
			}
		}
	}
}
