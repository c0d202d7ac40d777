// Command kill proves from outside that cairn loses nothing. It runs the real
// binary against a model server of its own, ends it with SIGKILL at chosen
// places, and compares what the program has on disk afterwards with what the
// server sent and when, and with the numbered events that it read from the
// program's pipe. It knows nothing of the program's inside.
//
// With -engine it does the same where runs are kept apart from conversations: it
// kills the chat or the worker that drives, restarts the servers, leaves many runs
// to a few workers, stops a worker past its lease, and restarts all of it while an
// approval waits.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// places are where the program is killed.
var places = []string{"before-request", "before-token", "streaming", "near-end", "in-tool", inTools}

func main() {
	var b bench
	flag.StringVar(&b.cairn, "cairn", "", "the binary under test")
	flag.IntVar(&b.n, "n", 100, "kills for each place")
	flag.Int64Var(&b.seed, "seed", time.Now().UnixNano(), "seed of the random moments")
	flag.IntVar(&b.side, "side", 4, "how many run at a time, all on one data directory")
	only := flag.String("place", "", "only this place")
	trace := flag.Bool("strace", false, "instead show that the user's message is synced before the request is sent")
	var p plan
	flag.StringVar(&p.engine, "engine", "", "make the proofs of these engines instead: bbolt, sqlite, postgres, temporal, each perhaps with =KILLS")
	flag.IntVar(&p.kills, "kills", 100, "with -engine: how often drivers are killed, over all places")
	flag.IntVar(&p.restarts, "restarts", 3, "with -engine: how often the server is killed")
	flag.IntVar(&p.crowd, "crowd", 20, "with -engine: how many runs are left to four workers")
	flag.IntVar(&p.stopped, "stopped", 4, "with -engine: how often a worker is stopped past its lease")
	flag.DurationVar(&p.lease, "lease", 2*time.Second, "with -engine: the lease")
	flag.StringVar(&p.only, "proof", "", "with -engine: only this of kills, restarts, crowd, stopped, approval")
	flag.Parse()
	p.onlyPlaces = *only
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	whole, err := filepath.Abs(b.cairn)
	b.cairn = whole
	switch {
	case err != nil:
	case p.engine != "":
		err = b.proveAll(ctx, p)
	case *trace:
		err = b.strace(ctx)
	default:
		err = b.run(ctx, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

// bench is one call of the command.
type bench struct {
	cairn string
	n     int
	seed  int64
	side  int
	dir   string
	mock  *mock
}

// tally counts what was seen at one place.
type tally struct {
	mu                               sync.Mutex
	kills, acks, saved, after, again int
	faults                           []string
}

func (t *tally) add(f func(*tally)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

func (b *bench) run(ctx context.Context, only string) error {
	done, err := b.prepare()
	if err != nil {
		return err
	}
	defer done()
	fmt.Printf("seed %d, %d kills a place, %d at a time\n", b.seed, b.n, b.side)
	fmt.Printf("%-16s %7s %9s %15s %9s %7s\n", "place", "kills", "acks", "bytes on disk", "went on", "faults")
	bad := 0
	for _, place := range places {
		if only != "" && only != place {
			continue
		}
		t := &tally{}
		b.place(ctx, place, t)
		fmt.Printf("%-16s %7d %9d %15d %9d %7d\n", place, t.kills, t.acks, t.saved, t.after, len(t.faults))
		for i, f := range t.faults {
			if i == 5 {
				fmt.Printf("  … and %d more\n", len(t.faults)-i)
				break
			}
			fmt.Println("  " + f)
		}
		if place == inTools {
			fmt.Printf("  (acks: calls whose end nobody saw; bytes: fetched pages; killed again while going on, approving and resolving: %d)\n", t.again)
		}
		bad += len(t.faults)
		if t.kills == 0 {
			bad++
			fmt.Println("  nothing was killed here")
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d faults", bad)
	}
	return ctx.Err()
}

func (b *bench) place(ctx context.Context, place string, t *tally) {
	var wg sync.WaitGroup
	jobs := make(chan int)
	for w := range b.side {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(b.seed + int64(w)))
			for i := range jobs {
				c := &trial{bench: b, place: place, id: fmt.Sprintf("%s-%d", place, i), rand: r}
				c.run(ctx, t)
			}
		}()
	}
	for i := range b.n {
		if ctx.Err() != nil {
			break
		}
		jobs <- i
	}
	close(jobs)
	wg.Wait()
}

// prepare makes a data directory and starts the model server.
func (b *bench) prepare() (func(), error) {
	dir, err := os.MkdirTemp("", "kill")
	if err != nil {
		return nil, err
	}
	b.dir = dir
	b.mock = newMock()
	url, stop, err := b.mock.listen()
	if err != nil {
		return nil, err
	}
	b.mock.url = url
	if err := b.furnish(); err != nil {
		stop()
		return nil, err
	}
	return func() {
		stop()
		_ = os.RemoveAll(dir)
	}, nil
}
