package runtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/model/modeltest"
)

// session is the one of every scene.
const session harness.SessionID = "s"

// script is one scene: what the model answers, in order, and what the person does
// meanwhile.
type script struct {
	replies []reply
	// always, if set, answers all requests instead.
	always reply
	act    func(s *stage)
	// memory says that it reads the memory or writes to it.
	memory bool
}

// stage is one engine through the lives of several processes.
type stage struct {
	EngineFixture

	t       *testing.T
	lease   harness.Lease
	service *modeltest.Service
	always  reply
	// life is closed when the present process has died.
	life chan struct{}
	// names says that facts may be named after their run.
	names bool
	// told is what the engine returned, for the comparison.
	told []string

	mu sync.Mutex
	// bodies are the requests, effects the lines that tools left.
	bodies, effects []string
	// done are the calls that were begun, by their keys.
	done map[string]bool
	// holding is closed when a tool waits for spoken, which is closed when the person
	// has said something.
	holding, spoken chan struct{}
	// met counts calls, meeting is closed when those that meet are all there, hung
	// when a tool hangs.
	met           int
	meeting, hung chan struct{}
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		t: t, done: map[string]bool{}, life: make(chan struct{}), meeting: make(chan struct{}), hung: make(chan struct{}),
		holding: make(chan struct{}), spoken: make(chan struct{}),
	}
	t.Cleanup(func() { close(s.life) }) // whatever hangs still
	return s
}

// play gets the model ready.
func (s *stage) play(c script) {
	s.always = c.always
	s.serve(c.replies)
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// acquire opens the session as its owner, who is handed over what it lacks.
func (s *stage) acquire() {
	s.t.Helper()
	var err error
	s.lease, err = s.Owners.Acquire(s.t.Context(), harness.Session{ID: session, Dir: "/home/ada"}, harness.Holder{})
	s.must(err)
	s.fetch()
}

func (s *stage) fetch() {
	s.t.Helper()
	if s.Remote == nil {
		return
	}
	got, err := s.Remote.Fetch(s.t.Context(), s.lease)
	s.must(err)
	if len(got.Lost) > 0 {
		s.t.Errorf("lost: %v", got.Lost)
	}
}

// start sends words.
func (s *stage) start(words, model string) harness.RunHandle {
	s.t.Helper()
	return s.send(harness.UserText(words), model)
}

// send sends a message.
func (s *stage) send(m harness.Message, model string) harness.RunHandle {
	s.t.Helper()
	h, err := s.Engine.Start(s.t.Context(), harness.StartRequest{
		Lease: s.lease, Message: m, Dir: "/home/ada", Request: fmt.Sprint("request ", len(s.told)),
		Config: harness.RunConfig{Agent: AgentName, Model: model, System: "Be brief."},
	})
	s.must(err)
	return h
}

// ask sends a message and waits until its run rests.
func (s *stage) ask(words string) harness.Result { return s.wait(s.start(words, modelUsual)) }

// wait waits until a run rests and notes how.
func (s *stage) wait(h harness.RunHandle) harness.Result {
	s.t.Helper()
	r, err := h.Wait(s.t.Context())
	s.must(err)
	line := fmt.Sprintf("%s %s %q", r.Status, r.Stop, brief(r.Text))
	if r.Error != nil {
		line += " error " + r.Error.Kind
	}
	for _, p := range r.Pending {
		line += " | " + pendingLine(p)
	}
	s.told = append(s.told, line)
	return r
}

func pendingLine(p harness.Pending) string {
	line := fmt.Sprintf("%s %s", p.Call.Name, p.Call.Input)
	if p.Uncertain {
		line = "uncertain " + line
	}
	if p.Question() {
		line = "question " + line
	}
	return line
}

// decide answers what waits in r.
func (s *stage) decide(r harness.Result, how harness.DecisionHow, words string) {
	s.t.Helper()
	if len(r.Pending) == 0 {
		s.t.Fatalf("nothing waits: %+v", r)
	}
	var ds []harness.Decision
	for _, p := range r.Pending {
		ds = append(ds, harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: how, Text: words, By: "ada"})
	}
	h, err := s.Engine.Decide(s.t.Context(), s.lease, r.Run, ds...)
	s.must(err)
	s.wait(h)
}

// allow approves what waits in r together with the rule that is offered.
func (s *stage) allow(r harness.Result, scope harness.GrantScope) {
	s.t.Helper()
	p := r.Pending[0]
	h, err := s.Engine.Decide(s.t.Context(), s.lease, r.Run, harness.Decision{
		Call: p.Call.ID, Digest: p.Digest, How: harness.DecideApprove, By: "ada", Scope: scope, Rule: p.Proposal.Session,
	})
	s.must(err)
	s.wait(h)
}

// resume goes on with the session's run.
func (s *stage) resume(how harness.ResumeHow) harness.Result {
	s.t.Helper()
	h, err := s.Engine.Resume(s.t.Context(), s.lease, s.last().ID, how)
	s.must(err)
	return s.wait(h)
}

// takeUp has the session's run go on whose driver died.
func (s *stage) takeUp() harness.Result {
	s.t.Helper()
	if !s.GoesOn {
		// Where a lease says who drives, that has to end first.
		s.until("end of the lease", func() bool { return s.last().Worker == nil })
		return s.resume(harness.ResumeRetry)
	}
	h, err := s.Remote.Attach(s.t.Context(), s.lease, s.last().ID)
	s.must(err)
	return s.wait(h)
}

// runs are the session's, oldest first.
func (s *stage) runs() []harness.Run {
	s.t.Helper()
	runs, err := s.Engine.List(s.t.Context(), harness.RunFilter{Session: session})
	s.must(err)
	slices.Reverse(runs)
	return runs
}

func (s *stage) last() harness.Run {
	s.t.Helper()
	runs := s.runs()
	if len(runs) == 0 {
		s.t.Fatal("there is no run")
	}
	return runs[len(runs)-1]
}

// half waits until so much of an answer is where whoever goes on finds it.
func (s *stage) half(id harness.RunID, words string) {
	s.t.Helper()
	s.until("the text "+words, func() bool {
		r, err := s.Engine.Get(s.t.Context(), id)
		s.must(err)
		return r.Partial != nil && r.Partial.Text == words
	})
}

// until waits for a state that comes by itself.
func (s *stage) until(what string, there func() bool) {
	s.t.Helper()
	for !there() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.t.Context().Done():
			s.t.Fatalf("no %s came", what)
		}
	}
}

// die has the process die and another one take its place, with the session.
func (s *stage) die() {
	s.t.Helper()
	old := s.life
	s.life = make(chan struct{})
	s.EngineFixture = s.Restart(s.work())
	s.acquire()
	// Whatever the dead one does from here on comes too late.
	close(old)
}

// brief is a long text as it is compared.
func brief(text string) string {
	const most = 600
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes, sha256 %.16s)", strings.ToValidUTF8(text[:most/2], ""), len(text), harness.ArtifactName([]byte(text)))
}
