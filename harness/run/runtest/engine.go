package runtest

import (
	"context"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
)

// AgentName is the agent of the runs of [TestEngine], as "name@version".
const AgentName = "script@1"

// Work is what an engine needs to carry out the runs of [TestEngine], in one
// process.
type Work struct {
	// Steps returns the parts that carry out runs of a configuration with the
	// stores that whoever drives has: their Facts, Notes, Inbox, Artifacts and
	// Grants are used.
	Steps func(ctx context.Context, c harness.RunConfig, s Stores) (agent.Steps, error)
	// Info says what is known of the model of a configuration.
	Info func(c harness.RunConfig) model.Info
}

// EngineFixture is an engine with the stores of its conversations.
type EngineFixture struct {
	Stores

	Engine harness.Engine
	// Remote is Engine if its runs are kept apart from the conversations, else nil.
	Remote harness.Remote
	// Elsewhere says that runs are driven by a process without the stores, so that
	// the memory is what a run carries, and says so.
	Elsewhere bool
	// GoesOn says that a run whose driver died is taken over without being asked, as
	// with [harness.ResumeRetry].
	GoesOn bool
	// Restart has the process die, as by a signal that it cannot catch, and another
	// one begin that does w.
	Restart func(w Work) EngineFixture
}

// TestEngine takes one script through an engine: tools at once, approvals, faults
// of the network, stops, deaths of the process. What is left in the conversation,
// in the journal and at the model is compared with what every engine leaves. open
// opens an engine over empty stores that does w.
//
// UPDATE_FROZEN=1 writes anew what is compared with: what follows is compared with
// that only after the program was built again.
func TestEngine(t *testing.T, open func(t *testing.T, w Work) EngineFixture) {
	t.Parallel()
	for name, script := range scripts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.play(script)
			s.EngineFixture = open(t, s.work())
			s.acquire()
			script.act(s)
			if s.names = script.memory && s.Elsewhere; s.names {
				name += ", elsewhere"
			}
			s.compare(name)
		})
	}
}
