package run

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/policy"
	"cairn/harness/tool"
)

// Options are the parts of a [Local].
type Options struct {
	// Journal, Transcript and Steps are required. A store gives the first two:
	// mem.Store, bolt.DB. With a Branch no Transcript is needed.
	Journal    Journal
	Transcript harness.Transcript
	// Branch, if set, says what was before a run, instead of the Transcript and
	// Sessions.
	Branch func(ctx context.Context, r harness.Run) (Branch, error)
	// Sessions tells whether messages of a session are pinned; without it none is
	// taken to be.
	Sessions harness.Sessions
	// Steps returns the parts that carry out runs of a configuration. Only the
	// Model has to be among them: without Tools there are none, without Policy
	// what the tools say counts and a person is asked, without Compose the
	// request holds the newest messages that fit, and the clock is the engine's.
	// An error is the caller's: an unknown model, a missing key.
	Steps func(ctx context.Context, c harness.RunConfig) (agent.Steps, error)
	// Grants keeps the rules of approvals that are to count for more than once;
	// without it such an approval is refused.
	Grants harness.Grants
	// Live, if set, is given what a run shows that is for the eye only, as it
	// comes: streamed text, retries, signs of life.
	Live func(id harness.RunID, e harness.Event)
	// Engine names what persists the runs, Host this machine.
	Engine string
	Host   string
	// Now and Logger nil are the real clock and no log.
	Now    func() time.Time
	Logger *slog.Logger
}

// Branch is what was in a conversation before a run.
type Branch struct {
	// History is the branch before the run as far as its model can see it, oldest
	// first; Pinned are the pinned messages of the branch.
	History, Pinned []harness.Record
	// Condensed is what a person condensed while the run rested, nil for nothing.
	Condensed *harness.Condensed
}

// NewLocal returns an engine. Close it to pause what runs.
func NewLocal(o Options) *Local {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	return &Local{
		o: o, active: map[harness.RunID]*active{}, seats: map[harness.SessionID]*seat{}, broken: map[harness.RunID]int{},
		told: new(agent.Told),
	}
}

// steps returns the parts that carry out runs of a configuration, all of them.
func (l *Local) steps(ctx context.Context, c harness.RunConfig) (agent.Steps, error) {
	s, err := l.o.Steps(ctx, c)
	if err != nil {
		return s, err
	}
	if s.Model == nil {
		return s, fmt.Errorf("run of %q: Options.Steps gives no Model", c.Model)
	}
	if s.Tools == nil {
		s.Tools = new(tool.Set)
	}
	if s.Policy == nil {
		s.Policy = policy.Rules{Interactive: true}
	}
	if s.Compose == nil {
		s.Compose = new(memory.Composer).Compose
	}
	if s.Now == nil {
		s.Now = l.o.Now
	}
	if s.Log == nil {
		s.Log = l.o.Logger
	}
	return s, nil
}
