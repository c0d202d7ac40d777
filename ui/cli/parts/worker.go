package parts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/ui/cli"
)

// healthEvery is how often a worker logs how it stands.
const healthEvery = 30 * time.Second

// Jobs opens the engine of a setup without any store of conversations. What is
// decided there is left to workers to go on with.
func (p *Start) Jobs(ctx context.Context, setup cli.Setup) (run.Backend, error) {
	h, err := thisHost()
	if err != nil {
		return nil, err
	}
	a := setup.Engine
	switch gone, err := missing(a); {
	case err != nil:
		return nil, err
	case gone:
		return nil, fmt.Errorf("there are no runs in %s: %w", a.Name, harness.ErrNotFound)
	}
	o := run.DriverOptions{Host: h.id, Holder: setup.Holder, Lease: setup.Config.Lease, Now: setup.Now, Logger: setup.Log}
	if a.Kind != run.KindTemporal {
		o.Steps = nobody
	}
	bounded, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	return p.backend(bounded, a, setup, o)
}

// Probe looks at the engine of a setup.
func (p *Start) Probe(ctx context.Context, setup cli.Setup) (report cli.EngineReport, err error) {
	b, err := p.Jobs(ctx, setup)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return cli.EngineReport{None: true}, nil
	case err != nil:
		return report, err
	}
	defer func() { err = errors.Join(err, b.Close(ctx)) }()
	jobs, err := b.List(ctx, run.JobFilter{Unfinished: true})
	if err != nil {
		return report, err
	}
	report.Unfinished = len(jobs)
	if s, ok := b.(versioned); ok {
		report.Schema = s.Schema()
	}
	for _, j := range jobs {
		w := j.Run.Worker
		switch {
		case w != nil && !slices.ContainsFunc(report.Drivers, func(h harness.Holder) bool { return h.PID == w.PID && h.Host == w.Host }):
			report.Drivers = append(report.Drivers, *w)
		case w == nil && j.Run.Status == harness.RunRunning:
			report.Waiting++
		}
	}
	return report, nil
}

// versioned is an engine that has tables.
type versioned interface{ Schema() int }

// tabled is a backend that tells the version of its tables.
type tabled struct {
	run.Backend
	versioned
}

// Wrest implements [run.Wrester].
func (t tabled) Wrest(ctx context.Context, id harness.RunID) error {
	if w, ok := t.Backend.(run.Wrester); ok {
		return w.Wrest(ctx, id)
	}
	return fmt.Errorf("take run %s from its driver: %w", id, errors.ErrUnsupported)
}

// Steer implements [run.Steerable].
func (t tabled) Steer(ctx context.Context, id harness.RunID, e run.Entry) error {
	return steer(ctx, t.Backend, id, e)
}

// Worker returns what drives the runs that others leave in the engine of a setup.
// spare is what calls for runs of other stores than w's are held against.
func (p *Start) Worker(ctx context.Context, setup cli.Setup, w cli.WorkerSetup, natives []Native, spare Native) (cli.Worker, error) {
	h, err := thisHost()
	if err != nil {
		return nil, err
	}
	served := setup
	served.Interactive = true // the runs are also those of chats
	s, err := p.mcpServers(served)
	if err != nil {
		return nil, err
	}
	if s != nil {
		s.Start(ctx) // before the first run asks for their tools
	}
	d := &driving{start: p, setup: setup, host: h, spare: spare, project: w.Project}
	for i, s := range w.Stores {
		d.stores = append(d.stores, stored{s, natives[i]})
	}
	if len(natives) > 0 {
		d.store = natives[0].ID
		d.spare = Native{Limits: natives[0].Limits, Spending: natives[0].Spending}
	}
	o := run.DriverOptions{
		Steps: d.steps, Store: d.store, Host: h.id, Holder: w.Holder, Lease: setup.Config.Lease, Now: setup.Now, Logger: setup.Log,
	}
	a := setup.Engine
	switch a.Kind {
	case run.KindSQLite, run.KindPostgres:
		bounded, cancel := context.WithTimeout(ctx, openPatience)
		defer cancel()
		if o.Queue, err = p.Queue(bounded, a, setup); err != nil {
			return nil, err
		}
		return queueWorker{run.NewWorker(run.WorkerOptions{DriverOptions: o, Concurrency: w.Concurrency, Health: healthEvery}), o.Queue}, nil
	case run.KindTemporal:
		return newTemporalWorker(ctx, a, setup, w, o)
	default:
		return nil, fmt.Errorf("open %s: %w", a.Name, errNoEngine)
	}
}

// queueWorker is a worker with a queue of its own.
type queueWorker struct {
	*run.Worker
	queue run.Queue
}

// Health implements [cli.Worker].
func (w queueWorker) Health() []slog.Attr { return health(w.Status()) }

// health tells how a worker stands.
func health(s run.WorkerStatus) []slog.Attr {
	return []slog.Attr{
		slog.Any("driving", s.Driving), slog.Int("done", s.Done), slog.Int("failed", s.Failed), slog.Int("refused", s.Refused),
		slog.Int("lost", s.Lost), slog.Int("returned", s.Returned), slog.String("trouble", s.Trouble),
	}
}

// Run implements [cli.Worker].
func (w queueWorker) Run(ctx context.Context) error {
	return errors.Join(w.Worker.Run(ctx), w.queue.Close())
}

// temporalWorker is a worker on a Temporal server.
type temporalWorker struct {
	*temporal.Worker
	log *slog.Logger
}

// newTemporalWorker connects to the server.
func newTemporalWorker(ctx context.Context, a run.Address, setup cli.Setup, s cli.WorkerSetup, d run.DriverOptions) (cli.Worker, error) {
	o := temporalOptions(setup, d)
	o.Concurrency, o.Grace = s.Concurrency, workerGrace
	bounded, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	w, err := temporal.NewWorker(bounded, a.Text, o)
	if err != nil {
		return nil, err
	}
	return temporalWorker{w, setup.Log}, nil
}

// workerGrace is what tools that run get to finish when a worker stops.
const workerGrace = 10 * time.Second

// Run implements [cli.Worker].
func (w temporalWorker) Run(ctx context.Context) error {
	w.log.Info("worker started")
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		tick := time.NewTicker(healthEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.log.LogAttrs(watching, slog.LevelInfo, "worker", w.Health()...)
			case <-watching.Done():
				return
			}
		}
	}()
	err := w.Worker.Run(ctx)
	w.log.Info("worker stopped")
	return err
}

// Health implements [cli.Worker].
func (w temporalWorker) Health() []slog.Attr { return health(w.Status()) }
