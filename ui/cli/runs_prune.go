package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	// Missed says of engines that have runs of the store why nothing was removed.
	Missed map[string]string `json:"missed,omitempty"`
}

// olderDefault is the age from which ended runs are removed.
const olderDefault = "30d"

func (a *app) runsPrune() *cobra.Command {
	older, keep, force := "", 0, false
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove the journals of runs that have ended; conversations keep what was said", Args: exactly(0, ""),
		Long: "Remove the journals of runs that have ended: from the store, and those of its conversations from the engines that keep them, the configured one among them. With --engine from that engine alone, and also those of other stores. Conversations keep all that was said.\n\n" +
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
		if a.flags.engineGiven {
			return a.pruneThere(ctx, p)
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

// pruneThere removes ended runs from the engine that --engine names, whose ever
// they are.
func (a *app) pruneThere(ctx context.Context, p run.Prune) error {
	setup, err := a.setup()
	if err != nil {
		return err
	}
	b, err := a.jobs(ctx, setup)
	if err != nil {
		return err
	}
	n, err := b.Prune(ctx, p)
	if err != nil {
		return fmt.Errorf("prune %s: %w", setup.Engine.Name, err)
	}
	return a.printPruned(pruned{Engines: map[string]int{setup.Engine.Name: n}})
}

// prune removes ended runs of the store from it and from the engines that keep
// them. One that cannot be reached holds up no other.
func (a *app) prune(ctx context.Context, p run.Prune) error {
	st, err := a.reading(ctx)
	if err != nil {
		return err
	}
	setup, err := a.setup()
	if err != nil {
		return err
	}
	list, err := st.Runs.List(ctx, harness.RunFilter{})
	if err != nil {
		return fmt.Errorf("list runs: %w", err)
	}
	out := pruned{Engines: map[string]int{}, Missed: map[string]string{}}
	if out.Store, err = pruneStore(ctx, st, p); err != nil {
		return err
	}
	p.Store = st.ID
	missed := PruneEngines(ctx, setup, list, p, a.wire.OpenJobs, out.Engines)
	for name, err := range missed {
		out.Missed[name] = a.words(err)
	}
	if err := a.printPruned(out); err != nil || len(missed) == 0 {
		return err
	}
	return fail(ExitFailed, "not everything was removed; once they can be reached: cairn runs prune --engine URL")
}

// printPruned prints what was removed, and what was not.
func (a *app) printPruned(out pruned) error {
	if a.flags.json {
		return a.out.document(out)
	}
	if !a.flags.engineGiven {
		a.out.line("removed from the store: %s", harness.Count(out.Store, "run"))
	}
	for _, name := range slices.Sorted(maps.Keys(out.Engines)) {
		a.out.line("removed from %s: %s", name, harness.Count(out.Engines[name], "run"))
	}
	for _, name := range slices.Sorted(maps.Keys(out.Missed)) {
		a.out.line("not removed from %s: %s", name, out.Missed[name])
	}
	return nil
}

// PruneEngines removes ended runs of a store from the engine of a setup and from
// those that keep the runs of list. It counts what it removed in removed, by the
// names of the engines, and returns why others could not be asked. A file that is
// gone has nothing to remove.
func PruneEngines(ctx context.Context, setup Setup, list []harness.Run, p run.Prune, open func(context.Context, Setup) (run.Backend, error), removed map[string]int) map[string]error {
	addresses := map[string]run.Address{}
	for _, r := range list {
		if address, err := run.ParseAddress(r.Engine); err == nil && r.Away() {
			addresses[r.Engine] = address
		}
	}
	for _, known := range append(slices.Clone(setup.Config.Engines), setup.Engine) {
		if _, old := addresses[known.Name]; old || known.Name == setup.Engine.Name { // these may hold a password
			addresses[known.Name] = known
		}
	}
	missed := map[string]error{}
	for name, address := range addresses {
		if address.Kind == run.KindBbolt || address.Kind == "" {
			continue
		}
		setup.Engine = address
		n, err := pruneEngine(ctx, setup, p, open)
		switch {
		case errors.Is(err, harness.ErrNotFound):
		case err != nil:
			missed[name] = err
		default:
			removed[name] = n
		}
	}
	return missed
}

// pruneEngine removes ended runs from one engine.
func pruneEngine(ctx context.Context, setup Setup, p run.Prune, open func(context.Context, Setup) (run.Backend, error)) (n int, err error) {
	if open == nil {
		return 0, fmt.Errorf("prune %s: %w", setup.Engine.Name, errors.ErrUnsupported)
	}
	b, err := open(ctx, setup)
	if err != nil {
		return 0, err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
		defer cancel()
		err = errors.Join(err, b.Close(bounded))
	}()
	return b.Prune(ctx, p)
}

// errNoPrune means that the store removes no runs.
var errNoPrune = errors.New("this store removes no runs")

// pruneStore removes the journals of ended runs from the store.
func pruneStore(ctx context.Context, st Store, p run.Prune) (int, error) {
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
