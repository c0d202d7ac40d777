package main

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"sync"
	"time"
)

// proofs are what is shown of an engine, in order. Those that need a server, or
// leases, are left out where there are none.
var proofs = []string{"kills", "restarts", "crowd", "stopped", "approval"}

// plan is how much of each proof is made.
type plan struct {
	engine           string
	kills, restarts  int
	crowd, stopped   int
	lease            time.Duration
	only, onlyPlaces string
}

// row is a line of the table.
type row struct {
	engine, place string
	score
	orphans time.Duration
}

const tableHead = "%-9s %-28s %6s %6s %10s %11s %13s %14s %7s\n"

func (r row) print() {
	orphans := "-"
	if r.orphans > 0 {
		orphans = fmt.Sprintf("%.2f s", r.orphans.Seconds())
	}
	fmt.Printf("%-9s %-28s %6d %6d %10d %11d %11.2f s %14s %7d\n", r.engine, r.place, r.kills, r.runs, r.lost, r.twice, r.text.Seconds(), orphans, len(r.faults))
	for i, f := range r.faults {
		if i == 6 {
			fmt.Printf("  … and %d more\n", len(r.faults)-i)
			break
		}
		fmt.Println("  " + f)
	}
}

// proveAll makes the proofs of engines, "sqlite,temporal=100" for example, and
// prints their table. The number is that of the kills.
func (b *bench) proveAll(ctx context.Context, p plan) error {
	fmt.Printf("seed %d, lease %v, %d at a time\n", b.seed, p.lease, b.side)
	fmt.Printf(tableHead, "engine", "place", "kills", "runs", "lost acks", "tools twice", "text lost max", "without owner", "faults")
	bad := 0
	note := func(r row) {
		r.print()
		bad += len(r.faults)
		if r.runs == 0 {
			bad++
			fmt.Println("  no run was judged")
		}
	}
	for _, one := range strings.Split(p.engine, ",") {
		q := p
		name, kills, given := strings.Cut(one, "=")
		q.engine = name
		if given {
			n, err := strconv.Atoi(kills)
			if err != nil {
				return fmt.Errorf("%q is not ENGINE=KILLS", one)
			}
			q.kills = n
		}
		if err := b.prove(ctx, q, note); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d faults", bad)
	}
	return ctx.Err()
}

// prove makes the proofs of one engine.
func (b *bench) prove(ctx context.Context, p plan, note func(row)) error {
	for _, proof := range proofs {
		if p.only != "" && p.only != proof {
			continue
		}
		y, done, err := newYard(ctx, b, p.engine, p.lease)
		if err != nil {
			return err
		}
		switch proof {
		case "kills":
			y.kills(ctx, p, note)
		case "restarts":
			if y.engine.kill != nil && p.restarts > 0 {
				note(y.restarts(ctx, p))
			}
		case "crowd":
			if y.engine.url != "" && p.crowd > 0 {
				note(y.crowd(ctx, p))
			}
		case "stopped":
			if (p.engine == "postgres" || p.engine == "sqlite") && p.stopped > 0 {
				note(y.stopped(ctx, p))
			}
		case "approval":
			if y.engine.url != "" {
				note(y.approval(ctx, p))
			}
		}
		done()
	}
	return ctx.Err()
}

// each makes n jobs side by side and sums up what they found.
func (y *yard) each(ctx context.Context, n int, one func(ctx context.Context, i int, r *rand.Rand) score) score {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all score
	jobs := make(chan int)
	for w := range y.side {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(y.seed + int64(w)))
			for i := range jobs {
				o := one(ctx, i, r)
				mu.Lock()
				all.add(o)
				mu.Unlock()
			}
		}()
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	return all
}

