//go:build unix

package postgres_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/postgres"
	"cairn/storage/postgres/pgtest"
)

// Environment of the processes that the tests start of themselves.
const (
	envWork = "CAIRN_TEST_POSTGRES_WORK"
	envURL  = "CAIRN_TEST_POSTGRES_URL"
)

// process is another process that works on the same database.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// start starts a process that does one of the works below.
func start(t *testing.T, work, address string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(self, "-test.run=^TestWorkOfAnotherProcess$")}
	p.cmd.Env = append(os.Environ(), envWork+"="+work, envURL+"="+address)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()
	})
	return p
}

// line is the next line that the process says with a prefix; ok is false if it
// says no more.
func (p *process) line(prefix string) (rest string, ok bool) {
	for p.lines.Scan() {
		if rest, ok := strings.CutPrefix(p.lines.Text(), prefix+" "); ok {
			return rest, true
		}
	}
	return "", false
}

// TestWorkOfAnotherProcess is no test by itself.
func TestWorkOfAnotherProcess(t *testing.T) {
	work, address := os.Getenv(envWork), os.Getenv(envURL)
	if work == "" {
		return
	}
	works := map[string]func(*testing.T, string){"open": openOnce, "claim": claimAll, "hold": holdOne}
	works[work](t, address)
}

func openOnce(t *testing.T, address string) {
	t.Helper()
	submit(t, open(t, address, postgres.Options{}), fmt.Sprint("r", os.Getpid()))
	fmt.Println("opened it")
}

// claimAll ends all runs that it gets, several at a time.
func claimAll(t *testing.T, address string) {
	t.Helper()
	q := open(t, address, postgres.Options{})
	me := harness.Holder{PID: os.Getpid(), Host: "ada"}
	ended := make(chan string)
	go func() {
		for {
			c, err := q.Next(t.Context(), me, "ada", nil)
			if errors.Is(err, harness.ErrNotFound) {
				break
			}
			if err == nil {
				_, err = q.Append(t.Context(), c, 1, nil, answer("by "+me.String(), harness.RunCompleted))
			}
			if err == nil {
				err = q.Release(t.Context(), c, "")
			}
			if err != nil {
				t.Error(err)
				break
			}
			ended <- string(c.Run)
		}
		close(ended)
	}()
	for id := range ended {
		fmt.Println("\nended", id)
	}
}

// holdOne claims a run and keeps it until it is told to write.
func holdOne(t *testing.T, address string) {
	t.Helper()
	q := open(t, address, postgres.Options{Lease: 5 * time.Second})
	c := claim(t, q, "r")
	fmt.Println("\nholds", c.Generation)
	told := make(chan bool)
	go func() {
		bufio.NewScanner(os.Stdin).Scan()
		close(told)
	}()
	for {
		select {
		case <-told:
			_, err := q.Append(t.Context(), c, 1, nil, answer("by one that was stopped", harness.RunCompleted))
			fmt.Println("\nappend", errors.Is(err, harness.ErrLost), err)
			err = q.SavePartial(t.Context(), c, harness.Partial{Attempt: 1, Text: "late"})
			fmt.Println("\npartial", errors.Is(err, harness.ErrLost), err)
			_, err = q.Renew(t.Context(), c)
			fmt.Println("\nrenew", errors.Is(err, harness.ErrLost), err)
			fmt.Println("\nrelease", q.Release(t.Context(), c, "") == nil)
			return
		case <-time.After(time.Second):
			if _, err := q.Renew(t.Context(), c); err == nil {
				fmt.Println("\nrenewed it")
			}
		}
	}
}

func TestProcessesMakeTheTablesAtOnce(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	var all []*process
	for range 3 {
		all = append(all, start(t, "open", address))
	}
	for _, p := range all {
		if _, ok := p.line("opened"); !ok {
			t.Error("a process could not open it")
		}
	}
	if jobs, err := open(t, address, postgres.Options{}).List(t.Context(), run.JobFilter{}); err != nil || len(jobs) != len(all) {
		t.Errorf("%d runs, %v", len(jobs), err)
	}
}

