package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// enginePatience bounds how long the doctor waits for an engine.
const enginePatience = 5 * time.Second

// examineEngines looks at what keeps runs: the engine of new ones, and the others
// that are configured, where older ones may be.
func (a *app) examineEngines(ctx context.Context, c Config) []finding {
	list := []finding{a.examineEngine(ctx, "engine", c, c.Engine)}
	for _, other := range c.Engines {
		if other.Text != c.Engine.Text && other.Kind != run.KindBbolt {
			list = append(list, a.examineEngine(ctx, "other engine", c, other))
		}
	}
	return list
}

// examineEngine looks at one engine.
func (a *app) examineEngine(ctx context.Context, about string, c Config, at run.Address) finding {
	if at.Kind == run.KindBbolt {
		return good(about, "bbolt: runs are kept in the store, and the chat drives them")
	}
	if a.wire.ProbeEngine == nil {
		return wrong(about, at.Name+" cannot be opened by this program", "")
	}
	setup, err := a.setup()
	if err != nil {
		return wrong(about, a.words(err), "")
	}
	setup.Engine = at
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	before := a.s.Now()
	r, err := a.wire.ProbeEngine(ctx, setup)
	took := a.s.Now().Sub(before)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil:
		return wrong(about, fmt.Sprintf("%s did not answer within %d seconds", at.Name, enginePatience/time.Second), "start the server or mend the address; runs in the store need neither: --engine bbolt")
	case err != nil && at.Kind == run.KindSQLite:
		return wrong(about, a.words(err), "look at the file, or keep runs elsewhere with --engine")
	case err != nil:
		return wrong(about, a.words(err), "start the server or mend the address; runs in the store need neither: --engine bbolt")
	case r.None:
		return good(about, at.Name+" (none yet)")
	}
	return good(about, at.Name+engineWords(r, c.Drive)+answered(at.Kind, took))
}

// answered says how long a server took to answer.
func answered(kind run.Kind, took time.Duration) string {
	if kind == run.KindSQLite {
		return ""
	}
	return fmt.Sprintf("; it answered in %s", harness.Count(int(took.Milliseconds()), "millisecond"))
}
