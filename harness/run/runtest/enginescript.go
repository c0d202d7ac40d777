package runtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/model/modeltest"
)

// scripts are the scenes, by what they show.
func scripts() map[string]script {
	all := asks()
	maps.Copy(all, faults())
	maps.Copy(all, works())
	maps.Copy(all, pictures())
	maps.Copy(all, deaths())
	maps.Copy(all, steers())
	for how, scene := range uncertain() {
		all["an uncertain call, "+string(how)] = scene
	}
	for how, scene := range unfinished() {
		all["a failure, "+string(how)] = scene
	}
	return all
}

// asks are scenes in which a person decides.
func asks() map[string]script {
	return map[string]script{
		"an approval": {
			replies: []reply{calls("", wanted{"write", given{Text: "a"}}, wanted{"look", given{Text: "b"}}), text("Written.")},
			act:     func(s *stage) { s.decide(s.ask("write it"), harness.DecideApprove, "") },
		},
		"a refusal": {
			replies: []reply{calls("", wanted{"write", given{Text: "a"}}), text("Then not.")},
			act:     func(s *stage) { s.decide(s.ask("write it"), harness.DecideDecline, "not today") },
		},
		"a permission for the session": {
			replies: []reply{
				calls("", wanted{"write", given{Text: "a"}}), text("Once."),
				calls("", wanted{"write", given{Text: "b"}}), text("Twice."),
			},
			act: func(s *stage) {
				r := s.ask("write it")
				s.allow(r, harness.ScopeSession)
				s.ask("and again")
			},
		},
		"a question": {
			replies: []reply{calls("", wanted{"ask_user", map[string]any{"question": "Which colour?", "choices": []string{"red", "blue"}}}), text("Blue it is.")},
			act:     func(s *stage) { s.decide(s.ask("paint it"), harness.DecideAnswer, "blue") },
		},
	}
}

// faults are scenes in which the service of the model fails, or is stopped.
func faults() map[string]script {
	return map[string]script{
		"a busy service": {
			replies: []reply{busy("1"), text("At last.")},
			act:     func(s *stage) { s.ask("hello") },
		},
		"a cut stream": {
			replies: []reply{breaks("Half an"), text("A whole answer.")},
			act:     func(s *stage) { s.ask("hello") },
		},
		"a truncated reply": {
			replies: []reply{cutShort("The first part,"), text("and the second.")},
			act:     func(s *stage) { s.ask("tell all") },
		},
		"a cancel": {
			replies: []reply{hangs("Half an answer"), text("Now whole.")},
			act: func(s *stage) {
				h := s.start("hello", modelUsual)
				s.half(h.ID(), "Half an answer")
				s.must(s.Engine.Cancel(s.t.Context(), h.ID()))
				s.wait(h)
				s.ask("again")
			},
		},
		"a pause": {
			replies: []reply{hangs("Half an answer"), text(" and the rest.")},
			act: func(s *stage) {
				h := s.start("hello", modelUsual)
				s.half(h.ID(), "Half an answer")
				s.must(s.Engine.Pause(s.t.Context(), h.ID()))
				s.wait(h)
				s.resume(harness.ResumeContinue)
			},
		},
	}
}

