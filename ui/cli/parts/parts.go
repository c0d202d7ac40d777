// Package parts builds what a start consists of from its configuration: tools,
// rules, the engine, and what is asked of models beside conversations. The one
// thing to know: it sees no store and no screen, only their contracts, and all
// parts of a start share one environment of keys, addresses and models.
package parts

import (
	"context"
	"os"
	"sync"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/model/choose"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/ui/cli"
)

// Native is what a store keeps runs and models with, beside what the command
// line sees of it.
type Native struct {
	Journal run.Journal
	Limits  harness.Limits
	// Spending holds back what calls may cost; nil where nothing can be limited.
	Spending harness.Spending
	// Engine names what persists runs.
	Engine string
	// ID is that of the store of the conversations.
	ID string
}

// Start is one start of the program. Its zero value is ready for use where runs
// are kept in the store of the conversations alone.
type Start struct {
	// Queue opens what keeps runs at an address of SQLite or PostgreSQL.
	Queue func(ctx context.Context, a run.Address, setup cli.Setup) (run.Queue, error)

	// Asks says that a screen is there which passes on what MCP servers ask, and
	// Version is what they are told of this program.
	Asks    bool
	Version string

	once sync.Once
	env  choose.Env
	// served are the MCP servers of the process, nil until they are asked for.
	serving sync.Mutex
	served  *servers
}

// Environment is where keys, addresses and models come from: one for all parts
// of a start, which has one configuration.
func (p *Start) Environment(setup cli.Setup) choose.Env {
	p.once.Do(func() {
		p.env = setup.Environment()
		// What failed lately is passed over by all that this start asks.
		p.env.Fallback, p.env.Health = setup.Config.Fallback, new(model.Health)
	})
	return p.env
}

// budget keeps the model calls of a start within the configured limits.
func budget(setup cli.Setup, native Native) *policy.Budget {
	host, _ := os.Hostname() // it is only shown
	return &policy.Budget{
		Spending: native.Spending, Limits: setup.Config.Spending, Now: setup.Now,
		Holder: harness.Holder{PID: os.Getpid(), Host: host, Since: setup.Now()},
	}
}
