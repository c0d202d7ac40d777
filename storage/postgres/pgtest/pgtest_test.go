package pgtest_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"cairn/storage/postgres/pgtest"
)

func TestKilledServerKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	s := pgtest.Alone(t)
	url := s.Database(t)
	exec1(t, url, "CREATE TABLE kept (n int)")
	exec1(t, url, "INSERT INTO kept VALUES (1)")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), url); err == nil {
		t.Fatal("a killed server takes connections")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	exec1(t, url, "INSERT INTO kept SELECT n+1 FROM kept")
}

func exec1(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestTestsOfAProcessShareAServerAndNoDatabase(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	if pgtest.Start(t) != s {
		t.Error("two servers")
	}
	a, b := s.Database(t), s.Database(t)
	exec1(t, a, "CREATE TABLE mine (n int)")
	exec1(t, b, "CREATE TABLE mine (n int)")
}

// The test runs itself as a process that starts a server and is killed.
func TestServerEndsWithItsKilledProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv("PGTEST_CHILD") != "" {
		s := pgtest.Alone(t)
		fmt.Printf("\ndir %s\n", s.Dir())
		select {}
	}
	pgtest.Start(t) // skips without PostgreSQL
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^TestServerEndsWithItsKilledProcess$")
	child.Env = append(os.Environ(), "PGTEST_CHILD=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dir := ""
	for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); {
		dir, _ = strings.CutPrefix(lines.Text(), "dir ")
		if dir == lines.Text() {
			dir = ""
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	if dir == "" {
		t.Fatal("the process started no server")
	}
	for range 3_000 { // it measures nothing
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s is still there long after its process was killed", dir)
}
