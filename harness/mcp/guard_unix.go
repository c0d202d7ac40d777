//go:build unix

package mcp

import (
	"fmt"
	"os"
	"os/exec"
)

// guarding waits beside a program until nobody holds the other end of a pipe, and then
// kills the whole group: what a program has started would go on otherwise when this
// one is killed. No shell reads what the program is given.
const guarding = `(read -r gone <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec 3<&-; exec "$0" "$@"`

// guard has the program of a command end together with this one, and returns what is
// held as long as it may run and what is closed once it is started.
func guard(cmd *exec.Cmd) (held, given *os.File, err error) {
	given, held, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make pipe: %w", err)
	}
	cmd.Args = append([]string{"sh", "-c", guarding, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.ExtraFiles = "/bin/sh", []*os.File{given}
	return held, given, nil
}

// runnable says why a file cannot be run as a program.
func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return os.ErrPermission
	}
	return nil
}
