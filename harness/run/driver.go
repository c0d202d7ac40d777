package run

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
)

// DriverOptions are what a process drives runs of a [Queue] with.
type DriverOptions struct {
	// Queue and Steps are required.
	Queue Queue
	// Steps returns the parts that carry out a run, as in [Options]. c is what the
	// run carries by now, with what its tools did. Where c.Store is the process's
	// own store the tools work with that; elsewhere with [CarriedMemory] and
	// [CarriedGrants]. The artifacts of both are those of [AwayArtifacts]. An error
	// around [ErrUnfit] says why this process cannot drive the run: it waits for
	// another then. Any other error is the caller's where the run is to be driven
	// at once, and such a reason for a worker.
	Steps func(ctx context.Context, j Job, c Carried) (agent.Steps, error)
	// Store is the id of the process's own store, empty if it has none. In a run of
	// another store, what tools change of the memory is taken along by its entries.
	Store string
	// Host is this machine's id, Holder this process.
	Host   string
	Holder harness.Holder
	// Lease is for how long the queue gives a claim; 0 means 30 s. It is renewed at
	// least every third of it, and once a second to see what is asked of the driver.
	Lease time.Duration
	// Now and Logger nil are the real clock and no log.
	Now    func() time.Time
	Logger *slog.Logger
}

// DefaultLease is for how long a claim counts if nothing else is said.
const DefaultLease = 30 * time.Second

// driver drives claimed runs in this process.
type driver struct {
	o    DriverOptions
	live Live
	told *agent.Told

	mu     sync.Mutex
	drives map[harness.RunID]*drive
	closed bool
	// gone closes when the driver is.
	gone chan struct{}
	wg   sync.WaitGroup
}

func newDriver(o DriverOptions) *driver {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	return &driver{o: o, told: new(agent.Told), drives: map[harness.RunID]*drive{}, gone: make(chan struct{})}
}

// open reads a run that this process has claimed, and renews the claim until the run
// is driven to its end or released. from is when it asked for the claim. Whatever the
// error, the claim is left to the caller.
func (d *driver) open(ctx context.Context, c Claim, from time.Time) (*drive, error) {
	x := &drive{
		d: d, claim: c, afresh: c.Broken, over: make(chan struct{}), left: make(chan struct{}),
		log: d.o.Logger.With(slog.String("run", string(c.Run)), slog.Int("generation", c.Generation)),
	}
	x.renewed(from)
	var err error
	if x.job, err = d.o.Queue.Get(ctx, c.Run); err != nil {
		return nil, fmt.Errorf("drive run %s: %w", c.Run, err)
	}
	carried, err := d.o.Queue.Carried(ctx, c.Run)
	if err != nil {
		return nil, fmt.Errorf("drive run %s: %w", c.Run, err)
	}
	entries, err := d.o.Queue.Read(ctx, c.Run, 0)
	if err != nil {
		return nil, fmt.Errorf("drive run %s: %w", c.Run, err)
	}
	if x.carried, err = carried.After(entries); err != nil {
		return nil, fmt.Errorf("drive run %s: %w", c.Run, err)
	}
	x.away = d.o.Store == "" || carried.Store != d.o.Store
	x.desk = NewDesk(c.Run, carried, entries, d.o.Queue, x.alive)
	x.afresh = x.afresh || x.job.Run.Status == harness.RunRunning && (half(x.job.Run) || doubtful(entries))
	x.local = NewLocal(Options{
		Journal: &claimed{x}, Engine: x.job.Run.Engine, Host: d.o.Host, Now: d.o.Now, Logger: d.o.Logger,
		Steps: func(context.Context, harness.RunConfig) (agent.Steps, error) { return x.steps, nil },
		Branch: func(context.Context, harness.Run) (Branch, error) {
			return Branch{History: carried.History, Pinned: carried.Pinned}, nil
		},
		Live: d.live.Add,
	})
	x.local.told = d.told
	x.hold(ctx)
	return x, nil
}

// half reports whether there is half an answer on disk.
func half(r harness.Run) bool { return r.Partial != nil && r.Partial.Text+r.Partial.Thinking != "" }

// doubtful reports whether a call began and neither ended nor was settled since:
// whoever drove the run did not say so, and nobody knows what came of it.
func doubtful(entries []Entry) bool {
	open := map[string]bool{}
	for _, e := range entries {
		r, err := recordOf(e)
		if err != nil {
			return true
		}
		track(open, r)
	}
	return len(open) > 0
}

// start drives an opened run until it rests. The drive is over at once if the
// driver is closed.
func (d *driver) start(ctx context.Context, x *drive) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drives[x.claim.Run] = x
	d.live.Begin(x.claim.Run, x.job.Run.Cursor)
	if d.closed {
		x.leave(errPaused, 0)
	}
	d.wg.Add(1)
	go func() {
		defer d.wg.Done()
		x.run(x.desk.Context(context.WithoutCancel(ctx)))
		d.mu.Lock()
		if d.drives[x.claim.Run] == x {
			delete(d.drives, x.claim.Run)
		}
		d.mu.Unlock()
		d.live.End(x.claim.Run)
		close(x.over)
	}()
}

// find returns the drive of a run in this process, or nil.
func (d *driver) find(id harness.RunID) *drive {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drives[id]
}

// all returns what is driven.
func (d *driver) all() []*drive {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*drive, 0, len(d.drives))
	for _, x := range d.drives {
		all = append(all, x)
	}
	return all
}

// close ends all that is driven for a reason, at once, and waits for it. Tools that
// run get some time to finish.
func (d *driver) close(ctx context.Context, why error, grace time.Duration) error {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.gone)
	}
	d.mu.Unlock()
	for _, x := range d.all() {
		x.leave(why, grace)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		d.wg.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("leave the runs that are driven here: %w", ctx.Err())
	}
}

// release gives a claim back, with a few tries: what is not given back is broken to
// whoever takes it next.
func (d *driver) release(ctx context.Context, c Claim, refused string) error {
	ctx = context.WithoutCancel(ctx)
	for n := 1; ; n++ {
		once, stop := context.WithTimeout(ctx, storeTimeout)
		err := d.o.Queue.Release(once, c, refused)
		stop()
		if err == nil || final(err) || n == endTries {
			return err
		}
		<-time.After(endPause)
	}
}

// storeTimeout bounds one try to reach a queue where nobody else does, and
// appendTimeout one to store entries: a server that does not answer must not hold
// up a run for ever, and what it stored all the same it knows again.
const (
	storeTimeout  = 5 * time.Second
	appendTimeout = 30 * time.Second
)
