package parts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/ui/cli"
)

// oldRuns is the age from which the journals of ended runs may go.
const oldRuns = 30 * 24 * time.Hour

// PruneRuns is how a chat removes the journals of old runs, from its store and from
// the engines that keep runs of it. What was not handed over is kept.
func (p *Start) PruneRuns(setup cli.Setup, native Native) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		old := run.Prune{Before: setup.Now().Add(-oldRuns)}
		list, err := native.Journal.List(ctx, harness.RunFilter{})
		if err != nil {
			return 0, fmt.Errorf("list runs: %w", err)
		}
		n := 0
		if j, ok := native.Journal.(run.Pruner); ok {
			if n, err = j.PruneRuns(ctx, old); err != nil {
				return n, err
			}
		}
		if setup.Ephemeral {
			return n, nil
		}
		old.Store = native.ID
		removed := map[string]int{}
		missed := cli.PruneEngines(ctx, setup, list, old, p.Jobs, removed)
		for _, there := range removed {
			n += there
		}
		var all []error
		for _, name := range slices.Sorted(maps.Keys(missed)) {
			all = append(all, fmt.Errorf("prune %s: %w", name, missed[name]))
		}
		return n, errors.Join(all...)
	}
}
