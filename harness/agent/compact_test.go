package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/tool"
	"cairn/storage/mem"
)

// small is a model with a window of 4,000 tokens.
func small() model.Info {
	return model.Info{ID: "p/m", Window: 4_000, MaxOutput: 500, PriceKnown: true, InputPrice: 1, OutputPrice: 2}
}

// parley is an agent in a store of the caller's, whose model answers turns with
// turn and requests for notes with note. Every request has to be legal and to fit
// the window.
type parley struct {
	*agent.Agent

	t          *testing.T
	shelf      *shelf
	turn, note func(ctx context.Context, r model.Request) (model.Reply, error)
	turns      []model.Request
	notes      []model.Request
	events     []harness.Event
}

func newParley(t *testing.T, o agent.Options) *parley {
	t.Helper()
	p := &parley{t: t, shelf: &shelf{logs: map[harness.SessionID][]harness.Record{}}}
	p.turn = func(context.Context, model.Request) (model.Reply, error) { return text("well said"), nil }
	p.note = func(context.Context, model.Request) (model.Reply, error) {
		r := text("NOTE: they spoke of many things")
		r.Usage = harness.Usage{Input: 700, Output: 70}
		return r, nil
	}
	o.Model = answering(p.stream)
	if o.Info.ID == "" {
		o.Info = small()
	}
	if o.System == "" {
		o.System = "Be brief."
	}
	var err error
	if p.Agent, err = agent.Open(t.Context(), agent.Session{ID: "s", Store: p.shelf}, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, p.Agent) })
	return p
}

func (p *parley) stream(ctx context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	if err := memory.Legal(r.Messages); err != nil {
		p.t.Error(err)
	}
	if r.Purpose == model.PurposeCondense {
		p.notes = append(p.notes, r)
		return p.note(ctx, r)
	}
	p.turns = append(p.turns, r)
	return p.turn(ctx, r)
}

// say has the agent take a turn and returns its result.
func (p *parley) say(words string) harness.Result {
	p.t.Helper()
	p.events = nil
	res, err := p.Stream(p.t.Context(), words, func(e harness.Event) { p.events = append(p.events, e) })
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

// fill says things until another turn would be condensed first, without that.
func (p *parley) fill() {
	p.t.Helper()
	for len(p.notes) == 0 {
		if last := p.last(); last > 0 && last > 2_400 {
			return
		}
		p.say("tell me " + strings.Repeat("more ", 150))
	}
	p.t.Fatal("it was condensed before it was to be")
}

// last is the size of the last request of a turn.
func (p *parley) last() int {
	n := 0
	if len(p.turns) > 0 {
		for _, m := range p.turns[len(p.turns)-1].Messages {
			n += memory.Estimate(m)
		}
	}
	return n
}

// told returns the texts of the events of a type.
func (p *parley) told(kind harness.EventType) []string {
	var lines []string
	for _, e := range p.events {
		if e.Type == kind && e.Text != "" {
			lines = append(lines, e.Text)
		}
	}
	return lines
}

// records are those of a kind in the store.
func (p *parley) records(kind harness.RecordKind) []harness.Record {
	return slices.DeleteFunc(slices.Clone(p.shelf.logs["s"]), func(r harness.Record) bool { return r.Kind != kind })
}

func TestOldMessagesAreCondensedBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{})
	p.fill()
	before := p.Messages()
	res := p.say("and now " + strings.Repeat("this ", 300))
	if res.Status != harness.RunCompleted || res.Text != "well said" || len(p.notes) != 1 {
		t.Fatalf("%d notes, %+v", len(p.notes), res)
	}
	if res.Usage.Input != 703 || res.Usage.Output != 72 || !res.Usage.CostKnown || res.Usage.Cost == 0 {
		t.Errorf("the turn used %+v", res.Usage)
	}
	if !reflect.DeepEqual(before, p.Messages()[:len(before)]) || len(p.Messages()) != len(before)+2 {
		t.Error("what was said has changed")
	}
	stored := p.records(harness.RecordCondensed)
	if len(stored) != 1 {
		t.Fatalf("%d condensed records", len(stored))
	}
	var c harness.Condensed
	if err := json.Unmarshal(stored[0].Data, &c); err != nil {
		t.Fatal(err)
	}
	if c.Dropped < 2 || c.Kept != c.Dropped+1 || !strings.Contains(c.Note, "NOTE") || c.After >= c.Before {
		t.Errorf("condensed as %+v", c)
	}
	i := slices.IndexFunc(p.events, func(e harness.Event) bool { return e.Type == harness.EventCondensed })
	if i < 0 || p.events[i].Record != stored[0].Seq || p.events[i].Seq == 0 || !reflect.DeepEqual(*p.events[i].Condensed, c) || !strings.Contains(p.events[i].Text, fmt.Sprint("condensed ", c.Dropped, " messages")) {
		t.Errorf("told %+v", p.events)
	}
	if lines := p.told(harness.EventWaiting); len(lines) != 1 || lines[0] != fmt.Sprint("condensing ", c.Dropped, " messages") {
		t.Errorf("while it was condensed %q was told", lines)
	}
	last := p.turns[len(p.turns)-1]
	if first := last.Messages[0].Text(); !strings.Contains(first, "NOTE") || !strings.Contains(last.Messages[len(last.Messages)-1].Text(), "and now") {
		t.Errorf("the request begins with %q", first)
	}
	// It stays so, also for whoever opens the conversation again.
	again, err := agent.Open(t.Context(), agent.Session{ID: "s", Store: p.shelf}, agent.Options{Model: answering(p.stream), Info: small(), System: "Be brief."})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, again)
	run(t, again, "and then?")
	if got := p.turns[len(p.turns)-1].Messages; !reflect.DeepEqual(got[:2], last.Messages[:2]) || len(p.notes) != 1 {
		t.Errorf("the next request begins with %+v, not %+v", got[:2], last.Messages[:2])
	}
}

