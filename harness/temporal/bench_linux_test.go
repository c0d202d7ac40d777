package temporal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
	"cairn/harness/tool"
)

// benchWorld is a world of which the backend drives runs of so many steps, each an
// answer and a call.
func benchWorld(b *testing.B, steps int) *temporal.Backend {
	b.Helper()
	s := temporaltest.Start(b)
	echo, err := tool.New("echo", "a tool", func(context.Context, tool.Call, argument) (string, error) { return "echo", nil },
		tool.WithReplay(tool.Safe), tool.WithPermission(tool.Allow))
	if err != nil {
		b.Fatal(err)
	}
	set := new(tool.Set)
	if err := set.Add(echo); err != nil {
		b.Fatal(err)
	}
	var replies []model.Reply
	for i := range steps {
		replies = append(replies, says("", call("echo", fmt.Sprintf(`{"text":"%d"}`, i))))
	}
	o := temporal.Options{Blobs: b.TempDir(), Holder: harness.Holder{PID: os.Getpid(), Purpose: "bench"}}
	o.Steps = always(agent.Steps{Model: script(append(replies, says("done"))...), Info: model.Info{ID: "p/m"}, Tools: set})
	backend, err := temporal.Open(b.Context(), s.URL(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = backend.Close(context.Background()) })
	return backend
}

// finish submits a run and waits until it rests.
func finish(b *testing.B, backend *temporal.Backend) harness.RunID {
	b.Helper()
	s := submission("go", true)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	if err := backend.Submit(ctx, s); err != nil {
		b.Fatal(err)
	}
	changed, err := backend.Watch(ctx, s.Run.ID)
	if err != nil {
		b.Fatal(err)
	}
	for range changed {
		j, err := backend.Get(ctx, s.Run.ID)
		if err != nil {
			b.Fatal(err)
		}
		if j.Run.Status != harness.RunRunning {
			return s.Run.ID
		}
	}
	b.Fatal("the run does not end")
	return ""
}

// BenchmarkStep drives runs of 20 answers and calls, one after the other, and next to
// each step writes the bytes of its entries to a file with fdatasync: x/raw is how
// many of these one step takes, from its beginning until the next can begin.
func BenchmarkStep(b *testing.B) {
	const answers = 20
	backend := benchWorld(b, answers)
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	var steps, raw []time.Duration
	for b.Loop() {
		from := time.Now()
		id := finish(b, backend)
		took := time.Since(from) / (2*answers + 1)
		entries, err := backend.Read(b.Context(), id, 0)
		if err != nil {
			b.Fatal(err)
		}
		data, err := json.Marshal(entries)
		if err != nil {
			b.Fatal(err)
		}
		data = data[:len(data)/(2*answers+1)]
		for range answers {
			from := time.Now()
			if _, err := f.Write(data); err != nil {
				b.Fatal(err)
			}
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				b.Fatal(err)
			}
			raw = append(raw, time.Since(from))
		}
		steps = append(steps, took)
	}
	step, disk := median(steps), median(raw)
	b.ReportMetric(step.Seconds()*1000, "ms/step")
	b.ReportMetric(1/step.Seconds(), "steps/s")
	b.ReportMetric(disk.Seconds()*1000, "ms/raw")
	b.ReportMetric(step.Seconds()/disk.Seconds(), "x/raw")
}

// BenchmarkCommit stores what was asked of a run that rests, as an approval is: one
// update of its workflow. Beside it stands an fdatasync of the disk.
func BenchmarkCommit(b *testing.B) {
	backend := benchWorld(b, 0)
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	var commits, raw []time.Duration
	for b.Loop() {
		b.StopTimer()
		id := finish(b, backend)
		entries, err := backend.Read(b.Context(), id, 0)
		if err != nil {
			b.Fatal(err)
		}
		data, err := json.Marshal(entries[len(entries)-1])
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		from := time.Now()
		if err := backend.Acknowledge(b.Context(), id, len(entries)); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
		commits, raw = append(commits, between.Sub(from)), append(raw, time.Since(between))
	}
	b.ReportMetric(median(commits).Seconds()*1000, "ms/commit")
	b.ReportMetric(median(commits).Seconds()/median(raw).Seconds(), "x/raw")
}

// BenchmarkCancel measures how long it takes from a cancel by another process until
// the model call under way is left.
func BenchmarkCancel(b *testing.B) {
	s := temporaltest.Start(b)
	stopped := make(chan time.Time, 1)
	o := temporal.Options{Blobs: b.TempDir(), Holder: harness.Holder{PID: os.Getpid(), Purpose: "bench"}}
	address := s.URL()
	asks, err := temporal.Open(b.Context(), address, o)
	if err != nil {
		b.Fatal(err)
	}
	o.Steps = always(agent.Steps{Model: hanging("half", stopped), Info: model.Info{ID: "p/m"}})
	drives, err := temporal.Open(b.Context(), address, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = drives.Close(context.Background()); _ = asks.Close(context.Background()) })
	var took []time.Duration
	for b.Loop() {
		sub := submission("go", true)
		if err := drives.Submit(b.Context(), sub); err != nil {
			b.Fatal(err)
		}
		for {
			j, err := asks.Get(b.Context(), sub.Run.ID)
			if err != nil {
				b.Fatal(err)
			}
			if j.Run.Partial != nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		from := time.Now()
		if err := asks.Ask(b.Context(), sub.Run.ID, run.AskCancel); err != nil {
			b.Fatal(err)
		}
		took = append(took, (<-stopped).Sub(from))
	}
	slices.Sort(took)
	b.ReportMetric(median(took).Seconds()*1000, "ms/p50")
	b.ReportMetric(took[len(took)-1].Seconds()*1000, "ms/max")
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}
