package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/mem"
	"cairn/storage/sqlite"
)

// errand is a model that looks, pays and remembers, and then says what came of it.
type errand struct{}

func (errand) Stream(_ context.Context, r model.Request, _ func(model.Delta)) (model.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	usage := harness.Usage{Input: int64(len(r.Messages)), Output: 3, Cost: 0.25, CostKnown: true}
	if last.Role == harness.RoleTool || last.Text() == "two" {
		return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: "after " + last.Text() + "all is done"}}, Stop: harness.StopEnd, Usage: usage}, nil
	}
	reply := model.Reply{Stop: harness.StopTools, Usage: usage}
	for _, name := range []string{"look", "pay", "remember"} {
		reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: name, Input: json.RawMessage(`{}`)}})
	}
	return reply, nil
}

// shop is a queue in a file with a worker that does not have the conversations.
type shop struct {
	queue *sqlite.Queue
	long  []byte

	mu sync.Mutex
	// paid counts what pay did by the key of the call.
	paid map[string]int
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{paid: map[string]int{}, long: bytes.Repeat([]byte("a long line\n"), 4_000)}
	path := filepath.Join(t.TempDir(), "runs.db")
	open := func() *sqlite.Queue {
		q, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	s.queue = open()
	theirs := open()
	w := run.NewWorker(run.WorkerOptions{
		DriverOptions: run.DriverOptions{Queue: theirs, Steps: s.steps(t), Holder: harness.Holder{PID: 4, Purpose: "worker"}},
		Concurrency:   4, Idle: 5 * time.Millisecond,
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	over := make(chan error, 1)
	go func() { over <- w.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-over, theirs.Close(), s.queue.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// steps are those of the worker: its memory is what the run carries.
func (s *shop) steps(t *testing.T) func(context.Context, run.Job, run.Carried) (agent.Steps, error) {
	t.Helper()
	add := func(set *tool.Set, name string, do func(ctx context.Context, c tool.Call) (string, error), replay tool.Replay) {
		tl, err := tool.New(name, "does it", func(ctx context.Context, c tool.Call, _ struct{}) (string, error) { return do(ctx, c) },
			tool.WithPermission(tool.Allow), tool.WithReplay(replay), tool.Sequential()) // in one order
		if err := errors.Join(err, set.Add(tl)); err != nil {
			t.Error(err)
		}
	}
	return func(_ context.Context, _ run.Job, c run.Carried) (agent.Steps, error) {
		set := &tool.Set{Artifacts: run.AwayArtifacts(nil)}
		facts := run.CarriedMemory(c).Facts()
		add(set, "look", func(context.Context, tool.Call) (string, error) { return string(s.long), nil }, tool.Safe)
		add(set, "pay", func(_ context.Context, c tool.Call) (string, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.paid[c.Key]++
			return "paid", nil
		}, tool.Manual)
		add(set, "remember", func(ctx context.Context, c tool.Call) (string, error) {
			_, _, err := facts.Save(ctx, harness.Fact{Text: "Has paid", By: harness.ByModel}, c.Key)
			return "remembered", err
		}, tool.Idempotent)
		return agent.Steps{Model: errand{}, Tools: set, Policy: policy.Rules{}, Now: time.Now}, nil
	}
}

// stays is a backend whose end leaves the queue open for the next process.
type stays struct{ run.Queue }

func (stays) Close() error { return nil }

// live is the life of one process of the owner of session s.
func (s *shop) live(t *testing.T, st cabinet, store string, f *fate) bool {
	t.Helper()
	b := run.NewQueueBackend(run.QueueOptions{DriverOptions: run.DriverOptions{Queue: stays{s.queue}, Store: store, Holder: harness.Holder{PID: 5, Purpose: "chat"}}})
	return lives(t, st, store, b, f)
}

// tale is all that a person has in the end, without ids and times.
func (s *shop) tale(t *testing.T, st cabinet, store string) string {
	t.Helper()
	ctx := t.Context()
	var b strings.Builder
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	runs, err := st.journal.List(ctx, harness.RunFilter{})
	must(err)
	rename := strings.NewReplacer(string(runs[0].ID), "R2", string(runs[len(runs)-1].ID), "R1")
	records, err := st.transcript.Log(ctx, "s", 0, 0)
	must(err)
	for _, r := range records {
		r.At = time.Time{}
		if r.Message != nil {
			r.Message.Sent = nil // an estimate of a text with ids
		}
		raw, err := json.Marshal(r)
		must(err)
		fmt.Fprintf(&b, "%s\n", raw)
	}
	for _, r := range runs {
		fmt.Fprintln(&b, "run", r.ID, r.Status, r.Stop, r.Cursor, r.First, r.Usage)
		entries, err := st.journal.Read(ctx, r.ID, 0)
		must(err)
		for _, e := range entries {
			fmt.Fprintln(&b, "entry", e.Seq, e.Kind, e.Record, e.Status)
		}
		j, err := s.queue.Get(ctx, r.ID)
		must(err)
		if j.Acknowledged != r.Cursor || j.Run.Cursor != r.Cursor {
			t.Errorf("run %s is at %d there, acknowledged up to %d, and at %d here", r.ID, j.Run.Cursor, j.Acknowledged, r.Cursor)
		}
	}
	jobs, err := s.queue.List(ctx, run.JobFilter{Store: store})
	must(err)
	if len(jobs) != len(runs) {
		t.Errorf("%d runs there, %d here", len(jobs), len(runs))
	}
	info, err := st.sessions.Get(ctx, "s")
	must(err)
	facts, err := st.facts.List(ctx, harness.MemoryFilter{})
	must(err)
	fmt.Fprintln(&b, "session", info.Usage, info.OpenRun, info.Head)
	for _, f := range facts {
		fmt.Fprintln(&b, "fact", f.ID, f.Text, f.Revision)
	}
	data, err := st.artifacts.Get(ctx, "s", harness.ArtifactName(s.long))
	must(err)
	fmt.Fprintln(&b, "artifact", len(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, n := range s.paid {
		if strings.HasPrefix(key, string(runs[len(runs)-1].ID)) {
			fmt.Fprintln(&b, "paid", key, n)
		}
	}
	return rename.Replace(b.String())
}

// The process of the conversations dies at every step of its way to and from a
// queue whose runs a worker drives, two hundred times: in the end the conversation,
// the facts, the files, the costs and what the tools did are as if it had lived.
func TestHandingOverFromAQueueSurvivesEveryCut(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	fresh := func() cabinet {
		m := mem.New(nil)
		return cabinet{m.Journal(), m.Transcript(), m.Sessions(), m.Owners(), m.Artifacts(), m.Facts(), m.Ledger()}
	}
	st := fresh()
	if !s.live(t, st, "undisturbed", &fate{left: 1 << 30}) {
		t.Fatal("undisturbed it does not end")
	}
	want := s.tale(t, st, "undisturbed")
	for _, part := range []string{"all is done", "fact f1 Has paid", "artifact 48000", "paid R1"} {
		if !strings.Contains(want, part) {
			t.Fatalf("no %q in\n%s", part, want)
		}
	}
	const threads = 4
	cuts := make([]int, threads)
	var sides sync.WaitGroup
	for side := range threads {
		sides.Go(func() {
			for n := 0; cuts[side] < 200/threads && !t.Failed(); n++ {
				store := fmt.Sprintf("store %d/%d", side, n)
				random := rand.New(rand.NewPCG(uint64(side), uint64(n)))
				st := fresh()
				for over := false; !over && !t.Failed(); {
					f := &fate{left: 1 + random.IntN(40), done: random.IntN(2) == 0}
					if over = s.live(t, st, store, f); !over {
						cuts[side]++
					}
				}
				if got := s.tale(t, st, store); got != want {
					t.Errorf("%s: got\n%swant\n%s", store, got, want)
				}
			}
		})
	}
	sides.Wait()
	t.Logf("cuts %v", cuts)
}
