// Package temporal keeps and drives runs with a Temporal server: each run is a
// workflow around the loop of package loop, each model step and each tool an
// activity of it. The one thing to know: what the workflow's history holds has
// happened, and everything that a run consists of, the entries of its journal, is
// folded from that history by whoever works on it.
//
// An address is
//
//	temporal://HOST:PORT/NAMESPACE?queue=NAME&blobs=ADDRESS&tls=true
//
// where everything behind the port may be missing. The task queue, cairn if it is
// not named, is what workers and chats have in common; runs that need one machine
// wait on a queue of that machine. What is larger than 64 KiB is kept apart at the
// address blobs, one of package bucket, which all who use the runs must reach: a
// directory of this machine if it is not named. A key for the server is taken from
// the environment, TEMPORAL_API_KEY, and stands nowhere else; it is sent over TLS
// only, so the connection is encrypted then without tls=true.
package temporal

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/run"
)

// DefaultQueue is the task queue if an address names none.
const DefaultQueue = "cairn"

// DefaultEvents is how many events the history of a run may have: a tenth of what
// a server is made for at most.
const DefaultEvents = 5_000

// Options are the parts of a [Backend]. The zero value can follow runs and decide
// about them, and drives none.
type Options struct {
	// Steps returns the parts that drive a run: see [run.Options]. An error that
	// wraps [run.ErrUnfit] leaves the run to others, with its text as the reason; any
	// other fails the run. Without Steps no run is driven in this process.
	Steps func(ctx context.Context, j run.Job, c run.Carried) (agent.Steps, error)
	// Store is the id of the store of conversations that Steps use directly, empty
	// for none.
	Store string
	// Host is the name of this machine, Holder this process.
	Host   string
	Holder harness.Holder
	// Blobs is the directory of large payloads, if the address names no other place.
	Blobs string
	// Concurrency bounds the activities of a [Worker] at once; 0 is 8.
	Concurrency int
	// Lease is after how long without a sign of life a worker is taken for dead;
	// 0 is 10 s, and less than 2 s is 2 s.
	Lease time.Duration
	// Grace is how long a tool may take to finish when the process ends; 0 is
	// 1.5 s, the promise of a session's owner.
	Grace time.Duration
	// Claim is how long a run that is to be driven here waits for this process
	// before any worker may have it; 0 is 5 s. Sticky is how long a workflow waits
	// for the process that has it in memory; 0 is 2 s.
	Claim, Sticky time.Duration
	// MaxEvents is after how many events a run ends; 0 is [DefaultEvents].
	MaxEvents int
	// Now and Logger nil are the real clock and no log.
	Now    func() time.Time
	Logger *slog.Logger
}

func (o Options) filled() Options {
	o.Concurrency, o.MaxEvents = cmp.Or(o.Concurrency, 8), cmp.Or(o.MaxEvents, DefaultEvents)
	o.Lease, o.Grace = max(cmp.Or(o.Lease, 10*time.Second), 2*time.Second), cmp.Or(o.Grace, 1500*time.Millisecond)
	o.Claim, o.Sticky = cmp.Or(o.Claim, 5*time.Second), cmp.Or(o.Sticky, 2*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the real clock, where none is given
	}
	return o
}

// Backend is a [run.Backend]. Every process that has one also works on the
// workflows themselves, which takes nothing but this package: so runs can be read,
// decided about and stopped though no worker is there that could drive them.
type Backend struct {
	o         Options
	at        place
	client    client.Client
	converter converter.DataConverter
	blobs     *blobs
	flows     worker.Worker
	live      run.Live
	told      agent.Told

	mu sync.Mutex
	// here drives runs in this process, nil until the first; queue is its own.
	here  worker.Worker
	queue string
	// knows are the runs that were driven here lately, the oldest first in order.
	knows map[harness.RunID]*knowledge
	order []harness.RunID
	// driven are what is under way here.
	driven map[harness.RunID][]*stopper
	// fresh are runs that were submitted here and may not be in lists yet, with when
	// that was.
	fresh map[harness.RunID]time.Time
	// fetched is up to which entry the sessions were said to have open runs, of
	// which their workflows know only now and then.
	fetched map[harness.RunID]int
	// pruned are runs that this process removed; the server may show them for a
	// while.
	pruned map[harness.RunID]bool
	closed bool
}

var _ run.Backend = (*Backend)(nil)

// place is what an address says.
type place struct {
	hostPort, namespace, queue, blobs string
	// tls asks for an encrypted connection, plain for one that is not.
	tls, plain bool
}