// kills kills whoever drives, at each place: the chat, and workers where there can
// be some.
func (y *yard) kills(ctx context.Context, p plan, note func(row)) {
	modes := []bool{false}
	if y.engine.url != "" {
		modes = append(modes, true)
	}
	var places []string
	for _, place := range workPlaces {
		if p.onlyPlaces == "" || strings.Contains(p.onlyPlaces, place) {
			places = append(places, place)
		}
	}
	each := max(1, p.kills/max(1, len(modes)*len(places)))
	for _, left := range modes {
		who := "chat"
		if left {
			who = "worker"
			for range 3 {
				if _, err := y.workers.hire(4); err != nil {
					note(row{p.engine, "workers", score{faults: []string{err.Error()}}, 0})
					return
				}
			}
		}
		for _, place := range places {
			y.forget()
			o := y.each(ctx, each, func(ctx context.Context, i int, r *rand.Rand) (o score) {
				j := &job{yard: y, id: fmt.Sprintf("%s-%s-%d", who, place, i), place: place, left: left, rand: r}
				if err := j.killOnce(ctx); err != nil {
					o.fault(j, "%v", err)
				}
				o.kills++
				if !left {
					j.held(ctx, &o)
				}
				j.finish(ctx, &o)
				return o
			})
			note(y.row(p, who+" "+place, o))
		}
	}
}

// finish recovers a run and judges it. One that was killed before anything was
// promised need not be there.
func (j *job) finish(ctx context.Context, o *score) {
	if j.kept {
		j.finishAway(ctx, o)
		return
	}
	if err := j.recover(ctx); err != nil {
		o.fault(j, "%v", err)
		return
	}
	if j.talk().now() == nil {
		if _, told := j.told(); told > 0 {
			o.fault(j, "it was acknowledged and has ended before its model was asked")
			return
		}
		o.runs++
		return
	}
	j.judge(ctx, o)
}

// forget begins to measure anew for how long runs seem to be driven by the dead.
func (y *yard) forget() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.orphans = 0
}

// row judges how long the dead seemed to drive, and makes a line of the table.
func (y *yard) row(p plan, place string, o score) row {
	y.mu.Lock()
	orphans := y.orphans
	y.mu.Unlock()
	if allowed := y.orphaned(); orphans > allowed {
		o.faults = append(o.faults, fmt.Sprintf("a run was said to be driven by a dead process for %v, and %v are allowed", orphans, allowed))
	}
	return row{p.engine, place, o, orphans}
}

// orphaned is for how long a run may seem to be driven by a dead process: its
// lease and a second where there are leases, a second where there are locks.
func (y *yard) orphaned() time.Duration {
	if y.engine.leased {
		return y.lease + time.Second
	}
	return time.Second
}

// restarts kills the server again and again while chats and workers drive runs.
func (y *yard) restarts(ctx context.Context, p plan) row {
	for range 3 {
		if _, err := y.workers.hire(4); err != nil {
			return row{p.engine, "server restarts", score{faults: []string{err.Error()}}, 0}
		}
	}
	going, stop := context.WithCancel(ctx)
	var begun []*job
	var o score
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range y.side {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(y.seed + int64(w)))
			for i := 0; going.Err() == nil; i++ {
				j := &job{yard: y, id: fmt.Sprintf("restart-%d-%d", w, i), place: "streaming", left: w%2 == 0, rand: r}
				one := j.undisturbed(ctx)
				mu.Lock()
				begun = append(begun, j)
				o.add(one)
				mu.Unlock()
			}
		}()
	}
	var broken error
	restarts := 0
	for ; restarts < p.restarts && broken == nil && ctx.Err() == nil; restarts++ {
		rests(ctx, 2*time.Second+time.Duration(rand.New(rand.NewSource(y.seed+int64(restarts))).Int63n(int64(3*time.Second))))
		broken = y.outageOnce(ctx)
	}
	stop()
	wg.Wait()
	if broken != nil {
		o.faults = append(o.faults, "the server: "+broken.Error())
	}
	o.kills = restarts
	// Now that it stays, what they left can be looked at.
	o.add(y.each(ctx, len(begun), func(ctx context.Context, i int, _ *rand.Rand) (o score) {
		begun[i].finishAway(ctx, &o)
		return o
	}))
	return y.row(p, "server restarts", o)
}

