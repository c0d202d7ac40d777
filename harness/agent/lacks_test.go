package agent_test

import (
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
)

func TestMoreCallsThanAreMadeUnaskedAreLeftToThePerson(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{Info: model.Info{ID: "p/m", Window: 100_000, MaxOutput: 500}})
	for range 12 {
		p.say(strings.Repeat("more ", 1_500))
	}
	if len(p.notes) != 0 {
		t.Fatalf("%d notes in a large window", len(p.notes))
	}
	log := p.shelf
	p = newParley(t, agent.Options{})
	p.shelf.logs = log.logs
	closed(t, p.Agent)
	var err error
	if p.Agent, err = agent.Open(t.Context(), agent.Session{ID: "s", Store: log}, agent.Options{Model: answering(p.stream), Info: small(), System: "Be brief."}); err != nil {
		t.Fatal(err)
	}
	defer closed(t, p.Agent)
	res := p.say("now in a small window")
	lines := p.told(harness.EventRecovery)
	if res.Status != harness.RunCompleted || len(p.notes) != 0 || len(lines) != 1 {
		t.Fatalf("%d notes, told %q, %+v", len(p.notes), lines, res)
	}
	for _, part := range []string{"there is no room for ", "/compact would condense", " calls, about ", " tokens, about $0.0"} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("%q does not say %q", lines[0], part)
		}
	}
	for n := range 3 {
		if sent := p.turns[len(p.turns)-1]; !strings.Contains(sent.Context, "left out") {
			t.Errorf("the model is told %q", sent.Context)
		}
		if res := p.say("and again"); res.Status != harness.RunCompleted || len(p.told(harness.EventRecovery)) != 0 {
			t.Errorf("in turn %d it is told %q, %+v", n, p.told(harness.EventRecovery), res)
		}
	}
}

func TestPinsWithoutRoomAreToldOnce(t *testing.T) {
	t.Parallel()
	p := newParley(t, agent.Options{})
	p.say(strings.Repeat("more ", 2_500))
	if err := p.Pin(t.Context(), harness.Origin{Record: 1}); err != nil {
		t.Fatal(err)
	}
	var told []string
	for range 6 {
		if res := p.say("tell me " + strings.Repeat("more ", 300)); res.Status != harness.RunCompleted {
			t.Fatalf("%+v", res)
		}
		told = append(told, p.told(harness.EventRecovery)...)
	}
	if len(told) != 1 || !strings.Contains(told[0], "1 pinned message too large for the model's window") {
		t.Errorf("told %q", told)
	}
}

func TestARequestWithoutRoomForAConversationSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		system, said string
		status       harness.RunStatus
		requests     int
	}{
		"a prompt over the trigger": {strings.Repeat("rule ", 2_400), "hi", harness.RunCompleted, 1},
		"a prompt over the window":  {strings.Repeat("rule ", 9_000), "hi", harness.RunFailed, 0},
		"a message beside a prompt": {strings.Repeat("rule ", 2_400), strings.Repeat("long ", 900), harness.RunFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newParley(t, agent.Options{System: c.system})
			for n := range 2 {
				before := len(p.turns)
				res := p.say(c.said)
				if res.Status != c.status || len(p.turns)-before != c.requests || len(p.notes) != 0 {
					t.Fatalf("%d requests, %d notes, %+v, %v", len(p.turns)-before, len(p.notes), res, res.Error)
				}
				sentence := ""
				if res.Error != nil {
					if sentence = res.Error.Text; res.Error.Kind != string(model.KindOverflow) {
						t.Errorf("the failure is %+v", res.Error)
					}
				} else if lines := p.told(harness.EventRecovery); len(lines) == 1 && n == 0 {
					sentence = lines[0]
				} else if n == 1 && len(lines) == 0 {
					continue // it was told, and the conversation goes on
				}
				if !strings.Contains(sentence, "window of 4000 tokens") && !strings.Contains(sentence, "window of 4,000 tokens") {
					t.Errorf("told %q", sentence)
				}
			}
		})
	}
}
