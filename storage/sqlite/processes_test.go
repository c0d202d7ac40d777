package sqlite_test

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
	"strconv"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/storage/sqlite"
)

// childRole makes the test binary act as another process on the file whose path
// follows.
const (
	childRole = "CAIRN_TEST_ROLE"
	childPath = "CAIRN_TEST_PATH"
)

func TestMain(m *testing.M) {
	var err error
	switch role, path := os.Getenv(childRole), os.Getenv(childPath); role {
	case "":
		os.Exit(m.Run())
	case "drive":
		err = childDrive(path)
	case "submit":
		err = childSubmit(path)
	case "open":
		err = childOpen(path)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// child is another process; lines are what it prints.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	in    io.WriteCloser
}

func start(t *testing.T, role, path string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childRole+"="+role, childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, lines: bufio.NewScanner(out), in: in}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return c
}

// until reads lines until one begins with a word and returns its rest.
func (c *child) until(t *testing.T, word string) string {
	t.Helper()
	for c.lines.Scan() {
		got, rest, _ := strings.Cut(c.lines.Text(), " ")
		if got == word {
			return rest
		}
		if got == "error" {
			t.Fatal(rest)
		}
	}
	t.Fatalf("the other process ended without saying %q", word)
	return ""
}

// kill ends the process as a power cut of its own would, and returns the number in
// the last line that it printed with a word.
func (c *child) kill(t *testing.T, word string) int {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	last := 0
	for c.lines.Scan() {
		got, rest, _ := strings.Cut(c.lines.Text(), " ")
		if n, err := strconv.Atoi(rest); got == word && err == nil {
			last = n
		} else if got == "error" {
			t.Fatal(rest)
		}
	}
	_ = c.cmd.Wait()
	return last
}

// childDrive claims what is next and appends to it until it is killed. It prints
// the generation of its claim and what is stored.
func childDrive(path string) error {
	ctx := context.Background()
	q, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	c, err := q.Next(ctx, harness.Holder{PID: os.Getpid(), Purpose: "worker"}, "", nil)
	if err != nil {
		return err
	}
	fmt.Println("claimed", c.Generation)
	j, err := q.Get(ctx, c.Run)
	if err != nil {
		return err
	}
	for cursor := j.Run.Cursor; ; cursor++ {
		if err := q.SavePartial(ctx, c, harness.Partial{Attempt: cursor, Text: text(cursor)}); err != nil {
			return err
		}
		if _, err := q.Append(ctx, c, cursor, [][]byte{[]byte(text(cursor))}, said(cursor)); err != nil {
			return err
		}
		fmt.Println("stored", cursor+1)
		if _, err := q.Renew(ctx, c); err != nil {
			return err
		}
		if cursor%10 == 0 {
			if err := q.Release(ctx, c, ""); err != nil {
				return err
			}
			if c, err = q.Claim(ctx, c.Run, c.Holder); err != nil {
				return err
			}
		}
	}
}

// text is what the entry after number n says.
func text(n int) string { return strings.Repeat(fmt.Sprint("word ", n, " "), 1+n%700) }

func said(n int) run.Entry {
	m := harness.AssistantText(text(n))
	return run.Entry{Kind: "answer", Message: &m}
}

// childSubmit begins runs that it drives itself until it is killed.
func childSubmit(path string) error {
	ctx := context.Background()
	q, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		s := submission(harness.RunID(fmt.Sprintf("r%d-%d", os.Getpid(), n)))
		s.Here = true
		if _, err := q.Submit(ctx, s, harness.Holder{PID: os.Getpid()}); err != nil {
			return err
		}
		fmt.Println("submitted", n)
	}
}

func childOpen(path string) error {
	q, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	fmt.Println("open 1")
	return q.Close()
}

func submission(id harness.RunID) run.Submission {
	m := harness.UserText("hello")
	return run.Submission{
		Run: harness.Run{ID: id, Session: "s", Engine: "sqlite:runs.db", First: 1}, First: run.Entry{Kind: "begun", Message: &m},
		Carried: run.Carried{Store: "store"},
	}
}

