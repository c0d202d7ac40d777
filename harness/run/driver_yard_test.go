package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/loop"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/policy"
	"cairn/harness/run"
	"cairn/harness/tool"
	"cairn/storage/postgres"
	"cairn/storage/sqlite"
)

// yard is a queue in a file, and a file in which tools leave lines, through the
// lives of several processes. It is what a process of its own is told in JSON.
type yard struct {
	Dir string
	// Turns are the tools that the model calls in each of its answers but the last.
	Turns [][]string
	// Point says where the process kills itself: "before N" and "after N" are its
	// Nth append, "in NAME" and "done NAME" a tool before and after its line.
	Point string
	// Slow are the tools that wait for the file "go", with a line in "begun".
	Slow []string
	// Words are what the last answer streams before it waits for the file "go".
	Words []string
	// URL is the PostgreSQL database that has the queue, with leases of LeaseMS
	// milliseconds; empty if a file has it.
	URL     string
	LeaseMS int
}

// theYard is the environment variable that makes a test binary a worker.
const theYard = "CAIRN_TEST_YARD"

func TestMain(m *testing.M) {
	if raw := os.Getenv(theYard); raw != "" {
		if err := workAlone(raw); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if left := leftover(); code == 0 && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// workAlone is the life of a worker in a process of its own.
func workAlone(raw string) error {
	var y yard
	if err := json.Unmarshal([]byte(raw), &y); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	q, err := y.queue(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil // stopped before it began
		}
		return err
	}
	queue := q
	if strings.HasPrefix(y.Point, "before") || strings.HasPrefix(y.Point, "after") {
		d := &deadly{Queue: q}
		if _, err := fmt.Sscan(y.Point, &d.when, &d.at); err != nil {
			return err
		}
		queue = d
	}
	err = run.NewWorker(run.WorkerOptions{
		DriverOptions: y.options(queue), Idle: 20 * time.Millisecond, Grace: 200 * time.Millisecond,
	}).Run(ctx)
	return errors.Join(err, q.Close())
}

// die ends this process as kill -9 does.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	panic(fmt.Sprint("still alive: ", err))
}

// deadly is a queue at whose nth append the process dies.
type deadly struct {
	run.Queue

	when string
	at   int
}

func (d *deadly) Append(ctx context.Context, c run.Claim, after int, artifacts [][]byte, entries ...run.Entry) ([]run.Entry, error) {
	if d.at--; d.at == 0 && d.when == "before" {
		die()
	}
	stored, err := d.Queue.Append(ctx, c, after, artifacts, entries...)
	if d.at == 0 {
		die()
	}
	return stored, err
}

func (y yard) queue(ctx context.Context) (run.Queue, error) {
	if y.URL != "" {
		return postgres.Open(ctx, y.URL, postgres.Options{Lease: y.lease()})
	}
	return sqlite.Open(ctx, filepath.Join(y.Dir, "runs.db"), sqlite.Options{})
}

func (y yard) lease() time.Duration { return time.Duration(y.LeaseMS) * time.Millisecond }

func (y yard) options(q run.Queue) run.DriverOptions {
	return run.DriverOptions{
		Queue: q, Steps: y.steps, Lease: y.lease(), Host: "box", Holder: harness.Holder{PID: os.Getpid(), Host: "box", Purpose: "worker"},
	}
}

func (y yard) steps(context.Context, run.Job, run.Carried) (agent.Steps, error) {
	set := new(tool.Set)
	for name, opts := range map[string][]tool.Option{
		"look": {tool.WithReplay(tool.Safe), tool.WithPermission(tool.Allow)},
		"pay":  {tool.WithPermission(tool.Allow)},
		"send": {tool.WithPermission(tool.Allow), tool.Sequential()},
		"sign": {},
	} {
		t, err := tool.New(name, "leaves a line", func(ctx context.Context, c tool.Call, _ struct{}) (string, error) {
			return "done " + name, y.leave(ctx, name, c.Key)
		}, opts...)
		if err == nil {
			err = set.Add(t)
		}
		if err != nil {
			return agent.Steps{}, err
		}
	}
	return agent.Steps{Model: y, Tools: set, Policy: policy.Rules{Interactive: true}}, nil
}

