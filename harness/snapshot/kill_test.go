package snapshot_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
)

var kills = flag.Int("kills", 40, "how often the saving process is killed")

// saveIn is the variable that makes the test program the process that saves.
const saveIn = "CAIRN_TEST_SAVE_IN"

func TestMain(m *testing.M) {
	flag.Parse()
	if dir := os.Getenv(saveIn); dir != "" {
		if err := saveForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// saveForEver saves one document after the other and tells of each before and
// after.
func saveForEver(dir string) error {
	ctx := context.Background()
	s, err := snapshot.Open(ctx, dir)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		if _, err := fmt.Printf("begin %d\n", n); err != nil {
			return err
		}
		d := snapshot.Document{ID: "killed", Title: fmt.Sprint(n)}
		m := harness.UserText(strings.Repeat(fmt.Sprint(n, " "), 20_000))
		d.Records, d.Head = []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &m}}, 1
		if _, err := snapshot.Save(ctx, s, d); err != nil {
			return err
		}
		if _, err := fmt.Printf("saved %d\n", n); err != nil {
			return err
		}
	}
}

func TestKilledSaverLeavesTheOldOrTheNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	left := 0
	for range *kills {
		began, saved := killed(t, dir)
		d, err := snapshot.Load(t.Context(), s, "killed", snapshot.Want{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Title != fmt.Sprint(saved) && d.Title != fmt.Sprint(began) {
			t.Fatalf("it holds save %s, the last acknowledged is %d, the last begun %d", d.Title, saved, began)
		}
		left += fresh(t, dir)
	}
	t.Logf("%d kills left %d files", *kills, left)
	if err := os.WriteFile(dir+"/.new-left", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Save(t.Context(), s, snapshot.Document{ID: "after"}); err != nil {
		t.Fatal(err)
	}
	if n := fresh(t, dir); n > 0 {
		t.Errorf("%d files of the killed are left after a save", n)
	}
}

// killed starts a saver, kills it some time after its first save, and returns the
// numbers of the last saves that it began and acknowledged.
func killed(t *testing.T, dir string) (began, saved int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), saveIn+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var timer *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "begin "); ok {
			_, err = fmt.Sscan(n, &began)
		} else if n, ok := strings.CutPrefix(lines.Text(), "saved "); ok {
			_, err = fmt.Sscan(n, &saved)
		}
		if err != nil {
			t.Fatal(err)
		}
		if saved == 1 && timer == nil {
			timer = time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || timer == nil {
		t.Fatalf("the saver ended by itself: %v %s", err, complaint.String())
	}
	return began, saved
}

// fresh counts the files that are not published.
func fresh(t *testing.T, dir string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".new-") {
			n++
		}
	}
	return n
}
