package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives a command a session of its own. It has no terminal then, to
// which it could write or whose keys it could take, and all that it starts
// stays in it, also what has a process group of its own. If this program is
// killed, the shell is too, so that it does not go on while a person is asked
// whether it ran.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// ended returns when the shell is over, without taking note of it in the sense
// of the system: until reap does, its number cannot become another's.
func ended(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func reap(cmd *exec.Cmd) error { return cmd.Wait() }

// signal sends a signal to all of a session.
func signal(pid int, s syscall.Signal) {
	for _, member := range members(pid) {
		// One that is gone meanwhile needs none, and one that took on other
		// rights cannot be reached.
		_ = syscall.Kill(member, s)
	}
}

// alive reports whether anything of a session runs.
func alive(pid int) bool { return len(members(pid)) > 0 }

// members lists the processes of a session that are not over. Without /proc it
// is the one that leads it.
func members(session int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return leader(session)
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return leader(session)
	}
	var found []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it is over
		}
		// "pid (name) state parent group session …", and the name is anything.
		at := bytes.LastIndexByte(stat, ')')
		fields := bytes.Fields(stat[at+1:])
		if len(fields) < 4 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
			continue
		}
		if string(fields[3]) == strconv.Itoa(session) {
			found = append(found, pid)
		}
	}
	return found
}

// leader is the session's process group, as [syscall.Kill] names it, if there
// is one.
func leader(session int) []int {
	if syscall.Kill(-session, 0) != nil {
		return nil
	}
	return []int{-session}
}