// leave leaves the line of a tool.
func (y yard) leave(ctx context.Context, name, key string) error {
	if y.Point == "in "+name {
		die()
	}
	if slices.Contains(y.Slow, name) {
		if err := y.wait(ctx, name); err != nil {
			return err
		}
	}
	err := y.add("effects", key+" "+name)
	if y.Point == "done "+name {
		die()
	}
	return err
}

// wait says that something waits, and does until the file "go" is there.
func (y yard) wait(ctx context.Context, what string) error {
	if err := y.add("begun", what); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(y.Dir, "go")); err == nil {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (y yard) add(file, line string) error {
	f, err := os.OpenFile(filepath.Join(y.Dir, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// Stream implements [model.Model].
func (y yard) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	turn, results := 0, []string(nil)
	for _, m := range r.Messages {
		if len(m.Calls()) > 0 {
			turn++
		}
		for _, p := range m.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
		}
	}
	if err := memory.Legal(r.Messages); err != nil {
		return model.Reply{}, err
	}
	if turn < len(y.Turns) {
		reply := model.Reply{Stop: harness.StopTools, Usage: harness.Usage{Input: 10, Output: 1}}
		for _, name := range y.Turns[turn] {
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "call_0", Name: name, Input: json.RawMessage("{}")}})
		}
		return reply, nil
	}
	text := ""
	for _, w := range y.Words {
		text += w
		emit(model.Delta{Kind: model.DeltaText, Text: w})
	}
	if text != "" {
		if err := y.wait(ctx, "words"); err != nil {
			return model.Reply{}, err
		}
	}
	last := "all: " + strings.Join(results, "|")
	emit(model.Delta{Kind: model.DeltaText, Text: last})
	return model.Reply{Parts: []harness.Part{{Kind: harness.PartText, Text: text + last}}, Stop: harness.StopEnd, Usage: harness.Usage{Input: 10, Output: 1}}, nil
}

// owner is a test's own hold on a yard: the queue as the session's owner sees it.
type owner struct {
	yard

	t *testing.T
	q run.Queue
}

func newOwner(t *testing.T, y yard) *owner {
	t.Helper()
	y.Dir = t.TempDir()
	q, err := y.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return &owner{yard: y, t: t, q: q}
}

