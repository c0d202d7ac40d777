package runtest

import (
	"context"
	"testing"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
)

// LocalEngine returns a [run.Local] over stores, for [TestEngine].
func LocalEngine(t *testing.T, s Stores, w Work) EngineFixture {
	t.Helper()
	engine := run.NewLocal(run.Options{
		Journal: s.Journal, Transcript: s.Transcript, Sessions: s.Sessions, Grants: s.Grants, Engine: "test", Host: "host",
		Steps: func(ctx context.Context, c harness.RunConfig) (agent.Steps, error) { return w.Steps(ctx, c, s) },
	})
	t.Cleanup(func() { _ = engine.Close(context.WithoutCancel(t.Context())) }) // one that died has nothing to close
	return EngineFixture{
		Stores: s, Engine: engine,
		Restart: func(w Work) EngineFixture { return LocalEngine(t, s.Reopen(), w) },
	}
}