func parse(address string) (place, error) {
	p := place{}
	a, err := run.ParseAddress(address)
	switch {
	case err != nil:
		return p, err
	case a.Kind != run.KindTemporal:
		return p, fmt.Errorf("%w: %s is none of a Temporal server; write temporal://HOST:PORT/NAMESPACE", run.ErrAddress, a.Name)
	}
	u, err := url.Parse(a.Name)
	if err != nil {
		return p, fmt.Errorf("%w: the address of the Temporal server cannot be read", run.ErrAddress)
	}
	p.hostPort, p.namespace = u.Host, strings.Trim(u.Path, "/")
	full, err := url.Parse(a.Text)
	if err != nil {
		return p, fmt.Errorf("%w: the address of the Temporal server cannot be read", run.ErrAddress)
	}
	query := full.Query()
	for name := range query {
		if !slices.Contains([]string{"queue", "blobs", "tls"}, name) {
			return p, fmt.Errorf("%w: temporal:// has no %q; it has queue, blobs and tls", run.ErrAddress, name)
		}
	}
	p.queue, p.blobs = cmp.Or(query.Get("queue"), DefaultQueue), query.Get("blobs")
	switch query.Get("tls") {
	case "":
	case "false":
		p.plain = true
	case "true":
		p.tls = true
	default:
		return p, fmt.Errorf("%w: tls of temporal:// is true or false", run.ErrAddress)
	}
	return p, nil
}

// dialWithin is how long a server may take to answer.
const dialWithin = 10 * time.Second

// Open connects to the server at an address. Close the backend to pause what it
// drives.
func Open(ctx context.Context, address string, o Options) (*Backend, error) {
	b, err := open(ctx, address, o)
	if err != nil {
		return nil, err
	}
	if err := b.flows.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("temporal %s: %w", b.at.hostPort, err), b.letGo())
	}
	return b, nil
}

func open(ctx context.Context, address string, o Options) (*Backend, error) {
	at, err := parse(address)
	if err != nil {
		return nil, err
	}
	o = o.filled()
	if at.blobs == "" && o.Blobs == "" {
		return nil, fmt.Errorf("%w: temporal:// needs a place for large payloads: add blobs=ADDRESS", run.ErrAddress)
	}
	// All backends of a process share it.
	worker.SetStickyWorkflowCacheSize(maxCached)
	kept, err := openBlobs(ctx, cmp.Or(at.blobs, o.Blobs))
	if err != nil {
		return nil, err
	}
	b := &Backend{
		o: o, at: at, blobs: kept, queue: at.queue + "-here-" + harness.NewID(),
		knows: map[harness.RunID]*knowledge{}, driven: map[harness.RunID][]*stopper{}, pruned: map[harness.RunID]bool{},
		fresh: map[harness.RunID]time.Time{}, fetched: map[harness.RunID]int{},
		converter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec{kept}),
	}
	if b.client, err = b.dial(ctx); err != nil {
		return nil, errors.Join(err, kept.store.Close())
	}
	b.flows = worker.New(b.client, at.queue, worker.Options{
		LocalActivityWorkerOnly: true, StickyScheduleToStartTimeout: o.Sticky, Identity: b.identity(),
		DeadlockDetectionTimeout: stuckAfter,
	})
	b.flows.RegisterWorkflowWithOptions(runFlow, workflow.RegisterOptions{Name: flowType})
	return b, nil
}

// stuckAfter is how long a workflow may work at a stretch before it is taken to be
// stuck. Reading a large run takes a while on a busy machine.
const stuckAfter = 30 * time.Second

// maxCached bounds the workflows that a process keeps in memory, with all their
// entries. One more is read again from its history when it is needed.
const maxCached = 200