// submission is a run that says "go".
func submission(t *testing.T, id harness.RunID, change ...func(*run.Submission)) run.Submission {
	t.Helper()
	config := harness.RunConfig{Model: "p/m", Agent: "cairn@1"}
	s := run.Submission{
		Run: harness.Run{ID: id, Session: "s", Engine: "sqlite:runs", Status: harness.RunRunning, Config: config, First: 7, Started: time.Now()},
		First: entry(t, loop.Started{
			Message: harness.UserText("go"), Config: config,
		}),
		Carried: run.Carried{Store: "home", Session: harness.Session{ID: "s"}, Interactive: true},
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

func (o *owner) submit(id harness.RunID, change ...func(*run.Submission)) {
	o.t.Helper()
	if _, err := o.q.Submit(o.t.Context(), submission(o.t, id, change...), harness.Holder{PID: 1}); err != nil {
		o.t.Fatal(err)
	}
}

// backend is the session's owner's backend, which drives nothing here.
func (o *owner) backend() run.Backend {
	d := o.options(kept{o.q})
	d.Holder.Purpose = "chat"
	b := run.NewQueueBackend(run.QueueOptions{DriverOptions: d})
	o.t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

// kept is a queue that outlives its backend.
type kept struct{ run.Queue }

func (kept) Close() error { return nil }

// work runs a worker in this process until the test ends or stop is called.
func (o *owner) work(change ...func(*run.WorkerOptions)) (w *run.Worker, stop func()) {
	o.t.Helper()
	opts := run.WorkerOptions{DriverOptions: o.options(o.q), Idle: 10 * time.Millisecond, Grace: 100 * time.Millisecond}
	for _, f := range change {
		f(&opts)
	}
	w = run.NewWorker(opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			o.t.Errorf("the worker ends with %v", err)
		}
	}
	o.t.Cleanup(stop)
	return w, stop
}

// process starts a worker of its own, with a change of the yard.
func (o *owner) process(change func(*yard)) *exec.Cmd {
	o.t.Helper()
	y := o.yard
	change(&y)
	raw, err := json.Marshal(y)
	if err != nil {
		o.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		o.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), exe)
	cmd.Env = append(os.Environ(), theYard+"="+string(raw))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// dead waits until a worker has killed itself, or drove the run to its end.
func (o *owner) dead(id harness.RunID, cmd *exec.Cmd) {
	o.t.Helper()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
	}()
	o.soon(func() bool {
		select {
		case <-gone:
			return true
		default:
		}
		j, err := o.q.Get(o.t.Context(), id)
		return err != nil || j.Run.Status.Closed() && j.Run.Worker == nil
	})
	_ = cmd.Process.Kill()
	<-gone
}

// until waits until the run is as wanted.
func (o *owner) until(id harness.RunID, want func(run.Job) bool) run.Job {
	o.t.Helper()
	var j run.Job
	ok := o.soon(func() bool {
		var err error
		if j, err = o.q.Get(o.t.Context(), id); err != nil {
			o.t.Fatal(err)
		}
		return want(j)
	})
	if !ok {
		o.t.Fatalf("the run stays %s, %+v; %v", j.Run.Status, j, o.kinds(id))
	}
	return j
}

func (o *owner) status(id harness.RunID, s harness.RunStatus) run.Job {
	o.t.Helper()
	return o.until(id, func(j run.Job) bool { return j.Run.Status == s && j.Run.Worker == nil })
}

// soon waits until something is true, for long if it must.
func (o *owner) soon(is func() bool) bool {
	o.t.Helper()
	for range 6_000 {
		if is() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// begun waits until something has begun to wait n times.
func (o *owner) begun(what string, n int) {
	o.t.Helper()
	if !o.soon(func() bool { return o.count("begun", what) >= n }) {
		o.t.Fatalf("%s has not begun %d times", what, n)
	}
}

func (o *owner) lines(file string) []string {
	o.t.Helper()
	raw, err := os.ReadFile(filepath.Join(o.Dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		o.t.Fatal(err)
	}
	return strings.FieldsFunc(string(raw), func(r rune) bool { return r == '\n' })
}

func (o *owner) count(file, text string) (n int) {
	o.t.Helper()
	for _, line := range o.lines(file) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// letGo lets everything go on that waits.
func (o *owner) letGo() {
	o.t.Helper()
	if err := o.add("go", ""); err != nil {
		o.t.Fatal(err)
	}
}

func (o *owner) entries(id harness.RunID) []run.Entry {
	o.t.Helper()
	entries, err := o.q.Read(o.t.Context(), id, 0)
	if err != nil {
		o.t.Fatal(err)
	}
	return entries
}

func (o *owner) kinds(id harness.RunID) string {
	o.t.Helper()
	var kinds []string
	for _, e := range o.entries(id) {
		kinds = append(kinds, e.Kind)
	}
	return strings.Join(kinds, " ")
}

// answer is the text of the run's last message.
func (o *owner) answer(id harness.RunID) string {
	o.t.Helper()
	text := ""
	for _, e := range o.entries(id) {
		if e.Message != nil && e.Message.Role == harness.RoleAssistant {
			text = e.Message.Text()
		}
	}
	return text
}

// pending returns what the run waits for.
func (o *owner) pending(id harness.RunID) []harness.Pending {
	o.t.Helper()
	var s loop.State
	for _, e := range o.entries(id) {
		r, err := loop.Decode(loop.Encoded{Kind: e.Kind, Data: e.Data, Message: e.Message, Condensed: e.Condensed})
		if err != nil {
			o.t.Fatal(err)
		}
		s, _ = loop.Step(s, r)
	}
	return s.Waiting()
}

// decide answers everything that the run waits for.
func (o *owner) decide(b run.Backend, id harness.RunID, how harness.DecisionHow, here bool) {
	o.t.Helper()
	var ds []harness.Decision
	for _, p := range o.pending(id) {
		d := harness.Decision{Call: p.Call.ID, Digest: p.Digest, How: how, Text: "because", By: "a test"}
		if p.Uncertain && how != harness.DecideRetry && how != harness.DecideAbort {
			d.How, d.Text = harness.DecideResult, "seen"
		}
		ds = append(ds, d)
	}
	if err := b.Decide(o.t.Context(), id, here, ds...); err != nil {
		o.t.Fatal(err)
	}
}