// half returns a model that emits a piece of a note and then fails.
func brokenOff(kind model.ErrorKind) func(context.Context, model.Request) (model.Reply, error) {
	return func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{}, &model.Error{Kind: kind, Provider: "p", Message: "no note today"}
	}
}

func TestANoteThatDoesNotComeChangesNothing(t *testing.T) {
	t.Parallel()
	parts := func(stop harness.StopReason, parts ...harness.Part) func(context.Context, model.Request) (model.Reply, error) {
		return func(context.Context, model.Request) (model.Reply, error) {
			return model.Reply{Parts: parts, Stop: stop, Usage: harness.Usage{Input: 700, Output: 7}}, nil
		}
	}
	said := func(s string) harness.Part { return harness.Part{Kind: harness.PartText, Text: s} }
	for name, note := range map[string]func(context.Context, model.Request) (model.Reply, error){
		"empty":           parts(harness.StopEnd),
		"spaces":          parts(harness.StopEnd, said(" \n\t ")),
		"reasoning only":  parts(harness.StopEnd, harness.Part{Kind: harness.PartThinking, Text: "hm"}),
		"a tool call":     parts(harness.StopTools, said("I will look"), harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "look"}}),
		"cut":             parts(harness.StopLength, said("they spoke of")),
		"refused":         parts(harness.StopRefusal, said("I will not")),
		"a rate limit":    brokenOff(model.KindRateLimit),
		"a broken stream": brokenOff(model.KindIncomplete),
		"an overflow":     brokenOff(model.KindOverflow),
		"no key":          brokenOff(model.KindAuth),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newParley(t, agent.Options{})
			p.fill()
			before, log := p.Messages(), slices.Clone(p.shelf.logs["s"])
			p.note = note
			res := p.say("and now " + strings.Repeat("this ", 300))
			if res.Status != harness.RunCompleted || res.Text != "well said" {
				t.Fatalf("the turn ended as %+v, %v", res, res.Error)
			}
			if len(p.notes) != 1 {
				t.Errorf("%d notes were asked for", len(p.notes))
			}
			if !reflect.DeepEqual(before, p.Messages()[:len(before)]) || !reflect.DeepEqual(log, p.shelf.logs["s"][:len(log)]) || len(p.records(harness.RecordCondensed)) != 0 {
				t.Error("the history has changed")
			}
			lines := p.told(harness.EventRecovery)
			if len(lines) != 1 || !strings.HasPrefix(lines[0], "old messages could not be condensed, so what does not fit is left out: ") || strings.Contains(lines[0], "session") {
				t.Errorf("told %q", lines)
			}
			if len(p.told(harness.EventCondensed)) != 0 {
				t.Error("success was announced")
			}
			wantUsed := int64(703)
			if strings.HasPrefix(name, "a rate") || strings.HasPrefix(name, "a broken") || strings.HasPrefix(name, "an over") || name == "no key" {
				wantUsed = 3
			}
			if res.Usage.Input != wantUsed || res.Usage.Incomplete != (name == "a broken stream") {
				t.Errorf("the turn used %+v", res.Usage)
			}
			// The next turn tries again, and has all that fits.
			p.note = func(context.Context, model.Request) (model.Reply, error) { return text("NOTE"), nil }
			if res := p.say("go on"); res.Status != harness.RunCompleted || len(p.records(harness.RecordCondensed)) != 1 {
				t.Errorf("the next turn ended as %+v", res)
			}
		})
	}
}

