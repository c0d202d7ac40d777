package files

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestToolsRacingWithASwappedLinkStayInside(t *testing.T) {
	t.Parallel()
	ws, outside := lures(t)
	put(t, ws, "d/x", "a")
	put(t, outside, "x", "SECRET a\n")
	before := contents(t, outside)
	d := filepath.Join(ws, "d")
	if err := os.Symlink(outside, d+"-link"); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, d+"-link", unix.RENAME_EXCHANGE); err != nil {
				done <- err
				return
			}
		}
	}()
	set := kit(t, Options{Dir: ws})
	results := map[bool]int{}
	for range 100 {
		for _, c := range append(six("d/x"), six("d")[1:4]...) {
			r := call(t, set, "", c.name, c.in, "")
			results[r.Failed]++
			if strings.Contains(r.Text, "SECRET") {
				t.Fatalf("%s read outside: %+v", c.name, r)
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(before, contents(t, outside)) {
		t.Error("something outside changed")
	}
	t.Logf("refused and done: %v", results)
}