func TestFourProcessesClaimEachRunOnce(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	q := open(t, address, postgres.Options{})
	const runs = 200
	for i := range runs {
		submit(t, q, fmt.Sprint("r", i))
	}
	var all []*process
	for range 4 {
		all = append(all, start(t, "claim", address))
	}
	var ended []string
	for _, p := range all {
		n := 0
		for id, ok := p.line("ended"); ok; id, ok = p.line("ended") {
			ended = append(ended, id)
			n++
		}
		t.Logf("one ended %d", n)
	}
	slices.Sort(ended)
	if unique := slices.Compact(slices.Clone(ended)); len(ended) != runs || len(unique) != runs {
		t.Errorf("%d claims of %d runs", len(ended), len(unique))
	}
	jobs, err := q.List(t.Context(), run.JobFilter{})
	if err != nil || len(jobs) != runs {
		t.Fatalf("%d runs, %v", len(jobs), err)
	}
	for _, j := range jobs {
		if j.Run.Status != harness.RunCompleted || j.Run.Cursor != 2 || j.Run.Driver != 1 || j.Run.Worker != nil {
			t.Errorf("run %s: %+v", j.Run.ID, j.Run)
		}
	}
}

func TestStoppedDriverThatWakesWritesNothing(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	q := open(t, address, postgres.Options{})
	submit(t, q, "r")
	p := start(t, "hold", address)
	if _, ok := p.line("holds"); !ok {
		t.Fatal("it did not claim the run")
	}
	// While it renews, nobody else gets the run, for longer than its lease.
	for range 6 {
		if _, ok := p.line("renewed"); !ok {
			t.Fatal("it did not renew its claim")
		}
		if _, err := q.Next(t.Context(), ada, "", nil); !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("the run was there to take: %v", err)
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var taken run.Claim
	var err error
	for range 6_000 { // five minutes: it measures nothing
		if taken, err = q.Next(t.Context(), ada, "", nil); !errors.Is(err, harness.ErrNotFound) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil || !taken.Broken {
		t.Fatalf("taken over: %+v, %v", taken, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.in, "write\n"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"append", "partial", "renew"} {
		if got, ok := p.line(what); !ok || !strings.HasPrefix(got, "true ") {
			t.Errorf("%s of the one that woke: %q", what, got)
		}
	}
	if got, _ := p.line("release"); got != "true" {
		t.Errorf("its release: %q", got)
	}
	if _, err := q.Append(t.Context(), taken, 1, nil, answer("by the other", harness.RunCompleted)); err != nil {
		t.Error(err)
	}
	entries, err := q.Read(t.Context(), "r", 1)
	if err != nil || len(entries) != 1 || entries[0].Message.Text() != "by the other" {
		t.Errorf("stored is %+v, %v", entries, err)
	}
	if j, err := q.Get(t.Context(), "r"); err != nil || j.Run.Partial != nil {
		t.Errorf("%+v, %v", j.Run.Partial, err)
	}
}

func TestKilledDriverIsInterruptedUntilAnotherTakesItsRun(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).Database(t)
	q := open(t, address, postgres.Options{})
	submit(t, q, "r")
	if j, err := q.Get(t.Context(), "r"); err != nil || j.Run.Interrupted || j.Run.Worker != nil || j.Run.Waits == "" {
		t.Errorf("a run that waits: %+v, %v", j.Run, err)
	}
	changes, err := q.Watch(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "hold", address)
	if _, ok := p.line("holds"); !ok {
		t.Fatal("it did not claim the run")
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Whoever watches sees it although nobody tells.
	for {
		select {
		case <-changes:
		case <-time.After(5 * time.Minute):
			t.Fatal("the run is driven by one who is dead")
		}
		j, err := q.Get(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if j.Run.Interrupted && j.Run.Worker == nil {
			break
		}
	}
	if c, err := q.Claim(t.Context(), "r", ada); err != nil || !c.Broken {
		t.Errorf("%+v, %v", c, err)
	}
}