// works are scenes in which tools do what is asked.
func works() map[string]script {
	return map[string]script{
		"tools at once": {
			replies: []reply{
				calls("I look.", wanted{"look", given{Text: "a", Meet: 4}}, wanted{"note", given{Text: "b", Meet: 4}}, wanted{"pay", given{Text: "c", Meet: 4}}, wanted{"look", given{Text: "d", Meet: 4}}),
				text("All four are done."),
				text("Again."),
			},
			act: func(s *stage) { s.ask("go"); s.ask("and now?") },
		},
		"a long result": {
			replies: []reply{
				calls("", wanted{"flood", struct{}{}}),
				calls("", wanted{"read_tool_result", map[string]any{"id": harness.ArtifactName([]byte(flooded()))[:16], "offset": 70_000, "limit": 2}}),
				text("So much."),
			},
			act: func(s *stage) {
				s.ask("tell")
				data, err := s.Artifacts.Get(s.t.Context(), session, harness.ArtifactName([]byte(flooded())))
				s.must(err)
				if string(data) != flooded() {
					s.t.Errorf("the stored result has %d bytes", len(data))
				}
			},
		},
		"a saved fact": {
			memory: true,
			replies: []reply{
				calls("", wanted{"save_memory", map[string]any{"content": "Ada's cat is called Mia"}}),
				text("I shall remember."),
				calls("", wanted{"recall_memories", map[string]any{"query": "cat"}}),
				text("Mia."),
			},
			act: func(s *stage) {
				s.ask("My cat is called Mia, remember that")
				s.ask("What is my cat called?")
			},
		},
		"a changed memory": {
			memory: true,
			replies: []reply{
				calls("", wanted{"save_memory", map[string]any{"content": "Ada's cat is called Mia"}}),
				calls("", wanted{"save_memory", map[string]any{"content": "# Cats\nMany.", "title": "Cats", "layer": "note"}}),
				func(s *stage, w *modeltest.Answer) {
					calls("", wanted{"update_memory", map[string]any{"id": s.recalled(0), "text": "Ada's cat is called Max"}})(s, w)
				},
				func(s *stage, w *modeltest.Answer) {
					calls("", wanted{"forget_memory", map[string]any{"id": s.recalled(1)}})(s, w)
				},
				text("All is well."),
				text("Max."),
			},
			act: func(s *stage) {
				s.ask("My cat is called Mia, keep that, and a note on cats. No, Max. And no note")
				s.ask("What is my cat called?")
			},
		},
		"a condensing": {
			always: remembers,
			act: func(s *stage) {
				s.fill()
				s.wait(s.start("look at everything", modelSmall))
			},
		},
	}
}

