package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
)

// pruned is the document of `cairn runs prune --json`.
type pruned struct {
	// Store counts the runs removed from the store, Engines those from each engine.
	Store   int            `json:"store"`
	Engines map[string]int `json:"engines,omitempty"`
}

// olderDefault is the age from which ended runs are removed.
const olderDefault = "30d"

func (a *app) runsPrune() *cobra.Command {
	older, keep, force := "", 0, false
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove the journals of runs that have ended; conversations keep what was said", Args: exactly(0, ""),
		Long: "Remove the journals of runs that have ended, from the store and from the configured engine; with --engine from that engine alone. Conversations keep all that was said.\n\n" +
			"Without --older and --keep those go that ended more than 30 days ago. What an engine has and the conversation has not is kept unless --force is given: it is lost then. Nothing is removed by itself.",
	}
	f := cmd.Flags()
	f.StringVar(&older, "older", "", "those that ended longer ago than `AGE`, such as 30d or 12h")
	f.IntVar(&keep, "keep", 0, "all but the newest `N`")
	f.BoolVar(&force, "force", false, "also what no conversation was handed over; that is lost then")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		if f.Changed("keep") && keep < 1 {
			return usage("--keep %d keeps nothing; give how many are to stay, at least 1", keep)
		}
		p := run.Prune{Keep: keep, Force: force}
		if older != "" || keep == 0 {
			if older == "" {
				older = olderDefault
			}
			age, err := ageOf(older)
			if err != nil {
				return err
			}
			p.Before = a.s.Now().Add(-age)
		}
		return a.prune(ctx, p)
	})
	return cmd
}

// ageOf reads an age such as 30d or 12h.
func ageOf(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, usage("--older wants an age such as 30d, 12h or 90m, not %q", text)
}

// prune removes ended runs from where they are kept.
func (a *app) prune(ctx context.Context, p run.Prune) error {
	out := pruned{}
	var err error
	if !a.flags.engineGiven {
		if out.Store, err = a.pruneStore(ctx, p); err != nil {
			return err
		}
	}
	setup, err := a.setup()
	if err != nil {
		return err
	}
	if setup.Engine.Kind != run.KindBbolt {
		b, err := a.jobs(ctx, setup)
		n := 0
		if err == nil {
			n, err = b.Prune(ctx, p)
		}
		if err != nil {
			if !a.flags.json && !a.flags.engineGiven {
				a.out.line("removed from the store: %s", harness.Count(out.Store, "run"))
			}
			return fmt.Errorf("prune %s: %w", setup.Engine.Name, err)
		}
		out.Engines = map[string]int{setup.Engine.Name: n}
	} else if a.flags.engineGiven {
		return usage("the runs of bbolt are in the store: leave --engine out")
	}
	if a.flags.json {
		return a.out.document(out)
	}
	if !a.flags.engineGiven {
		a.out.line("removed from the store: %s", harness.Count(out.Store, "run"))
	}
	for name, n := range out.Engines {
		a.out.line("removed from %s: %s", name, harness.Count(n, "run"))
	}
	return nil
}

// errNoPrune means that the store removes no runs.
var errNoPrune = errors.New("this store removes no runs")

// pruneStore removes the journals of ended runs from the store.
func (a *app) pruneStore(ctx context.Context, p run.Prune) (int, error) {
	st, err := a.reading(ctx)
	if err != nil {
		return 0, err
	}
	pruner, ok := st.Runs.(run.Pruner)
	if !ok {
		return 0, errNoPrune
	}
	n, err := pruner.PruneRuns(ctx, p)
	if err != nil {
		return n, fmt.Errorf("prune the store: %w", err)
	}
	return n, nil
}
