package sqlite_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/storage/sqlite"
)

func benchOpen(b *testing.B) *sqlite.Queue {
	b.Helper()
	q, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = q.Close() })
	return q
}

// BenchmarkAppend commits an entry, and next to it writes its bytes to a file with
// fdatasync: x/raw is how many of these one commit takes.
func BenchmarkAppend(b *testing.B) {
	q := benchOpen(b)
	s := submission("r")
	s.Here = true
	c, err := q.Submit(b.Context(), s, harness.Holder{})
	if err != nil {
		b.Fatal(err)
	}
	e := said(99)
	data, err := json.Marshal(e)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	var commits, raw time.Duration
	cursor := 1
	for b.Loop() {
		from := time.Now()
		if _, err := q.Append(b.Context(), c, cursor, nil, e); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
		commits, raw = commits+between.Sub(from), raw+time.Since(between)
		cursor++
	}
	b.ReportMetric(commits.Seconds()*1000/float64(cursor-1), "ms/append")
	b.ReportMetric(commits.Seconds()/raw.Seconds(), "x/raw")
	b.ReportMetric(float64(len(data)), "bytes")
}

// BenchmarkClaim claims what is next and gives it back.
func BenchmarkClaim(b *testing.B) {
	q := benchOpen(b)
	for _, id := range []harness.RunID{"a", "b", "c"} {
		if _, err := q.Submit(b.Context(), submission(id), harness.Holder{}); err != nil {
			b.Fatal(err)
		}
	}
	n := 0
	for b.Loop() {
		c, err := q.Next(b.Context(), harness.Holder{PID: 1}, "", nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := q.Release(b.Context(), c, ""); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "claims/s")
}

// BenchmarkIdle looks for a run where there is none, as a worker does all day.
func BenchmarkIdle(b *testing.B) {
	q := benchOpen(b)
	for b.Loop() {
		if _, err := q.Next(b.Context(), harness.Holder{PID: 1}, "", nil); err == nil {
			b.Fatal("there is something")
		}
	}
}
