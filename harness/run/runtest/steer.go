package runtest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"cairn/harness"
	"cairn/harness/loop"
	"cairn/harness/model/modeltest"
	"cairn/harness/run"
)

// said is the entry of what a person says into a run.
func said(id string) run.Entry {
	return run.Entry{Kind: loop.KindSteered, Data: json.RawMessage(`{"id":"` + id + `","message":{"role":"user","parts":[{"kind":"text","text":"say ` + id + `"}]}}`)}
}

func testSteer(t *testing.T, f *fixture) {
	steer := func(id harness.RunID, e run.Entry) error {
		j, ok := f.Journal.(run.Steerable)
		if !ok {
			t.Fatal("its runs cannot be steered")
		}
		return j.Steer(f.ctx(), id, e)
	}
	l := f.acquire("s")
	f.start(l, "r", "hello")
	before := f.get("r")
	f.must(steer("r", said("1")))
	f.must(f.Journal.SavePartial(f.ctx(), l, "r", harness.Partial{Attempt: 1, Text: "half"}))
	f.must(steer("r", said("2")))
	if got := f.get("r"); got.Cursor != 3 || got.Status != harness.RunRunning || got.Driver != before.Driver || got.Partial == nil || got.Interrupted {
		t.Fatalf("steered run %+v", got)
	}
	if f.tail() != "hello" {
		t.Fatalf("the conversation is %q", f.tail())
	}
	_, err := f.Journal.Append(f.ctx(), l, "r", 1, answer("one"))
	f.want(err, harness.ErrStale)
	f.append(l, "r", 3, answer("one"))
	f.reopen()
	// Nobody has the run now, which changes nothing of what was said.
	f.must(steer("r", said("3")))
	if got := f.get("r"); !got.Interrupted || got.Cursor != 5 {
		t.Fatalf("steered run whose driver died %+v", got)
	}
	var kinds []string
	for _, e := range f.read(1) {
		kinds = append(kinds, e.Kind+string(e.Data))
	}
	f.equal("entries", kinds, []string{"steered" + string(said("1").Data), "steered" + string(said("2").Data), "answer", "steered" + string(said("3").Data)})
	for _, e := range []run.Entry{answer("mine"), status(harness.RunCompleted), {Kind: loop.KindSteered, Status: harness.RunPaused}} {
		if err := steer("r", e); err == nil {
			t.Fatalf("anybody may write %+v", e)
		}
	}
	l = f.acquire("s")
	f.append(l, "r", 5, status(harness.RunPaused))
	f.must(steer("r", said("4")))
	f.append(l, "r", 7, status(harness.RunCompleted))
	f.want(steer("r", said("5")), harness.ErrEnded)
	f.want(steer("none", said("5")), harness.ErrNotFound)
	if f.get("r").Cursor != 8 {
		t.Fatalf("a run that has ended is at %d", f.get("r").Cursor)
	}
}

// textHeld has a tool wait until the person has said something into the run.
const textHeld = "held"

// steers are scenes in which the person says something into a run that goes on.
func steers() map[string]script {
	return map[string]script{
		"words while a tool runs": {
			replies: []reply{
				calls("I look.", wanted{"look", given{Text: textHeld}}, wanted{"note", given{Text: "b"}}),
				calls("", wanted{"note", given{Text: "c"}}), text("All is noted."),
			},
			act: func(s *stage) {
				h := s.start("look", modelUsual)
				<-s.holding
				s.until("result", func() bool { return slices.Contains(s.kinds(h.ID()), "ended tool") })
				s.steer(h.ID(), "note c, not d", "1")
				s.steer(h.ID(), "and be quick", "2")
				s.steer(h.ID(), "note c, not d", "1")
				close(s.spoken)
				s.wait(h)
			},
		},
		"words during the last answer": {
			replies: []reply{
				func(s *stage, w *modeltest.Answer) {
					s.steer(s.last().ID, "And the weather?", "1")
					text("It is noon.")(s, w)
				},
				text("It rains."), text("Still."),
			},
			act: func(s *stage) {
				r := s.ask("What time is it?")
				if err := s.steers(r.Run, "too late", "2"); !errors.Is(err, harness.ErrEnded) {
					s.t.Errorf("a run that is over was steered: %v", err)
				}
				s.ask("and now?")
			},
		},
		"words while a person is asked": {
			replies: []reply{calls("", wanted{"write", given{Text: "a"}}), text("Written.")},
			act: func(s *stage) {
				r := s.ask("write it")
				s.steer(r.Run, "in blue", "1")
				s.decide(r, harness.DecideApprove, "")
			},
		},
		"words before a death": {
			replies: []reply{calls("", wanted{"pay", given{Text: "a", Hang: true}}, wanted{"look", given{Text: "b"}}), text("Paid.")},
			act: func(s *stage) {
				h := s.start("pay", modelUsual)
				<-s.hung
				s.until("result", func() bool { return slices.Contains(s.kinds(h.ID()), "ended tool") })
				s.steer(h.ID(), "and thank them", "1")
				s.die()
				s.decide(s.takeUp(), harness.DecideResult, "the bank says so")
			},
		},
		"words before a drop": {
			replies: []reply{calls("", wanted{"write", given{Text: "a"}}), text("Something else.")},
			act: func(s *stage) {
				r := s.ask("write it")
				s.steer(r.Run, "in blue", "1")
				s.resume(harness.ResumeDrop)
				s.ask("something else")
			},
		},
	}
}

// steer says something into a run.
func (s *stage) steer(id harness.RunID, words, name string) {
	if err := s.steers(id, words, name); err != nil {
		s.t.Errorf("say %q: %v", words, err)
	}
}

func (s *stage) steers(id harness.RunID, words, name string) error {
	e, ok := s.Engine.(harness.Steerer)
	if !ok {
		return errors.ErrUnsupported
	}
	return e.Steer(s.t.Context(), id, harness.Steer{ID: name, Message: harness.UserText(words)})
}
