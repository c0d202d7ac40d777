//go:build unix

package enginetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// binaryEnv names the directory of the built program for the tests.
const binaryEnv = "CAIRN_ENGINETEST_BINARY"

// patience bounds waiting for a process that hangs; it is not a measurement.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("the program itself is not built and tried under -short")
		os.Exit(0)
	}
	os.Exit(build(m))
}

// build builds the program once for all tests.
func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cairn-enginetest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "cairn"), "cairn").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv(binaryEnv, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestScripts runs the scripts in testdata/script, each with a home of its own
// and without any key. Besides the usual commands they have
//
//	exits N cairn ARGS...  runs the program, which must end with that exit code
//	until FILE TEXT        waits until a file that grows has a text
//	signal FILE NAME       sends a signal to the process whose number a file has
//	nowhere TEXT           looks for a text in all files below the directory
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("PATH", os.Getenv(binaryEnv)+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("OLLAMA_HOST", "127.0.0.1:1")
			env.Setenv("LANG", "C.UTF-8")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "until": until, "signal": send, "nowhere": nowhere,
		},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	code := "0"
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = strconv.Itoa(exit.ExitCode())
	} else {
		ts.Check(err)
	}
	if code != args[0] {
		ts.Fatalf("cairn ended with exit code %s, not %s", code, args[0])
	}
}

func until(ts *testscript.TestScript, _ bool, args []string) {
	path, over := ts.MkAbs(args[0]), time.After(patience)
	for {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(args[1])) {
			return
		}
		select {
		case <-over:
			ts.Fatalf("%s never had %q:\n%s", args[0], args[1], data)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func send(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "KILL": syscall.SIGKILL,
	}[args[1]]))
}

func nowhere(ts *testscript.TestScript, _ bool, args []string) {
	looked := 0
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if looked++; bytes.Contains(data, []byte(args[0])) {
			ts.Fatalf("%s has %q", strings.TrimPrefix(path, ts.MkAbs(".")), args[0])
		}
		return err
	}))
	if looked == 0 {
		ts.Fatalf("there is no file to look into")
	}
}
