package parts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cairn/harness"
	"cairn/harness/run"
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
	bounded, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	return p.backend(bounded, a, setup, run.DriverOptions{
		Steps: nobody, Host: h.id, Holder: setup.Holder, Lease: setup.Config.Lease, Now: setup.Now, Logger: setup.Log,
	})
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
	if s, ok := b.(interface{ Schema() int }); ok {
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

// Worker returns what drives the runs that others leave in the engine of a setup.
// spare is what calls for runs of other stores than w's are held against.
func (p *Start) Worker(ctx context.Context, setup cli.Setup, w cli.WorkerSetup, natives []Native, spare Native) (cli.Worker, error) {
	h, err := thisHost()
	if err != nil {
		return nil, err
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
	default:
		return nil, fmt.Errorf("open %s: %w", a.Name, errNoEngine)
	}
}

// queueWorker is a worker with a queue of its own.
type queueWorker struct {
	*run.Worker
	queue run.Queue
}

// Run implements [cli.Worker].
func (w queueWorker) Run(ctx context.Context) error {
	return errors.Join(w.Worker.Run(ctx), w.queue.Close())
}