func (b *Backend) dial(ctx context.Context) (client.Client, error) {
	o := client.Options{
		HostPort: b.at.hostPort, Namespace: b.at.namespace, Identity: b.identity(),
		DataConverter: workflow.DataConverterWithoutDeadlockDetection(b.converter),
		Logger:        sdklog.NewStructuredLogger(quiet(b.o.Logger)),
	}
	key := os.Getenv("TEMPORAL_API_KEY")
	if b.at.tls || key != "" && !b.at.plain {
		o.ConnectionOptions.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if key != "" {
		if b.at.plain {
			return nil, fmt.Errorf("%w: the key of TEMPORAL_API_KEY is sent over TLS only; leave tls=false out, or unset the key", run.ErrAddress)
		}
		o.Credentials = client.NewAPIKeyStaticCredentials(key)
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	c, err := client.DialContext(ctx, o)
	if err != nil {
		return nil, &silence{fmt.Sprintf("the Temporal server at %s cannot be reached: %s", b.at.hostPort, cause(err, err.Error())), err}
	}
	return c, nil
}

// identity names this process on the server.
func (b *Backend) identity() string {
	data, err := json.Marshal(b.o.Holder)
	if err != nil {
		return b.o.Holder.String()
	}
	return string(data)
}

// holder is the inverse of identity.
func holder(identity string) *harness.Holder {
	h := new(harness.Holder)
	if json.Unmarshal([]byte(identity), h) != nil {
		h.Purpose = identity
	}
	return h
}

// common is the task queue of the workers that may drive a run.
func (p place) common(needs run.Needs) string {
	if needs.Host == "" {
		return p.queue
	}
	return p.host(needs.Host)
}

func (p place) host(name string) string { return p.queue + "-host-" + name }

// ownActivities bounds the activities at once of the runs that a process drives
// itself: more than they have, because what waits too long goes to others.
const ownActivities = 256

// activities returns a worker of this process for the activities on a task queue,
// which count what becomes of them if t is not nil.
func (b *Backend) activities(queue string, concurrency int, t *tally) worker.Worker {
	w := worker.New(b.client, queue, worker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: concurrency, Identity: b.identity(),
		MaxHeartbeatThrottleInterval: signEvery, DefaultHeartbeatThrottleInterval: signEvery,
		WorkerStopTimeout: b.o.Grace + stopMargin,
	})
	h := hands{b, b.o.Steps, t}
	w.RegisterActivityWithOptions(h.work, activity.RegisterOptions{Name: stepType})
	w.RegisterActivityWithOptions(h.work, activity.RegisterOptions{Name: toolType})
	return w
}

// stopMargin is how long a process that ends waits to hand over what came of its
// last activities.
const stopMargin = 2 * time.Second

// driveHere returns the task queue on which this process drives runs, empty if it
// is not to.
func (b *Backend) driveHere(here bool) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return "", fmt.Errorf("temporal: %w", harness.ErrClosed)
	case !here:
		return "", nil
	case b.o.Steps == nil:
		return "", fmt.Errorf("temporal: this process cannot drive runs: %w", run.ErrUnfit)
	case b.here != nil:
		return b.queue, nil
	}
	w := b.activities(b.queue, ownActivities, nil)
	if err := w.Start(); err != nil {
		return "", fmt.Errorf("temporal: %w", err)
	}
	b.here = w
	return b.queue, nil
}

// Close implements [run.Backend]. It may be called more than once.
func (b *Backend) Close(ctx context.Context) error {
	b.mu.Lock()
	here, ids, was := b.here, make([]harness.RunID, 0, len(b.driven)), b.closed
	for id := range b.driven {
		ids = append(ids, id)
	}
	b.closed = true
	b.mu.Unlock()
	if was {
		return nil
	}
	var pauses sync.WaitGroup
	for _, id := range ids {
		pauses.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, b.o.Grace)
			defer cancel()
			if err := b.Ask(ctx, id, run.AskPause); err != nil {
				b.o.Logger.Warn("pause", slog.String("run", string(id)), slog.String("error", err.Error()))
			}
		})
	}
	pauses.Wait()
	if here != nil {
		here.Stop()
	}
	b.flows.Stop()
	return b.letGo()
}

func (b *Backend) letGo() error {
	b.client.Close()
	if err := b.blobs.store.Close(); err != nil {
		return fmt.Errorf("temporal: %w", err)
	}
	return nil
}

// stopper stops one activity under way.
type stopper struct{ stop context.CancelCauseFunc }

// drives notes that an activity of a run is under way here until it calls what
// is returned.
func (b *Backend) drives(id harness.RunID, stop context.CancelCauseFunc) func() {
	s := &stopper{stop}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.driven[id] = append(b.driven[id], s)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.driven[id] = slices.DeleteFunc(b.driven[id], func(have *stopper) bool { return have == s })
		if len(b.driven[id]) == 0 {
			delete(b.driven, id)
		}
	}
}

// quiet returns a logger that has the warnings and errors of the server's library
// only: it tells of each connection otherwise.
func quiet(l *slog.Logger) *slog.Logger { return slog.New(warnings{l.Handler()}) }

type warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
