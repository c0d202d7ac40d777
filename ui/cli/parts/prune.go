package parts

import (
	"context"
	"errors"
	"time"

	"cairn/harness/run"
	"cairn/ui/cli"
)

// oldRuns is the age from which the journals of ended runs may go.
const oldRuns = 30 * 24 * time.Hour

// PruneRuns is how a chat removes the journals of old runs, from its store and from
// the configured engine. What was not handed over is kept.
func (p *Start) PruneRuns(setup cli.Setup, native Native) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		old := run.Prune{Before: setup.Now().Add(-oldRuns)}
		n := 0
		if j, ok := native.Journal.(run.Pruner); ok {
			var err error
			if n, err = j.PruneRuns(ctx, old); err != nil {
				return n, err
			}
		}
		if setup.Ephemeral || setup.Engine.Kind == run.KindBbolt {
			return n, nil
		}
		b, err := p.Jobs(ctx, setup)
		if err != nil {
			return n, err
		}
		there, err := b.Prune(ctx, old)
		return n + there, errors.Join(err, b.Close(ctx))
	}
}
