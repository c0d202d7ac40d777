package postgres_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

// safely are the settings of a server that keeps what it says on disk.
var safely = []string{"fsync=on", "synchronous_commit=on"}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// BenchmarkAppend commits entries of a run. Every other write is one of the same
// bytes to a file beside the database, with fdatasync; "ratio" compares the
// medians.
func BenchmarkAppend(b *testing.B) {
	s := pgtest.Alone(b, safely...)
	q := open(b, s.Database(b), postgres.Options{})
	submit(b, q, "r")
	c := claim(b, q, "r")
	e := answer(strings.Repeat("the quick brown fox jumps over the lazy dog. ", 11), "")
	raw, err := json.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	file, err := os.Create(filepath.Join(s.Dir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	}()
	var commits, syncs []time.Duration
	for i := 0; b.Loop(); i++ {
		at := time.Now()
		if _, err := q.Append(b.Context(), c, i+1, nil, e); err != nil {
			b.Fatal(err)
		}
		commits = append(commits, time.Since(at))
		at = time.Now()
		if _, err := file.Write(raw); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			b.Fatal(err)
		}
		syncs = append(syncs, time.Since(at))
	}
	commit, raws := median(commits), median(syncs)
	b.ReportMetric(micros(commit), "commit-p50-µs")
	b.ReportMetric(micros(raws), "fdatasync-p50-µs")
	b.ReportMetric(float64(commit)/float64(raws), "ratio")
}

// BenchmarkAppendersAtOnce commits entries of several runs at once.
func BenchmarkAppendersAtOnce(b *testing.B) {
	for _, n := range []int{2, 8} {
		b.Run(fmt.Sprint("runs=", n), func(b *testing.B) {
			q := open(b, pgtest.Alone(b, safely...).Database(b), postgres.Options{})
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			for i := range n {
				id := fmt.Sprint("r", i)
				submit(b, q, id)
				c := claim(b, q, harness.RunID(id))
				all.Go(func() {
					for at := 1; left.Add(-1) >= 0; at++ {
						if _, err := q.Append(b.Context(), c, at, nil, answer("an answer", "")); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkClaims has four claimers take runs until none is left.
func BenchmarkClaims(b *testing.B) {
	q := open(b, pgtest.Alone(b, safely...).Database(b), postgres.Options{})
	for i := range b.N {
		submit(b, q, fmt.Sprint("r", i))
	}
	b.ResetTimer()
	var claimed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				_, err := q.Next(b.Context(), ada, "ada", nil)
				if errors.Is(err, harness.ErrNotFound) {
					return
				}
				if err != nil {
					b.Error(err)
					return
				}
				claimed.Add(1)
			}
		})
	}
	all.Wait()
	if int(claimed.Load()) != b.N {
		b.Errorf("%d claims of %d runs", claimed.Load(), b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}
