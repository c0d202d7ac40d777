package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/loop"
)

// WorkerOptions are the parts of a [Worker].
type WorkerOptions struct {
	DriverOptions
	// Concurrency is how many runs are driven side by side; 0 means 4.
	Concurrency int
	// Idle is the pause before the queue is asked again when it has nothing; 0
	// means a second.
	Idle time.Duration
	// Refused is for how long a run that does not fit is not looked at again; 0
	// means a minute.
	Refused time.Duration
	// Grace is what tools that run get to finish when the worker stops; 0 means
	// 10 s.
	Grace time.Duration
	// Health is how often the log says how the worker is; 0 means every minute.
	Health time.Duration
}

// Worker claims runs of a queue and drives them.
type Worker struct {
	o    WorkerOptions
	d    *driver
	done chan struct{}

	mu     sync.Mutex
	status WorkerStatus
	skip   map[harness.RunID]time.Time
}

// WorkerStatus says what a worker does and did.
type WorkerStatus struct {
	Since time.Time `json:"since"`
	// Driving are the runs that it drives now.
	Driving []harness.RunID `json:"driving,omitempty"`
	// Done counts the runs that it drove to where they rest, Failed those among
	// them that failed, Refused those that do not fit, Lost those that another took
	// over, Returned those that it gave back when it stopped.
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Refused  int `json:"refused"`
	Lost     int `json:"lost"`
	Returned int `json:"returned"`
	// Trouble says why the queue could not be asked the last time, empty if it
	// could.
	Trouble string `json:"trouble,omitempty"`
}

// NewWorker returns a worker; [Worker.Run] starts it.
func NewWorker(o WorkerOptions) *Worker {
	w := &Worker{d: newDriver(o.DriverOptions), done: make(chan struct{}, 1), skip: map[harness.RunID]time.Time{}}
	o.DriverOptions = w.d.o
	if o.Concurrency <= 0 {
		o.Concurrency = 4
	}
	for of, standard := range map[*time.Duration]time.Duration{
		&o.Idle: time.Second, &o.Refused: time.Minute, &o.Grace: 10 * time.Second, &o.Health: time.Minute,
	} {
		if *of <= 0 {
			*of = standard
		}
	}
	w.o = o
	return w
}

// Status returns what the worker does and did.
func (w *Worker) Status() WorkerStatus {
	w.mu.Lock()
	s := w.status
	w.mu.Unlock()
	for _, x := range w.d.all() {
		s.Driving = append(s.Driving, x.claim.Run)
	}
	slices.Sort(s.Driving)
	return s
}

// Run drives runs until ctx ends. Then it takes no more, stops what it drives and
// gives that back, so that another worker goes on with it, and returns nil. It
// returns an error only if the queue was closed.
func (w *Worker) Run(ctx context.Context) error {
	w.mu.Lock()
	w.status.Since = w.o.Now()
	w.mu.Unlock()
	w.o.Logger.Info("worker started", slog.String("host", w.o.Host), slog.Int("concurrency", w.o.Concurrency), slog.Duration("lease", w.o.Lease))
	health := time.NewTicker(w.o.Health)
	defer health.Stop()
	var err error
	for pause := time.Duration(0); ctx.Err() == nil; {
		if pause == 0 && len(w.d.all()) < w.o.Concurrency {
			if pause, err = w.next(ctx); errors.Is(err, harness.ErrClosed) {
				break
			}
			continue
		}
		if pause == 0 {
			pause = w.o.Idle
		}
		select {
		case <-time.After(pause):
		case <-w.done:
		case <-health.C:
			w.report(ctx)
		case <-ctx.Done():
		}
		pause = 0
	}
	free := context.WithoutCancel(ctx)
	if e := w.d.close(free, errHanded, w.o.Grace); e != nil {
		w.o.Logger.Warn("stop", slog.String("error", e.Error()))
	}
	w.report(free)
	w.o.Logger.Info("worker stopped")
	if errors.Is(err, harness.ErrClosed) {
		return fmt.Errorf("worker: %w", err)
	}
	return nil
}