// outageOnce kills the server and starts it again.
func (y *yard) outageOnce(ctx context.Context) error {
	y.mu.Lock()
	y.away = append(y.away, span{from: time.Now()})
	y.mu.Unlock()
	err := y.engine.kill(ctx)
	if err == nil {
		err = y.engine.start(ctx)
	}
	y.mu.Lock()
	y.away[len(y.away)-1].to = time.Now()
	y.mu.Unlock()
	return err
}

// undisturbed lets a run go to its end, whatever else happens.
func (j *job) undisturbed(ctx context.Context) (o score) {
	cmd, _, over, _, err := j.begin(ctx)
	if err != nil {
		o.fault(j, "%v", err)
		return o
	}
	select {
	case <-over:
	case <-time.After(2 * patience):
		o.fault(j, "its process does not end")
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait() // how it ended is seen in what it left
	return o
}

// finishAway finishes a run whose engine may not have got it.
func (j *job) finishAway(ctx context.Context, o *score) {
	deadline := time.Now().Add(patience)
	for {
		err := j.recover(ctx)
		if err != nil {
			o.fault(j, "%v", err)
			return
		}
		// What the engine does not know the conversation may.
		out, err := j.output(ctx, "show", "runs", "list", "--json", "--unfinished", "--session", j.id)
		if err == nil && !strings.Contains(string(out), `"id"`) {
			break
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			o.fault(j, "it is unfinished in its conversation: %v %s", err, out)
			return
		}
		if run, _ := j.told(); run != "" {
			_, _ = j.output(ctx, "resume-"+j.id, "runs", "resume", run) // judged by what is left
		}
		rests(ctx, 300*time.Millisecond)
	}
	if run, _ := j.told(); run == "" && j.talk().now() == nil {
		o.runs++
		return // it was refused before anything was promised
	}
	j.judge(ctx, o)
}

// crowd leaves many runs to four workers and kills two of them on the way.
func (y *yard) crowd(ctx context.Context, p plan) row {
	all := make([]*job, p.crowd)
	o := y.each(ctx, p.crowd, func(ctx context.Context, i int, r *rand.Rand) (o score) {
		j := &job{yard: y, id: fmt.Sprintf("crowd-%d", i), place: "in-tool", left: true, rand: r}
		all[i] = j
		cmd, seen, over, words, err := j.begin(ctx)
		if err != nil {
			o.fault(j, "%v", err)
			return o
		}
		// It is gone once the engine has the run, which nobody drives yet.
		deadline := time.After(time.Minute)
		for there := false; !there; {
			at := time.Now()
			select {
			case <-over:
				o.fault(j, "it was not submitted: %s", words)
				there = true
			case <-deadline:
				o.fault(j, "it does not come to its engine")
				there = true
			case <-seen:
			case <-time.After(200 * time.Millisecond):
				s, err := y.after(ctx, at)
				_, ok := s.runs[j.id]
				there = ok || err != nil
			}
		}
		_ = cmd.Process.Kill()
		<-over
		_ = cmd.Wait()
		return o
	})
	var hands []*hand
	for range 4 {
		h, err := y.workers.hire(4)
		if err != nil {
			o.faults = append(o.faults, err.Error())
			return y.row(p, "four workers", o)
		}
		hands = append(hands, h)
	}
	for i := range 2 {
		// A third of what is left is done before each of the kills.
		y.untilLeft(ctx, p.crowd*(2-i)/3)
		y.workers.fire(hands[i])
		o.kills++
	}
	o.add(y.each(ctx, p.crowd, func(ctx context.Context, i int, _ *rand.Rand) (o score) {
		all[i].finish(ctx, &o)
		return o
	}))
	return y.row(p, "four workers, two killed", o)
}

// untilLeft waits until so many runs are unfinished at most.
func (y *yard) untilLeft(ctx context.Context, n int) {
	for ctx.Err() == nil {
		s, err := y.after(ctx, time.Now())
		if err != nil || len(s.runs) <= n {
			return
		}
	}
}