func TestANoteThatIsWrittenWhenTheTurnIsStoppedIsNotStored(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{})
	p.fill()
	before := p.Messages()
	ctx, stop := context.WithCancel(t.Context())
	p.note = func(ctx context.Context, _ model.Request) (model.Reply, error) {
		stop()
		<-ctx.Done()
		return model.Reply{}, ctx.Err()
	}
	p.events = nil
	res, err := p.Stream(ctx, "and now "+strings.Repeat("this ", 300), func(e harness.Event) { p.events = append(p.events, e) })
	if err != nil || res.Status != harness.RunCancelled || !res.Usage.Incomplete {
		t.Fatalf("%+v, %v", res, err)
	}
	if !reflect.DeepEqual(before, p.Messages()[:len(before)]) || len(p.records(harness.RecordCondensed)) != 0 || len(p.told(harness.EventRecovery)) != 0 {
		t.Errorf("the history has changed, or %q was told", p.told(harness.EventRecovery))
	}
	p.note = func(context.Context, model.Request) (model.Reply, error) { return text("NOTE"), nil }
	if res := p.say("go on"); res.Status != harness.RunCompleted || len(p.records(harness.RecordCondensed)) != 1 {
		t.Errorf("the next turn ended as %+v", res)
	}
}

// What a note used that came after the stop, and is none, is known all the same.
func TestWhatALateNoteUsedIsKnown(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{})
	p.fill()
	ctx, stop := context.WithCancel(t.Context())
	p.note = func(context.Context, model.Request) (model.Reply, error) {
		stop()
		r := text("")
		r.Usage = harness.Usage{Input: 700}
		return r, nil
	}
	res, err := p.Stream(ctx, "and now "+strings.Repeat("this ", 300), nil)
	if err != nil || res.Status != harness.RunCancelled || res.Usage.Incomplete || res.Usage.Input != 700 {
		t.Errorf("%+v, %v", res, err)
	}
}

// busy has a tool that returns a long text.
func busy(t *testing.T) *tool.Set {
	t.Helper()
	set := new(tool.Set)
	n := 0
	look, err := tool.New("look", "looks", func(context.Context, tool.Call, struct{}) (string, error) {
		n++
		return fmt.Sprint("seen ", n, " ", strings.Repeat("leaf ", 20)), nil
	}, tool.WithPermission(tool.Allow))
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Add(look); err != nil {
		t.Fatal(err)
	}
	return set
}

// looking asks for the tool n times and then answers.
func looking(n int) func(context.Context, model.Request) (model.Reply, error) {
	return func(context.Context, model.Request) (model.Reply, error) {
		if n--; n < 0 {
			return text("that is all"), nil
		}
		return model.Reply{Parts: []harness.Part{
			{Kind: harness.PartText, Text: "I look at " + strings.Repeat("this ", 100)},
			{Kind: harness.PartCall, Call: &harness.ToolCall{Name: "look", Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}},
		}, Stop: harness.StopTools}, nil
	}
}

