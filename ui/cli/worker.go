package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
)

// defaultConcurrency and maxConcurrency are how many runs a worker drives side by
// side.
const defaultConcurrency, maxConcurrency = 4, 256

const workerLong = `Drive the runs that chats leave in a shared engine: those begun with
--drive workers, those that wait for an answer and got one, and those whose
driver died. Several workers share an engine; each run has one driver at a time.

A run with tools that work on files or run commands is driven on the machine it
was begun on only, unless its chat and this worker were started with --any-host.
Agent, tools and rules must be those that the run was begun with; a worker that
differs leaves it alone and says why.

It ends at the first SIGTERM or interrupt: what is under way is handed back for
another worker to go on with. A second one ends it at once; its runs are then
taken over when their lease is over. What happens is logged to standard error,
with --json as an object a line; SIGUSR1 logs at once how it stands.`

// workerCommand is `cairn worker`.
func (a *app) workerCommand() *cobra.Command {
	if a.wire.NewWorker == nil {
		return reserved("worker")
	}
	var data []string
	var concurrency int
	cmd := &cobra.Command{
		Use: "worker", Short: "Drive the runs that chats leave in a shared engine", Long: workerLong,
		Example: `  cairn worker --engine sqlite:/home/ada/runs.db
  CAIRN_ENGINE=postgres://ada:secret@db/runs cairn worker --concurrency 8`,
		Args: exactly(0, ""),
		RunE: runner(func(ctx context.Context, _ []string) error { return a.work(ctx, data, concurrency) }),
	}
	f := cmd.Flags()
	f.String(keyEngine, "", "drive the runs in `URL`: sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE (CAIRN_ENGINE)")
	f.IntVar(&concurrency, "concurrency", defaultConcurrency, "drive at most `N` runs at once")
	leaseFlags(f)
	f.Bool(anyHostFlag, false, "also drive runs of other machines with tools that then work on this one")
	f.StringArrayVar(&a.flags.allow, "allow", nil, "`RULE` that the chats were started with, too (repeatable)")
	f.StringArrayVar(&a.flags.deny, "deny", nil, "`RULE` that the chats were started with, too (repeatable)")
	f.StringArrayVar(&data, "data", nil, "the runs' conversations may be in `DIR`, beside the store of --dir (repeatable)")
	return cmd
}

// work drives runs until ctx ends.
func (a *app) work(ctx context.Context, data []string, concurrency int) error {
	a.conversing = true
	if concurrency < 1 || concurrency > maxConcurrency {
		return usage("--concurrency must be from 1 to %d, not %d", maxConcurrency, concurrency)
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	if c.Engine.Kind == run.KindBbolt {
		return usage("a worker needs an engine that it shares with chats, and bbolt is the store of one chat, which drives its runs itself; give --engine sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE")
	}
	// The working directory is no run's: each brings the rules of its own.
	if a.cfg.Permissions, err = c.Permissions.With(Permissions{}); err != nil {
		return err
	}
	if err := a.logToErr(); err != nil {
		return err
	}
	setup, err := a.setup()
	if err != nil {
		return err
	}
	stores, err := a.workerStores(ctx, c, data)
	if err != nil {
		return err
	}
	w, err := a.wire.NewWorker(ctx, setup, WorkerSetup{Stores: stores, Concurrency: concurrency, Holder: a.holder(), Project: a.projectRules})
	if err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	setup.Log.Info("engine opened", slog.String("engine", c.Engine.Name), slog.Bool("any_host", c.AnyHost), slog.Int("stores", len(stores)))
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go tellHealth(watching, setup.Log, w)
	if err := w.Run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("drive runs: %w", err)
	}
	return nil
}

// workerStores are the stores of the usual directory, if there is one, and of
// those given. None is made.
func (a *app) workerStores(ctx context.Context, c Config, data []string) ([]Store, error) {
	usual := c.Dir
	var dirs []string
	if usual != "" && a.storeExists(usual) {
		dirs = append(dirs, usual)
	}
	for _, d := range data {
		dir := absolute(a.s, expand(a.s, d))
		if !a.storeExists(dir) {
			return nil, fail(ExitNotFound, "there is no store in %s, which --data names", dir)
		}
		if filepath.Clean(dir) != filepath.Clean(usual) {
			dirs = append(dirs, dir)
		}
	}
	var stores []Store
	for _, dir := range dirs {
		st, err := a.wire.OpenStore(ctx, dir, StoreOptions{
			NoMemory: c.NoMemory, Purpose: a.purpose, Terminal: a.s.Terminal, Now: a.s.Now, Log: a.log, Notify: a.hear,
		})
		if err != nil {
			return nil, fmt.Errorf("open the store in %s: %w", dir, err)
		}
		if st.Close != nil {
			a.closers = append(a.closers, st.Close)
		}
		if st, err = a.byMeaning(c, st); err != nil {
			return nil, err
		}
		stores = append(stores, st)
	}
	if len(stores) == 0 && c.Spending.Any() {
		a.notice("there is no store in %s, so the spending limits count for this worker alone", usual)
	}
	return stores, nil
}

// projectRules are the ask and deny rules of the project in a directory: a run
// keeps its own wherever it is driven.
func (a *app) projectRules(dir string) (Permissions, error) {
	c, err := a.config()
	if err != nil {
		return Permissions{}, err
	}
	f, path, err := c.projectOf(dir)
	if err != nil || f.Permissions == nil {
		return Permissions{}, err
	}
	return permissionsOf(Config{Project: path}, file{}, f)
}

// logToErr sends the log to standard error, unless a file was asked for.
func (a *app) logToErr() error {
	if a.flags.log != "" || a.s.Getenv("CAIRN_LOG") != "" {
		_, err := a.logger()
		return err
	}
	level := slog.LevelInfo
	switch {
	case a.flags.verbose:
		level = slog.LevelDebug
	case a.flags.quiet:
		level = slog.LevelWarn
	}
	a.log = slog.New(logHandler(a.s.Err, a.flags.json, level))
	return nil
}

// logHandler writes lines for people or objects for programs.
func logHandler(w io.Writer, objects bool, level slog.Level) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if objects {
		return slog.NewJSONHandler(escaped{w}, o)
	}
	return slog.NewTextHandler(w, o)
}

// escaped writes JSON with what could drive a terminal as escapes, a line at a time.
type escaped struct{ to io.Writer }

// Write implements io.Writer.
func (e escaped) Write(p []byte) (int, error) {
	if _, err := e.to.Write(escapeControls(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// tellHealth logs how the worker stands when it is asked with a signal, until ctx
// ends. Besides, the worker logs that now and then itself.
func tellHealth(ctx context.Context, log *slog.Logger, w Worker) {
	asked, done := healthSignal()
	defer done()
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
		}
		log.LogAttrs(ctx, slog.LevelInfo, "health", w.Health()...)
	}
}

// holderWords names a process that drives runs.
func holderWords(h harness.Holder) string {
	text := fmt.Sprintf("pid %d", h.PID)
	if h.Purpose != "" {
		text = h.Purpose + " " + text
	}
	if h.Host != "" {
		text += " on " + h.Host
	}
	return text
}
