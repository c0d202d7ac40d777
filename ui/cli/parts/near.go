package parts

import (
	"context"
	"log/slog"

	"cairn/harness/memory/near"
	"cairn/ui/cli"
)

// KeepVectors makes the vectors that a store lacks, and those of what is written
// later, until ctx ends. quiet returns once nobody writes. It does nothing where no
// model is configured for that.
func KeepVectors(ctx context.Context, s cli.Store, quiet func(context.Context)) {
	if s.Meaning == nil || s.Vectors == nil || s.Watch == nil {
		return
	}
	changes, err := s.Watch.Watch(ctx)
	if err != nil {
		s.Meaning.Log.Warn("vectors are made of what there is now", slog.String("error", err.Error()))
	}
	near.Background(s.Meaning, s.Vectors).Run(ctx, func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case _, ok := <-changes:
			if ok {
				quiet(ctx)
				return
			}
			<-ctx.Done() // nothing tells of changes any more
		}
	})
}