func open(t *testing.T, path string) *sqlite.Queue {
	t.Helper()
	q, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kills is how often a driver is killed in the tests.
const kills = 30

func TestKilledDriverLosesNothingAndIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	_, err := q.Submit(t.Context(), submission("r"), harness.Holder{})
	must(t, err)
	generation, cursor, broken := 0, 1, 0
	for i := range kills {
		driver := start(t, "drive", path)
		first, err := strconv.Atoi(driver.until(t, "claimed"))
		must(t, err)
		if first <= generation {
			t.Fatalf("generation %d after %d", first, generation)
		}
		stored := 0
		if i%2 == 0 { // however slow the machine is, half of them got to work
			stored, err = strconv.Atoi(driver.until(t, "stored"))
			must(t, err)
		}
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		stored = max(stored, driver.kill(t, "stored"))
		j, err := q.Get(t.Context(), "r")
		must(t, err)
		if j.Run.Cursor < max(stored, cursor) || j.Run.Worker != nil || j.Run.Waits == "" {
			t.Fatalf("kill %d: entry %d was stored, and the run is %+v", i, stored, j.Run)
		}
		cursor = j.Run.Cursor
		c, err := q.Claim(t.Context(), "r", harness.Holder{PID: 1})
		must(t, err)
		if generation = c.Generation; c.Broken {
			broken++
		}
		must(t, q.Release(t.Context(), c, "only looking"))
	}
	entries, err := q.Read(t.Context(), "r", 0)
	must(t, err)
	for _, e := range entries[1:] {
		want := text(e.Seq - 1)
		if e.Message.Text() != want {
			t.Fatalf("entry %d says %.100q", e.Seq, e.Message.Text())
		}
		got, err := q.Artifact(t.Context(), "r", harness.ArtifactName([]byte(want)))
		must(t, err)
		if string(got) != want {
			t.Fatalf("the artifact of entry %d is %.100q", e.Seq, got)
		}
	}
	if len(entries) != cursor || cursor < kills/2 || broken < kills/2 {
		t.Fatalf("%d entries up to %d, %d broken claims: the drivers were hardly killed at work", len(entries), cursor, broken)
	}
}

// Nobody ever seems to drive what a dead process began, whether it was killed
// before or behind the first step.
func TestRunsOfAKilledProcessAreOfferedAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	q := open(t, path)
	for range kills / 3 {
		starter := start(t, "submit", path)
		starter.until(t, "submitted")
		time.Sleep(time.Duration(rand.IntN(5_000)) * time.Microsecond)
		stored := max(1, starter.kill(t, "submitted"))
		jobs, err := q.List(t.Context(), run.JobFilter{Unfinished: true})
		must(t, err)
		if len(jobs) < stored {
			t.Fatalf("%d runs of %d are there", len(jobs), stored)
		}
		for _, j := range jobs {
			if !j.Run.Interrupted || j.Run.Worker != nil {
				t.Fatalf("run %+v", j.Run)
			}
			c, err := q.Next(t.Context(), harness.Holder{PID: 1}, "", nil)
			must(t, err)
			if !c.Broken {
				t.Fatalf("claim %+v", c)
			}
			_, err = q.Append(t.Context(), c, 1, nil, run.Entry{Kind: "end", Status: harness.RunCompleted})
			must(t, err)
			must(t, q.Release(t.Context(), c, ""))
		}
		if _, err := q.Next(t.Context(), harness.Holder{}, "", nil); !errors.Is(err, harness.ErrNotFound) {
			t.Fatalf("one more is next: %v", err)
		}
	}
}

func TestFileIsMadeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for i := range kills {
		path := filepath.Join(t.TempDir(), "sub", "runs.db")
		maker := start(t, "open", path)
		time.Sleep(time.Duration(i) * time.Millisecond)
		maker.kill(t, "open")
		q := open(t, path)
		_, err := q.Submit(t.Context(), submission("r"), harness.Holder{})
		must(t, err)
		must(t, q.Close())
		files, err := os.ReadDir(filepath.Dir(path))
		must(t, err)
		if len(files) != 2 {
			t.Fatalf("beside the database and its locks there are %v", files)
		}
	}
}

func TestProcessesThatMakeTheFileAtOnceShareIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "runs.db")
	var makers []*child
	for range 6 {
		makers = append(makers, start(t, "open", path))
	}
	for _, m := range makers {
		m.until(t, "open")
	}
	_, err := open(t, path).Get(t.Context(), "none")
	if !errors.Is(err, harness.ErrNotFound) {
		t.Fatal(err)
	}
}
