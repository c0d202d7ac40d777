package temporal_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/model"
	"cairn/harness/temporal"
	"cairn/harness/temporal/temporaltest"
	"cairn/harness/tool"
)

// childKey is the environment variable that has the test program be a worker: the
// address, and the directory in which it leaves what it does.
const childKey = "CAIRN_TEMPORAL_CHILD"

func TestMain(m *testing.M) {
	if address, dir, ok := strings.Cut(os.Getenv(childKey), "|"); ok {
		if err := child(address, dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child is a worker in a process of its own. What it does is written down outside
// of all stores; it stays in the middle of it as long as the file "hang" is there.
func child(address, dir string) error {
	t := &outside{dir: dir}
	o := temporal.Options{
		Lease: 2 * time.Second, Sticky: 500 * time.Millisecond, Claim: 2 * time.Second, Host: "here", Blobs: filepath.Join(dir, "blobs"),
		Holder: harness.Holder{PID: os.Getpid(), Host: "here", Purpose: "child"},
	}
	steps, err := t.steps()
	if err != nil {
		return err
	}
	o.Steps = always(steps)
	w, err := temporal.NewWorker(context.Background(), address, o)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return w.Run(context.Background())
}

// outside is what is seen of a worker from outside.
type outside struct{ dir string }

// leave writes a line down, and stays if that is wanted for it.
func (o *outside) leave(ctx context.Context, line string) error {
	f, err := os.OpenFile(filepath.Join(o.dir, "lines"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f, line); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for {
		if !o.hangs(line) {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *outside) hangs(line string) bool {
	hang, err := os.ReadFile(filepath.Join(o.dir, "hang"))
	return err == nil && string(hang) == line
}

func (o *outside) hang(t *testing.T, line string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, "hang"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (o *outside) goOn(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(o.dir, "hang")); err != nil {
		t.Fatal(err)
	}
}

func (o *outside) count(line string) int {
	data, err := os.ReadFile(filepath.Join(o.dir, "lines"))
	if err != nil {
		return 0
	}
	n := 0
	for have := range strings.Lines(string(data)) {
		if strings.TrimSuffix(have, "\n") == line {
			n++
		}
	}
	return n
}

// await waits for a line.
func (o *outside) await(t *testing.T, line string, n int) {
	t.Helper()
	for o.count(line) < n {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("no %s", line)
		}
	}
}

// steps are a model that asks for the tool named by the message, and the tools.
func (o *outside) steps() (agent.Steps, error) {
	set := new(tool.Set)
	for name, replay := range map[string]tool.Replay{"pay": tool.Manual, "look": tool.Safe} {
		tl, err := tool.New(name, "a tool", func(ctx context.Context, _ tool.Call, _ argument) (string, error) {
			return "did " + name, o.leave(ctx, name)
		}, tool.WithReplay(replay), tool.WithPermission(tool.Allow))
		if err != nil {
			return agent.Steps{}, err
		}
		if err := set.Add(tl); err != nil {
			return agent.Steps{}, err
		}
	}
	m := answering(func(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == harness.RoleTool {
			return says("done"), nil
		}
		emit(model.Delta{Kind: model.DeltaText, Text: "half an "})
		if err := o.leave(ctx, "model"); err != nil {
			return model.Reply{}, err
		}
		if name, ok := strings.CutPrefix(last.Text(), "use "); ok {
			return says("", call(name, "{}")), nil
		}
		return says("half an answer"), nil
	})
	return agent.Steps{Model: m, Info: model.Info{ID: "p/m"}, Tools: set}, nil
}

// spawn starts a worker in a process of its own and returns how to kill it.
func (o *outside) spawn(t *testing.T, address string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childKey+"="+address+"|"+o.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if killed {
			return
		}
		killed = true
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the worker says %q: %v", line, err)
	}
	return kill
}

// killed submits a run, and kills its worker when it hangs in something.
func killed(t *testing.T, words, in string) (*temporal.Backend, *outside, harness.RunID) {
	t.Helper()
	w := newWorld(t, temporaltest.Start(t))
	o := &outside{dir: t.TempDir()}
	w.blobs = filepath.Join(o.dir, "blobs")
	b := w.open(agent.Steps{})
	o.hang(t, in)
	kill := o.spawn(t, w.address)
	id := submit(t, b, submission(words, false))
	o.await(t, in, 1)
	if in == "model" {
		until(t, b, id, "the half answer", func(j jobOf) bool { return j.Run.Partial != nil && j.Run.Partial.Text == "half an " })
	}
	kill()
	o.goOn(t)
	o.spawn(t, w.address)
	return b, o, id
}

func TestAModelCallIsMadeAgainWhenItsWorkerIsKilled(t *testing.T) {
	t.Parallel()
	b, o, id := killed(t, "hello", "model")
	untilStatus(t, b, id, harness.RunCompleted)
	entries := read(t, b, id)
	wantKinds(t, entries, "started resumed cut answered rested:completed")
	if cut := entries[2]; cut.Message.Text() != "half an " || !cut.Rewind {
		t.Errorf("the half answer is kept as %+v", cut)
	}
	if n := o.count("model"); n != 2 {
		t.Errorf("%d model calls", n)
	}
}

func TestASafeToolRunsAgainWhenItsWorkerIsKilled(t *testing.T) {
	t.Parallel()
	b, o, id := killed(t, "use look", "look")
	untilStatus(t, b, id, harness.RunCompleted)
	wantKinds(t, read(t, b, id), "started answered judged began ended answered rested:completed")
	if n := o.count("look"); n != 2 {
		t.Errorf("the tool ran %d times", n)
	}
}

func TestAManualToolIsUncertainWhenItsWorkerIsKilled(t *testing.T) {
	t.Parallel()
	b, o, id := killed(t, "use pay", "pay")
	untilStatus(t, b, id, harness.RunAwaiting)
	p := pending(t, read(t, b, id))
	if len(p) != 1 || !p[0].Uncertain {
		t.Fatalf("the run waits for %+v", p)
	}
	if err := b.Decide(t.Context(), id, false, harness.Decision{Call: p[0].Call.ID, Digest: p[0].Digest, How: harness.DecideResult, Text: "it was paid"}); err != nil {
		t.Fatal(err)
	}
	untilStatus(t, b, id, harness.RunCompleted)
	if n := o.count("pay"); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
}

func TestARunGoesOnWhenItsServerIsKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	s := temporaltest.Own(t)
	w := newWorld(t, s)
	o := &outside{dir: t.TempDir()}
	w.blobs, w.o.Lease = filepath.Join(o.dir, "blobs"), 10*time.Second
	steps, err := o.steps()
	if err != nil {
		t.Fatal(err)
	}
	b := w.open(agent.Steps{})
	w.work(steps)
	o.hang(t, "pay")
	id := submit(t, b, submission("use pay", false))
	o.await(t, "pay", 1)
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.goOn(t)
	untilStatus(t, b, id, harness.RunCompleted)
	wantKinds(t, read(t, b, id), "started answered judged began ended answered rested:completed")
	if n := o.count("pay"); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
}
