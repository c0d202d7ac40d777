package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/run"
)

// enginePatience bounds how long the doctor waits for an engine.
const enginePatience = 5 * time.Second

// examineEngine looks at what keeps runs.
func (a *app) examineEngine(ctx context.Context, c Config) finding {
	if c.Engine.Kind == run.KindBbolt {
		return finding{"engine", "ok", "bbolt: runs are kept in the store, and the chat drives them"}
	}
	if a.wire.ProbeEngine == nil {
		return finding{"engine", "bad", c.Engine.Name + " cannot be opened by this program"}
	}
	setup, err := a.setup()
	if err != nil {
		return finding{"engine", "bad", a.words(err)}
	}
	ctx, cancel := context.WithTimeout(ctx, enginePatience)
	defer cancel()
	r, err := a.wire.ProbeEngine(ctx, setup)
	switch {
	case err != nil:
		return finding{"engine", "bad", a.words(err)}
	case r.None:
		return finding{"engine", "ok", c.Engine.Name + " (none yet)"}
	}
	return finding{"engine", "ok", c.Engine.Name + engineWords(r, c.Drive)}
}

// engineWords says how an engine stands.
func engineWords(r EngineReport, drive Drive) string {
	var b strings.Builder
	if r.Schema > 0 {
		fmt.Fprintf(&b, ", schema %d", r.Schema)
	}
	fmt.Fprintf(&b, ": %s", harness.Count(r.Unfinished, "unfinished run"))
	if r.Waiting > 0 {
		fmt.Fprintf(&b, ", %d of them for nobody yet", r.Waiting)
	}
	var who []string
	for _, h := range r.Drivers {
		who = append(who, holderWords(h))
	}
	switch {
	case len(who) > 0:
		b.WriteString("; driving now: " + strings.Join(who, ", "))
	case drive == DriveWorkers:
		b.WriteString("; nobody drives one now, and new ones are left to workers: cairn worker")
	}
	return b.String()
}
