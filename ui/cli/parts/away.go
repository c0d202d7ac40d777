package parts

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
	"cairn/ui/cli"
)

// away returns what carries out runs that are kept apart from the store: the same,
// but that what their tools leave goes with the run.
func (p *Start) away(s cli.Store, native Native, setup cli.Setup) (*kit, error) {
	s.Artifacts = run.AwayArtifacts(s.Artifacts)
	return p.kit(s, native, setup)
}

// own returns the parts that carry out runs of this start's own store. The person
// is there: as with runs of the store itself, what they have set now counts.
func (k *kit) own(native Native) func(context.Context, run.Job, run.Carried) (agent.Steps, error) {
	return func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error) {
		if c.Store != native.ID {
			return agent.Steps{}, fmt.Errorf("%w: its conversation is in another store", run.ErrUnfit)
		}
		if err := known(j.Needs.Agent); err != nil {
			return agent.Steps{}, err
		}
		return k.steps(ctx, j.Run.Config)
	}
}

// nobody drives runs where their conversations are not.
func nobody(context.Context, run.Job, run.Carried) (agent.Steps, error) {
	return agent.Steps{}, fmt.Errorf("%w: it only looks", run.ErrUnfit)
}

// known refuses a run of an agent that this program does not have.
func known(name string) error {
	if name == agent.Version {
		return nil
	}
	return fmt.Errorf("%w: it has the agent %s, and not %s", run.ErrUnfit, agent.Version, name)
}

// elsewhere is what stands in for the parts of a store that a run does not carry
// along.
type elsewhere struct{}

// Search implements [harness.Searcher].
func (elsewhere) Search(context.Context, string, int) ([]harness.Hit, error) {
	return nil, fmt.Errorf("the other conversations are not on this machine, so they cannot be searched in this run: %w", harness.ErrNotFound)
}

// carried is what a run takes along, as a store. Whoever changes something leaves
// it with the run.
func carried(c run.Carried) cli.Store {
	m := run.CarriedMemory(c)
	return cli.Store{
		Facts: m.Facts(), Notes: m.Notes(), Inbox: m.Inbox(), Search: elsewhere{}, Grants: run.CarriedGrants(c),
	}
}

// driving is what a worker carries out runs with.
type driving struct {
	start  *Start
	setup  cli.Setup
	host   host
	stores []stored
	// store is the id of the first of stores, empty if there are none.
	store string
	// spare holds back what calls may cost, and knows what refusals taught, for
	// runs of stores that are elsewhere.
	spare   Native
	project func(dir string) (cli.Permissions, error)
}

// stored is a store that runs may come from.
type stored struct {
	cli.Store
	native Native
}

// steps returns the parts that carry out a run, or why this process cannot.
func (d *driving) steps(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error) {
	if err := known(j.Needs.Agent); err != nil {
		return agent.Steps{}, err
	}
	store, native := carried(c), d.spare
	for _, s := range d.stores {
		if s.native.ID == c.Store {
			store, native = s.Store, s.native
		}
	}
	setup, err := d.setupFor(j, c)
	if err != nil {
		return agent.Steps{}, err
	}
	k, err := d.start.away(store, native, setup)
	if err != nil {
		return agent.Steps{}, fmt.Errorf("%w: %w", run.ErrUnfit, err)
	}
	k.servers.wait(ctx, setup.Log)
	bounded, cancel := context.WithTimeout(ctx, toolPatience)
	k.servers.awaitTools(bounded, j.Needs.Tools)
	cancel()
	k.servers.lend(k.set(j.Run.Config), j.Needs.Tools)
	if err := unfit(j, k.needs(j.Run.Config, d.host), d.host, setup.Config.AnyHost, k.servers.portable); err != nil {
		return agent.Steps{}, err
	}
	steps, err := k.steps(ctx, j.Run.Config)
	if err != nil {
		return agent.Steps{}, fmt.Errorf("%w: %w", run.ErrUnfit, err) // another worker may have the key
	}
	if c.Store != d.store {
		steps.Used = nil // the run's entries tell it
	}
	return steps, nil
}

// setupFor is the setup of a run: that of the worker with what the run was begun
// with, and the rules of the project that it works in.
func (d *driving) setupFor(j run.Job, c run.Carried) (cli.Setup, error) {
	setup := d.setup
	setup.Interactive = c.Interactive
	p := setup.Config.Permissions
	p.Mode, p.ModeFrom = j.Needs.Mode, "the run"
	if j.Run.Dir == "" || d.project == nil {
		setup.Config.Permissions = p
		return setup, nil
	}
	project, err := d.project(j.Run.Dir)
	if err != nil {
		return setup, fmt.Errorf("%w: the rules of the project in %s: %w", run.ErrUnfit, j.Run.Dir, err)
	}
	setup.Config.Permissions, err = p.With(project)
	return setup, err
}