func TestALongTurnIsCondensedWithinItself(t *testing.T) {
	t.Parallel()
	facts := mem.New(nil).Facts()
	if _, _, err := facts.Save(t.Context(), harness.Fact{Text: "Everything is in the attic"}, ""); err != nil {
		t.Fatal(err)
	}
	p := newParley(t, agent.Options{Tools: busy(t), Facts: facts})
	p.turn = looking(40)
	if res := p.say("look at everything"); res.Status != harness.RunCompleted || res.Text != "that is all" {
		t.Fatalf("%+v, %v", res, res.Error)
	}
	if n := len(p.notes); n < 1 || n > loop.MaxCondense {
		t.Errorf("%d notes", n)
	}
	for i, r := range p.turns {
		n := memory.Estimate(harness.UserText(r.System + r.Context))
		for _, m := range r.Messages {
			n += memory.Estimate(m)
		}
		if n > small().Window-small().MaxOutput {
			t.Errorf("request %d has %d tokens", i, n)
		}
		if !strings.Contains(r.Context, "in the attic") {
			t.Errorf("request %d is without what was recalled: %s", i, r.Context)
		}
	}
	// What each condensing kept is a message of the turn that calls a tool, and
	// nothing before it is sent.
	for _, r := range p.records(harness.RecordCondensed) {
		var c harness.Condensed
		if err := json.Unmarshal(r.Data, &c); err != nil {
			t.Fatal(err)
		}
		if kept := p.shelf.logs["s"][max(c.Kept-1, 0)]; c.Note != "" && (kept.Message == nil || kept.Message.Role != harness.RoleAssistant || kept.Seq >= r.Seq-loop.MinKept) {
			t.Errorf("kept from %+v on", kept)
		}
	}
	p.turn = func(context.Context, model.Request) (model.Reply, error) { return text("well said"), nil }
	if res := p.say("thanks"); res.Status != harness.RunCompleted {
		t.Errorf("%+v", res)
	}
}

// A refusal counts more than the estimate: it forces one condensing, and what is
// sent then is smaller.
func TestARefusalForcesACondensing(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 1_500} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			p := newParley(t, agent.Options{Info: model.Info{ID: "p/m", MaxOutput: 300}})
			for range 5 {
				p.say(strings.Repeat("more ", 200))
			}
			refused := 0
			p.turn = func(_ context.Context, r model.Request) (model.Reply, error) {
				n := 0
				for _, m := range r.Messages {
					n += len(m.Text())
				}
				if n > 4_000 {
					refused++
					return model.Reply{}, tooLong(limit)
				}
				return text("well said"), nil
			}
			before := len(p.turns)
			res := p.say("and now")
			if res.Status != harness.RunCompleted || refused != 1 || len(p.turns)-before != 2 || len(p.notes) == 0 || len(p.records(harness.RecordCondensed)) != len(p.notes) {
				t.Errorf("%d requests, %d refused, %d notes, %+v, %v", len(p.turns)-before, refused, len(p.notes), res, res.Error)
			}
			if first := p.turns[len(p.turns)-1].Messages[0].Text(); !strings.Contains(first, "NOTE") {
				t.Errorf("the request begins with %q", first)
			}
			for _, e := range p.events {
				if e.Condensed != nil && e.Condensed.Asked {
					t.Error("it is said that a person asked for it")
				}
			}
		})
	}
}

// Where a refusal cannot be answered with a note, the request is cut down, once.
func TestARefusalWithoutANoteIsAnsweredWithLess(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{Info: model.Info{ID: "p/m", MaxOutput: 300}})
	for range 5 {
		p.say(strings.Repeat("more ", 200))
	}
	p.note = brokenOff(model.KindServer)
	refused := 0
	p.turn = func(_ context.Context, r model.Request) (model.Reply, error) {
		n := 0
		for _, m := range r.Messages {
			n += len(m.Text())
		}
		if n > 5_000 {
			refused++
			return model.Reply{}, tooLong(1_500)
		}
		return text("well said"), nil
	}
	res := p.say("and now")
	if res.Status != harness.RunCompleted || refused != 1 || len(p.notes) != 1 || len(p.records(harness.RecordCondensed)) != 0 {
		t.Errorf("%d refused, %d notes, %+v, %v", refused, len(p.notes), res, res.Error)
	}
	if lines := p.told(harness.EventRecovery); len(lines) != 2 {
		t.Errorf("told %q", lines)
	}
}
