//go:build unix

package attach_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cairn/harness/attach"
)

func TestWhatIsNoOrdinaryFileIsNotOpened(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "kinds") //nolint:usetesting // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nobody came
	if err := os.WriteFile(filepath.Join(dir, "closed"), []byte("x"), 0o000); err != nil {
		t.Fatal(err)
	}
	f := attach.Files{Dir: dir}
	for name, want := range map[string]string{
		"fifo":               "is a pipe; give what comes out of it through standard input",
		"socket":             "is a socket, not a file",
		"/dev/null":          "is no file in the usual sense but a part of the system",
		"/proc/self/environ": "is no file in the usual sense but a part of the system",
	} {
		if _, err := f.Read(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			if name[0] == '/' && err != nil && strings.Contains(err.Error(), "does not exist") {
				continue // this system has none
			}
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Read(t.Context(), "closed"); os.Getuid() != 0 && (err == nil || !strings.Contains(err.Error(), "you have no permission")) {
		t.Errorf("a closed file: %v", err)
	}
}