// next takes one run and drives it. It returns how long to wait before the next.
func (w *Worker) next(ctx context.Context) (time.Duration, error) {
	from := w.o.Now()
	c, err := w.o.Queue.Next(ctx, w.o.Holder, w.o.Host, w.skipped(from))
	switch {
	case errors.Is(err, harness.ErrNotFound):
		w.trouble("")
		return w.o.Idle, nil
	case err != nil && ctx.Err() != nil:
		return 0, err
	case err != nil:
		w.trouble("ask for a run: " + err.Error())
		return max(w.o.Idle, 2*time.Second), err
	}
	x, err := w.d.open(ctx, c, from)
	if err == nil {
		err = x.prepare(ctx)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return 0, w.giveBack(ctx, c, x, "")
	case x != nil || final(err) || errors.Is(err, loop.ErrUnknownRecord):
		return w.refuse(ctx, c, x, err)
	default:
		w.trouble(err.Error())
		return w.o.Idle, w.d.release(ctx, c, "")
	}
	w.trouble("")
	w.o.Logger.Info("run taken", slog.String("run", string(c.Run)), slog.Bool("broken", c.Broken))
	w.d.start(ctx, x)
	w.d.wg.Go(func() { w.count(x) })
	return 0, nil
}

// skipped are the runs that are not to be looked at now.
func (w *Worker) skipped(now time.Time) []harness.RunID {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.skip, func(_ harness.RunID, until time.Time) bool { return !now.Before(until) })
	return slices.Sorted(maps.Keys(w.skip))
}

// refuse gives a run back that this worker cannot drive, and says why. The next one
// is looked for at once.
func (w *Worker) refuse(ctx context.Context, c Claim, x *drive, why error) (time.Duration, error) {
	w.trouble("")
	w.o.Logger.Info("run refused", slog.String("run", string(c.Run)), slog.String("reason", why.Error()))
	w.mu.Lock()
	w.status.Refused++
	w.skip[c.Run] = w.o.Now().Add(w.o.Refused)
	w.mu.Unlock()
	if err := w.giveBack(ctx, c, x, why.Error()); err != nil {
		w.o.Logger.Warn("give a run back", slog.String("run", string(c.Run)), slog.String("error", err.Error()))
		return w.o.Idle, err
	}
	return 0, nil
}

// giveBack releases a claimed run; x is nil if it could not be read.
func (w *Worker) giveBack(ctx context.Context, c Claim, x *drive, refused string) error {
	if x == nil {
		return w.d.release(ctx, c, refused)
	}
	return x.release(ctx, refused)
}

// count waits until a run is driven no more and counts how it ended.
func (w *Worker) count(x *drive) {
	<-x.over
	w.mu.Lock()
	s := &w.status
	switch {
	case x.end.lost:
		s.Lost++
	case x.end.refused != "":
		s.Refused++
		w.skip[x.claim.Run] = w.o.Now().Add(w.o.Refused)
	case x.end.err != nil || x.end.result.Status == harness.RunRunning:
		s.Returned++
	default:
		s.Done++
		if x.end.result.Status == harness.RunFailed {
			s.Failed++
		}
	}
	w.mu.Unlock()
	w.o.Logger.Info("run left", slog.String("run", string(x.claim.Run)), slog.String("status", string(x.end.result.Status)),
		slog.Bool("lost", x.end.lost), slog.Int64("input_tokens", x.end.result.Usage.Input), slog.Int64("output_tokens", x.end.result.Usage.Output))
	select {
	case w.done <- struct{}{}:
	default:
	}
}

// trouble notes why the queue cannot be used, "" if it can. That is logged when it
// begins and when it is over; as long as it lasts the lines about the worker tell it.
func (w *Worker) trouble(text string) {
	w.mu.Lock()
	was := w.status.Trouble
	w.status.Trouble = text
	w.mu.Unlock()
	switch {
	case was == "" && text != "":
		w.o.Logger.Warn("the queue cannot be used", slog.String("error", text))
	case was != "" && text == "":
		w.o.Logger.Info("the queue can be used again")
	}
}

// report logs how the worker is.
func (w *Worker) report(ctx context.Context) {
	s := w.Status()
	w.o.Logger.LogAttrs(ctx, slog.LevelInfo, "worker", slog.Int("driving", len(s.Driving)), slog.Int("done", s.Done), slog.Int("failed", s.Failed),
		slog.Int("refused", s.Refused), slog.Int("lost", s.Lost), slog.Int("returned", s.Returned), slog.Duration("up", w.o.Now().Sub(s.Since)), slog.String("trouble", s.Trouble))
}
