package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/bolt"
)

// childRole makes the test binary act as another process on the database whose
// path follows.
const (
	childRole = "CAIRN_TEST_ROLE"
	childPath = "CAIRN_TEST_PATH"
)

func TestMain(m *testing.M) {
	var err error
	switch role := os.Getenv(childRole); role {
	case "":
		os.Exit(m.Run())
	case "write":
		err = childWrite(os.Getenv(childPath))
	case "hold":
		err = childHold(os.Getenv(childPath))
	case "maintain":
		err = childMaintain(os.Getenv(childPath))
	case "index":
		err = childIndex(os.Getenv(childPath))
	case "migrate":
		err = childMigrate(os.Getenv(childPath))
	case "put":
		err = childPut(os.Getenv(childPath))
	case "spend":
		err = childSpend(os.Getenv(childPath))
	case "keep busy":
		err = childBusy(os.Getenv(childPath))
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is another process. Its lines arrive as it prints them.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startChild(t *testing.T, role, path string) *child {
	t.Helper()
	self, err := os.Executable()
	ok(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childRole+"="+role, childPath+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	ok(t, err)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	return &child{cmd, in, bufio.NewScanner(out)}
}

// kill ends the child without a chance to do anything, and waits for it.
func (c *child) kill(t *testing.T) {
	t.Helper()
	ok(t, c.cmd.Process.Kill())
	for c.lines.Scan() {
	}
	if err := c.cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
}

// childWrite writes for ever, and prints a line after each write is on disk.
func childWrite(path string) error {
	db, err := bolt.Open(path, bolt.Options{Purpose: "write"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := db.Owners().Acquire(ctx, harness.Session{ID: "s"}, harness.Holder{})
	if err != nil {
		return err
	}
	open, err := db.Journal().List(ctx, harness.RunFilter{Session: "s", Unfinished: true})
	if err != nil {
		return err
	}
	var closes []run.Closing
	for _, r := range open {
		closes = append(closes, run.Closing{Run: r.ID, After: r.Cursor, Entries: []run.Entry{{Kind: "end", Status: harness.RunCancelled}}})
	}
	for {
		id := harness.RunID(harness.NewID())
		ask := harness.UserText("question of " + string(id))
		if _, _, err := db.Journal().Create(ctx, l, harness.Run{ID: id}, run.Entry{Kind: "begun", Message: &ask}, closes...); err != nil {
			return err
		}
		fmt.Println("record", id, "question of", id)
		for i := range 3 {
			if err := db.Journal().SavePartial(ctx, l, id, harness.Partial{Text: text(i)}); err != nil {
				return err
			}
			answer := harness.AssistantText(fmt.Sprint("answer ", i, " of ", id))
			if _, err := db.Journal().Append(ctx, l, id, 1+i, run.Entry{Kind: "answer", Message: &answer}); err != nil {
				return err
			}
			fmt.Println("record", id, answer.Text())
			if _, _, err := db.Facts().Save(ctx, harness.Fact{Session: "s", Text: answer.Text()}, ""); err != nil {
				return err
			}
			fmt.Println("fact", id, answer.Text())
		}
		if _, err := db.Journal().Append(ctx, l, id, 4, run.Entry{Kind: "end", Status: harness.RunCompleted}); err != nil {
			return err
		}
		closes = nil
	}
}

// TestKillLosesNothingAcknowledged kills a process at a random moment of its
// writing, again and again on one file.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	random := rand.New(rand.NewPCG(5, 6))
	acknowledged := map[string][]string{}
	for round := range 20 {
		c := startChild(t, "write", path)
		lines := 1 + random.IntN(60)
		for range lines {
			if !c.lines.Scan() {
				t.Fatalf("round %d: the child ended", round)
			}
			kind, rest, _ := strings.Cut(c.lines.Text(), " ")
			_, what, _ := strings.Cut(rest, " ")
			acknowledged[kind] = append(acknowledged[kind], what)
		}
		c.kill(t)
	}
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	report, err := db.Check(t.Context())
	ok(t, err)
	if len(report.Problems) != 0 {
		t.Fatalf("problems %v", report.Problems)
	}
	records, err := db.Transcript().Tail(t.Context(), "s", 0, 0)
	ok(t, err)
	var have []string
	for _, r := range records {
		have = append(have, r.Message.Text())
	}
	inOrder(t, "record", acknowledged["record"], have)
	facts, err := db.Facts().List(t.Context(), harness.MemoryFilter{})
	ok(t, err)
	have = nil
	for _, f := range facts {
		have = append([]string{f.Text}, have...)
	}
	inOrder(t, "fact", acknowledged["fact"], have)
	runs, err := db.Journal().List(t.Context(), harness.RunFilter{Unfinished: true})
	ok(t, err)
	for _, r := range runs {
		if r.Status == harness.RunRunning && !r.Interrupted {
			t.Fatalf("run %s still runs", r.ID)
		}
	}
}

// inOrder fails unless have holds all of want in its order. It may hold more:
// what was stored and not acknowledged any more.
func inOrder(t *testing.T, what string, want, have []string) {
	t.Helper()
	rest := have
	for i, w := range want {
		at := 0
		for at < len(rest) && rest[at] != w {
			at++
		}
		if at == len(rest) {
			t.Fatalf("%s %d of %d is lost: %q", what, i, len(want), w)
		}
		rest = rest[at+1:]
	}
}

// childHold takes the lock of the database and keeps it until its input ends.
func childHold(path string) error {
	release, err := bolt.HoldLock(path, harness.Holder{PID: os.Getpid(), Terminal: "pts/7", Purpose: "stuck"})
	if err != nil {
		return err
	}
	fmt.Println("holding")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return release()
}

// TestStuckProcessIsNamed waits for a lock that another process does not give
// back, and gets it the moment that process is killed.
func TestStuckProcessIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	db.Rest()
	c := startChild(t, "hold", path)
	if !c.lines.Scan() {
		t.Fatal("the child does not hold the lock")
	}
	who := fmt.Sprintf("pid %d on pts/7 (stuck)", c.cmd.Process.Pid)
	for what, use := range map[string]func() error{
		"open": func() error { _, err := bolt.Open(path, bolt.Options{}); return err },
		"use":  func() error { _, err := db.Sessions().List(t.Context(), harness.SessionFilter{}); return err },
	} {
		if err := use(); !errors.Is(err, harness.ErrLocked) || !strings.Contains(err.Error(), who) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := db.Sessions().List(ctx, harness.SessionFilter{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was called off: error %v", err)
	}
	c.kill(t)
	_, err = db.Sessions().List(t.Context(), harness.SessionFilter{})
	ok(t, err)
}

// childBusy uses the database without a pause until its input ends.
func childBusy(path string) error {
	db, err := bolt.Open(path, bolt.Options{Purpose: "busy"})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	n := 0
	for ; ctx.Err() == nil; n++ {
		if err := db.Prompts().Add(context.Background(), "busy", fmt.Sprint(n)); err != nil {
			return err
		}
		if n == 0 {
			fmt.Println("busy")
		}
	}
	fmt.Println(n)
	return db.Close()
}

// TestBusyProcessStarvesNobody writes beside a process that never pauses.
func TestBusyProcessStarvesNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	c := startChild(t, "keep busy", path)
	if !c.lines.Scan() {
		t.Fatal("the child does nothing")
	}
	db, err := bolt.Open(path, bolt.Options{Purpose: "other"})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	const mine = 100
	for i := range mine {
		ok(t, db.Prompts().Add(t.Context(), "other", fmt.Sprint(i)))
	}
	ok(t, c.in.Close())
	if !c.lines.Scan() {
		t.Fatal("the child says nothing")
	}
	var theirs int
	_, err = fmt.Sscan(c.lines.Text(), &theirs)
	ok(t, err)
	ok(t, c.cmd.Wait())
	prompts, err := db.Prompts().Recent(t.Context(), "other", 0)
	ok(t, err)
	if len(prompts) != mine+theirs || theirs < mine/10 {
		t.Fatalf("%d prompts of %d and %d", len(prompts), mine, theirs)
	}
}

// TestOthersWaitForAnnouncedWork waits for work that takes longer than the
// usual wait and says so.
func TestOthersWaitForAnnouncedWork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), bolt.FileName)
	db, err := bolt.Open(path, bolt.Options{Purpose: "worker"})
	ok(t, err)
	defer func() { ok(t, db.Close()) }()
	other, err := bolt.Open(path, bolt.Options{})
	ok(t, err)
	defer func() { ok(t, other.Close()) }()
	other.Rest()
	began, waited := make(chan struct{}), make(chan error)
	go func() {
		<-began
		// The usual wait is two seconds. This is a stop only for a store that
		// does not wait for work that goes on.
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		waited <- other.Prompts().Add(ctx, "s", "x")
	}()
	ok(t, db.WorkFor(t.Context(), bolt.LockWait+500*time.Millisecond, func() { close(began) }))
	ok(t, <-waited)
}