// pictures are scenes in which models get images.
func pictures() map[string]script {
	return map[string]script{
		"a picture": {
			replies: []reply{text("A dot."), text("Still a dot.")},
			act: func(s *stage) {
				m := harness.UserText("what is this?")
				m.Parts = append(m.Parts, harness.Part{Kind: harness.PartFile, File: &harness.File{Name: "dot.png", MediaType: "image/png", Data: dot(), Width: 1, Height: 1}})
				s.wait(s.send(m, modelUsual))
				s.ask("and now?")
			},
		},
		"a picture by a tool": {
			replies: []reply{calls("", wanted{"look", given{Text: textDrawn}}), text("A dot."), text("Still a dot.")},
			act: func(s *stage) {
				s.ask("draw a dot")
				s.ask("and now?")
				data, err := s.Artifacts.Get(s.t.Context(), session, harness.ArtifactName(dot()))
				s.must(err)
				if !bytes.Equal(data, dot()) {
					s.t.Errorf("the stored image has %d bytes", len(data))
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				for i, body := range s.bodies[1:] {
					if !strings.Contains(body, base64.StdEncoding.EncodeToString(dot())) {
						s.t.Errorf("request %d lacks the image: %s", i+2, body)
					}
				}
			},
		},
	}
}

// deaths are scenes in which the process dies and another one goes on.
func deaths() map[string]script {
	return map[string]script{
		"a death while a person is asked": {
			replies: []reply{calls("", wanted{"write", given{Text: "a"}}), text("Written.")},
			act: func(s *stage) {
				before := s.ask("write it")
				s.die()
				r, err := s.Engine.Get(s.t.Context(), before.Run)
				s.must(err)
				if len(r.Pending) != 1 || r.Pending[0].Digest != before.Pending[0].Digest {
					s.t.Errorf("it waits for %+v, it was %+v", r.Pending, before.Pending)
				}
				before.Pending = r.Pending
				s.decide(before, harness.DecideApprove, "")
			},
		},
		"a death in an answer": {
			replies: []reply{hangs("Half an answer"), text("A whole one.")},
			act: func(s *stage) {
				h := s.start("hello", modelUsual)
				s.half(h.ID(), "Half an answer")
				s.die()
				s.takeUp()
			},
		},
	}
}

// uncertain are scenes in which the process dies while a manual call is under way
// and a person then says what became of it.
func uncertain() map[harness.DecisionHow]script {
	all := map[harness.DecisionHow]script{}
	for _, how := range []harness.DecisionHow{harness.DecideResult, harness.DecideRetry, harness.DecideAbort} {
		replies := []reply{calls("", wanted{"pay", given{Text: "a", Hang: true}}, wanted{"look", given{Text: "b"}}), text("Paid.")}
		words := ""
		if how == harness.DecideResult {
			words = "the bank says so"
		}
		if how == harness.DecideAbort {
			replies[1] = text("Something else.")
		}
		all[how] = script{replies: replies, act: func(s *stage) {
			h := s.start("pay", modelUsual)
			<-s.hung
			s.until("result", func() bool { return slices.Contains(s.kinds(h.ID()), "ended tool") })
			s.die()
			s.decide(s.takeUp(), how, words)
			if how == harness.DecideAbort {
				s.ask("something else")
			}
		}}
	}
	return all
}

// unfinished are scenes in which an answer breaks off and the person goes on in
// one of the ways that there are.
func unfinished() map[harness.ResumeHow]script {
	all := map[harness.ResumeHow]script{}
	for _, how := range []harness.ResumeHow{harness.ResumeContinue, harness.ResumeRetry, harness.ResumeDrop, harness.ResumeClose} {
		all[how] = script{
			replies: []reply{breaks("Half an answer"), text("The other half.")},
			act: func(s *stage) {
				s.wait(s.start("hello", modelOnce))
				switch how {
				case harness.ResumeDrop:
					s.resume(how)
					s.ask("something else")
				case harness.ResumeClose:
					s.ask("something else") // which closes what was before
				default:
					s.resume(how)
				}
			},
		}
	}
	return all
}

// dot is a picture.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// recalled is the name of what the n-th result of the last request saved.
func (s *stage) recalled(n int) string {
	raw, _, _ := s.service.Last()
	names := regexp.MustCompile(`Remembered: \[(?:fact|note)/([a-z0-9_-]+)`).FindAllStringSubmatch(string(raw), -1)
	if n >= len(names) {
		s.t.Errorf("the request has %d names: %s", len(names), raw)
		return ""
	}
	return names[n][1]
}

// fill gives the session a past that is longer than the small window.
func (s *stage) fill() {
	s.t.Helper()
	var records []harness.Record
	for i := range 20 {
		m := harness.UserText(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 100)))
		if i%2 == 1 {
			m = harness.AssistantText(fmt.Sprintf("answer %d %s", i, strings.Repeat("word ", 100)))
		}
		records = append(records, harness.Record{Kind: harness.RecordMessage, Message: &m, At: noon()})
	}
	pin, err := json.Marshal(harness.Pin{Message: 3})
	s.must(err)
	records = append(records, harness.Record{Kind: harness.RecordPin, Data: pin, At: noon()})
	_, err = s.Transcript.Append(s.t.Context(), s.lease, records...)
	s.must(err)
}

// remembers answers with more and more calls, and with what stands for old
// messages where that is asked for: a request without tools.
func remembers(s *stage, w *modeltest.Answer) {
	raw, _, _ := s.service.Last()
	body := string(raw)
	if !strings.Contains(body, `"tools"`) {
		text(fmt.Sprintf("NOTE of %d bytes.", len(body)))(s, w)
		return
	}
	step := 0
	for _, m := range regexp.MustCompile(`done: step (\d+)`).FindAllStringSubmatch(body, -1) {
		var n int
		if _, err := fmt.Sscan(m[1], &n); err != nil {
			s.t.Error(err)
		}
		step = max(step, n)
	}
	words := fmt.Sprintf("I am at step %d and %s", step, strings.Repeat("think ", 150))
	if step == 6 {
		text(words)(s, w)
		return
	}
	// One at a time: what stands for old messages is asked for with the results in
	// the order in which they came.
	calls(words, wanted{"look", given{Text: fmt.Sprint("step ", step+1)}})(s, w)
}
