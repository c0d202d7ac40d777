package mem_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/harnesstest"
	"cairn/storage/mem"
)

// spoolIn makes the test binary keep an artifact below a directory until it is
// killed.
const spoolIn = "CAIRN_TEST_SPOOL"

func TestMain(m *testing.M) {
	dir := os.Getenv(spoolIn)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := childSpool(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func childSpool(dir string) error {
	st := mem.New(nil)
	st.Spool(dir)
	m := harness.UserText("hello")
	if _, _, err := st.Sessions().Import(context.Background(), harness.Session{ID: "s"}, []harness.Record{{Message: &m}}, []byte("a long result")); err != nil {
		return err
	}
	fmt.Println("kept")
	_, err := io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, st.Close())
}

// spooling is a store with one session that keeps artifacts below dir.
func spooling(t *testing.T, dir string) *mem.Store {
	t.Helper()
	st := mem.New(harnesstest.NewClock().Now)
	st.Spool(dir)
	m := harness.UserText("hello")
	if _, _, err := st.Sessions().Import(t.Context(), harness.Session{ID: "s"}, []harness.Record{{Message: &m}}); err != nil {
		t.Fatal(err)
	}
	return st
}

// within lists what is below a directory, with modes.
func within(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if path != dir && err == nil {
			all = append(all, fmt.Sprintf("%v %d", info.Mode(), info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "; ")
}

func TestSpooledArtifactsAreAsOthers(t *testing.T) {
	harnesstest.TestArtifacts(t, func(t *testing.T) harnesstest.Stores {
		t.Helper()
		s, st := stores(t)
		dir := t.TempDir()
		st.Spool(dir)
		t.Cleanup(func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			if left := within(t, dir); left != "" {
				t.Errorf("left are %s", left)
			}
		})
		return s
	})
}

func TestSpoolIsPrivateAndRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := spooling(t, dir)
	if left := within(t, dir); left != "" {
		t.Errorf("before the first artifact there are %s", left)
	}
	sum, err := st.Artifacts().Put(t.Context(), "s", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if got := within(t, dir); !strings.HasPrefix(got, "drwx------ ") || !strings.Contains(got, "-rw------- 4") || strings.Count(got, "; ") != 2 {
		t.Errorf("kept are %s", got)
	}
	// A living one is left.
	if n, err := mem.Sweep(dir, time.Now()); n != 0 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if data, err := st.Artifacts().Get(t.Context(), "s", sum[:12]); err != nil || string(data) != "text" {
		t.Errorf("got %q, %v", data, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", sum))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(files[0], []byte("tent"), 0o600) },
		func() error { return os.Remove(files[0]) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Artifacts().Get(t.Context(), "s", sum); !errors.Is(err, harness.ErrDamaged) {
			t.Errorf("got %v", err)
		}
	}
	for range 2 {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := within(t, dir); left != "" {
		t.Errorf("left are %s", left)
	}
	if _, err := st.Artifacts().Put(t.Context(), "s", []byte("x")); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("put after the end: %v", err)
	}
	if _, err := st.Artifacts().Get(t.Context(), "s", sum); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("got after the end: %v", err)
	}
}

// TestKilledSpoolIsSwept kills a process that keeps artifacts.
func TestKilledSpoolIsSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), spoolIn+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // the process is gone
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "kept\n" {
		t.Fatalf("%q, %v", line, err)
	}
	sweep := func(want int) {
		t.Helper()
		if n, err := mem.Sweep(dir, time.Now()); n != want || err != nil {
			t.Errorf("swept %d, want %d: %v", n, want, err)
		}
	}
	sweep(0)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the process ended by itself")
	}
	sweep(1)
	if left := within(t, dir); left != "" {
		t.Errorf("left are %s", left)
	}
}

// TestSweepLeavesWhatIsNotOurs puts beside a dead directory what only looks like
// one.
func TestSweepLeavesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := func(id string) string { return filepath.Join(dir, fmt.Sprintf("cairn-%d-%s", os.Getuid(), id)) }
	file := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := strings.Repeat("ab", 32)
	file(filepath.Join(name("aaaaaaaaaa"), "lock")) // dead
	file(filepath.Join(name("aaaaaaaaaa"), sum))
	file(filepath.Join(name("bbbbbbbbbb"), "lock"))
	file(filepath.Join(name("bbbbbbbbbb"), "letter.txt"))
	file(filepath.Join(name("cccccccccc"), "lock"))
	file(filepath.Join(name("cccccccccc"), sum, "letter.txt"))
	file(name("dddddddddd"))
	file(filepath.Join(name("eeeeeeeeee"), sum))
	file(filepath.Join(name("short"), "lock"))
	file(filepath.Join(name("AAAAAAAAAA"), "lock"))
	file(filepath.Join(dir, "elsewhere", "lock"))
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), name("ffffffffff")); err != nil {
		t.Skip("no links here:", err)
	}
	file(filepath.Join(name("gggggggggg"), "lock"))
	if err := os.Chmod(name("gggggggggg"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name("hhhhhhhhhh"), 0o700); err != nil { // being made
		t.Fatal(err)
	}
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 0} {
		if n, err := mem.Sweep(dir, time.Now()); n != want || err != nil {
			t.Errorf("swept %d, want %d: %v", n, want, err)
		}
		after, err := os.ReadDir(dir)
		if err != nil || len(after) != len(before)-1 {
			t.Errorf("%d: left are %d of %d, %v", i, len(after), len(before), err)
		}
	}
	// One that nobody made further is swept in the end.
	if n, err := mem.Sweep(dir, time.Now().Add(2*time.Hour)); n != 1 || err != nil {
		t.Errorf("later swept are %d, %v", n, err)
	}
	if _, err := os.Lstat(filepath.Join(name("bbbbbbbbbb"), "letter.txt")); err != nil {
		t.Error(err)
	}
	if _, err := mem.Sweep(filepath.Join(dir, "none"), time.Now()); err == nil {
		t.Error("a directory that is not there was swept")
	}
}
